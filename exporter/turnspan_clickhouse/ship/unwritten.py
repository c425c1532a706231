"""Blocks that the spool could not take, kept in memory until it can.

A disk that is full, a process that has too many files open, a file system that is read-only for a
while: all of that passes. Meanwhile rows wait here, encoded, as many bytes as there is room for.
Beyond that the least important and oldest go first, as they do in a full spool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from turnspan_clickhouse.errors import SpoolError, SpoolFullError
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.spool.eviction import rank

ROOM_BYTES = 64 * 2**20
"""How much may wait."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Encoded rows of one table."""

    kind: type[Record]
    rows: int
    content: bytes


class Unwritten:
    """What waits to be written by ``write``, which raises SpoolError; ``lost`` is told of a block
    that is given up, and why."""

    def __init__(
        self, write: Callable[[EncodedRows], None], lost: Callable[[EncodedRows, SpoolError], None]
    ) -> None:
        self._write = write
        self._lost = lost
        self._blocks: deque[EncodedRows] = deque()
        self._size = 0

    @property
    def rows(self) -> int:
        """How many rows wait."""
        return sum(block.rows for block in self._blocks)

    def forget(self) -> None:
        """In a forked child: they are the parent's to write."""
        self._blocks, self._size = deque(), 0

    def add(self, block: EncodedRows) -> None:
        """Have a block written with the next ``write``."""
        self._blocks.append(block)
        self._size += len(block.content)

    def write(self) -> SpoolError | None:
        """Write what can be written now, the oldest first; why the rest could not be."""
        failed, smallest = None, 0
        for _ in range(len(self._blocks)):
            block = self._blocks[0]
            size = len(block.content)
            # What is smaller than all that failed may fit a disk that is nearly full.
            if failed is None or size < smallest:
                try:
                    self._write(block)
                except SpoolFullError as error:
                    self._lost(block, error)
                except SpoolError as error:
                    failed, smallest = error, size
                    self._blocks.rotate(-1)
                    continue
                self._blocks.popleft()
                self._size -= size
            else:
                self._blocks.rotate(-1)
        if failed is not None:
            self._keep_within(ROOM_BYTES, failed)
        return failed

    def give_up(self, reason: SpoolError) -> None:
        """The end: what could not be written is lost."""
        self._keep_within(0, reason)

    def _keep_within(self, room: int, reason: SpoolError) -> None:
        if self._size <= room:
            return
        for block in sorted(self._blocks, key=lambda block: -rank(block.kind.table)):
            self._blocks.remove(block)
            self._size -= len(block.content)
            self._lost(block, reason)
            if self._size <= room:
                return
