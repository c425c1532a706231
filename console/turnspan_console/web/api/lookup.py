"""What an id means, and which names have a text in them."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.endpoints import endpoint
from turnspan_records.lookup import RecordRef, find
from turnspan_records.loop.lineages import experiment_of
from turnspan_records.screens.inventory import Named, names


@dataclass(frozen=True, slots=True)
class LookupQuery:
    """An id, or its first six characters at least."""

    id: str


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record that the id means. ``experiment`` is that of a lineage and what hangs off it."""

    kind: str
    id: str
    project: str
    session: str
    experiment: str


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """Every record that it means."""

    found: list[FoundRecord]


@dataclass(frozen=True, slots=True)
class NamesQuery:
    """A part of the name."""

    text: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class NamesAnswer:
    """Names of sessions, agents, tools and models, a few of each."""

    names: list[Named]


@endpoint("GET", "/api/lookup", "What an id means.")
def _found(store: Store, query: LookupQuery) -> LookupAnswer:
    return LookupAnswer([_record(store, one) for one in find(store, query.id)])


def _record(store: Store, one: RecordRef) -> FoundRecord:
    return FoundRecord(one.kind, one.id, one.project, one.session_id, experiment_of(store, one))


@endpoint("GET", "/api/names", "Names with a text in them.")
def _names(store: Store, query: NamesQuery) -> NamesAnswer:
    return NamesAnswer(names(store, query.text, project=query.project))
