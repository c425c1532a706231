"""How a turn ended, in one question: why it stopped, and what it did last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.times import utc
from turnspan_records.lookup import RecordRef
from turnspan_records.screens.stop_evidence import StopEvidence, stop_evidence

LAST_CALLS: Final = 4
WINDOW: Final = 8
"""Tool calls that the loop detector compares (docs/turns.md)."""
HEAD: Final = 500
"""Characters of a text."""

_TURN: Final = """
SELECT turn_id, project, session_id, start_time, t.duration AS duration, agent_name,
    user_message, response_text, rounds, max_rounds, llm_call_count, tool_call_count,
    tool_error_count, t.cost_usd AS cost_usd, error_type, error_message
FROM turn_summary AS t
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
LIMIT 1
"""
_LAST_TURN: Final = """
SELECT turn_id FROM turn_summary
WHERE project = {project:String} AND session_id = {session:String} AND parent_turn_id = ''
ORDER BY start_time DESC, turn_id LIMIT 1
"""
_CALLS: Final = """
SELECT span_id, round, if(response_model != '', response_model, request_model) AS model,
    start_time, finish_reasons, tool_calls NOT IN ('', '[]') AS asked_for_tools, output_tokens,
    error_type, error_message, leftUTF8(response_text, {head:UInt32}) AS said
FROM llm_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time DESC, span_id LIMIT {limit:UInt32}
"""
_TOOLS: Final = """
SELECT span_id, round, name, start_time, failed, error_type, error_message,
    leftUTF8(arguments, {head:UInt32}) AS arguments, leftUTF8(result, {head:UInt32}) AS result,
    toString(sipHash64(name, arguments, result)) AS alike
FROM tool_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY start_time DESC, span_id LIMIT {limit:UInt32}
"""
_NESTED: Final = """
SELECT turn_id, agent_name, if(t.status = 'final', t.stop_reason, t.status) AS stop_reason,
    stop_detail
FROM turn_summary AS t
WHERE project = {project:String} AND session_id = {session:String}
    AND parent_turn_id = {turn:String}
ORDER BY start_time DESC, turn_id LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class LastCall:
    """One of the last model calls of a turn; ``said`` is the beginning of its answer."""

    span_id: str
    round: int
    model: str
    start_time: datetime
    finish_reasons: tuple[str, ...]
    asked_for_tools: bool
    output_tokens: int | None
    error_type: str
    error_message: str
    said: str


@dataclass(frozen=True, slots=True)
class LastTool:
    """One of the last tool calls of a turn. ``same`` is how many of these are like it: tool,
    arguments and result."""

    span_id: str
    round: int
    name: str
    start_time: datetime
    failed: bool
    error_type: str
    error_message: str
    arguments: str
    result: str
    same: int


@dataclass(frozen=True, slots=True)
class NestedStop:
    """A turn inside the turn, and how that ended."""

    turn_id: str
    agent_name: str
    stop_reason: str
    stop_detail: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended: why, by ``stop``, and its last calls, tools and nested turns, the oldest of
    them first. ``duration`` is in seconds."""

    turn_id: str
    project: str
    session_id: str
    start_time: datetime
    duration: float
    agent_name: str
    user_message: str
    response_text: str
    rounds: int
    max_rounds: int | None
    llm_call_count: int
    tool_call_count: int
    tool_error_count: int
    cost_usd: Decimal | None
    error_type: str
    error_message: str
    stop: StopEvidence
    calls: tuple[LastCall, ...]
    tools: tuple[LastTool, ...]
    nested: tuple[NestedStop, ...]


def turn_end(store: Store, found: RecordRef) -> TurnEnd:
    """How the turn of a record ended: of a session its last one, of a call or a tool its own.

    Raises:
        KeyError: there is no turn of it.
        StoreError: as ``Store.query``.
    """
    place: dict[str, Any] = {"project": found.project, "session": found.session_id}
    turn = found.turn_id
    if found.kind == "session":
        last = store.query(_LAST_TURN, place).rows
        turn = str(last[0][0]) if last else ""
    rows = store.query(_TURN, {**place, "turn": turn}).dicts() if turn else []
    if not rows:
        raise KeyError(found.id)
    asked = {**place, "turn": turn, "head": HEAD}

    def newest(sql: str, limit: int) -> list[dict[str, Any]]:
        return store.query(sql, {**asked, "limit": limit}).dicts()[::-1]

    values: dict[str, Any] = {**rows[0], "start_time": utc(rows[0]["start_time"])}
    return TurnEnd(
        **values,
        stop=stop_evidence(store, found.project, turn),
        calls=tuple(map(_call, newest(_CALLS, LAST_CALLS))),
        tools=_tools(newest(_TOOLS, WINDOW)),
        nested=tuple(
            NestedStop(**{name: str(value) for name, value in row.items()})
            for row in newest(_NESTED, LAST_CALLS)
        ),
    )


def _call(row: Mapping[str, Any]) -> LastCall:
    values = dict(row)
    values["start_time"] = utc(values["start_time"])
    values["finish_reasons"] = tuple(values["finish_reasons"])
    values["asked_for_tools"] = bool(values["asked_for_tools"])
    return LastCall(**values)


def _tools(rows: Sequence[Mapping[str, Any]]) -> tuple[LastTool, ...]:
    alike = [row["alike"] for row in rows]
    made: list[LastTool] = []
    for row in rows:
        values = {name: value for name, value in row.items() if name != "alike"}
        values["start_time"] = utc(values["start_time"])
        values["failed"] = bool(values["failed"])
        made.append(LastTool(**values, same=alike.count(row["alike"])))
    return tuple(made)
