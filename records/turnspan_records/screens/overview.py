"""How turns end, what they cost and how long they take, over time and beside the period before; and
which of them to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from math import isnan
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask, shown_sql
from turnspan_records.access.turn_rows import turn_rows
from turnspan_records.access.window import EARLIEST, LATEST, Window
from turnspan_records.screens.facets import width_for
from turnspan_records.sql import statement
from turnspan_records.turn_filters import LOOKS, TurnListFilter


@dataclass(frozen=True, slots=True)
class EndCount:
    """A way of ending."""

    end: str
    turns: int
    share: float | None
    """Of the turns that are not running; ``None`` of those that are."""
    before: int | None
    """Turns that ended so in the period before; ``None`` where there were none at all."""


@dataclass(frozen=True, slots=True)
class Ends:
    """How the turns of a window ended, most first, those that run last."""

    ends: list[EndCount]
    sql: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What a number of turns came to. ``None`` is unknown."""

    turns: int
    completed: int
    problems: int
    tools: int
    """Executed tools."""
    failed_tools: int
    cost_usd: float | None
    input_tokens: int | None
    cached_tokens: int | None
    """Of the input those that a cache had."""
    output_tokens: int | None
    p50_seconds: float | None
    """Of the turns that are not running."""
    p95_seconds: float | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """The turns that began in a stretch of time."""

    time: datetime
    since: datetime
    until: datetime
    """Of the stretch, from ``since`` to ``until`` (not included) is in the window."""
    figures: Figures


@dataclass(frozen=True, slots=True)
class EndsOverTime:
    """The turns that ended in one way, of each stretch of time."""

    end: str
    turns: list[int]


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What the turns cost that used a model, or several together."""

    models: str | None
    """Their names with ` + ` between them; empty where none was named; ``None`` of all the rest."""
    costs: list[float | None]
    """US dollars of each stretch of time; ``None`` where nothing is known."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The turns of a window, in stretches of time, all together, and those of as long before."""

    width_seconds: int
    buckets: list[Bucket]
    total: Figures
    before: Figures | None
    first_token_p95_seconds: float | None
    """Of the streamed model calls of the window, however their turns are filtered."""
    first_token_p95: list[float | None]
    """The same of each stretch of time."""
    ends: list[EndsOverTime]
    """Most turns first, those that run last."""
    models: list[ModelCost]
    """The costs by model: those with the highest costs, highest first, then all the rest."""
    sql: str
    models_sql: str


@dataclass(frozen=True, slots=True)
class LookAt:
    """Turns that are worth a look."""

    name: str
    """As the filter ``look:NAME`` has it."""
    meaning: str
    turns: int
    agent: str
    """The agent of most of them."""


@dataclass(frozen=True, slots=True)
class LookAts:
    """What is worth a look, where there is any."""

    found: list[LookAt]
    sql: str


_MOST_MODELS = 7
"""So many are told apart: the page has eight colours."""
_DAY = 86_400


def ends(store: Store, wanted: TurnListFilter) -> Ends:
    """How the turns ended. Raises ``StoreError`` as ``Store.query``."""
    every, of_calls = turn_rows(store, wanted.project)
    sql = statement("overview/ends", turns=every, where=wanted.where)
    earlier = _before(wanted)
    before: dict[str, int] | None = None
    if earlier is not None:
        rows = store.query(sql, {**earlier.parameters, **of_calls}).rows
        before = {str(end): int(turns) for end, turns in rows} or None
    given = {**wanted.parameters, **of_calls}
    rows = store.query(sql, given).rows
    now = {str(end): int(turns) for end, turns in rows}
    ended = sum(turns for end, turns in now.items() if end != "running")
    found = [
        EndCount(
            end,
            turns,
            None if end == "running" else turns / ended,
            None if before is None else before.get(end, 0),
        )
        for end, turns in now.items()
    ]
    return Ends(found, shown_sql(sql, given))


