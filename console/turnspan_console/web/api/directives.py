"""Steering lineages: directives, locks, and that a cycle was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.rows.loop_tables import LineageEventRow
from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.api.reviewers import reviewer_of
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.loop.directives import LONGEST, Word, steer
from turnspan_records.screens.review import judgment_id, land


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
        spool, by, id_ = (
            judging_spool(store, LineageEventRow),
            reviewer_of(query.by),
            judgment_id(query.id),
        )
        said = Steered(steer(spool, named, query.word, query.text, author=by, id=id_))
        land(store)  # whatever is looked at next knows it
        return said
