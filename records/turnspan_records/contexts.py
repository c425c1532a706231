"""The contexts that were assembled for prompts: what was considered, kept and dropped, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask
from turnspan_records.access.window import as_parameter
from turnspan_records.lookup import RecordRef
from turnspan_records.messages import load_definitions

USED_WITHIN: Final = timedelta(days=1)
"""How long after it was assembled a context is looked for in calls."""
BESIDE: Final = "(beside the items)"
INTERRUPTED: Final = "interrupted"


@dataclass(slots=True)
class ContextItem:
    """A candidate for a context. ``text`` is ``None`` if it is not recorded. ``hop`` counts the
    links to it, ``requires_depth`` the requirements."""

    id: str
    position: int
    section: str
    source: str
    tokens: int | None
    tokens_estimated: bool
    score: float | None
    kept: bool
    reason: str
    hop: int | None
    requires_depth: int | None
    content_hash: str
    text: str | None = None


@dataclass(slots=True)
class ContextStep:
    """A step of an assembly. Times are in seconds."""

    name: str
    duration: float
    error_type: str


@dataclass(slots=True)
class ContextSection:
    """The tokens that a section used, and the tokens that were dropped from it."""

    name: str
    kept: int = 0
    tokens: int = 0
    dropped: int = 0
    dropped_tokens: int = 0


@dataclass(slots=True)
class AssembledContext:
    """One context assembly. ``duration`` is in seconds; ``budget`` and ``used`` are tokens."""

    id: str
    project: str
    service: str
    environment: str
    session_id: str
    turn_id: str
    trace_id: str
    start_time: datetime
    duration: float
    status: str
    """``final``, ``running``, or ``interrupted`` where its turn was."""
    agent_name: str
    task_type: str
    entities: list[str]
    budget: int | None
    used: int | None
    used_estimated: bool
    considered: int
    kept: int
    dropped: int
    bypassed: bool
    bypass_reason: str
    error_type: str
    context_hash: str
    text: str | None = None
    """What was assembled; ``None`` where nothing was, or it is not recorded."""
    steps: list[ContextStep] = field(default_factory=list[ContextStep])
    items: list[ContextItem] = field(default_factory=list[ContextItem])
    calls: list[str] = field(default_factory=list[str])
    """The ids of the model calls that used it."""
    sections: list[ContextSection] = field(default_factory=list[ContextSection])
    """What each section took, in the order of the items; last what was used beside the items
    (headings, what joins them), so that all sections together are ``used``."""


def contexts(store: Store, found: RecordRef) -> list[AssembledContext]:
    """The contexts of a record, oldest first.

    For an assembly, that one. For a model call, those it used. For a turn, a session or a trace,
    those assembled in it or used by its calls. For a tool or a span, those of its turn. Raises
    ``StoreError`` as ``Store.query``."""
    parameters = {
        "project": found.project,
        "session": found.session_id,
        "turn": found.turn_id,
        "trace": found.trace_id if found.kind == "trace" else "",
        "call": found.id if found.kind == "call" else "",
    }
    rows: list[dict[str, Any]] = []
    if found.kind not in ("context", "call"):
        rows = ask(store, "contexts/inside", **parameters).dicts()
    ids = {found.id}
    if found.kind != "context":
        ids = {str(row[0]) for row in ask(store, "contexts/used", **parameters).rows}
    more = sorted(ids - {row["id"] for row in rows})
    if more:
        rows += ask(store, "contexts/by_id", project=found.project, ids=more).dicts()
    loaded = sorted(map(_assembly, rows), key=lambda one: (one.start_time, one.id))
    if loaded:
        _complete(store, found.project, loaded)
    return loaded


def _assembly(row: Mapping[str, Any]) -> AssembledContext:
    steps = zip(row["step_names"], row["step_durations"], row["step_errors"], strict=True)
    return of_row(AssembledContext, row, steps=[ContextStep(*step) for step in steps])


def _complete(store: Store, project: str, loaded: Sequence[AssembledContext]) -> None:
    """Add what other tables have of assemblies: items, texts, calls, how their turns ended."""
    by_id = {one.id: one for one in loaded}
    parameters = {
        "project": project,
        "ids": list(by_id),
        "sessions": sorted({one.session_id for one in loaded}),
        "since": as_parameter(min(one.start_time for one in loaded)),
        "until": as_parameter(max(one.start_time for one in loaded) + USED_WITHIN),
    }
    for row in ask(store, "contexts/items", **parameters).dicts():
        by_id[row["assembly_id"]].items.append(of_row(ContextItem, row))
    for one in loaded:
        one.sections = _sections(one)
    for span_id, used in ask(store, "contexts/calls", **parameters).rows:
        for id_ in by_id.keys() & set(used):
            by_id[id_].calls.append(str(span_id))
    _put_texts(store, project, loaded)
    running = [one for one in loaded if one.status == "running" and one.turn_id]
    if running:
        turns = [one.turn_id for one in running]
        ended = {row[0] for row in ask(store, "contexts/ended", project=project, turns=turns).rows}
        for one in running:
            one.status = INTERRUPTED if one.turn_id in ended else one.status


def _sections(context: AssembledContext) -> list[ContextSection]:
    found: dict[str, ContextSection] = {}
    for item in context.items:
        section = found.setdefault(item.section, ContextSection(item.section))
        if item.kept:
            section.kept += 1
            section.tokens += item.tokens or 0
        else:
            section.dropped += 1
            section.dropped_tokens += item.tokens or 0
    made = list(found.values())
    beside = (context.used or 0) - sum(section.tokens for section in made)
    if made and context.used is not None and beside:
        made.append(ContextSection(BESIDE, tokens=beside))
    return made


def _put_texts(store: Store, project: str, loaded: Iterable[AssembledContext]) -> None:
    hashed: list[tuple[AssembledContext | ContextItem, str]] = []
    for one in loaded:
        hashed += [(one, one.context_hash), *((item, item.content_hash) for item in one.items)]
    known = load_definitions(store, project, {hash_ for _, hash_ in hashed})
    for each, hash_ in hashed:
        each.text = known.get(hash_)


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """How many turns that had an item kept, or dropped, were judged so."""

    kept: bool
    outcome: str
    """``used``, ``modified``, ``rejected``, ``pending`` or ``not judged``."""
    turns: int


def item_outcomes(store: Store, project: str, item_id: str) -> list[ItemOutcome]:
    """The outcomes of the turns that considered an item. An item that was left out since its text
    was there under another name was not lost. Raises ``StoreError`` as ``Store.query``."""
    rows = ask(store, "contexts/item_outcomes", project=project, item=item_id).rows
    return [ItemOutcome(bool(kept), str(outcome), int(turns)) for kept, outcome, turns in rows]
