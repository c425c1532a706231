"""What fails, by the shape of its message; what a tool was fed, and what the model did next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.keyset import SortKey, cursor, list_order, number, text
from turnspan_records.access.questions import ask, shown, shown_sql
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.sql import statement

_TIES: Final = tuple(SortKey(f"f.{name}", "text") for name in ("source", "name", "error", "shape"))
ERROR_SORTS: Final[Mapping[str, SortKey]] = {
    "times": number("times"),
    "rate": number("times / nullIf(c.calls, 0)"),
    "turns": number("turns"),
    "first": number("first"),
    "last": number("last"),
    "name": text("f.name"),
    "source": text("f.source"),
    "error": text("f.error"),
    "message": text("f.shape"),
}
"""What failures are sorted by: the columns of their list."""

_ALL: Final = "true"
_NEWEST: Final = "start_time IN (SELECT fromUnixTimestamp64Nano(arrayJoin(page).8, 'UTC'))"
"""Of which failures: of all, or of the newest of the shapes that are shown."""


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """Where one of them is."""

    project: str
    session: str
    turn: str
    span: str


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """Failures that differ in nothing but numbers, ids and quoted parts."""

    source: str
    """``model call``, ``tool`` or ``turn``."""
    name: str
    error: str
    shape: str
    times: int
    of: int | None
    """Calls of this model or tool in the window, failed or not; ``None`` of a turn."""
    turns: int
    first: datetime
    last: datetime
    example: str
    """The newest message, its first 400 characters."""
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class ErrorShapes:
    """What failed, in the order that was asked for."""

    shapes: list[ErrorShape]
    next: str
    """What to give as ``after`` for those that follow; empty where there are none."""
    sql: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the model did after the failure, in a later round of the turn."""

    did: str
    """``same call again``, ``changed, worked``, ``changed, failed again``, ``other tools`` or ``no
    more tools``."""
    times: int
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class Fed:
    """What a tool was given, and what came of it."""

    failed: bool
    time: datetime
    arguments: str
    """Their first 1,000 characters."""
    said: str
    """The error or the result, its first 400 characters."""
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class ToolFailures:
    """A failing tool, looked at closely."""

    tool: str
    next_steps: list[NextStep]
    fed: list[Fed]
    """The newest calls, some that failed and some that worked."""
    sql: str


def error_shapes(
    store: Store,
    *,
    project: str = "",
    window: Window | None = None,
    sort: str = "",
    after: str = "",
    limit: int = 50,
) -> ErrorShapes:
    """What failed in a window, most often first, or by one of ``ERROR_SORTS``.

    Raises:
        ValueError: nothing is sorted so, or ``after`` is not the ``next`` of a page of this order.
        StoreError: as ``Store.query``.
    """
    order = list_order(sort, ERROR_SORTS, _TIES, default="-times", ties_descending=False)
    older, place = order.after(after) if after else ("true", {})
    answers = statement("errors/_model_answers")
    sql = statement(
        "errors/shapes",
        model_answers=answers,
        failures=statement("errors/_failures", among=_ALL, model_answers=answers),
        newest=statement("errors/_failures", among=_NEWEST, model_answers=answers),
        older=older,
        order=order.sql,
        place=order.place,
    )
    given = window_parameters(project, window, **place)
    # One more than is shown says whether there are more.
    rows = store.query(sql, {**given, "limit": limit + 1}).dicts()
    following = cursor(rows[limit - 1]["place"]) if len(rows) > limit else ""
    shapes = [_shape(row) for row in rows[:limit]]
    return ErrorShapes(shapes, following, shown_sql(sql, {**given, "limit": limit}))


def tool_failures(
    store: Store, tool: str, *, project: str = "", window: Window | None = None, each: int = 5
) -> ToolFailures:
    """What a tool was fed, and what the model did when it failed. Raises as ``error_shapes``."""
    given = window_parameters(project, window, tool=tool, each=each)
    steps = [
        NextStep(row["did"], row["times"], ErrorPlace(*row["newest"]))
        for row in ask(store, "errors/next_steps", **given).dicts()
    ]
    fed = [
        of_row(
            Fed,
            row,
            time=utc(row["nanoseconds"]),
            place=ErrorPlace(row["project"], row["session_id"], row["turn_id"], row["span_id"]),
        )
        for row in ask(store, "errors/tool_calls", **given).dicts()
    ]
    return ToolFailures(tool, steps, fed, shown("errors/next_steps", **given))


def _shape(row: Mapping[str, Any]) -> ErrorShape:
    *place, example = row["newest"]
    return of_row(ErrorShape, row, of=row["calls_of"], example=example, place=ErrorPlace(*place))
