"""What belongs to a session, a turn or a user: found in the store, as keys, by the store.

Nobody holds the ids: they are hashed where they lie, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from turnspan_clickhouse.rows.consortium_tables import (
    Consortium,
    ConsortiumIteration,
    ConsortiumMember,
)
from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.rows.owner_columns import (
    ARTIFACT,
    ATTEMPT,
    BELONGING,
    CONSORTIUM,
    DEFINITION,
    MESSAGE,
    PROJECT,
    ROLLED,
    ROLLOUT,
    SESSION,
    SPAN,
    TRACE,
    TRIED,
    TURN,
    USER,
    key_sql,
)
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import (
    ContextAssemblyRow,
    ContextItemRow,
    LlmCall,
    RunningCall,
    SpanRow,
    ToolCall,
    TurnSummary,
    columns,
)
from turnspan_records.keeping.owner_conditions import UNIT, OwnerKeys, belongs, of_pass
from turnspan_records.keeping.references import CONTENTS, REFERENCES, SCOPE, ContentTable
from turnspan_records.keeping.work import Work
from turnspan_records.sql import statement

SubjectKind: TypeAlias = Literal["session", "user", "turn", "project"]

_PLACED: Final = (
    *(LlmCall, RunningCall, TurnSummary, ToolCall, SpanRow),
    *(ContextAssemblyRow, ContextItemRow, ArtifactRow),
    *(Consortium, ConsortiumIteration, ConsortiumMember),
)
_NAMED: Final[Mapping[type[Record], tuple[str, str]]] = {
    ContextAssemblyRow: (SPAN, "assembly_id"),
    ArtifactRow: (ARTIFACT, "artifact_id"),
    Consortium: (CONSORTIUM, "consortium_id"),
}
"""What judgments call a row besides its span: the kind, and the column of the id."""
_NESTED: Final = 64
"""How deep turns are followed into turns."""


@dataclass(frozen=True, slots=True)
class ForgetSubject:
    """What is to be forgotten: a session, a user, a turn (with the turns in it), or a project.

    A project's ``id`` is its name.
    """

    kind: SubjectKind
    id: str
    project: str


def gather(work: Work, subject: ForgetSubject, until: int) -> OwnerKeys:
    """Find the keys of a subject and of all that belongs to it; returns them."""
    name(work, subject)
    if subject.kind == PROJECT:
        return of_pass(work, until)
    if subject.kind == USER:
        _of_user(work, of_pass(work, until))
    if subject.kind == TURN:
        _nested_turns(work, until)
    keys = of_pass(work, until)
    _turns_and_traces(work, keys)
    keys = of_pass(work, until)
    whole_sessions = subject.kind != TURN
    _put(work, [one for record in _PLACED for one in _contents(work, record, keys, whole_sessions)])
    _attempts(work, of_pass(work, until))
    return of_pass(work, until)


def name(work: Work, subject: ForgetSubject) -> None:
    """Note the key of a subject itself."""
    given = {"project": subject.project, "id": subject.id}
    own = _hashed(subject.kind, "{id:String}")
    _put(work, [("(SELECT {project:String} AS project)", [(subject.kind, own)])], given)


def _of_user(work: Work, keys: OwnerKeys) -> None:
    """The sessions in which a user took part, and the turns and traces that have no session."""
    session = (SESSION, _key(SESSION, "session_id"))
    trace = (TRACE, f"if(session_id = '', {_key(TRACE, 'trace_id')}, {_NO})")

    def turn(record: type[Record]) -> tuple[str, str]:
        own = f"session_id = '' AND {_own_turn(record)}"
        return TURN, f"if({own}, {_key(TURN, 'turn_id')}, {_NO})"

    records = (TurnSummary, LlmCall, RunningCall, ToolCall, SpanRow)
    _put(work, [(_rows(work, one, keys, (USER,)), [session, turn(one), trace]) for one in records])


def _nested_turns(work: Work, until: int) -> None:
    """The turns in a turn."""
    before = -1
    for _ in range(_NESTED):
        keys = of_pass(work, until)
        number = work.number(f"SELECT uniqExact(key) FROM ({keys.query((TURN,))})")
        if number == before:
            return
        before = number
        inner = f"{_hashed(TURN, 'parent_turn_id')} GLOBAL IN ({keys.query((TURN,))})"
        source = f"(SELECT * FROM {work.tables.everywhere(TurnSummary)} WHERE {inner})"
        _put(work, [(source, [(TURN, _key(TURN, "turn_id"))])])


def _turns_and_traces(work: Work, keys: OwnerKeys) -> None:
    trace = (TRACE, _key(TRACE, "trace_id"))

    def turn(record: type[Record]) -> tuple[str, str]:
        return TURN, f"if({_own_turn(record)}, {_key(TURN, 'turn_id')}, {_NO})"

    _put(work, [(_rows(work, one, keys, (SESSION,)), [turn(one), trace]) for one in _PLACED])
    # Of a turn's trace what nobody claims is the turn's where no other turn is in it.
    if TURN not in keys.kinds:
        return
    turns = work.tables.everywhere(TurnSummary)
    ours = f"{_hashed(TURN, 'turn_id')} GLOBAL IN ({keys.query((TURN,))})"
    source = statement("keeping/traces_of_turns", turns=turns, ours=ours)
    _put(work, [(f"({source})", [trace])])


def _contents(
    work: Work, record: type[Record], keys: OwnerKeys, whole_sessions: bool
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What the rows of a table are judged by, and what they share with others."""
    found = [(SPAN, _key(SPAN, "span_id"))] if "span_id" in dict(columns(record)) else []
    if own := _NAMED.get(record):
        found.append((own[0], _key(*own)))
    if record in (LlmCall, TurnSummary, ArtifactRow):
        found += [(TRIED, _key(TRIED, "attempt_id")), (ROLLED, _key(ROLLED, "rollout_id"))]
    for name in BELONGING[record.table].definitions:
        hashed = _key(DEFINITION, f"lower(hex({name}))")
        found.append((DEFINITION, f"if({name} = toFixedString('', 16), {_NO}, {hashed})"))
    source = _rows(work, record, keys, (SESSION, TURN, TRACE, USER))
    yield source, found
    # All messages of a session go with it; of others those that nothing refers to any more.
    where = "session_id = ''" if whole_sessions else "1"
    for name in BELONGING[record.table].messages:
        inner = (
            f"(SELECT project, {SCOPE} AS scope, arrayJoin({name}) AS hash"
            f" FROM {source} WHERE {where})"
        )
        yield inner, [(MESSAGE, _key(MESSAGE, MESSAGE_ID))]


