"""What the turns of a list have in common, and when they were."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import dollars
from turnspan_records.access.questions import shown_sql
from turnspan_records.sql import statement
from turnspan_records.turn_filters import TurnListFilter

VALUES = 12
"""Values of a facet at most, those with the most turns."""
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


def facets(store: Store, wanted: TurnListFilter) -> Facets:
    """How the turns that are wanted divide. Raises ``StoreError`` as ``Store.query``."""
    made = statement("facets/values", where=wanted.where)
    given = {**wanted.parameters, "values": VALUES}
    found: dict[str, list[FacetValue]] = {
        name: [] for name in ("stop", "agent", "model", "tool", "failed", "version", "error")
    }
    for name, value, turns in store.query(made, given).rows:
        found[str(name)].append(FacetValue(str(value), int(turns)))
    made_of_tools = statement("facets/tools", where=wanted.where)
    tools = store.query(made_of_tools, wanted.parameters).rows
    found["tool"] = [FacetValue(str(one[0]), int(one[1])) for one in tools[:VALUES]]
    failing = sorted((one for one in tools if one[2]), key=lambda one: (-one[2], one[0]))
    found["failed"] = [FacetValue(str(one[0]), int(one[2])) for one in failing[:VALUES]]
    sql, sql_of_tools = shown_sql(made, given), shown_sql(made_of_tools, wanted.parameters)
    return Facets(
        [
            Facet(name, values, sql_of_tools if name in ("tool", "failed") else sql)
            for name, values in found.items()
            if values
        ]
    )


def histogram(store: Store, wanted: TurnListFilter) -> Histogram:
    """When the turns that are wanted began. Raises ``StoreError`` as ``Store.query``."""
    made = statement("facets/range", where=wanted.where)
    [(turns, cost, first, last)] = store.query(made, wanted.parameters).rows
    if not turns:
        return Histogram(0, None, 0, [], "")
    width = width_for(int(last) - int(first))
    made = statement("facets/bins", where=wanted.where)
    given = {**wanted.parameters, "width": width}
    rows = store.query(made, given).rows
    counted = {int(bin_): (int(all_), int(problems)) for bin_, all_, problems in rows}
    bins = [
        HistogramBin(datetime.fromtimestamp(at * width, timezone.utc), *counted.get(at, (0, 0)))
        for at in range(int(first) // width, int(last) // width + 1)
    ]
    return Histogram(int(turns), dollars(cost), width, bins, shown_sql(made, given))


def width_for(seconds: int) -> int:
    """The width of at most ``BINS`` bins over so many seconds."""
    return next((one for one in _WIDTHS if seconds < one * (BINS - 1)), _WIDTHS[-1])
