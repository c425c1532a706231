"""What became of every row of a log."""

from __future__ import annotations

from collections import Counter
from typing import Final

_BLOCK_BITS: Final = 12
_MASK: Final = (1 << _BLOCK_BITS) - 1


class RowSet:
    """Numbers of rows: most are neighbours, so a block of them is the bits of one integer."""

    def __init__(self) -> None:
        self._blocks: dict[int, int] = {}

    def add(self, row: int) -> bool:
        """Add a row; whether it is new."""
        block, bit = row >> _BLOCK_BITS, 1 << (row & _MASK)
        known = self._blocks.get(block, 0)
        if known & bit:
            return False
        self._blocks[block] = known | bit
        return True


class Accounts:
    """Counts each row that is read once in a run, by table and by what became of it."""

    def __init__(self, label: str = "") -> None:
        self._label = label
        self.read: Counter[str] = Counter()
        """Rows read in this run, by table."""
        self._part: Counter[tuple[str, str]] = Counter()
        self._shared: dict[str, RowSet] = {}

    def took(self, table: str, became: str, rows: int = 1) -> None:
        """Rows that only one call has became this."""
        if rows:
            self._part[self._label + table, became] += rows
            self.read[table] += rows

    def took_once(self, table: str, row: int, became: str) -> None:
        """A row that several calls may share became this, when it is met for the first time."""
        known = self._shared.get(table)
        if known is None:
            known = self._shared[table] = RowSet()
        if known.add(row):
            self.took(table, became)

    def part(self) -> Counter[tuple[str, str]]:
        """What was counted since the last call."""
        part, self._part = self._part, Counter()
        return part
