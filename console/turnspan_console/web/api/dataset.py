"""A dataset of the turns that are selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.rows.tables import DatasetCase
from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.again.cases.case_sources import cases_of_turns
from turnspan_records.again.cases.dataset import DatasetError, make_dataset
from turnspan_records.judging.unlanded import land
from turnspan_records.turn_filters import TurnFilter, TurnListFilter


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    """Root turns of one project that become the newest version of a dataset."""

    name: str
    project: str
    turns: Annotated[list[str], Meta(min_length=1, max_length=10_000)]
    """The ids of the turns."""


@dataclass(frozen=True, slots=True)
class MadeDataset:
    """The version that was made, or that had these cases already."""

    dataset: str
    """``NAME@VERSION``."""
    cases: int
    with_expected: int
    """Cases with an expected answer."""
    is_new: bool


@endpoint("POST", "/api/datasets", "Make a dataset of the selected turns.")
def _make(store: Store, query: DatasetQuery) -> MadeDataset:
    judging_spool(store, DatasetCase)
    land(store)  # a version that was made a moment ago is known
    chosen = TurnFilter((("turn", "turn_id IN {turns:Array(String)}"),), {"turns": query.turns})
    with understood(DatasetError), understood(ValueError):
        _, cases = cases_of_turns(store, TurnListFilter(query.project, filter=chosen))
        made, is_new = make_dataset(store, query.name, cases, project=query.project)
    with_expected = sum(case.expected is not None for case in made.cases)
    return MadeDataset(made.title, len(made.cases), with_expected, is_new)
