"""The order of a list, and its pages: each begins after the last row of the page before, however
many rows have come since.

Rows whose value is unknown come last, whichever way a list is ordered. Ties are ordered by what
identifies a row, so no row is on two pages, or on none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from turnspan.runtime.type_guards import is_list

_KINDS: Final[Mapping[str, tuple[str, str, type, int]]] = {
    # kind: how a value is put into a cursor and taken out of it, its type there, and its most.
    # A number goes by its bits: one that is read from digits may be another by the last of them.
    "number": ("reinterpretAsUInt64({})", "reinterpretAsFloat64({{{}:UInt64}})", int, 2**64 - 1),
    "text": ("{}", "{{{}:String}}", str, 0),
    "time": (
        "toUnixTimestamp64Nano({})",
        "fromUnixTimestamp64Nano({{{}:Int64}}, 'UTC')",
        int,
        2**63 - 1,
    ),
}


@dataclass(frozen=True, slots=True)
class SortKey:
    """What rows are ordered by: SQL that is NULL where the value is unknown."""

    expression: str
    kind: Literal["number", "text", "time"]

    @property
    def stored(self) -> str:
        """The SQL of the value as a cursor has it."""
        return _KINDS[self.kind][0].format(self.expression)

    def restored(self, parameter: str) -> str:
        """The SQL of a value that a cursor had, given as a parameter."""
        return _KINDS[self.kind][1].format(parameter)

    def accepts(self, value: object) -> bool:
        """Whether a cursor may have this value."""
        _, _, kind, most = _KINDS[self.kind]
        return type(value) is kind and (not isinstance(value, int) or 0 <= value <= most)


def number(expression: str) -> SortKey:
    """A key that is a number."""
    return SortKey(f"toFloat64({expression})", "number")


def text(expression: str) -> SortKey:
    """A key that is a text; an empty one is unknown."""
    return SortKey(f"nullIf(toString({expression}), '')", "text")


@dataclass(frozen=True, slots=True)
class ListOrder:
    """How a list is ordered."""

    key: SortKey
    descending: bool
    ties: tuple[SortKey, ...]
    """What identifies a row; never NULL."""
    ties_descending: bool = True

    @property
    def sql(self) -> str:
        """What follows ORDER BY."""
        words = [f"{self.key.expression} {_way(self.descending)} NULLS LAST"]
        return ", ".join(
            words + [f"{one.expression} {_way(self.ties_descending)}" for one in self.ties]
        )

    @property
    def place(self) -> str:
        """The SQL of a row's place in the order, of which ``cursor`` makes the next page's."""
        return f"({', '.join(one.stored for one in (self.key, *self.ties))})"

    def after(self, cursor: str) -> tuple[str, dict[str, object]]:
        """The condition on rows that follow a cursor, and its parameters.

        Raises:
            ValueError: it is not the ``next`` of a page in this order.
        """
        place = self._read(cursor)
        names = [f"place{at}" for at in range(len(place))]
        given = dict(zip(names, place, strict=True))
        ties = ", ".join(one.expression for one in self.ties)
        values = ", ".join(
            one.restored(name) for one, name in zip(self.ties, names[1:], strict=True)
        )
        tied = f"({ties}) {'<' if self.ties_descending else '>'} ({values})"
        key = self.key.expression
        if place[0] is None:
            del given[names[0]]
            return f"({key} IS NULL AND {tied})", given
        value = self.key.restored(names[0])
        beyond = f"{key} {'<' if self.descending else '>'} {value} OR {key} IS NULL"
        return f"({beyond} OR ({key} = {value} AND {tied}))", given

    def _read(self, cursor: str) -> list[Any]:
        try:
            said: Any = json.loads(cursor)
        except (ValueError, RecursionError):
            said = None
        place = said if is_list(said) else []
        if (
            len(place) == 1 + len(self.ties)
            and (place[0] is None or self.key.accepts(place[0]))
            and all(key.accepts(value) for key, value in zip(self.ties, place[1:], strict=True))
        ):
            return place
        raise ValueError(
            f"{cursor[:80]!r} is no place in this list: give the `next` of the page before, "
            "and the same sort."
        )


def cursor(place: Sequence[object]) -> str:
    """The ``next`` of a page whose last row has this place."""
    return json.dumps(list(place), ensure_ascii=False, separators=(",", ":"))


def list_order(
    sort: str,
    keys: Mapping[str, SortKey],
    ties: Sequence[SortKey],
    *,
    default: str,
    ties_descending: bool = True,
) -> ListOrder:
    """The order of a name as people write it: ``cost``, or ``-cost`` for the largest first.

    Raises:
        ValueError: there is no such name; the message lists those there are.
    """
    sort = sort.strip() or default
    name = sort.removeprefix("-")
    if name not in keys:
        raise ValueError(
            f"There is no sort {name!r}; there are: {', '.join(keys)}, each with - before it for "
            "the largest first."
        )
    key = keys[name]
    rest = tuple(one for one in ties if one != key)
    return ListOrder(key, sort.startswith("-"), rest, ties_descending)


def _way(descending: bool) -> str:
    return "DESC" if descending else "ASC"
