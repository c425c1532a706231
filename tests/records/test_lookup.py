"""An id on the command line means a session, a turn, a trace, a call, a tool or a span."""

from __future__ import annotations

from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, call, tool, turn
from turnspan_clickhouse.rows.tables import Definition, SpanRow
from turnspan_clickhouse.store.client import Store
from turnspan_records.detail import detail
from turnspan_records.lookup import RecordRef, find

TRACE = "0af7651916cd43dd8448eb211c80319c"
TURN, CALL, TOOL, OTHER = (digit * 16 for digit in "abcd")


def span(span_id: str, name: str, at: float, parent: str = "", **values: Any) -> SpanRow:
    start = T0 + round(at * 1e9)
    return SpanRow(
        project=PROJECT,
        session_id="thread-7",
        turn_id=TURN,
        trace_id=TRACE,
        span_id=span_id,
        parent_span_id=parent,
        name=name,
        start_time=start,
        duration=1.0,
        written_at=T0,
        **values,
    )


@pytest.fixture
def filled(store: Store) -> Store:
    ids = {"session_id": "thread-7", "trace_id": TRACE, "turn_id": TURN}
    insert(
        store,
        turn(TURN, 0, session_id="thread-7", trace_id=TRACE, user_message="hi"),
        call(CALL, 1, **ids, response_text="hello", tool_definitions=b"t" * 16),
        tool(TOOL, 2, **ids, arguments='{"q":1}', result="none", failed=True),
        span(TURN, "invoke_agent", 0),
        span(CALL, "chat gpt-4o", 1, TURN),
        span(TOOL, "execute_tool search", 2, CALL),
        span(OTHER, "GET /", 3, "9" * 16, status_code="ERROR", status_message="boom"),
        Definition(project=PROJECT, hash=b"t" * 16, kind="tool_definitions", body='[{"name":"s"}]'),
    )
    return store


IDS = (
    ("thread-7", "session", "thread-7"),
    ("thread", "session", "thread-7"),
    (TURN, "turn", TURN),
    (TURN[:6], "turn", TURN),
    (TRACE, "trace", TRACE),
    (TRACE[:8], "trace", TRACE),
    (TRACE[:16], "trace", TRACE),
    (TRACE[:31], "trace", TRACE),
    (CALL, "call", CALL),
    (TOOL[:7], "tool", TOOL),
    (f" {OTHER}\n", "span", OTHER),
    (OTHER[:15], "span", OTHER),
    (f"00-{TRACE}-{CALL}-01", "call", CALL),
    (f"2026-11-27 ERROR shop: trace_id={TRACE.upper()} gone", "trace", TRACE),
    ('{"level":"error","session":"thread-7","msg":"order-1 failed"}', "session", "thread-7"),
    ("worker[3]: session=thread-7; took 3.5 s", "session", "thread-7"),
)
"""What is asked for, its kind and its whole id."""


def test_whole_ids_and_beginnings_are_found(filled: Store) -> None:
    for id_, kind, whole in IDS:
        (found,) = find(filled, id_)
        assert (found.kind, found.id, found.project) == (kind, whole, PROJECT), id_


def test_short_beginnings_and_unknown_ids_mean_nothing(filled: Store) -> None:
    for id_ in ("", "  ", TURN[:5], "nobody", "%", "thread_7"):
        assert find(filled, id_) == []


def test_a_whole_id_beats_the_beginning_of_another(filled: Store) -> None:
    insert(
        filled, turn("1" * 16, 0, session_id="thread-77"), turn("2" * 16, 0, session_id="thread-78")
    )
    assert [one.id for one in find(filled, "thread-7")] == ["thread-7"]
    assert [one.id for one in find(filled, "thread-")] == ["thread-7", "thread-77", "thread-78"]


def test_a_turn_that_has_its_traces_id_is_meant(filled: Store) -> None:
    """An undecorated call's turn has the id of the call's trace, whole and as a beginning."""
    trace = "7" * 32
    ids = {"session_id": f"auto-{trace}", "trace_id": trace, "turn_id": trace}
    alone = span("8" * 16, "chat", 4)
    alone.trace_id, alone.turn_id = trace, trace
    insert(filled, turn(trace, 4, session_id=ids["session_id"], trace_id=trace), alone)
    insert(filled, call("8" * 16, 4, **ids))

    for id_ in (trace, trace[:9]):
        assert [(one.kind, one.id) for one in find(filled, id_)] == [("turn", trace)]


def test_one_session_id_in_two_projects_is_two_sessions(filled: Store) -> None:
    insert(filled, turn("3" * 16, 0, session_id="thread-7", project="other"))
    assert [one.project for one in find(filled, "thread-7")] == ["other", PROJECT]


def test_the_detail_of_each_kind_holds_what_belongs_to_it(filled: Store) -> None:
    session = detail(filled, find(filled, "thread-7")[0])
    assert session.facts["turns"] == 1 and len(session.tables["turns"].rows) == 1
    turn_ = detail(filled, find(filled, TURN)[0])
    assert turn_.texts == {"user_message": "hi"} and turn_.facts["stop_reason"] == "completed"
    assert [len(turn_.tables[name].rows) for name in ("model calls", "tool calls")] == [1, 1]
    call_ = detail(filled, find(filled, CALL)[0])
    assert call_.texts["response_text"] == "hello"
    assert call_.texts["tool_definitions"] == '[{"name":"s"}]'
    tool_ = detail(filled, find(filled, TOOL)[0])
    assert tool_.texts == {"arguments": '{"q":1}', "result": "none"} and tool_.facts["failed"]
    trace = detail(filled, find(filled, TRACE)[0])
    assert [root.name for root in trace.spans] == ["invoke_agent", "GET /"]
    assert trace.spans[0].children[0].children[0].name == "execute_tool search"
    other = detail(filled, find(filled, OTHER)[0])
    assert other.facts["status_message"] == "boom"


def test_what_is_gone_since_it_was_found_is_a_key_error(filled: Store) -> None:
    with pytest.raises(KeyError):
        detail(filled, RecordRef("call", "gone", PROJECT, "thread-7"))
