"""How turns end, over time and beside the period before; the diagnostics, each with its SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from turnspan_clickhouse.store.client import Result, Store
from turnspan_console.values import plain
from turnspan_console.web.api.turns import WantedQuery, wanted_of
from turnspan_console.web.api.window import WindowQuery, window_of
from turnspan_console.web.endpoints import BadRequestError, endpoint
from turnspan_records.access.questions import shown_sql
from turnspan_records.diagnostics import Diagnostic, find
from turnspan_records.screens.overview import (
    Ends,
    LookAts,
    Trend,
    ends,
    look_at,
    trend,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticQuery(WindowQuery):
    """Which diagnostic, of what."""

    name: str
    limit: Annotated[int, Meta(ge=1, le=500)] = 20


@dataclass(frozen=True, slots=True)
class DiagnosticAnswer:
    """A diagnostic's rows; columns are named by what they hold."""

    name: str
    title: str
    question: str
    remedy: str
    columns: list[str]
    rows: list[list[Any]]
    sql: str


@endpoint("GET", "/api/overview/ends", "How turns end.")
def _ends(store: Store, query: WantedQuery) -> Ends:
    return ends(store, wanted_of(query))


@endpoint("GET", "/api/overview/trend", "Figures over time.")
def _trend(store: Store, query: WantedQuery) -> Trend:
    return trend(store, wanted_of(query))


@endpoint("GET", "/api/overview/looks", "What to look at.")
def _looks(store: Store, query: WantedQuery) -> LookAts:
    return look_at(store, wanted_of(query))


@endpoint("GET", "/api/diagnostic", "A diagnostic.")
def _diagnosed(store: Store, query: DiagnosticQuery) -> DiagnosticAnswer:
    window = window_of(query)
    try:
        one = find(query.name)
    except KeyError:
        raise BadRequestError(f"There is no diagnostic {query.name!r}.") from None
    asked = one.asked(store, project=query.project, window=window, limit=query.limit)
    return answer_of(one, store.query(*asked), shown_sql(*asked))


def answer_of(one: Diagnostic, result: Result, sql: str) -> DiagnosticAnswer:
    """What a diagnostic was answered, with its SQL as it was asked."""
    rows = [[plain(value) for value in row] for row in result.rows]
    return DiagnosticAnswer(
        one.name, one.title, one.question, one.remedy, list(result.names), rows, sql
    )
