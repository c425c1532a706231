"""Consortium runs: who said what in which iteration, what the arbiter made of it, what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.api.window import WindowQuery, window_of
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import shown
from turnspan_records.access.window import window_parameters
from turnspan_records.consortium.run_detail import ConsortiumRun, consortium_run, consortium_runs
from turnspan_records.lookup import find
from turnspan_records.loop.lineages import AmbiguousError


@dataclass(frozen=True, slots=True)
class RunsQuery(WindowQuery):
    """Which runs."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list."""

    time: datetime
    project: str
    name: str
    run: str
    status: str
    iterations: int
    members: int
    arbiter: str
    winner: str
    confidence: float | None
    agreement: float | None
    calls: int
    cost_usd: float | None
    duration: float
    error: str


@dataclass(frozen=True, slots=True)
class RunList:
    """Runs, the newest first."""

    runs: list[RunRow]
    sql: str


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Which run, by its id or its beginning."""

    run: str
    project: str = ""


@endpoint("GET", "/api/consortium", "The consortium runs.")
def _runs(store: Store, query: RunsQuery) -> RunList:
    window = window_of(query)
    found = consortium_runs(store, project=query.project, window=window, limit=query.limit)
    given = window_parameters(query.project, window, limit=query.limit)
    runs = [of_row(RunRow, row, duration=row["duration_seconds"]) for row in found.dicts()]
    return RunList(runs, shown("consortium/runs", **given))


@endpoint("GET", "/api/consortium/run", "One consortium run.")
def _run(store: Store, query: RunQuery) -> ConsortiumRun:
    with refusing("consortium run"):
        places = {
            (one.project, one.id)
            for one in find(store, query.run)
            if one.kind == "consortium" and query.project in ("", one.project)
        }
        if not places:
            raise KeyError(query.run)
        if len(places) > 1:
            raise AmbiguousError(", ".join(f"{id_} of {of}" for of, id_ in sorted(places)))
        ((project, id_),) = places
        return consortium_run(store, project, id_)
