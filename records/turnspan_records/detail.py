"""Everything about one record: its facts, its texts, its messages, and the tables below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.contexts import contexts
from turnspan_records.conversation import MessageRecord
from turnspan_records.detail_types import Detail, SpanNode
from turnspan_records.judging.history import judgments
from turnspan_records.lookup import RecordRef
from turnspan_records.messages import (
    NONE,
    load_definitions,
    load_messages,
    prompt_text,
)
from turnspan_records.sessions import turns

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "turn": ("user_message", "response_text"),
    "call": ("response_thoughts", "response_text"),
    "tool": ("arguments", "result"),
    "span": ("events", "links"),
}

_CALLS_OF = """
SELECT start_time AS time, round, if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    arrayStringConcat(finish_reasons, ', ') AS finish, error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY time, span
"""

_TOOLS_OF = """
SELECT start_time AS time, round, name AS tool, t.duration AS duration_seconds, failed,
    error_type AS error, leftUTF8(arguments, 240) AS arguments, span_id AS span
FROM tool_call AS t
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
ORDER BY time, span
"""

_TURNS_OF_TRACE = """
SELECT start_time AS time, turn_id AS turn, agent_name AS agent,
    if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason, rounds,
    tool_call_count AS tools, t.duration AS duration_seconds, t.cost_usd AS cost_usd,
    session_id AS session
