"""What a provider was asked beside what was recorded of it."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple


class Count(NamedTuple):
    """What one kind of API came to."""

    requests: int
    """What the provider was asked that may cost something."""
    rows: int
    gaps: int
    """What has a name in the watch."""
    same: int = 0
    """Rows beyond the first with one span's id."""

    @property
    def silent(self) -> int:
        """Requests that are neither a row nor a named gap."""
        return max(0, self.requests - self.rows - self.gaps)

    @property
    def invented(self) -> int:
        """Rows and gaps where nothing was asked."""
        return self.rows + self.gaps if not self.requests else 0

    @property
    def twice(self) -> int:
        """Rows and gaps beyond what was asked."""
        beyond = self.rows + self.gaps - self.requests
        return self.same + (max(0, beyond) if self.requests else 0)

    def plus(self, other: Count) -> Count:
        """Both together, for the table only: what is silent in one is not made up by another."""
        return Count(*(a + b for a, b in zip(self, other, strict=True)))


class Counts:
    """By mode, client and kind."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, Count]] = defaultdict(dict)

    def add(self, mode: str, client: str, kind: str, count: Count) -> None:
        """Note what a kind came to."""
        self._found[mode, client][kind] = count

    def lines(self) -> list[str]:
        """The table, a line a client."""
        heads = ("kinds", "requests", "rows", "gaps", "silent", "invented", "twice")
        lines = [f"{'':44}" + "".join(f"{head:>10}" for head in heads)]
        totals = [0] * len(heads)
        for (mode, client), kinds in self._found.items():
            found = list(kinds.values())
            numbers = [
                len(found),
                sum(one.requests for one in found),
                sum(one.rows for one in found),
                sum(one.gaps for one in found),
                sum(one.silent for one in found),
                sum(one.invented for one in found),
                sum(one.twice for one in found),
            ]
            totals = [a + b for a, b in zip(totals, numbers, strict=True)]
            lines.append(_line(f"{client} ({mode})", numbers))
        return [*lines, _line("all", totals)]


def _line(name: str, numbers: list[int]) -> str:
    return f"{name:44}" + "".join(f"{number:10,}" for number in numbers)
