"""What the frame of the page shows of the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from turnspan import __version__
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.web.endpoints import NoQuery, endpoint
from turnspan_records.screens.inventory import arrivals, projects


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Which store it is, and whose records are in it."""

    store: str
    """Its DSN, without a password."""
    name: str
    """What people call it: its database with the server's host, or its folder without the path."""
    version: str
    projects: list[str]


@endpoint("GET", "/api/store", "Which store is shown.")
def _facts(store: Store, _query: NoQuery) -> StoreFacts:
    return StoreFacts(str(store.dsn), _name(store.dsn), __version__, projects(store))


def _name(dsn: Dsn) -> str:
    return f"{dsn.database} on {dsn.host}" if dsn.path is None else dsn.path.name


@dataclass(frozen=True, slots=True)
class ArrivalsQuery:
    """Of which project; of all where it is empty."""

    project: str = ""


@dataclass(frozen=True, slots=True)
class ArrivalsAnswer:
    """What runs, what arrived, and what waits to land."""

    running: int
    last: datetime | None
    waiting: int
    """Files of this machine's spool of the store, of any project."""


@endpoint("GET", "/api/arrivals", "What runs, what arrived last, and what waits to land.")
def _arrivals(store: Store, query: ArrivalsQuery) -> ArrivalsAnswer:
    told = arrivals(store, query.project)
    return ArrivalsAnswer(told.running, told.last, len(Spool(store.dsn.spool).names()))
