"""What the frame of the page shows of the store."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan import __version__
from turnspan_clickhouse.store.client import Store
from turnspan_console.web.endpoints import NoQuery, endpoint
from turnspan_records.screens.inventory import projects


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Which store it is, and whose records are in it."""

    store: str
    """Its DSN, without a password."""
    version: str
    projects: list[str]


@endpoint("GET", "/api/store", "Which store is shown.")
def _facts(store: Store, _query: NoQuery) -> StoreFacts:
    return StoreFacts(str(store.dsn), __version__, projects(store))
