"""The record of what became of what agents wrote."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, Record, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ArtifactCheckRow(Record):
    """A look at what became of an artifact; the newest one of a source holds."""

    project: str = column("String", "")
    source: str = column("String", "")
    artifact_id: str = column("String", "")
    turn_id: str = column("String", "")
    target: str = column("String", "")
    decision: str = column("String", "")
    reason: str = column("String", "")
    revision: str = column("String", "")
    found_by: str = column("String", "")
    revised_at: int = column(TIME, 0)
    later_revision: str = column("String", "")
    correction_id: str = column("String", "")
    similarity: float | None = column("Nullable(Float64)")
    decided_at: int = column(TIME, 0)
    checked_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)
