"""What belongs to a session, a turn or a user: found in the store, as keys, by the store.

Nobody holds the ids: they are hashed where they lie, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
from turnspan_records.keeping.keys import row_key, week
from turnspan_records.keeping.owner_conditions import (
    ONE_KEY,
    UNIT,
    OwnerKeys,
    moment,
    of_pass,
    owned,
    placed,
)
from turnspan_records.keeping.references import CONTENTS, REFERENCES, SCOPE, ContentTable, referring
from turnspan_records.keeping.work import Work
from turnspan_records.sql import statement

SubjectKind: TypeAlias = Literal["session", "user", "turn", "project"]

_PLACED: Final[Collection[type[Record]]] = (
    *(LlmCall, RunningCall, TurnSummary, ToolCall, SpanRow),
    *(ContextAssemblyRow, ContextItemRow, ArtifactRow),
    *(Consortium, ConsortiumIteration, ConsortiumMember),
)
_MADE_UNDER: Final[Collection[type[Record]]] = (LlmCall, TurnSummary, ArtifactRow)
"""The tables whose rows say under which attempt and rollout they were made."""
_NAMED: Final[Mapping[type[Record], tuple[str, str]]] = {
    ContextAssemblyRow: (SPAN, "assembly_id"),
    ArtifactRow: (ARTIFACT, "artifact_id"),
    Consortium: (CONSORTIUM, "consortium_id"),
}
"""What judgments call a row besides its span: the kind, and the column of the id."""
_NESTED: Final = 64
"""How deep turns are followed into turns."""
_KIND_OF: Final[Mapping[ContentTable, str]] = {"definition": DEFINITION, "message": MESSAGE}
_ELSEWHERE: Final = "elsewhere:"
"""What begins the name of the marks of rows that other nodes have as well."""


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
    _turns_and_traces(work, of_pass(work, until))
    _contents(work, of_pass(work, until), whole_sessions=subject.kind != TURN)
    _attempts(work, of_pass(work, until))
    return of_pass(work, until)


def name(work: Work, subject: ForgetSubject) -> None:
    """Note the key of a subject itself."""
    given = {"project": subject.project, "id": subject.id}
    own = _pairs((subject.kind, "{id:String}"))
    _put(work, f"FROM (SELECT {{project:String}} AS project, {own} AS value)", given)


def _of_user(work: Work, keys: OwnerKeys) -> None:
    """The sessions in which a user took part, and the turns and traces that have no session."""
    values: dict[type[Record], str] = {
        record: _pairs(
            (SESSION, "session_id"),
            (TURN, f"if(session_id = '' AND {_own_turn(record)}, turn_id, '')"),
            (TRACE, "if(session_id = '', trace_id, '')"),
        )
        for record in (TurnSummary, LlmCall, RunningCall, ToolCall, SpanRow)
    }
    _put(work, owned(keys, values, work.tables.everywhere, (USER,)))


def _nested_turns(work: Work, until: int) -> None:
    """The turns in a turn."""
    before = -1
    for _ in range(_NESTED):
        keys = of_pass(work, until)
        number = work.number(f"SELECT count() FROM ({keys.query((TURN,))})")
        if number == before:
            return
        before = number
        inner = f"{_hashed(TURN, 'parent_turn_id')} GLOBAL IN ({keys.only((TURN,))})"
        turns = f"{work.tables.everywhere(TurnSummary)} WHERE {inner}"
        _put(work, f"FROM (SELECT project, {_pairs((TURN, 'turn_id'))} AS value FROM {turns})")


def _turns_and_traces(work: Work, keys: OwnerKeys) -> None:
    values: dict[type[Record], str] = {
        record: _pairs((TURN, f"if({_own_turn(record)}, turn_id, '')"), (TRACE, "trace_id"))
        for record in _PLACED
    }
    _put(work, owned(keys, values, work.tables.everywhere, (SESSION,)))
    # Of a turn's trace what nobody claims is the turn's where no other turn is in it.
    if TURN not in keys.kinds:
        return
    turns = work.tables.everywhere(TurnSummary)
    ours = f"{_hashed(TURN, 'turn_id')} GLOBAL IN ({keys.only((TURN,))})"
    source = statement("keeping/traces_of_turns", turns=turns, ours=ours)
    _put(work, f"FROM (SELECT project, {_pairs((TRACE, 'trace_id'))} AS value FROM ({source}))")


def _contents(work: Work, keys: OwnerKeys, *, whole_sessions: bool) -> None:
    """What the rows of tables are judged by, and what they share with others."""
    values: dict[type[Record], str] = {
        record: _shared(record, whole_sessions) for record in _PLACED
    }
    _put(work, owned(keys, values, work.tables.everywhere, (SESSION, TURN, TRACE, USER)))


def _shared(record: type[Record], whole_sessions: bool) -> str:
    found = [(SPAN, "span_id")] if "span_id" in dict(columns(record)) else []
    if own := _NAMED.get(record):
        found.append(own)
    if record in _MADE_UNDER:
        found += [(TRIED, "attempt_id"), (ROLLED, "rollout_id")]
    pieces = [_pairs(*found)] if found else []
    if names := BELONGING[record.table].definitions:
        pieces.append(f"arrayMap(hash -> ('{DEFINITION}', {_DEFINITION_ID}), [{', '.join(names)}])")
    if names := BELONGING[record.table].messages:
        # All messages of a session go with it; of others those that nothing refers to any more.
        hashes = f"arrayConcat({', '.join(names)})"
        hashes = f"if(session_id = '', {hashes}, [])" if whole_sessions else hashes
        ids = MESSAGE_ID.replace("scope", SCOPE)
        pieces.append(f"arrayMap(hash -> ('{MESSAGE}', {ids}), {hashes})")
    return f"arrayConcat({', '.join(pieces)})" if pieces else _NONE


def _attempts(work: Work, keys: OwnerKeys) -> None:
    """The attempts and rollouts that nothing else was made under."""
    candidates = keys.kinds & {TRIED, ROLLED}
    if not candidates:
        return
    made = _pairs((TRIED, "attempt_id"), (ROLLED, "rollout_id"))
    sql = statement(
        "keeping/alone_made",
        rows=placed(dict.fromkeys(_MADE_UNDER, made), keys.kinds, work.tables.everywhere),
        one_key=ONE_KEY,
        candidates=keys.only(candidates),
        keys=keys.only(keys.kinds),
        until=moment(keys.until),
        kinds=f"['{TRIED}', '{ROLLED}'], ['{ATTEMPT}', '{ROLLOUT}']",
    )
    _put(work, f"FROM ({sql})")


MESSAGE_ID: Final = "concat(scope, '\\0', lower(hex(hash)))"
"""The id of a message, in SQL."""
_DEFINITION_ID: Final = "if(hash = toFixedString('', 16), '', lower(hex(hash)))"
_NONE: Final = "CAST([], 'Array(Tuple(String, String))')"


def _hashed(kind: str, id_: str) -> str:
    return key_sql(f"'{kind}'", id_)


def _pairs(*found: tuple[str, str]) -> str:
    """Pairs of a kind and an id, in SQL."""
    pairs = ", ".join(f"('{kind}', {id_})" for kind, id_ in found)
    return f"[{pairs}]"


def _own_turn(record: type[Record]) -> str:
    """Whether a row's turn is one: tools that are in none have their trace's id there."""
    return "turn_id != ''" if record is TurnSummary else "turn_id NOT IN ('', trace_id)"


def _put(work: Work, found: str, parameters: Mapping[str, Any] | None = None) -> None:
    """Note the keys of the pairs of a kind and an id that rows have as their ``value``; ``found``
    is a ``FROM`` clause, or empty. The reason of such a unit is its project."""
    if found:
        sql = statement("keeping/put_keys", work=work.tables.work, found=found, one_key=ONE_KEY)
        work.insert(sql, {**(parameters or {}), "unit": UNIT})


def mark(work: Work, keys: OwnerKeys, records: Collection[type[Record]]) -> None:
    """Mark the rows that belong to these keys, and the contents and attempts that nothing else
    refers to."""
    values = {record: f"({week(record)}, {row_key(record)})" for record in records}
    _mark(work, "", owned(keys, values, work.tables.held))
    referring = {one.record: values[one.record] for one in REFERENCES}
    if work.tables.node_by_node:
        # What refers to a content from another node is forgotten there.
        _mark(work, _ELSEWHERE, owned(keys, referring, work.tables.everywhere))
    for table, kind in _KIND_OF.items():
        if kind in keys.kinds:
            _mark_unshared(work, keys.only((kind,)), table)


def _mark(work: Work, place: str, found: str) -> None:
    if found:
        sql = statement("keeping/mark_owned", work=work.tables.work, found=found)
        work.insert(sql, {"place": place})


def _mark_unshared(work: Work, keys: str, table: ContentTable) -> None:
    """Mark the contents of these keys that no row refers to but those that are marked."""
    scope = SCOPE if table == "message" else "''"
    rows = " UNION ALL ".join(
        f"SELECT '{record.table}' AS record, {row_key(record)} AS row, project, {scope} AS scope,"
        f" {hashes} AS hashes FROM {work.tables.everywhere(record)}"
        for record, hashes in referring(table).items()
    )
    sql = statement(
        "keeping/mark_unshared",
        work=work.tables.work,
        row_key=row_key(CONTENTS[table]),
        contents=work.tables.held(CONTENTS[table]),
        content=_hashed(_KIND_OF[table], MESSAGE_ID if table == "message" else "lower(hex(hash))"),
        keys=keys,
        rows=rows,
    )
    place = _ELSEWHERE if work.tables.node_by_node else ""
    work.insert(sql, {"record": table, "place": place})
