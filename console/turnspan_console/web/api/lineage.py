"""Experiments: lineages with their versions, what changed between these, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.loop.improvement import ExperimentRecord
from turnspan_records.loop.lineages import experiment, experiments, experiments_sql


@dataclass(frozen=True, slots=True)
class ExperimentsQuery:
    """Which experiments."""

    project: str = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class ExperimentItem:
    """An experiment in the list."""

    project: str
    experiment: str
    last_time: datetime
    lineages: int
    rollouts: int
    cycle: int
    need: str


@dataclass(frozen=True, slots=True)
class Experiments:
    """Experiments, those worked on last first."""

    experiments: list[ExperimentItem]
    sql: str


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """Which experiment, by its name."""

    session: str
    project: str = ""


@endpoint("GET", "/api/lineage/experiments", "The experiments.")
def _experiments(store: Store, query: ExperimentsQuery) -> Experiments:
    rows = experiments(store, project=query.project, limit=query.limit).dicts()
    return Experiments(
        [
            of_row(
                ExperimentItem,
                row,
                last_time=utc(row["last_time"]),
                rollouts=int(row["rollouts"] or 0),
                cycle=int(row["cycle"] or 0),
                need=row["need_text"],
            )
            for row in rows
        ],
        experiments_sql(project=query.project, limit=query.limit),
    )


@endpoint("GET", "/api/lineage", "One experiment.")
def _lineage(store: Store, query: LineageQuery) -> ExperimentRecord:
    with refusing("experiment"):
        return experiment(store, query.session, project=query.project)
