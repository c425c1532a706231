"""The record of how far imports have come."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, Record, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ImportPosition(Record):
    """How far the import of a log has come; ``position`` is the source's own."""

    project: str = column("String", "")
    kind: str = column("String", "")
    source: str = column("String", "")
    position: str = column("String", "")
    source_rows: int = column("UInt64", 0)
    began_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)