def trend(store: Store, wanted: TurnListFilter) -> Trend:
    """The figures over time. Raises ``StoreError`` as ``Store.query``."""
    every, of_calls = turn_rows(store, wanted.project)
    pieces = {"turns": every, "where": wanted.where}
    sql = statement("overview/total", **pieces)
    given = {**wanted.parameters, **of_calls}
    [whole] = store.query(sql, given).dicts()
    total = _figures(whole)
    earlier = _before(wanted)
    before = None
    if earlier is not None:
        before = _figures(store.query(sql, {**earlier.parameters, **of_calls}).dicts()[0])
    first, last = int(whole["first"]), int(whole["last"])
    # Days over more than four of them, and not less than a minute.
    width = max(width_for(last - first), _DAY if last - first > 4 * _DAY else 60)
    given["width"] = width
    sql = statement("overview/buckets", **pieces)
    rows = store.query(sql, given).dicts() if total.turns else []
    known = {int(row["bucket"]): _figures(row) for row in rows}
    none = Figures(0, 0, 0, 0, 0, None, None, None, None, None, None)
    numbers = range(first // width, last // width + 1) if known else range(0)
    window, stretch = wanted.window, timedelta(seconds=width)
    buckets = [
        Bucket(
            time, max(time, window.since), min(time + stretch, window.until), known.get(at, none)
        )
        for at in numbers
        for time in [datetime.fromtimestamp(at * width, timezone.utc)]
    ]
    by_model = statement("overview/models", **pieces)
    costs: Sequence[Sequence[Any]] = store.query(by_model, given).rows if known else []
    ended = statement("overview/ends_over_time", **pieces)
    counted: Sequence[Sequence[Any]] = store.query(ended, given).rows if known else []
    # Two questions: a quantile of the whole is none of the quantiles of its parts.
    [(first_token,)] = ask(store, "overview/first_token", **wanted.parameters).rows
    waits: Sequence[Sequence[Any]] = (
        ask(store, "overview/first_token_over_time", **given).rows if known else []
    )
    waited = {int(bucket): _known(wait) for bucket, wait in waits}
    return Trend(
        *(width, buckets, total, before, _known(first_token)),
        [waited.get(at) for at in numbers],
        _by_end(counted, numbers),
        _by_model(costs, {at: known.get(at, none).cost_usd for at in numbers}),
        shown_sql(sql, given),
        shown_sql(by_model, given),
    )


def look_at(store: Store, wanted: TurnListFilter) -> LookAts:
    """What is worth a look, in one pass. Raises ``StoreError`` as ``Store.query``."""
    looks = ", ".join(f"if({condition}, '{name}', '')" for name, (_, condition) in LOOKS.items())
    turns, given = turn_rows(store, wanted.project)
    given |= wanted.parameters
    sql = statement("overview/looks", turns=turns, looks=looks, where=wanted.where)
    rows: Sequence[Mapping[str, Any]] = store.query(sql, given).dicts()
    found = [LookAt(row["look"], LOOKS[row["look"]][0], row["turns"], row["agent"]) for row in rows]
    return LookAts(found, shown_sql(sql, given))


def _known(quantile: float | None) -> float | None:
    return None if quantile is None or isnan(quantile) else float(quantile)


def _by_end(rows: Sequence[Sequence[Any]], numbers: Sequence[int]) -> list[EndsOverTime]:
    counts: dict[str, dict[int, int]] = {}
    for bucket, end, turns in rows:
        counts.setdefault(str(end), {})[int(bucket)] = int(turns)
    order = sorted(counts, key=lambda end: (end == "running", -sum(counts[end].values()), end))
    return [EndsOverTime(end, [counts[end].get(at, 0) for at in numbers]) for end in order]


def _by_model(rows: Sequence[Sequence[Any]], wholes: Mapping[int, float | None]) -> list[ModelCost]:
    """The costs of the most expensive models, and of the rest; ``wholes`` is what each stretch of
    time cost in all."""
    costs: dict[str, dict[int, float]] = {}
    for bucket, used, cost in rows:
        costs.setdefault(str(used), {})[int(bucket)] = float(cost)
    highest = sorted(costs, key=lambda used: (-sum(costs[used].values()), used))[:_MOST_MODELS]
    found = [ModelCost(used, [costs[used].get(at) for at in wholes]) for used in highest]
    if len(costs) > len(highest):
        rest = [
            None
            if whole is None
            else max(0.0, whole - sum(costs[used].get(at, 0.0) for used in highest))
            for at, whole in wholes.items()
        ]
        found.append(ModelCost(None, rest))
    return found


def _before(wanted: TurnListFilter) -> TurnListFilter | None:
    """As long a time before the window; none where its beginning is open."""
    window = wanted.window
    if window.since <= EARLIEST:
        return None
    until = window.until if window.until < LATEST else datetime.now(timezone.utc)
    since = window.since - max(until - window.since, timedelta(0))
    return replace(wanted, window=Window(max(since, EARLIEST), window.since))


def _figures(row: Mapping[str, Any]) -> Figures:
    p50, p95 = map(float, row["seconds"]) if row["ended"] else (None, None)
    return of_row(Figures, row, p50_seconds=p50, p95_seconds=p95)
