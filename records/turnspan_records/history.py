"""Which messages of a call are new: an agent resends its history with every call.

A call's input is compared with the earlier call whose conversation (its input and its reply) it
continues furthest, by position, so that a second "yes" of the user is new although its hash is not.
Conversations are paths in one tree of messages: what a call sends again costs nothing, and a
session of thousands of calls takes as long and as much memory as it has messages.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SEARCHED = 24
"""How many of the latest conversations a call is compared with."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a call adds to a conversation: indices of its new inputs, and how many it left out."""

    new: tuple[int, ...]
    dropped: int = 0
    rewritten: bool = False
    """Whether what both share ends before the conversation does: history was trimmed or edited."""
    kept: int = 0
    """How many messages at the beginning are the same as the conversation's."""
    before: int = -1
    """The number of the call that it continues, in the order of ``add``; -1 where it begins."""


class _Node:
    """A message at its place in a conversation, after all that came before it there."""

    __slots__ = ("depth", "following", "jump", "message", "parent", "spoken")

    def __init__(self, parent: _Node | None, message: str, preamble: bool) -> None:
        self.parent = parent
        self.message = message
        self.following: dict[str, _Node] = {}
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.spoken: int = 0 if parent is None else parent.spoken + (not preamble)
        """Messages up to here that are not an agent's instructions."""
        self.jump = self._jump(parent)

    def _jump(self, parent: _Node | None) -> _Node:
        # Skew-binary: any node of a path is found from its end in as many steps as its length has
        # digits.
        if parent is None:
            return self
        far = parent.jump
        return far.jump if parent.depth - far.depth == far.depth - far.jump.depth else parent


class History:
    """The conversations seen so far in one scope.

    ``gist`` gives what two spellings of one message have in common (an assistant's reply that
    comes back in the history rarely has every field of the reply); ``preamble`` tells whether a
    message is one that every conversation of an agent begins with (its instructions).
    """

    def __init__(self, gist: Callable[[str], str], preamble: Callable[[str], bool]) -> None:
        self._gist = gist
        self._preamble = preamble
        self._root = _Node(None, "", preamble=True)
        self._ends: deque[tuple[_Node, int]] = deque(maxlen=SEARCHED)
        self._sent: dict[str, list[_Node]] = {}
        self._calls = 0

    def add(
        self, inputs: Sequence[str], outputs: Sequence[str], *, thread: str = "", repeated: int = 0
    ) -> Continuation:
        """Account for a call with these input and output hashes.

        The first ``repeated`` messages that the call of this ``thread`` before had sent are sent
        again and left out of ``inputs``; indices are those of the whole input.
        """
        path = self._sent.setdefault(thread, [])
        del path[repeated:]
        for one in inputs:
            path.append(self._after(path[-1] if path else self._root, one))
        best, common, before = self._continued(path)
        end = self._ends[best][0] if best >= 0 else self._root
        told = self._compare(end, path, common, before)
        if end.depth == common and best >= 0:
            del self._ends[best]
        last = path[-1] if path else self._root
        for one in outputs:
            last = self._after(last, one)
        self._ends.append((last, self._calls))
        self._calls += 1
        return told

    def has_preamble(self, thread: str) -> bool:
        """Whether the input of this thread's latest call holds instructions."""
        path = self._sent.get(thread, [])
        return bool(path) and path[-1].spoken < path[-1].depth

    def _after(self, before: _Node, hash_: str) -> _Node:
        message = self._gist(hash_)
        found = before.following.get(message)
        if found is None:
            found = before.following[message] = _Node(before, message, self._preamble(hash_))
        return found

    def _continued(self, path: list[_Node]) -> tuple[int, int, int]:
        best, most, number = -1, 0, -1
        for at in range(len(self._ends) - 1, -1, -1):
            end, call = self._ends[at]
            common = _in_common(end, path)
            if common > most or best < 0:
                best, most, number = at, common, call
        return best, most, number

    def _compare(self, end: _Node, path: list[_Node], common: int, before: int) -> Continuation:
        rest: Counter[str] = Counter()
        while end.depth > common and end.parent is not None:
            rest[end.message] += 1
            end = end.parent
        new: list[int] = []
        for at in range(common, len(path)):
            message = path[at].message
            if rest[message] > 0:
                rest[message] -= 1
            else:
                new.append(at)
        kept = len(path) - common - len(new)
        if not end.spoken and kept < max(2, len(new)):
            # Nothing but the instructions is shared: another conversation of the same agent.
            return Continuation(tuple(range(common, len(path))), kept=common)
        dropped = rest.total() if common < len(path) else 0
        rewritten = dropped > 0 or kept > 0
        return Continuation(tuple(new), dropped, rewritten, common, before)


def _in_common(end: _Node, path: list[_Node]) -> int:
    """How many messages the path that ends there and another begin with in common."""
    held = len(path)
    while end.depth:
        if end.depth <= held and path[end.depth - 1] is end:
            return end.depth
        far = end.jump
        nearer = far.depth == 0 or (far.depth <= held and path[far.depth - 1] is far)
        end = end.parent if nearer and end.parent is not None else far
    return 0