def _attempts(work: Work, keys: OwnerKeys) -> None:
    """The attempts and rollouts that nothing else was made under."""
    for candidate, kind, column in (
        (TRIED, ATTEMPT, "attempt_id"),
        (ROLLED, ROLLOUT, "rollout_id"),
    ):
        if candidate not in keys.kinds:
            continue
        mine = f"{_key(candidate, column)} GLOBAL IN ({keys.query((candidate,))})"
        others = " UNION ALL ".join(
            f"SELECT project, {column} FROM {work.tables.everywhere(record)}"
            f" WHERE {mine} AND NOT {belongs(record, keys)}"
            for record in (LlmCall, TurnSummary, ArtifactRow)
        )
        source = " UNION ALL ".join(
            f"SELECT DISTINCT project, {column} FROM {work.tables.everywhere(record)} WHERE {mine}"
            f" AND (project, {column}) GLOBAL NOT IN ({others})"
            for record in (LlmCall, TurnSummary, ArtifactRow)
        )
        _put(work, [(f"({source})", [(kind, _key(kind, column))])])


MESSAGE_ID: Final = "concat(scope, '\\0', lower(hex(hash)))"
"""The id of a message, in SQL."""
_NO: Final = "toFixedString('', 16)"


def _hashed(kind: str, id_: str) -> str:
    return key_sql(f"'{kind}'", id_)


def _key(kind: str, column: str) -> str:
    return f"if({column} = '', {_NO}, {_hashed(kind, column)})"


def _own_turn(record: type[Record]) -> str:
    """Whether a row's turn is one: tools that are in none have their trace's id there."""
    return "turn_id != ''" if record is TurnSummary else "turn_id NOT IN ('', trace_id)"


def _rows(work: Work, record: type[Record], keys: OwnerKeys, kinds: Collection[str]) -> str:
    """The rows of a table, of all nodes, that belong to keys of these kinds."""
    where = belongs(record, keys, kinds=kinds)
    return f"(SELECT * FROM {work.tables.everywhere(record)} WHERE {where})"


def _put(
    work: Work,
    found: Iterable[tuple[str, Collection[tuple[str, str]]]],
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Note the keys that expressions give for rows of sources: each source with (kind, expression).

    The reason of such a unit is its project.
    """
    selects = [
        f"SELECT project, arrayJoin([{pairs}]) AS one FROM {source}"
        for source, named in found
        if (pairs := ", ".join(f"('{UNIT}{kind}', {key})" for kind, key in named))
    ]
    for keys in work.together(selects):
        sql = statement("keeping/put_keys", work=work.tables.work, keys=keys)
        work.store.command(sql, {**(parameters or {}), "pass": work.name}, {"final": 0})


def mark(work: Work, keys: OwnerKeys, records: Collection[type[Record]]) -> None:
    """Mark the rows that belong to these keys, and the contents and attempts that nothing else
    refers to."""
    conditions = {record: belongs(record, keys) for record in records}
    work.mark_all({record: one for record, one in conditions.items() if one != "0"})
    work.mark_all(
        {CONTENTS[table]: one for table in CONTENTS if (one := _unshared(work, keys, table))}
    )


def _unshared(work: Work, keys: OwnerKeys, table: ContentTable) -> str:
    """A condition on contents: that they are of these keys, and that no row refers to them which
    is not."""
    kind = DEFINITION if table == "definition" else MESSAGE
    if kind not in keys.kinds:
        return ""
    key = _hashed(kind, MESSAGE_ID if table == "message" else "lower(hex(hash))")
    mine = f"{key} GLOBAL IN ({keys.query((kind,))})"
    scope = f", {SCOPE} AS scope" if table == "message" else ""
    named = [
        f"SELECT {key} AS key FROM (SELECT project{scope}, arrayJoin({one.hashes}) AS hash"
        f" FROM {work.tables.everywhere(one.record)} WHERE NOT {belongs(one.record, keys)})"
        f" WHERE {mine}"
        for one in REFERENCES
        if one.to == table
    ]
    return f"{mine} AND {key} GLOBAL NOT IN ({' UNION ALL '.join(named)})"
