"""The records of what is kept and what is not."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import NO_HASH, TIME, Record, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Tombstone(Record):
    """Something that was forgotten, by a hash of its id: what began of it ``until`` then does not
    come back. ``asked``: it is what was asked for, not what was found to belong to it."""

    project: str = column("String", "")
    kind: str = column("String", "")
    key: bytes = column("FixedString(16)", NO_HASH)
    until: int = column(TIME, 0)
    forgetting_id: str = column("String", "")
    asked: bool = column("Bool", False)
    reason: str = column("String", "")
    author: str = column("String", "")
    created_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)
