"""Judgments that are on disk and not in the store yet: what of them waits in a spool.

Whoever has just judged is shown it at once, also where the store cannot be written by this user.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan_clickhouse.rows.native_reader import MalformedBlockError, UnknownTypeError
from turnspan_clickhouse.rows.native_rows import NativeBlock
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal
from turnspan_clickhouse.ship.shipper import Shipper
from turnspan_clickhouse.spool.segments import Segment
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    Annotation.table: (
        *("project", "subject_kind", "subject_id", "kind", "annotation_id", "outcome", "comment"),
        *("chosen_id", "rejected_id", "directive", "author", "source", "ranking_id"),
    ),
    Withdrawal.table: (
        *("project", "subject_kind", "subject_id", "kind", "withdrawal_id", "annotation_id"),
        *("author", "source", "comment"),
    ),
}
_TIMES: Final = ("created_at", "written_at")
LANDING_SECONDS: Final = 1.0
"""How long a question lets what waits land first."""


@dataclass(frozen=True, slots=True)
class Unlanded:
    """The rows that wait, the oldest first; their times are nanoseconds."""

    judgments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    withdrawals: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __len__(self) -> int:
        return len(self.judgments) + len(self.withdrawals)


NOTHING: Final = Unlanded()
"""Where nothing waits."""


def unlanded(spool: Spool) -> Unlanded:
    """What waits. Ask this before the store: what lands in between is then found twice, and not
    missed. Segments that are damaged are left out: the shipper says so of them."""
    found = Unlanded()
    for segment in spool.segments():
        if segment.table == Annotation.table:
            found.judgments.extend(_rows(segment))
        elif segment.table == Withdrawal.table:
            found.withdrawals.extend(_rows(segment))
    for rows in (found.judgments, found.withdrawals):
        rows.sort(key=lambda row: (row["created_at"], row["written_at"]))
    return found


def land(store: Store) -> Unlanded:
    """Land what waits on this machine, for a moment, and say what of it still waits.

    A user who may not write, or another process that ships, leave it where it is: it is shown from
    the spool then.
    """
    spool = Spool(store.dsn.spool)
    if not spool.names():
        return Unlanded()
    shipper = Shipper(lambda: nullcontext(store), spool, auto_migrate=False)
    shipper.run(time.monotonic() + LANDING_SECONDS, wait=False)
    return unlanded(spool)


def _rows(segment: Segment) -> list[dict[str, Any]]:
    try:
        content = segment.path.read_bytes()
        if segment.damage(content):
            return []
        block = NativeBlock(content)
    # It landed meanwhile, or is not ours to read.
    except (OSError, MalformedBlockError, UnknownTypeError):
        return []
    columns: dict[str, list[Any]] = {name: block.texts(name) for name in _TEXTS[segment.table]}
    columns.update({name: list(block.numbers(name)) for name in _TIMES})
    if segment.table == Annotation.table:
        columns["training_flag"] = _numbers(block, "training_flag", "<b")
        columns["score"] = _numbers(block, "score", "<d")
        columns["confidence"] = _numbers(block, "confidence", "<d")
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _numbers(block: NativeBlock, name: str, form: str) -> list[Any]:
    cells = block.optional(name)
    return [None if cell is None else struct.unpack(form, cell)[0] for cell in cells]
