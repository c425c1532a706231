"""What was put into a prompt, what was left out, and why; where nobody recorded it, its parts."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.contexts import AssembledContext, ItemOutcome, contexts, item_outcomes
from turnspan_records.lookup import find
from turnspan_records.loop.lineages import AmbiguousError
from turnspan_records.screens.composition import Composition, composition

_KINDS = ("context", "call", "turn", "session", "trace", "tool", "span")


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The id of an assembly, or of a call, a turn, a session or a trace that used one."""

    id: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class ContextPanel:
    """The assemblies of a record; of a call without one the parts of its prompt."""

    kind: str
    id: str
    project: str
    assemblies: list[AssembledContext]
    composition: Composition | None


@dataclass(frozen=True, slots=True)
class ItemOutcomesQuery:
    """Which item, by its id."""

    item: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class ItemOutcomes:
    """How the turns were judged that had an item, and those that lost it."""

    outcomes: list[ItemOutcome]


@endpoint("GET", "/api/context", "What a prompt's context was made of.")
def _context(store: Store, query: ContextQuery) -> ContextPanel:
    with refusing("record"):
        every = [one for one in find(store, query.id) if query.project in ("", one.project)]
        fits = [one for kind in _KINDS for one in every if one.kind == kind]
        if not fits:
            raise KeyError(query.id)
        same = [one for one in fits if one.kind == fits[0].kind]
        if len(same) > 1:
            raise AmbiguousError(", ".join(f"{one.kind} {one.id} of {one.project}" for one in same))
        found = fits[0]
        made = contexts(store, found)
        parts = None
        if not made and found.kind == "call":
            parts = composition(store, found.project, found.id)
        return ContextPanel(found.kind, found.id, found.project, made, parts)


@endpoint("GET", "/api/context/outcomes", "What became of turns by whether they had an item.")
def _outcomes(store: Store, query: ItemOutcomesQuery) -> ItemOutcomes:
    return ItemOutcomes(item_outcomes(store, query.project, query.item))
