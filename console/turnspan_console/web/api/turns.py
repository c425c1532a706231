"""The turns and sessions of a window, a page at a time; what they have in common; texts in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.api.window import WindowQuery, window_of
from turnspan_console.web.endpoints import NoQuery, endpoint
from turnspan_records.screens.facets import USUAL, VALUES, Facets, Histogram, facets, histogram
from turnspan_records.screens.text_search import Search, find_text
from turnspan_records.screens.turns import (
    SessionsPage,
    TurnsPage,
    sessions_page,
    turns_page,
)
from turnspan_records.turn_filters import FILTER_NAMES, FilterName, TurnListFilter, turn_filter


@dataclass(frozen=True, slots=True)
class WantedQuery(WindowQuery):
    """Which turns."""

    filter: str = ""
    """As ``turnspan turns --filter`` takes it."""


@dataclass(frozen=True, slots=True)
class PageQuery(WantedQuery):
    """Which turns, in which order, and which part of the list."""

    sort: str = ""
    """As ``turnspan turns --sort`` takes it."""
    after: str = ""
    """The ``next`` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class FacetsQuery(WantedQuery):
    """Which turns, and what they are divided by."""

    name: Annotated[tuple[str, ...], Meta(max_length=40)] = ()
    """Filters, ``attribute.KEY``, or ``attribute`` for the keys there are; without one the usual
    ones."""
    text: str = ""
    """Only values that have it in them."""
    values: Annotated[int, Meta(ge=1, le=200)] = VALUES
    """Values of each at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery(WantedQuery):
    """Which text, in what belongs to which turns."""

    text: str
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


@dataclass(frozen=True, slots=True)
class TurnId:
    """One turn."""

    project: str
    turn: str


@dataclass(frozen=True, slots=True)
class FiltersAnswer:
    """What turns can be filtered by."""

    filters: list[FilterName]


def wanted_of(query: WantedQuery) -> TurnListFilter:
    """The turns that a request wants. Raises ``BadRequestError``."""
    with understood():
        return TurnListFilter(query.project, window_of(query), turn_filter(query.filter))


@endpoint("GET", "/api/turns", "The turns.")
def _turns(store: Store, query: PageQuery) -> TurnsPage:
    wanted = wanted_of(query)
    with understood():
        return turns_page(store, wanted, sort=query.sort, after=query.after, limit=query.limit)


@endpoint("GET", "/api/sessions", "The sessions.")
def _sessions(store: Store, query: PageQuery) -> SessionsPage:
    wanted = wanted_of(query)
    with understood():
        return sessions_page(store, wanted, sort=query.sort, after=query.after, limit=query.limit)


@endpoint("GET", "/api/facets", "What turns have in common.")
def _facets(store: Store, query: FacetsQuery) -> Facets:
    wanted = wanted_of(query)
    names = query.name or USUAL
    with understood():
        return facets(store, wanted, names=names, text=query.text, values=query.values)


@endpoint("GET", "/api/filters", "What turns can be filtered by.")
def _filters(_store: Store, _query: NoQuery) -> FiltersAnswer:
    return FiltersAnswer(FILTER_NAMES)


@endpoint("GET", "/api/histogram", "When turns began.")
def _histogram(store: Store, query: WantedQuery) -> Histogram:
    return histogram(store, wanted_of(query))


@endpoint("GET", "/api/find", "Where a text stands.")
def _found(store: Store, query: TextQuery) -> Search:
    wanted = wanted_of(query)
    with understood():
        return find_text(
            store,
            query.text,
            project=query.project,
            window=wanted.window,
            limit=query.limit,
            filter=wanted.filter,
        )
