"""The contexts that were assembled for prompts: what was considered, kept and dropped, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.access.window import as_parameter
from turnspan_records.lookup import RecordRef
from turnspan_records.messages import NONE, load_definitions

USED_WITHIN: Final = timedelta(days=1)
"""How long after it was assembled a context is looked for in calls."""
BESIDE: Final = "(beside the items)"
INTERRUPTED: Final = "interrupted"


@dataclass(slots=True)
class ContextItem:
    """Something that was considered for a context. ``text`` is ``None`` where it is not recorded;
    ``hop`` counts links and ``requires_depth`` requirements on the way to it."""

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
    """A step of an assembly, in seconds."""

    name: str
    duration: float
    error_type: str


@dataclass(slots=True)
class ContextSection:
    """What a section took, and what was dropped from it, in tokens."""

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


_COLUMNS = """SELECT assembly_id AS id, project, service, environment, session_id, turn_id,
    trace_id, start_time, duration, status, agent_name, task_type, entities, budget, used,
    used_estimated, considered, kept, dropped, bypassed, bypass_reason, error_type,
    lower(hex(context_hash)) AS context_hash, step_names, step_durations, step_errors
FROM context_assembly"""

# Of a trace the session is not known; of everything else it is, and if it is none.
_PLACE = """project = {project:String}
    AND ({trace:String} != '' OR session_id = {session:String})
    AND ({turn:String} = '' OR turn_id = {turn:String})
    AND ({trace:String} = '' OR trace_id = {trace:String})"""

_INSIDE = f"""{_COLUMNS}
WHERE {_PLACE}
ORDER BY start_time, id
"""

_BY_ID = f"""{_COLUMNS}
WHERE project = {{project:String}} AND assembly_id IN {{ids:Array(String)}}
ORDER BY start_time, id
"""

_ITEMS = """
SELECT assembly_id, item_id AS id, position, section, source, tokens, tokens_estimated, score, kept,
    reason, hop, requires_depth, lower(hex(content_hash)) AS content_hash
FROM context_item
WHERE project = {project:String} AND session_id IN {sessions:Array(String)}
    AND assembly_id IN {ids:Array(String)}
ORDER BY assembly_id, position, id
"""

# A call may be in another session than an assembly that is in none; then it is looked for by time.
_CALLS = """
SELECT span_id, splitByChar(',', attributes['turnspan.context.id']) AS used
FROM llm_call
WHERE project = {project:String} AND attributes['turnspan.context.id'] != ''
    AND (session_id IN {sessions:Array(String)} OR has({sessions:Array(String)}, ''))
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND hasAny(used, {ids:Array(String)})
ORDER BY start_time, span_id
"""

_USED = f"""
SELECT DISTINCT arrayJoin(splitByChar(',', attributes['turnspan.context.id'])) AS id
FROM llm_call
WHERE {_PLACE}
    AND ({{call:String}} = '' OR span_id = {{call:String}})
    AND attributes['turnspan.context.id'] != ''
"""

_ENDED = """
SELECT turn_id FROM turn_summary
WHERE project = {project:String} AND turn_id IN {turns:Array(String)} AND status = 'interrupted'
"""


def contexts(store: Store, found: RecordRef) -> list[AssembledContext]:
    """The contexts that a record is about, the oldest first.

    Of an assembly itself that one, of a model call those that it used, of a turn, a session or a
    trace those that were assembled in it or that its calls used, of a tool or a span those of its
    turn. Raises ``StoreError`` as ``Store.query``.
    """
    if found.kind == "context":
        loaded = _by_ids(store, found.project, [found.id])
    elif found.kind == "call":
        loaded = _by_ids(store, found.project, _used(store, found))
    else:
        rows = store.query(_INSIDE, _parameters(found)).dicts()
        loaded = [_assembly(row) for row in rows]
        known = {one.id for one in loaded}
        more = [one for one in _used(store, found) if one not in known]
        loaded += _by_ids(store, found.project, more)
        loaded.sort(key=lambda one: (one.start_time, one.id))
    if loaded:
        _complete(store, found.project, loaded)
    return loaded


def _parameters(found: RecordRef) -> dict[str, str]:
    return {
        "project": found.project,
        "session": found.session_id,
        "turn": found.turn_id,
        "trace": found.trace_id if found.kind == "trace" else "",
        "call": found.id if found.kind == "call" else "",
    }


def _used(store: Store, found: RecordRef) -> list[str]:
    """The ids of the assemblies that its calls used."""
    return [str(row[0]) for row in store.query(_USED, _parameters(found)).rows]


def _by_ids(store: Store, project: str, ids: Sequence[str]) -> list[AssembledContext]:
    if not ids:
        return []
    rows = store.query(_BY_ID, {"project": project, "ids": list(ids)}).dicts()
    return [_assembly(row) for row in rows]


def _assembly(row: Mapping[str, Any]) -> AssembledContext:
    steps = zip(row["step_names"], row["step_durations"], row["step_errors"], strict=True)
    return of_row(
        AssembledContext,
        row,
        start_time=utc(row["start_time"]),
        entities=list(row["entities"]),
        steps=[ContextStep(*step) for step in steps],
    )


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
    for row in store.query(_ITEMS, parameters).dicts():
        by_id[row.pop("assembly_id")].items.append(ContextItem(**row))
    for one in loaded:
        one.sections = _sections(one)
    for span_id, used in store.query(_CALLS, parameters).rows:
        for id_ in by_id.keys() & set(used):
            by_id[id_].calls.append(str(span_id))
    _put_texts(store, project, loaded)
    running = [one for one in loaded if one.status == "running" and one.turn_id]
    if running:
        turns = {"project": project, "turns": [one.turn_id for one in running]}
        ended = {str(row[0]) for row in store.query(_ENDED, turns).rows}
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
    hashed: list[AssembledContext | ContextItem] = []
    for one in loaded:
        hashed += [one, *one.items]
    known = load_definitions(store, project, {_hash(each) for each in hashed} - {NONE})
    for each in hashed:
        each.text = known.get(_hash(each))


def _hash(one: AssembledContext | ContextItem) -> str:
    return one.context_hash if isinstance(one, AssembledContext) else one.content_hash
