"""Gives each row to the one place that it can belong to, and says where there are several.

Demands (an output needs its final arbiter, an arbiter the one before it and its members) are
satisfied by rows, each of which belongs to one demand at most. Only what follows is decided:
nothing is chosen because it is the first, the nearest or the likelier one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

_STEPS: Final = 5_000
"""So long all ways to satisfy some demands are tried; beyond that they are left open."""

D = TypeVar("D", bound=Hashable)
S = TypeVar("S", bound=Hashable)


@dataclass(slots=True)
class Settled(Generic[D, S]):
    """What was decided, and what was not."""

    taken: dict[D, list[S]]
    open: dict[D, list[S]]
    """By demand, the rows of which it cannot be said which ones are its own."""


def settle(wanted: Mapping[D, Iterable[S]], needs: Mapping[D, int] | None = None) -> Settled[D, S]:
    """Decide what follows.

    Args:
        wanted: by demand, all that may satisfy it.
        needs: how many it needs; one where it is not named.
    """
    candidates = {demand: dict.fromkeys(rows) for demand, rows in wanted.items()}
    candidates = {demand: rows for demand, rows in candidates.items() if rows}
    need = {demand: needs.get(demand, 1) if needs else 1 for demand in candidates}
    settled: Settled[D, S] = Settled({}, {})
    for group in _groups(candidates):
        _settle_group({demand: candidates[demand] for demand in group}, need, settled)
    return settled


def _groups(candidates: Mapping[D, Mapping[S, None]]) -> list[list[D]]:
    """The demands that compete, directly or through others."""
    wanting: dict[S, list[D]] = {}
    for demand, rows in candidates.items():
        for row in rows:
            wanting.setdefault(row, []).append(demand)
    seen: set[D] = set()
    groups: list[list[D]] = []
    for demand in candidates:
        if demand in seen:
            continue
        seen.add(demand)
        group = [demand]
        for member in group:  # it grows while it is read
            for row in candidates[member]:
                for other in wanting.pop(row, ()):
                    if other not in seen:
                        seen.add(other)
                        group.append(other)
        groups.append(group)
    return groups


def _settle_group(
    candidates: dict[D, dict[S, None]], need: Mapping[D, int], settled: Settled[D, S]
) -> None:
    if len(candidates) == 1:
        ((demand, rows),) = candidates.items()
        (settled.taken if len(rows) <= need[demand] else settled.open)[demand] = list(rows)
        return
    if any(len(rows) < need[demand] for demand, rows in candidates.items()):
        _only_exclusive(candidates, need, settled)
        return
    left = {demand: dict(rows) for demand, rows in candidates.items()}
    wanting: dict[S, set[D]] = {}
    for demand, rows in left.items():
        for row in rows:
            wanting.setdefault(row, set()).add(demand)
    taken: dict[D, list[S]] = {}
    ready = [demand for demand, rows in left.items() if len(rows) == need[demand]]
    while ready:
        demand = ready.pop()
        if demand not in left:
            continue
        taken[demand] = list(left.pop(demand))
        for row in taken[demand]:
            for other in wanting[row] - {demand}:
                if other not in left or row not in left[other]:
                    continue
                del left[other][row]
                if len(left[other]) < need[other]:
                    # Something is missing: then nothing follows for any of them.
                    settled.open.update({key: list(rows) for key, rows in candidates.items()})
                    return
                if len(left[other]) == need[other]:
                    ready.append(other)
    settled.taken.update(taken)
    settled.open.update({key: list(rows) for key, rows in left.items()})


def _only_exclusive(
    candidates: dict[D, dict[S, None]], need: Mapping[D, int], settled: Settled[D, S]
) -> None:
    """Where rows are missing, only those that one demand alone can have are given to it."""
    wanting = Counter(row for rows in candidates.values() for row in rows)
    for demand, rows in candidates.items():
        own = [row for row in rows if wanting[row] == 1]
        if len(rows) <= need[demand] and own:
            settled.taken[demand] = own
        shared = [row for row in rows if len(rows) > need[demand] or wanting[row] > 1]
        if shared:
            settled.open[demand] = shared


def settle_apart(
    settled: Settled[D, S],
    needs: Mapping[D, int],
    apart: Callable[[D, S, D, S], bool],
) -> None:
    """Decide more of what is open where some rows cannot be had together.

    All ways to satisfy the open demands are tried; what is the same in all of them follows.

    Args:
        settled: what was decided; it is changed.
        needs: how many each demand needs.
        apart: whether a row for a demand excludes a row for a demand.
    """
    open_ = {demand: dict.fromkeys(rows) for demand, rows in settled.open.items()}
    for group in _groups(open_):
        left = {demand: needs[demand] - len(settled.taken.get(demand, [])) for demand in group}
        if any(left[demand] < 1 or len(open_[demand]) < left[demand] for demand in group):
            continue
        had = [(demand, row) for demand in group for row in settled.taken.get(demand, [])]
        places = [
            (demand, row)
            for demand in group
            for row in open_[demand]
            if not any(apart(demand, row, *other) for other in had)
        ]
        follows = _Ways(places, left, apart).follows()
        for demand, row in follows:
            settled.taken.setdefault(demand, []).append(row)
            for other in group:
                open_[other].pop(row, None)
        for demand in group:
            done = len(settled.taken.get(demand, [])) >= needs[demand]
            settled.open[demand] = [] if done else list(open_[demand])
            if not settled.open[demand]:
                del settled.open[demand]


@dataclass(slots=True)
class _Ways(Generic[D, S]):
    """All ways to satisfy demands, as far as they can be counted."""

    places: list[tuple[D, S]]
    left: dict[D, int]
    apart: Callable[[D, S, D, S], bool]
    steps: int = 0
    common: set[tuple[D, S]] | None = None

    def follows(self) -> list[tuple[D, S]]:
        """What is the same in all ways; nothing where there are none, or too many to try."""
        if not self._try(0, [], dict(self.left)):
            return []
        common = self.common or set()
        return [place for place in self.places if place in common]

    def _try(self, at: int, chosen: list[tuple[D, S]], left: dict[D, int]) -> bool:
        """Whether to go on: not where the steps are used up or nothing is common any more."""
        self.steps += 1
        if self.steps > _STEPS:
            return False
        if not any(left.values()):
            found = set(chosen)
            self.common = found if self.common is None else self.common & found
            return bool(self.common)
        if at == len(self.places) or self._short(at, left):
            return True
        demand, row = self.places[at]
        if left[demand] and not any(
            row == other or self.apart(demand, row, taker, other) for taker, other in chosen
        ):
            left[demand] -= 1
            if not self._try(at + 1, [*chosen, (demand, row)], left):
                return False
            left[demand] += 1
        return self._try(at + 1, chosen, left)

    def _short(self, at: int, left: dict[D, int]) -> bool:
        """Whether too few rows are left for a demand."""
        coming = Counter(demand for demand, _ in self.places[at:])
        return any(coming[demand] < need for demand, need in left.items())
