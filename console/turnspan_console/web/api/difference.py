"""What changed between two model calls."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.screens.difference import diff
from turnspan_records.screens.difference_types import Difference


@dataclass(frozen=True, slots=True)
class DifferenceQuery:
    """Which two calls, by their spans."""

    project: str
    before: str
    after: str


@endpoint("GET", "/api/diff", "What changed between two model calls.")
def _difference(store: Store, query: DifferenceQuery) -> Difference:
    with refusing("model call", query.project):
        return diff(store, query.project, query.before, query.after)
