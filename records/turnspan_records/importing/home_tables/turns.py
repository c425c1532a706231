"""Which turn a model call belongs to: the one whose summary is the next of its session.

A table of calls and summaries names no turns. A turn's id is made of its first row, so that it is
known when that row is read; the summary, which may come much later, ends the turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

MAX_GROUPS: Final = 100_000
"""Groups of which it is remembered whether a turn is open; others are looked up in the table."""

Group = tuple[str, str]
"""A session, and the turn in it that the table names; empty where it names none."""


@dataclass(slots=True)
class OpenTurn:
    """A turn whose summary has not come, and what its calls add up to."""

    name: str
    """Of the row that it began with."""
    calls: int = 0
    tool_errors: int = 0
    cost: Decimal | None = None

    def add_call(self, cost: Decimal | None, tool_errors: int) -> int:
        """A call of it; returns which one it is, counted from 1."""
        self.calls += 1
        self.tool_errors += tool_errors
        if cost is not None:
            self.cost = cost if self.cost is None else self.cost + cost
        return self.calls


LookUp = Callable[[list[Group]], Mapping[Group, OpenTurn]]


class Turns:
    """The open turns of groups, as of the row that is read."""

    def __init__(self, from_the_beginning: bool) -> None:
        self._open: OrderedDict[Group, OpenTurn | None] = OrderedDict()
        self._all_known = from_the_beginning

    def prepare(self, groups: Iterable[Group], look_up: LookUp) -> None:
        """Rows of these groups are read next."""
        if self._all_known:
            return
        unknown = [group for group in dict.fromkeys(groups) if group not in self._open]
        if unknown:
            found = look_up(unknown)
            for group in unknown:
                self.begin(group, found.get(group))

    def open(self, group: Group, name: str) -> OpenTurn:
        """The open turn of a group; else one begins with the row of this name."""
        turn = self._open.get(group)
        if turn is None:
            turn = OpenTurn(name)
            self.begin(group, turn)
        return turn

    def end(self, group: Group, name: str) -> OpenTurn:
        """The turn that a summary of this name ends."""
        turn = self._open.get(group) or OpenTurn(name)
        if self._all_known:
            self._open.pop(group, None)
        else:
            self.begin(group, None)
        return turn

    def begin(self, group: Group, turn: OpenTurn | None) -> None:
        """This turn of a group is open now, or none."""
        self._open[group] = turn
        self._open.move_to_end(group)
        if len(self._open) > MAX_GROUPS:
            self._open.popitem(last=False)
            self._all_known = False
