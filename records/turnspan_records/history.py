"""Which messages of a call are new: an agent resends its history with every call.

A call's input is compared with the earlier call whose conversation (its input and its reply) it
continues furthest, by position, so that a second "yes" of the user is new although its hash is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SEARCHED = 24
"""How many of the latest conversations a call is compared with."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a call adds to a conversation: indices of its new inputs, and how many it left out."""

    new: tuple[int, ...]
    dropped: int = 0


class History:
    """The conversations seen so far in one scope.

    ``same`` tells whether two hashes are one message in two spellings (an assistant's reply that
    comes back in the history rarely has every field of the reply); ``preamble`` whether a message
    is one that every conversation of an agent begins with (its instructions).
    """

    def __init__(self, same: Callable[[str, str], bool], preamble: Callable[[str], bool]) -> None:
        self._same = same
        self._preamble = preamble
        self._chains: list[list[str]] = []

    def add(self, inputs: Sequence[str], outputs: Sequence[str]) -> Continuation:
        """Account for a call with these input and output hashes."""
        best, common = -1, 0
        oldest = max(0, len(self._chains) - SEARCHED)
        for at in range(len(self._chains) - 1, oldest - 1, -1):
            length = self._common(self._chains[at], inputs)
            if length > common or best < 0:
                best, common = at, length
        chain = self._chains[best] if best >= 0 else []
        continuation = self._compare(chain, inputs, common)
        if chain and common == len(chain):
            self._chains.pop(best)
        self._chains.append([*inputs, *outputs])
        return continuation

    def _common(self, chain: Sequence[str], inputs: Sequence[str]) -> int:
        end = min(len(chain), len(inputs))
        length = _difference(chain, inputs, 0, end)
        while length < end and self._same(chain[length], inputs[length]):
            length = _difference(chain, inputs, length + 1, end)
        return length

    def _compare(self, chain: Sequence[str], inputs: Sequence[str], common: int) -> Continuation:
        rest = Counter(chain[common:])
        new: list[int] = []
        for at in range(common, len(inputs)):
            if rest[inputs[at]] > 0:
                rest[inputs[at]] -= 1
            else:
                new.append(at)
        kept = len(inputs) - common - len(new)
        if all(self._preamble(one) for one in inputs[:common]) and kept < max(2, len(new)):
            # Nothing but the instructions is shared: another conversation of the same agent.
            return Continuation(tuple(range(common, len(inputs))))
        dropped = rest.total() if common < len(inputs) else 0
        return Continuation(tuple(new), dropped)


def _difference(one: Sequence[str], other: Sequence[str], start: int, end: int) -> int:
    """Where two lists differ first from a place on; the end where they do not. Slices are compared
    in C: a session of thousands of calls compares millions of hashes."""
    if start >= end or one[start] != other[start]:
        return start
    if one[start:end] == other[start:end]:
        return end
    while end - start > 1:  # they differ between the two
        middle = (start + end) // 2
        if one[start:middle] == other[start:middle]:
            start = middle
        else:
            end = middle
    return start
