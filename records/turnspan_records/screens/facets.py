"""What the turns of a list have in common, and when they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import dollars
from turnspan_records.access.questions import shown_sql
from turnspan_records.access.turn_rows import turn_rows
from turnspan_records.sql import statement
from turnspan_records.turn_filters import ATTRIBUTE, COLUMNS, NUMBERS, TurnListFilter

VALUES = 12
"""Values of a facet at most, those with the most turns."""
USUAL: Final = (
    *("stop", "agent", "user", "model", "tool", "failed", "error", "version"),
    *("service", "environment", "project", "outcome", "cost", "seconds"),
)
"""What turns are divided by where nothing is named."""
KEYS: Final = "attribute"
"""The facet of the keys of attributes."""
_EDGES: Final[Mapping[str, tuple[str, ...]]] = {
    "cost": ("0.0001", "0.001", "0.01", "0.1", "1", "10"),
    "seconds": ("0.1", "1", "10", "60", "600", "3600"),
}
"""Where the ranges of a number begin."""
_TOOLS: Final = ("tool", "failed")
_OUTCOME: Final = "outcome"
BINS = 60
_WIDTHS = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200),
    *(86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000),
)
"""Seconds of a bin, as people count time."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value, and how many of the turns have it."""

    value: str
    turns: int


@dataclass(frozen=True, slots=True)
class Facet:
    """What a filter of this name would find."""

    name: str
    values: list[FacetValue]
    sql: str
    """It counts others with it."""


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """Turns that began in a stretch of time."""

    time: datetime
    turns: int
    problems: int
    """Of them those that ended otherwise than ``completed`` and are not running."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """The turns over time. Bins without turns are there, too."""

    turns: int
    cost_usd: float | None
    width_seconds: int
    bins: list[HistogramBin]
    sql: str


@dataclass(frozen=True, slots=True)
class Facets:
    """What the turns have in common."""

    facets: list[Facet]


def facets(
    store: Store,
    wanted: TurnListFilter,
    *,
    names: Sequence[str] = USUAL,
    text: str = "",
    values: int = VALUES,
) -> Facets:
    """How the turns that are wanted divide by these names: filters, ``attribute.KEY``, or
    ``attribute`` for the keys there are. Of each the ``values`` with the most turns that have this
    text in them. Of a name that is filtered by, the turns are those without these terms: a value
    more could be chosen.

    Raises:
        ValueError: nothing is divided by a name; the message lists what there is.
        StoreError: as ``Store.query``.
    """
    own = [name for name in names if name in wanted.filter.names]
    others = [name for name in names if name not in own]
    turns, given = turn_rows(store, wanted.project)
    given |= {"text": text, "values": values}
    found: dict[str, Facet] = {}
    # One statement; and one more for each name that is filtered by.
    for group, filter_ in [
        (others, wanted.filter),
        *(([name], wanted.filter.without(name)) for name in own),
    ]:
        if group:
            divided = replace(wanted, filter=filter_)
            found |= _divided(store, turns, divided, group, given)
    return Facets([found[name] for name in names if name in found])


def _divided(
    store: Store,
    turns: str,
    wanted: TurnListFilter,
    names: Sequence[str],
    given: Mapping[str, object],
) -> dict[str, Facet]:
    """The facets of names, in no order, by one statement."""
    elsewhere = (*_TOOLS, _OUTCOME)
    of_turns = [_pairs(name, f"key{at}") for at, name in enumerate(names) if name not in elsewhere]
    keys = {f"key{at}": name.removeprefix(ATTRIBUTE) for at, name in enumerate(names)}
    pieces: list[str] = []
    if of_turns:
        pairs = f"arrayConcat({', '.join(of_turns)})"
        pieces.append(statement("facets/of_turns", turns=turns, where=wanted.where, pairs=pairs))
    if any(name in _TOOLS for name in names):
        pieces.append(statement("facets/of_tools", where=wanted.where))
    if _OUTCOME in names:
        pieces.append(statement("facets/of_outcomes", where=wanted.where))
    sql = statement("facets/values", pieces="\nUNION ALL\n".join(pieces))
    asked = {**wanted.parameters, **given, **keys, "names": list(names)}
    found: dict[str, list[FacetValue]] = {}
    for name, value, number in store.query(sql, asked).rows:
        found.setdefault(str(name), []).append(FacetValue(str(value), int(number)))
    for name in _EDGES.keys() & found.keys():
        turns_of = {one.value: one for one in found[name]}
        found[name] = [turns_of[value] for value in _ranges(name) if value in turns_of]
    return {name: Facet(name, values, shown_sql(sql, asked)) for name, values in found.items()}


def _pairs(name: str, parameter: str) -> str:
    """The SQL of an array of a name and each value that a turn has of it. Raises ``ValueError``."""
    if name in COLUMNS:
        return f"[('{name}', toString({COLUMNS[name][1]}))]"
    if name == "model":
        return "arrayMap(model -> ('model', toString(model)), arrayDistinct(models))"
    if name in _EDGES:
        number, edges = NUMBERS[name][1], ", ".join(_EDGES[name])
        label = f"{_ranges(name)}[1 + arrayCount(edge -> ifNull({number}, 0) >= edge, [{edges}])]"
        return f"[('{name}', if(isNull({number}), '', {label}))]"
    if name == KEYS:
        return f"arrayMap(key -> ('{KEYS}', toString(key)), mapKeys(attributes))"
    if name.startswith(ATTRIBUTE):
        key = f"{{{parameter}:String}}"
        return f"[(concat('{ATTRIBUTE}', {key}), attributes[{key}])]"
    known = ", ".join((*COLUMNS, "model", *_TOOLS, _OUTCOME, *_EDGES, KEYS, f"{ATTRIBUTE}KEY"))
    raise ValueError(f"There is no facet {name!r}; there are: {known}.")


def _ranges(name: str) -> list[str]:
    """The ranges of a number as a filter has them, the lowest first."""
    edges = _EDGES[name]
    return [f"..{edges[0]}", *map("..".join, pairwise(edges)), f"{edges[-1]}.."]


def histogram(store: Store, wanted: TurnListFilter) -> Histogram:
    """When the turns that are wanted began. Raises ``StoreError`` as ``Store.query``."""
    turns, given = turn_rows(store, wanted.project)
    given |= wanted.parameters
    made = statement("facets/range", turns=turns, where=wanted.where)
    [(number, cost, first, last)] = store.query(made, given).rows
    if not number:
        return Histogram(0, None, 0, [], "")
    width = width_for(int(last) - int(first))
    made = statement("facets/bins", turns=turns, where=wanted.where)
    given |= {"width": width}
    rows = store.query(made, given).rows
    counted = {int(bin_): (int(all_), int(problems)) for bin_, all_, problems in rows}
    bins = [
        HistogramBin(datetime.fromtimestamp(at * width, timezone.utc), *counted.get(at, (0, 0)))
        for at in range(int(first) // width, int(last) // width + 1)
    ]
    return Histogram(int(number), dollars(cost), width, bins, shown_sql(made, given))


def width_for(seconds: int) -> int:
    """The width of at most ``BINS`` bins over so many seconds."""
    return next((one for one in _WIDTHS if seconds < one * (BINS - 1)), _WIDTHS[-1])
