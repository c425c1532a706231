"""Which messages of two lists are the same: a longest common subsequence of their hashes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

_PLACES = 64
"""Places of one message that are tried: a list that says one thing a thousand times has many."""


def common_pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Places (in ``before``, in ``after``) of equal messages, both rising, as many as there can be
    (where no message stands more than 64 times).

    What both begin and end with is paired first, which never costs a pair. Takes n log n for
    messages that differ (Hunt and Szymanski).
    """
    start, end = 0, min(len(before), len(after))
    while start < end and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < end - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle = _middle(before[start : len(before) - tail], after[start : len(after) - tail])
    return [
        *((at, at) for at in range(start)),
        *((start + old, start + new) for old, new in middle),
        *((len(before) - at, len(after) - at) for at in range(tail, 0, -1)),
    ]


def _middle(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    places: dict[str, list[int]] = {}
    for at, one in enumerate(before):
        places.setdefault(one, []).append(at)
    ends: list[int] = []  # the least end, in ``before``, of a chain of each length
    chains: list[_Pair | None] = []
    for new, one in enumerate(after):
        # Descending, so that a message of ``after`` is paired once.
        for old in reversed(_near(places.get(one, ()), new)):
            length = bisect_left(ends, old)
            pair = (old, new, chains[length - 1] if length else None)
            if length == len(ends):
                ends.append(old)
                chains.append(pair)
            else:
                ends[length], chains[length] = old, pair
    found: list[tuple[int, int]] = []
    last = chains[-1] if chains else None
    while last is not None:
        found.append(last[:2])
        last = last[2]
    return found[::-1]


_Pair = tuple[int, int, "_Pair | None"]


def _near(places: Sequence[int], new: int) -> Sequence[int]:
    if len(places) <= _PLACES:
        return places
    at = min(max(0, bisect_left(places, new) - _PLACES // 2), len(places) - _PLACES)
    return places[at : at + _PLACES]