FROM turn_summary AS t
WHERE project = {project:String} AND trace_id = {trace:String}
ORDER BY time, turn
"""


def detail(store: Store, found: RecordRef) -> Detail:
    """Load everything about a record that ``lookup.find`` found.

    Raises:
        KeyError: it is gone since.
        StoreError: as ``Store.query``.
    """
    from turnspan_records.consortium.detail import consortium_detail  # which makes details, too
    from turnspan_records.loop import detail as loop_detail  # as above

    load: dict[str, Callable[[Store, RecordRef], Detail]] = {
        "session": _session,
        "turn": _turn,
        "trace": _trace,
        "call": _call,
        "tool": _tool,
        "context": _context,
        "span": _span,
        "consortium": consortium_detail,
        **loop_detail.LOADERS,
    }
    result = load[found.kind](store, found)
    if found.kind != "trace":
        result.judgments = judgments(store, found.project, found.kind, found.id)
    return result


def _session(store: Store, found: RecordRef) -> Detail:
    rows = store.query(
        "SELECT project, session_id, any(service) AS service, any(environment) AS environment,"
        " any(user_id) AS user_id, min(start_time) AS first_time, max(start_time) AS last_time,"
        " countIf(parent_turn_id = '') AS turns, sum(t.rounds) AS rounds,"
        " sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,"
        " sumIf(t.input_tokens, parent_turn_id = '') AS input_tokens,"
        " sumIf(t.output_tokens, parent_turn_id = '') AS output_tokens,"
        " sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,"
        " arraySort(groupUniqArrayArray(t.models)) AS models"
        " FROM turn_summary AS t WHERE project = {project:String}"
        " AND session_id = {session:String} GROUP BY project, session_id",
        {"project": found.project, "session": found.session_id},
    ).dicts()
    result = Detail("session", found.id, rows[0] if rows else {"project": found.project})
    result.tables["turns"] = turns(
        store, session=found.session_id, project=found.project, limit=10_000
    )
    return result


def _turn(store: Store, found: RecordRef) -> Detail:
    result = _row(store, found, "turn_summary", "turn_id")
    parameters = {"project": found.project, "session": found.session_id, "turn": found.turn_id}
    result.tables["model calls"] = store.query(_CALLS_OF, parameters)
    result.tables["tool calls"] = store.query(_TOOLS_OF, parameters)
    return result


def _tool(store: Store, found: RecordRef) -> Detail:
    return _row(store, found, "tool_call", "span_id")


def _context(store: Store, found: RecordRef) -> Detail:
    loaded = contexts(store, found)
    if not loaded:
        raise KeyError(found.id)
    one = loaded[0]
    facts = {
        name: value
        for name, value in asdict(one).items()
        if name not in ("id", "text", "steps", "items", "context_hash")
    }
    result = Detail("context", found.id, facts, {"text": one.text} if one.text else {})
    result.tables["steps"] = Result(
        ("step", "duration_seconds", "error"),
        ("String", "Float64", "String"),
        [(step.name, step.duration, step.error_type) for step in one.steps],
    )
    result.tables["items"] = Result(
        ("item", "section", "source", "tokens", "score", "kept", "reason"),
        ("String", "String", "String", "UInt64", "Float64", "Bool", "String"),
        [(i.id, i.section, i.source, i.tokens, i.score, i.kept, i.reason) for i in one.items],
    )
    return result


def _span(store: Store, found: RecordRef) -> Detail:
    return _row(store, found, "span", "span_id")


def _call(store: Store, found: RecordRef) -> Detail:
    result = _row(store, found, "llm_call", "span_id")
    facts = result.facts
    inputs: list[bytes] = facts.pop("input_messages")
    outputs: list[bytes] = facts.pop("output_messages")
    hashes = {
        name: bytes(facts.pop(name)).hex()
        for name in ("system_prompt", "tool_definitions", "context_assembled")
    }
    known = load_messages(store, found.project, found.session_id or found.trace_id)
    bodies = load_definitions(store, found.project, hashes.values())
    result.input_messages = [_known(one, known) for one in inputs]
    result.output_messages = [_known(one, known) for one in outputs]
    if any(message.recorded for message in result.output_messages):
        # The messages say the same in full.
        result.texts.clear()
        facts.pop("tool_calls")
    for name, hash_ in hashes.items():
        if hash_ != NONE:
            body = bodies.get(hash_)
            text = f"(content not in the store, hash {hash_})" if body is None else body
            result.texts[name] = prompt_text(text) if name == "system_prompt" else text
    return result


def _known(hash_: bytes, known: Mapping[str, MessageRecord]) -> MessageRecord:
    return known.get(hash_.hex()) or MessageRecord(hash_.hex(), recorded=False)


def _row(store: Store, found: RecordRef, table: str, column: str) -> Detail:
    rows = store.query(
        f"SELECT * FROM {table} WHERE project = {{project:String}}"
        f" AND session_id = {{session:String}} AND {column} = {{id:String}} LIMIT 1",
        {"project": found.project, "session": found.session_id, "id": found.id},
    ).dicts()
    if not rows:
        raise KeyError(found.id)
    facts = rows[0]
    texts = {name: str(facts.pop(name)) for name in _TEXTS[found.kind]}
    return Detail(found.kind, found.id, facts, {name: text for name, text in texts.items() if text})


def _trace(store: Store, found: RecordRef) -> Detail:
    parameters = {"project": found.project, "trace": found.trace_id}
    rows = store.query(
        "SELECT span_id, parent_span_id, name, kind, start_time, duration, status_code,"
        " status_message FROM span WHERE project = {project:String} AND trace_id = {trace:String}"
        " ORDER BY start_time, span_id",
        parameters,
    ).dicts()
    result = Detail("trace", found.id, {"project": found.project, "spans": len(rows)})
    result.spans = _tree(rows)
    result.tables["turns"] = store.query(_TURNS_OF_TRACE, parameters)
    return result


def _tree(rows: list[dict[str, Any]]) -> list[SpanNode]:
    nodes: dict[str, SpanNode] = {
        row["span_id"]: of_row(SpanNode, row, start_time=utc(row["start_time"])) for row in rows
    }
    roots: list[SpanNode] = []
    for row in rows:
        node = nodes[row["span_id"]]
        parent = nodes.get(row["parent_span_id"])
        (roots if parent is None or parent is node else parent.children).append(node)
    return roots
