"""A session's conversation is rebuilt from its records, each message once."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, call, message, said, tool, turn
from support.shop_session import (
    ASKING,
    HELLO,
    STOCK,
    SYSTEM,
    YES,
    hashes,
    session,
)
from turnspan_clickhouse.rows.tables import Definition, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import CallRecord, ToolExecutionRecord, TurnRecord
from turnspan_records.messages import ContentMissingError, exact_messages
from turnspan_records.replay import replay


def calls_of(turn_: Any) -> list[CallRecord]:
    assert isinstance(turn_, TurnRecord)
    return [step for step in turn_.steps if isinstance(step, CallRecord)]


def test_every_message_is_shown_once_at_the_call_that_was_first_given_it(store: Store) -> None:
    insert(store, *session())
    first, second = replay(store, PROJECT, "s1").steps
    one, two = calls_of(first)
    (three,) = calls_of(second)
    assert [m.text for m in one.new_messages] == ["You sell shoes.", "Hello, size 42?"]
    assert [m.role for m in two.new_messages] == ["tool", "tool"]
    assert [m.text for m in three.new_messages] == ["yes"]
    assert [m.text for m in two.replies + three.replies] == ["Three pairs.", "Done."]
    assert (one.dropped, two.dropped, three.dropped) == (0, 0, 0)
    assert one.cost_usd == Decimal("0.25") and one.input_tokens == 10


def test_a_history_comes_whole_however_calls_follow_each_other(store: Store) -> None:
    """Although only what the agent's call before had not sent is asked of the store: agents that
    take turns, calls at one moment, histories that grow, shrink, slide, change and are repeated."""
    chosen = random.Random(7)
    sent: dict[str, list[bytes]] = {}
    calls: list[Record] = []
    history: dict[str, list[bytes]] = {"": [], "a": [], "b": []}
    for number in range(300):
        agent = chosen.choice(list(history))
        now = history[agent]
        change = chosen.randrange(8)
        if change == 0:
            now = now[: chosen.randrange(len(now) + 1)]
        elif change == 1:
            now = now[1:]
        elif change == 2 and now:
            now = [*now[:-1], chosen.randbytes(16)]
        elif change == 3 and now:
            now = [*now[: len(now) // 2], chosen.randbytes(16), *now[len(now) // 2 :]]
        elif change > 4:
            now = [*now, *(chosen.randbytes(16) for _ in range(chosen.randrange(1, 4)))]
        span = f"{chosen.randrange(2**64):016x}"
        sent[span] = history[agent] = now
        calls.append(call(span, number // 2, agent_name=agent, input_messages=now))
    insert(store, *calls)
    found = {one.span_id: one.input_hashes for one in replay(store, PROJECT, "s1").calls()}
    assert found == {span: [one.hex() for one in hashes_] for span, hashes_ in sent.items()}


def test_a_tool_call_has_its_execution_and_what_the_model_was_given(store: Store) -> None:
    insert(store, *session())
    conversation = replay(store, PROJECT, "s1")
    one = next(conversation.calls())
    stock, price = one.requests
    assert stock.name == "stock" and stock.arguments == {"size": 42}
    assert stock.execution is not None and stock.execution.span_id == "x1"
    assert stock.execution.duration == 0.5 and stock.seen == "3 pairs"
    assert price.execution is not None and price.execution.failed and price.answered
    assert not any(isinstance(step, ToolExecutionRecord) for step in conversation.steps)


def test_turns_come_in_order_with_how_they_ended(store: Store) -> None:
    insert(store, turn("t1", 0, status="running", stop_reason="", written_at=1), *session())
    conversation = replay(store, PROJECT, "s1")
    assert [(t.turn_id, t.ended_how) for t in conversation.turns()] == [
        ("t1", "completed"),
        ("t2", "max_tokens"),
    ]


def test_tools_without_a_call_id_are_matched_by_round_and_name(store: Store) -> None:
    rows = session()
    for row in rows:
        if getattr(row, "call_id", ""):
            row.call_id = ""  # type: ignore[attr-defined]
    insert(store, *rows, tool("x3", 5, turn_id="t1", round=2, name="log"))
    conversation = replay(store, PROJECT, "s1")
    stock, price = next(conversation.calls()).requests
    assert stock.execution is not None and stock.execution.span_id == "x1"
    assert price.execution is not None and price.execution.span_id == "x2"
    (first, _) = conversation.steps
    assert isinstance(first, TurnRecord)
    loose = [step for step in first.steps if isinstance(step, ToolExecutionRecord)]
    assert [step.name for step in loose] == ["log"]


def test_nested_agents_stand_inside_the_turn_that_called_them(store: Store) -> None:
    insert(
        store,
        turn("t1", 0),
        call("l1", 1, turn_id="t1"),
        turn("n1", 2, parent_turn_id="t1", agent_name="helper"),
        call("l2", 3, turn_id="n1"),
        turn("n2", 4, parent_turn_id="n1"),
        call("l3", 9, turn_id="t1"),
        call("l4", 20, turn_id="f" * 32),
    )
    conversation = replay(store, PROJECT, "s1")
    first, outside = conversation.steps
    assert isinstance(first, TurnRecord) and isinstance(outside, CallRecord)
    assert [step.span_id for step in first.steps] == ["l1", "n1", "l3"]
    nested = first.steps[1]
    assert isinstance(nested, TurnRecord)
    assert [step.span_id for step in nested.steps] == ["l2", "n2"]


def test_a_system_prompt_beside_the_messages_is_shown_when_it_changes(store: Store) -> None:
    first = Definition(project=PROJECT, hash=b"1" * 16, kind="system_prompt", body="Be kind.")
    second = Definition(
        project=PROJECT,
        hash=b"2" * 16,
        kind="system_prompt",
        body='[{"type":"text","content":"Be"},{"type":"text","content":"brief."}]',
    )
    insert(
        store,
        first,
        second,
        HELLO,
        call("l1", 0, system_prompt=first.hash, input_messages=hashes(HELLO)),
        call("l2", 1, system_prompt=first.hash, input_messages=hashes(HELLO)),
        call("l3", 2, system_prompt=second.hash, input_messages=hashes(HELLO)),
    )
    prompts = [one.system_prompt for one in replay(store, PROJECT, "s1").calls()]
    assert prompts == ["Be kind.", None, "Be\n\nbrief."]


def test_a_system_prompt_that_is_in_the_messages_is_not_shown_twice(store: Store) -> None:
    prompt = Definition(
        project=PROJECT, hash=b"3" * 16, kind="system_prompt", body="You sell shoes."
    )
    insert(
        store,
        prompt,
        SYSTEM,
        HELLO,
        call("l1", 0, system_prompt=prompt.hash, input_messages=hashes(SYSTEM, HELLO)),
    )
    (one,) = replay(store, PROJECT, "s1").calls()
    assert one.system_prompt is None and one.new_messages[0].role == "system"


def test_without_recorded_content_the_inline_columns_still_tell(store: Store) -> None:
    insert(
        store,
        call(
            "l1",
            0,
            turn_id="t1",
            input_messages=hashes(HELLO),
            response_text="Three.",
            tool_calls='[{"type":"tool_call","id":"c1","name":"stock","arguments":{"size":42}}]',
        ),
        tool("x1", 1, turn_id="t1", call_id="c1", name="stock"),
    )
    (one,) = (step for step in replay(store, PROJECT, "s1").steps if isinstance(step, CallRecord))
    assert not one.new_messages[0].recorded and one.response_text == "Three."
    assert one.requests[0].execution is not None


def test_a_trace_without_a_session_is_replayed_by_its_trace(store: Store) -> None:
    trace = "e" * 32
    lone = message("user", said("hi"), scope=trace)
    insert(
        store,
        lone,
        call("l1", 0, session_id="", trace_id=trace, input_messages=hashes(lone)),
        call("l2", 0, session_id="", trace_id="d" * 32),
    )
    (one,) = replay(store, PROJECT, "", trace).calls()
    assert one.span_id == "l1" and one.new_messages[0].text == "hi"


def test_an_unknown_session_has_no_steps(store: Store) -> None:
    assert replay(store, PROJECT, "nobody").steps == []


def test_the_exact_request_of_a_call_is_rebuilt_in_the_providers_shape(store: Store) -> None:
    kept = message("user", said("odd"), source='{"role":"user","content":"odd","vendor":1}')
    insert(
        store,
        *session(),
        kept,
        call("l9", 30, input_messages=[*hashes(SYSTEM, HELLO, ASKING, STOCK), kept.hash]),
    )
    assert exact_messages(store, PROJECT, "l9") == [
        {"role": "system", "content": "You sell shoes."},
        {"role": "user", "content": "Hello, size 42?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": id_, "type": "function",
                 "function": {"name": name, "arguments": '{"size":42}'}}
                for id_, name in (("c1", "stock"), ("c2", "price"))
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3 pairs"},
        {"role": "user", "content": "odd", "vendor": 1},
    ]  # fmt: skip


def test_a_request_whose_content_is_missing_is_refused_not_guessed(store: Store) -> None:
    insert(store, HELLO, call("l1", 0, input_messages=hashes(HELLO, YES)))
    with pytest.raises(ContentMissingError, match="1 of the 2 messages"):
        exact_messages(store, PROJECT, "l1")
    with pytest.raises(KeyError):
        exact_messages(store, PROJECT, "nobody")
