"""The records of what was forgotten, and of how far logs are imported."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import NO_HASH, TIME, ProjectRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Tombstone(ProjectRecord):
    """The hashed id of a forgotten record, which keeps it from coming back."""

    kind: str = column("String", "")
    """What was forgotten: ``session``, ``user``, ``turn``, ``project``, ..."""
    key: bytes = column("FixedString(16)", NO_HASH)
    """Hash of its id."""
    until: int = column(TIME, 0)
    """Records that began up to this time stay away."""
    forgetting_id: str = column("String", "")
    """The run of ``turnspan forget``."""
    asked: bool = column("Bool", False)
    """Whether it was asked for; false if it belonged to what was asked for."""
    reason: str = column("String", "")
    """Why, as the user wrote it."""
    author: str = column("String", "")
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ImportPosition(ProjectRecord):
    """How far a log is imported."""

    kind: str = column("String", "")
    """The kind of log."""
    source: str = column("String", "")
    """The log."""
    position: str = column("String", "")
    """How far it is read, in the log's own form."""
    source_rows: int = column("UInt64", 0)
    """Rows read so far."""
    began_at: int = column(TIME, 0)
    """When the import that wrote this row began."""
