"""A batch's rows as the blocks that become segments, none larger than one insert may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from turnspan_clickhouse.rows.native_encoder import encode_rows
from turnspan_clickhouse.rows.tables import Record

MAX_BLOCK = 64 * 2**20
"""A segment's, and so an insert's, size at most, where it is of several rows."""


def blocks(
    kind: type[Record], rows: Sequence[Record], failed: Callable[[Exception], None]
) -> Iterator[tuple[int, bytes]]:
    """(rows, block) pairs of at most ``MAX_BLOCK`` bytes; a larger row is its own block.

    ``failed`` is told of each row that cannot be encoded.
    """
    block, rejected = encode_rows(kind, rows)
    if len(block) > MAX_BLOCK and len(rows) > 1:
        del block
        middle = len(rows) // 2
        yield from blocks(kind, rows[:middle], failed)
        yield from blocks(kind, rows[middle:], failed)
        return
    for _, error in rejected:
        failed(error)
    if block:
        yield len(rows) - len(rejected), block
