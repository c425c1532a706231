"""The record of what became of what agents wrote."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, Record, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ArtifactCheckRow(Record):
    """One check of an artifact in a wiki or repository; the newest of a source holds."""

    project: str = column("String", "")
    source: str = column("String", "")
    """The wiki or repository."""
    artifact_id: str = column("String", "")
    turn_id: str = column("String", "")
    target: str = column("String", "")
    decision: str = column("String", "")
    """``used``, ``modified``, ``rejected``, ``undecided``, ``not_found`` or ``not_judged``."""
    reason: str = column("String", "")
    """Why, in a sentence."""
    revision: str = column("String", "")
    """The agent's own revision."""
    found_by: str = column("String", "")
    """How it was found: ``text``, ``lines``, ``version`` or ``user and time``."""
    revised_at: int = column(TIME, 0)
    """When the agent's revision was saved."""
    later_revision: str = column("String", "")
    """The revision that decided."""
    correction_id: str = column("String", "")
    """The artifact with the person's text."""
    similarity: float | None = column("Nullable(Float64)")
    """Likeness of the agent's and the person's text, from 0 to 1."""
    decided_at: int = column(TIME, 0)
    """When the deciding revision was saved; for ``used``, the end of the window."""
    checked_at: int = column(TIME, 0)
    """When it was checked."""
    written_at: int = column(TIME, 0)
