"""A small agent run, written by hand, whose every figure is known.

Session ``s1`` of project ``shop``: turn ``t1`` (two rounds, one tool, a sub-agent ``t1a`` with one
call) completes, turn ``t2`` stops at its cap after one round. Trace ``x9`` holds one call that
belongs to no session and no turn.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal

from turnspan_clickhouse.rows.tables import (
    NO_HASH,
    Annotation,
    Definition,
    LlmCall,
    MessageRow,
    Record,
    ToolCall,
    TurnSummary,
)

T0 = 1_790_000_000_000_000_000
SECOND = 1_000_000_000
PROJECT = "shop"
PROMPT = 'You are "helpful".\nÜber.'
CONTEXT = "# instructions\nBe brief."
TOOLS = '[{"type":"function","name":"search"}]'


def digest(text: str) -> bytes:
    """A content hash as the columns hold it."""
    return hashlib.sha256(text.encode()).digest()[:16]


def message(scope: str, role: str, text: str, name: str = "") -> MessageRow:
    """A stored message with one text part."""
    parts = json.dumps([{"type": "text", "content": text}], ensure_ascii=False)
    return MessageRow(
        PROJECT, scope, digest(role + text), role, name, parts, first_seen=T0, written_at=T0
    )


M = {
    "ask": message("s1", "user", "Find shoes, größe 42"),
    "search": message("s1", "assistant", "calling search"),
    "found": message("s1", "tool", "3 pairs", name="search"),
    "answer": message("s1", "assistant", "Three pairs."),
    "delegate": message("s1", "user", "Rank them"),
    "ranked": message("s1", "assistant", "Ranked."),
    "again": message("s1", "user", "And socks?"),
    "lone_ask": message("x9", "user", "Hello"),
    "lone_answer": message("x9", "assistant", "Hi."),
    "foreign": message("s2", "user", "Another session's words"),
}
SEARCH_CALL = '[{"id":"c1","name":"search","arguments":{"q":"shoes"}}]'
RANK_CALL = '[{"id":"c2","name":"rank","arguments":{}},{"id":"c3","name":"log","arguments":{}}]'


def hashes(*names: str) -> list[bytes]:
    """The hashes of messages, in order."""
    return [M[name].hash for name in names]


def call(span_id: str, turn_id: str, start: int, **fields: object) -> LlmCall:
    """One model call of a second, 100 tokens in, 10 out."""
    row = LlmCall(
        project=PROJECT,
        session_id="s1",
        turn_id=turn_id,
        trace_id="x1",
        span_id=span_id,
        start_time=T0 + start * SECOND,
        duration=1.0,
        provider="openai",
        operation="chat",
        request_model="gpt-5",
        response_model="gpt-5-2026",
        finish_reasons=["stop"],
        input_tokens=100,
        output_tokens=10,
        cost_usd=Decimal("0.01"),
        system_prompt=digest(PROMPT),
        writer="w1",
        written_at=T0,
    )
    for name, value in fields.items():
        setattr(row, name, value)
    return row


def turn(turn_id: str, start: int, duration: float, **fields: object) -> TurnSummary:
    """One final turn."""
    row = TurnSummary(
        project=PROJECT,
        session_id="s1",
        turn_id=turn_id,
        trace_id="x1",
        span_id=f"span-{turn_id}",
        start_time=T0 + start * SECOND,
        duration=duration,
        status="final",
        stop_reason="completed",
        writer="w1",
        written_at=T0 + SECOND,
    )
    for name, value in fields.items():
        setattr(row, name, value)
    return row


def judgment(kind: str, subject: tuple[str, str], at: int, **fields: object) -> Annotation:
    """One judgment about (subject kind, subject id)."""
    row = Annotation(
        PROJECT, *subject, kind, f"{kind}-{subject[1]}-{at}", created_at=T0 + at, written_at=T0 + at
    )
    for name, value in fields.items():
        setattr(row, name, value)
    return row


RUNNING = turn("t1", 0, 0.0, status="running", stop_reason="running", written_at=T0)
TURNS = (
    turn(
        "t1",
        0,
        9.0,
        user_message="Find shoes, größe 42",
        response_text="Three pairs.",
        rounds=2,
        llm_call_count=2,
        tool_call_count=2,
        tool_error_count=1,
        turn_intent="feature_build",
        chat_mode="delegate",
        task_type="query",
        target="Shoes",
        input_tokens=300,
        output_tokens=30,
        cost_usd=Decimal("0.03"),
        models=["gpt-5-2026"],
    ),
    turn("t1a", 5, 1.5, parent_turn_id="t1", user_message="Rank them", rounds=1),
    turn(
        "t2",
        20,
        2.0,
        user_message="And socks?",
        stop_reason="round_cap",
        rounds=1,
        tool_call_count=0,
        chat_mode="vibe",
        models=["gpt-5-2026"],
        error_type="ValueError",
    ),
)
CALLS = (
    call(
        "a1",
        "t1",
        1,
        round=1,
        finish_reasons=["tool_calls"],
        input_messages=hashes("ask"),
        output_messages=hashes("search"),
        tool_calls=SEARCH_CALL,
        tool_definitions=digest(TOOLS),
        context_assembled=digest(CONTEXT),
    ),
    call(
        "a2",
        "t1",
        7,
        round=2,
        # The model was sent the same question twice: both places must come back.
        input_messages=hashes("ask", "search", "found", "ask"),
        output_messages=hashes("answer"),
        response_text="Three pairs.",
        response_thoughts="Easy.",
        tool_calls=RANK_CALL,
    ),
    call(
        "a3",
        "t1a",
        5,
        round=1,
        input_messages=hashes("delegate"),
        output_messages=hashes("ranked"),
        response_text="Ranked.",
        system_prompt=NO_HASH,
    ),
    call(
        "a4",
        "t2",
        20,
        round=1,
        input_messages=[M["again"].hash, digest("never stored")],
        error_type="Timeout",
    ),
    call(
        "a9",
        "",
        40,
        session_id="",
        trace_id="x9",
        input_messages=hashes("lone_ask"),
        output_messages=hashes("lone_answer"),
        response_text="Hi.",
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
    ),
)
TOOL_CALLS = (
    ToolCall(
        PROJECT,
        session_id="s1",
        turn_id="t1",
        trace_id="x1",
        span_id="b1",
        start_time=T0 + 3 * SECOND,
        duration=0.5,
        round=1,
        name="search",
        call_id="c1",
        result='3 "pairs"',
        written_at=T0,
    ),
    ToolCall(
        PROJECT,
        session_id="s1",
        turn_id="t1",
        trace_id="x1",
        span_id="b2",
        start_time=T0 + 4 * SECOND,
        duration=0.5,
        round=1,
        name="fetch",
        call_id="c4",
        result="boom",
        failed=True,
        written_at=T0,
    ),
)
DEFINITIONS = tuple(
    Definition(PROJECT, digest(body), kind, body, first_seen=T0, written_at=T0)
    for kind, body in (
        ("system_prompt", PROMPT),
        ("tool_definitions", TOOLS),
        ("context_assembled", CONTEXT),
    )
)
JUDGMENTS = (
    judgment("outcome", ("turn", "t1"), 1, outcome="rejected"),
    judgment("outcome", ("turn", "t1"), 2, outcome="used"),
    judgment("training_flag", ("turn", "t1"), 3, training_flag=1),
    judgment("comment", ("turn", "t1"), 4, comment="first thought"),
    judgment("comment", ("turn", "t1"), 5, comment="good one"),
    judgment("outcome", ("call", "a9"), 6, outcome="modified"),
    judgment("outcome", ("session", "s1"), 7, outcome="used"),
)

EVERYTHING: tuple[Record, ...] = (
    RUNNING,
    *TURNS,
    *CALLS,
    *TOOL_CALLS,
    *M.values(),
    *DEFINITIONS,
    *JUDGMENTS,
)
