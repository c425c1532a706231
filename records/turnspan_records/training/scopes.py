"""What an export reads of a store: sessions in the order of their ids, some at a time.

The order is that of the tables' sorting key, so that sessions read together lie together; and it
depends on nothing but the records, so that the same records are written in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import as_parameter
from turnspan_records.sql import statement
from turnspan_records.training.export_request import Filters, Together, TrainingSet

PAGE: Final = 50_000
"""Sessions that are listed at once."""
SESSIONS: Final = 256
HASHES: Final = 1_000_000
"""Sessions, and hashes of their calls' messages, that are read at once at most."""
MESSAGE_BYTES: Final = 64 * 2**20
"""Of messages in memory at once, where a single session has no more."""


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """Sessions of one project that are read together; or traces without a session."""

    project: str
    ids: tuple[str, ...]
    sessions: bool

    @property
    def condition(self) -> str:
        """What their rows have in common."""
        if self.sessions:
            return "session_id IN {scopes:Array(String)}"
        return "session_id = '' AND trace_id IN {scopes:Array(String)}"


@dataclass(frozen=True, slots=True)
class TurnCandidate:
    """What decides whether a turn is wanted."""

    session_id: str
    trace_id: str
    turn_id: str
    start_time: Any
    status: str
    agent_name: str
    agent_version: str
    stop_reason: str
    attempt_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """One model call with the hashes of what it was given and said."""

    session_id: str
    trace_id: str
    turn_id: str
    span_id: str
    start_time: Any
    operation: str
    request_model: str
    response_model: str
    error_type: str
    stream_outcome: str
    agent_name: str
    agent_version: str
    system: str
    tools: str
    parallel: str
    inputs: list[str]
    outputs: list[str]
    attempt_id: str
    finish_reasons: list[str]
    consortium_id: str
    lineage_id: str

    @property
    def scope(self) -> str:
        """What its messages are stored under."""
        return self.session_id or self.trace_id


StoredMessage: TypeAlias = "tuple[str, str, str, str]"
"""Role, name, parts as JSON, dialect."""


@dataclass(slots=True)
class TrainingScope:
    """One session, or one trace without a session."""

    id: str
    turns: list[TurnCandidate] = field(default_factory=list[TurnCandidate])
    calls: list[CallRow] = field(default_factory=list[CallRow])
    messages: dict[str, StoredMessage] = field(default_factory=dict[str, StoredMessage])

    def owners(self, by: Together) -> list[str]:
        """The users, or the lineages, whose it is."""
        if by == "session":
            return []
        each = (
            (t.user_id for t in self.turns) if by == "user" else (c.lineage_id for c in self.calls)
        )
        return sorted({f"{by} {owner}" for owner in each if owner})


@dataclass(frozen=True, slots=True)
class Related:
    """What may have made something of a call without being said of it: judged artifacts, and the
    experiments of locked lineages."""

    artifacts: bool = False
    experiments: tuple[str, ...] = ()

    def condition(self, wanted: TrainingSet) -> tuple[str, str]:
        """What a statement begins with, and the condition on its calls: that they may matter."""
        if not wanted.needs_judgment:
            return "", ""
        begin, condition = statement("training/with_judged"), statement("training/may_be_judged")
        if self.artifacts:
            begin += statement("training/with_written")
            condition += " " + statement("training/may_be_written")
        if self.experiments:
            begin += statement("training/with_tried")
            condition += " " + statement("training/may_be_tried")
        return begin, f" AND ({condition})"


def scopes(store: Store, wanted: TrainingSet, related: Related) -> Iterator[ScopeGroup]:
    """Every session with calls that may become samples, and every trace without a session."""
    for sessions in (True, False):
        waiting: list[str] = []
        project, hashes = "", 0
        for of_project, scope, inputs in _listed(store, wanted, sessions, related):
            full = len(waiting) >= SESSIONS or hashes + inputs > HASHES
            if waiting and (full or of_project != project):
                yield ScopeGroup(project, tuple(waiting), sessions)
                waiting, hashes = [], 0
            project = of_project
            waiting.append(scope)
            hashes += inputs
        if waiting:
            yield ScopeGroup(project, tuple(waiting), sessions)


def _listed(
    store: Store, wanted: TrainingSet, sessions: bool, related: Related
) -> Iterator[tuple[str, str, int]]:
    after = ("", "")
    filters = wanted.filters
    begin, judged = related.condition(wanted)
    scope, listed = "trace_id", "session_id = ''"
    if sessions:
        scope, listed = "session_id", "session_id != ''"
    sql = statement("training/scopes", begin=begin, scope=scope, listed=listed, judged=judged)
    given = {
        "only": filters.project,
        "since": as_parameter(filters.window.since),
        "experiments": list(related.experiments),
        "page": PAGE,
    }
    while True:
        page = store.query(sql, {"project": after[0], "scope": after[1], **given}).rows
        for project, found, inputs in page:
            after = (str(project), str(found))
            yield *after, int(inputs)
        if len(page) < PAGE:
            return


def read(store: Store, these: ScopeGroup, turn_id: str = "") -> dict[str, TrainingScope]:
    """Turns and calls of sessions, each in the order of time; their messages are read apart. With
    ``turn_id`` of that turn only."""
    found = {id_: TrainingScope(id_) for id_ in these.ids}
    given = {"project": these.project, "scopes": list(these.ids), "turn": turn_id}
    for row in store.query(statement("training/turns", condition=these.condition), given).rows:
        turn = TurnCandidate(*row)
        found[turn.session_id or turn.trace_id].turns.append(turn)
    for row in store.query(statement("training/calls", condition=these.condition), given).rows:
        call = CallRow(*row)
        found[call.scope].calls.append(call)
    return found


def with_messages(
    store: Store, project: str, found: dict[str, TrainingScope]
) -> Iterator[TrainingScope]:
    """The sessions one after the other, each with its messages, which then are let go."""
    for ids in _affordable(store, project, list(found)):
        given = {"project": project, "scopes": ids}
        rows = store.query(statement("training/messages"), given).rows
        for scope, hash_, role, name, parts, dialect in rows:
            found[scope].messages[hash_] = (role, name, parts, dialect)
        for id_ in ids:
            yield found.pop(id_)


def _affordable(store: Store, project: str, ids: list[str]) -> Iterator[list[str]]:
    """The sessions in groups whose messages fit into the memory that is meant for them."""
    given = {"project": project, "scopes": ids}
    rows = store.query(statement("training/message_sizes"), given).rows
    sizes: dict[str, int] = {str(scope): int(size) for scope, size in rows}
    group: list[str] = []
    held = 0
    for id_ in ids:
        size = sizes.get(id_, 0)
        if group and held + size > MESSAGE_BYTES:
            yield group
            group, held = [], 0
        group.append(id_)
        held += size
    if group:
        yield group


def number_of(store: Store, filters: Filters, table: str) -> int:
    """About how many rows of a table there are to look at."""
    sql = statement("training/number_of", table=table)
    found = store.query(sql, {"only": filters.project}, {"final": 0})
    return int(found.rows[0][0])
