"""What changed between two model calls."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.endpoints import Endpoint, NothingFoundError
from turnspan_records.screens.difference import diff
from turnspan_records.screens.difference_types import Difference


@dataclass(frozen=True, slots=True)
class DifferenceQuery:
    """Which two calls, by their spans."""

    project: str
    before: str
    after: str


def _difference(store: Store, query: DifferenceQuery) -> Difference:
    try:
        return diff(store, query.project, query.before, query.after)
    except KeyError as missing:
        raise NothingFoundError(
            f"There is no model call {missing.args[0]!r} in {query.project!r}."
        ) from None


ENDPOINTS = (
    Endpoint(
        *("GET", "/api/diff", DifferenceQuery, Difference, _difference),
        "What changed between two model calls.",
    ),
)
