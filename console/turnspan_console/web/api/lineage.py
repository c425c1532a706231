"""Experiments: their lineages and versions, what changed, what came of it; steering."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.rows.loop_tables import LineageEventRow
from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.judge import reviewer_of
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import shown
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging.annotation import judgment_id
from turnspan_records.judging.unlanded import land
from turnspan_records.loop.directives import LONGEST, Word, steer
from turnspan_records.loop.improvement import ExperimentRecord
from turnspan_records.loop.lineages import experiment, experiments


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
    items: list[ExperimentItem] = []
    for row in rows:
        numbers = {name: int(row[name] or 0) for name in ("rollouts", "cycle")}
        items.append(of_row(ExperimentItem, row, need=row["need_text"], **numbers))
    sql = shown("lineages/experiments", project=query.project, limit=query.limit)
    return Experiments(items, sql)


@endpoint("GET", "/api/lineage", "One experiment.")
def _lineage(store: Store, query: LineageQuery) -> ExperimentRecord:
    with refusing("experiment"):
        return experiment(store, query.session, project=query.project)


@dataclass(frozen=True, slots=True)
class LineageNamed:
    """A lineage."""

    project: str
    id: Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class SteerQuery:
    """One thing that is said of lineages; ``text`` is the directive, or the reason. ``id`` is made
    by who asks: asked again with it, it is said once."""

    lineages: Annotated[list[LineageNamed], Meta(min_length=1, max_length=100)]
    word: Word
    by: str
    id: str
    text: Annotated[str, Meta(max_length=LONGEST)] = ""


@dataclass(frozen=True, slots=True)
class Steered:
    """Of how many lineages it was said."""

    number: int


@endpoint("POST", "/api/lineage/steer", "Say what is to become of lineages.")
def _steer(store: Store, query: SteerQuery) -> Steered:
    with refusing("lineage"):
        named = [(one.project, one.id) for one in query.lineages]
        spool = judging_spool(store, LineageEventRow)
        by, id_ = reviewer_of(query.by), judgment_id(query.id)
        said = Steered(steer(spool, named, query.word, query.text, author=by, id=id_))
        land(store)  # whatever is looked at next knows it
        return said
