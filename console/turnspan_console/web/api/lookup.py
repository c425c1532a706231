"""What an id means."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.endpoints import Endpoint
from turnspan_records.lookup import Found, find


@dataclass(frozen=True, slots=True)
class LookupQuery:
    """An id, or its first six characters at least."""

    id: str


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """Every record that it means."""

    found: list[Found]


def _found(store: Store, query: LookupQuery) -> LookupAnswer:
    return LookupAnswer(find(store, query.id))


ENDPOINTS = (
    Endpoint("GET", "/api/lookup", LookupQuery, LookupAnswer, _found, "What an id means."),
)
