"""The record of how far imports have come."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, Record, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ImportPosition(Record):
    """How far a log is imported."""

    project: str = column("String", "")
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
    written_at: int = column(TIME, 0)
