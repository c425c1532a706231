"""The outline of a session says what a replay says, with the beginnings of texts."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import msgspec
import pytest

from support.landing import insert
from support.rows import (
    PROJECT,
    SECOND,
    T0,
    answered,
    asked,
    call,
    message,
    said,
    tool,
    turn,
)
from support.shop_session import ASKING, HELLO, REPLY, SYSTEM, hashes, session
from turnspan_clickhouse.rows.tables import Definition, LlmCall, Record, RunningCall
from turnspan_clickhouse.store.client import Store
from turnspan_records.conversation import Conversation, TurnRecord
from turnspan_records.replay import replay
from turnspan_records.screens.outline import newest, outline
from turnspan_records.screens.outline_types import Outline, ToolsChange


def compared(store: Store, session_id: str) -> tuple[Conversation, Outline]:
    """Both, after everything that both say was found equal."""
    whole, short = replay(store, PROJECT, session_id), outline(store, PROJECT, session_id)
    calls = {one.span_id: one for one in whole.calls()}
    assert [one.span_id for one in short.calls] == sorted(
        calls, key=lambda id_: (calls[id_].start_time, id_)
    )
    for one in short.calls:
        its = calls[one.span_id]
        assert [short.messages[at].hash for at in one.new] == [m.hash for m in its.new_messages]
        assert [short.messages[at].hash for at in one.replies] == [m.hash for m in its.replies]
        assert one.dropped == its.dropped and one.messages == len(its.input_hashes)
        assert one.cost_usd == its.cost_usd and one.model == its.model
        ran = [request.execution for request in its.requests]
        assert [request.tool for request in one.requests] == [r.span_id if r else "" for r in ran]
        assert [r.answered for r in one.requests] == [r.answered for r in its.requests]
    assert [(step.id, step.depth) for step in short.steps] == list(walked(whole.steps))
    return whole, short


def walked(steps: Any, depth: int = 0) -> Any:
    for step in steps:
        yield (step.turn_id if isinstance(step, TurnRecord) else step.span_id), depth
        if isinstance(step, TurnRecord):
            yield from walked(step.steps, depth + 1)


@pytest.fixture(scope="module")
def landed(module_store: Store) -> Store:
    """Sessions by name, in a store of each kind."""
    insert(module_store, *session(), *nested(), *rewritten(), *repeating())
    return module_store


def of(session_id: str, *records: Record) -> list[Record]:
    """The records, in a session of their own."""
    for one in records:
        one_: Any = one
        if hasattr(one_, "scope"):
            one_.scope = session_id
        elif hasattr(one_, "session_id"):
            one_.session_id = session_id
    return list(records)


def nested() -> list[Record]:
    return of(
        "nested",
        turn("n1", 0, status="running", stop_reason="running"),
        call("nl1", 1, turn_id="n1"),
        turn("n2", 2, parent_turn_id="n1", agent_name="helper", user_message="x" * 400 + "é"),
        call("nl2", 3, turn_id="n2", agent_name="helper", response_text="kept in the row"),
        tool("nx", 4, turn_id="n2", name="alone", arguments='{"a": 1}'),
        call("nl3", 5),
    )


def rewritten() -> list[Record]:
    user = [message("user", said(f"question {n}"), scope="rewritten") for n in range(6)]
    agent = [message("assistant", said(f"answer {n}"), scope="rewritten") for n in range(6)]
    talk = [one for pair in zip(user, agent, strict=True) for one in pair]
    summary = message("user", said("what was said so far"), scope="rewritten")
    first = Definition(project=PROJECT, hash=b"1" * 16, kind="system_prompt", body="Be brief.")
    second = Definition(project=PROJECT, hash=b"2" * 16, kind="system_prompt", body="Be long.")
    few = json.dumps([{"name": "read", "d": 1}, {"name": "write"}])
    more = json.dumps([{"name": "read", "d": 2}, {"name": "search"}])
    tools = [
        Definition(project=PROJECT, hash=h * 16, kind="tool_definitions", body=body)
        for h, body in ((b"3", few), (b"4", more))
    ]
    rows = of(
        "rewritten",
        *(*talk, summary, turn("w1", 0)),
        call("wl1", 1, turn_id="w1", input_messages=hashes(*talk[:9]),
             output_messages=hashes(talk[9]), system_prompt=b"1" * 16, tool_definitions=b"3" * 16),
        call("wl2", 2, turn_id="w1", input_messages=hashes(*talk[:2], summary, *talk[8:11]),
             output_messages=hashes(talk[11]), system_prompt=b"2" * 16,
             tool_definitions=b"4" * 16),
    )  # fmt: skip
    return [*rows, first, second, *tools]


def repeating() -> list[Record]:
    rows: list[Record] = [turn("r1", 0)]
    for n in range(3):
        asks = message("assistant", asked(f"c{n}", "search", q="same"), scope="repeating")
        gives = message("tool", answered(f"c{n}", "[]" if n < 2 else "cut"), scope="repeating")
        back = hashes(gives) if n else []
        rows += [asks, gives]
        rows.append(call(f"rl{n}", 2 * n, turn_id="r1", round=n + 1, output_messages=hashes(asks)))
        rows.append(
            tool(f"rx{n}", 2 * n + 1, turn_id="r1", round=n + 1, call_id=f"c{n}",
                 arguments='{"q": "same"}', result="[]", failed=n == 2)
        )  # fmt: skip
        rows.append(call(f"rm{n}", 2 * n + 1.5, turn_id="r1", round=n + 1,
                         input_messages=hashes(gives), output_messages=back))  # fmt: skip
    return of("repeating", *rows)


def test_it_says_what_a_replay_says(landed: Store) -> None:
    """What is new, dropped, asked for and answered, in what order and in which turn."""
    _, short = compared(landed, "s1")
    assert [short.messages[at].text for at in short.calls[0].new] == [
        "You sell shoes.",
        "Hello, size 42?",
    ]
    heads = {one.hash: one for one in short.messages}
    asking = heads[ASKING.hash.hex()]
    assert (asking.role, asking.kinds, asking.size) == (
        "assistant",
        ("tool_call",),
        len(ASKING.parts),
    )
    assert [r.arguments for r in short.calls[0].requests] == ['{"size":42}'] * 2
    stock, price = short.calls[0].requests
    assert (stock.seen, stock.altered, price.altered) == ("", False, False)
    assert heads[REPLY.hash.hex()].text == "Three pairs." and heads[HELLO.hash.hex()].recorded
    assert SYSTEM.hash.hex() in heads
    assert not short.running
    assert newest(landed, PROJECT, "s1") == short.cursor != newest(landed, PROJECT, "nobody")
    insert(landed, message("user", said("landed after its call")))
    assert newest(landed, PROJECT, "s1") != short.cursor


def test_nested_turns_and_what_is_not_recorded(landed: Store) -> None:
    whole, short = compared(landed, "nested")
    assert short.running
    helper = short.turns[1]
    assert helper.user_message.head == "x" * 300 and helper.user_message.size == 402
    assert not helper.user_message.whole
    assert short.calls[1].response.head == "kept in the row"
    assert short.calls[1].response.whole
    assert [one.requested for one in short.tools] == [False]
    assert len(list(whole.calls())) == 3


def test_a_rewritten_history_another_system_prompt_and_other_tools(landed: Store) -> None:
    _, short = compared(landed, "rewritten")
    one, two = short.calls
    assert (one.before, two.before, two.kept, two.dropped) == ("", "wl1", 2, 6)
    assert two.rewritten and two.system_changed and not one.rewritten
    assert [short.messages[at].text for at in two.new] == ["what was said so far", "question 5"]
    assert two.tools_changed == ToolsChange(("search",), ("write",), ("read",))
    assert {one.text.head for one in short.definitions if one.kind == "system_prompt"} == {
        "Be brief.",
        "Be long.",
    }


def test_the_same_tool_call_again(landed: Store) -> None:
    """With the same arguments, and whether with the same result; and a result that was cut."""
    _, short = compared(landed, "repeating")
    assert [(x.times, x.first, x.same_result) for x in short.tools] == [
        (1, "rx0", False),
        (2, "rx0", True),
        (3, "rx0", True),
    ]
    requests = {r.call_id: r for one in short.calls for r in one.requests}
    assert [requests[f"c{n}"].altered for n in range(3)] == [False, False, True]


def test_only_text_blocks_are_read_as_text(landed: Store) -> None:
    """A result that is a list of records with a text each is what it is, also where the model was
    given it word for word; a list of text blocks is their texts."""
    found = json.dumps([{"id": 7, "text": "one"}, {"id": 8, "text": "two"}])
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    question = message("user", said("?"), scope="lists")
    asking = message("assistant", asked("l1", "find"), asked("l2", "read"), scope="lists")
    given = message("tool", answered("l1", found), answered("l2", blocks), scope="lists")
    here: dict[str, Any] = {"session_id": "lists"}
    insert(landed, question, asking, given,
           call("li1", 0, **here, input_messages=[question.hash], output_messages=[asking.hash]),
           tool("lt1", 1, **here, name="find", call_id="l1", result=found.replace(" ", "")),
           tool("lt2", 2, **here, name="read", call_id="l2", result="a\nb"),
           call("li2", 3, **here, input_messages=hashes(question, asking, given)))  # fmt: skip
    _, short = compared(landed, "lists")
    assert [(one.answered, one.altered) for one in short.calls[0].requests] == [(True, False)] * 2
    [head] = [one for one in short.messages if one.kinds == ("tool_call_response",)]
    assert head.text.startswith(found[:20])


def test_messages_that_nobody_expects(landed: Store) -> None:
    """Parts that are no JSON, no list, or of any type are told, as a replay tells them."""
    odd = [
        message("user", scope="odd"),
        message("user", {"type": "blob", "modality": "image", "content": None}, scope="odd"),
        message("assistant", {"type": "tool_call", "name": None, "arguments": [1]}, scope="odd"),
        message("user", said("\x1b[31m‮ \ud83d"[:-1] + "é" * 400), scope="odd"),
    ]
    for n, parts in enumerate(["no JSON", '{"type": "text", "content": "an object"}', "[1, [2]]"]):
        row = message("user", said(str(n)), scope="odd")
        row.parts = parts
        odd.append(row)
    insert(landed, *odd, call("o1", 0, session_id="odd", input_messages=hashes(*odd),
                              output_messages=hashes(odd[2])))  # fmt: skip
    _, short = compared(landed, "odd")
    assert short.messages[3].text == ("\x1b[31m‮ " + "é" * 400)[:300]
    assert short.messages[4].text == "no JSON"


def test_a_long_session_is_small_and_says_the_same(landed: Store) -> None:
    """500 calls of 25 turns: no list of hashes travels, nor a long text."""
    chosen = random.Random(3)
    words = [f"{chosen.randrange(10**6):x}" for _ in range(4_000)]
    rows: list[Record] = []
    talk: list[bytes] = []
    for at in range(500):
        if at % 20 == 0:
            rows.append(turn(f"{at:016x}", at, session_id="long"))
            new = message("user", said(" ".join(chosen.choices(words, k=60))), scope="long")
        else:
            new = message("tool", answered(f"c{at - 1}", " ".join(chosen.choices(words, k=200))),
                          scope="long")  # fmt: skip
        asks = asked(f"c{at}", "search", q=chosen.choice(words))
        answer = said(" ".join(chosen.choices(words, k=20)))
        reply = message("assistant", answer, asks, scope="long")
        talk = [*talk, new.hash]
        rows += [new, reply, call(f"{at + 10**9:016x}", at + 0.5, session_id="long",
                                  turn_id=f"{at - at % 20:016x}", input_messages=talk,
                                  output_messages=[reply.hash])]  # fmt: skip
        talk = [*talk, reply.hash]
    insert(landed, *rows)
    _, short = compared(landed, "long")
    packed = gzip.compress(msgspec.json.encode(short), 6)
    assert len(short.messages) == 1_000
    assert len(packed) < 260_000


def edited(seed: int) -> list[Record]:
    """A session of two agents whose histories grow, begin anew, are cut and are edited."""
    chosen = random.Random(seed)
    rows: list[Record] = [turn("e1", 0)]
    pool = [message("user", said(f"{seed} {n}")) for n in range(400)]
    rows += pool
    talks: dict[str, list[Any]] = {"main": [], "helper": []}
    for at in range(80):
        agent = chosen.choice(["main", "main", "helper"])
        talk = talks[agent]
        edit = chosen.random()
        if edit < 0.05:
            talk.clear()
        elif edit < 0.1 and talk:
            del talk[chosen.randrange(len(talk)) :]
        elif edit < 0.15 and talk:
            talk[chosen.randrange(len(talk))] = chosen.choice(pool)
        talk += chosen.choices(pool, k=chosen.choice([0, 1, 2, 2, 3, 20]))
        rows.append(call(f"e{at:03}", at, turn_id="e1", agent_name=agent,
                         input_messages=hashes(*talk)))  # fmt: skip
    return of(f"edited{seed}", *rows)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_history_comes_back_whole(store: Store, seed: int) -> None:
    """Of what calls send again only the digest is read; whatever was edited between two calls, each
    has what it sent, also in rows of before the digests were kept."""
    rows = edited(seed)
    insert(store, *rows)
    sent = {row.span_id: row.input_messages for row in rows if isinstance(row, LlmCall)}
    for name in ("sent_last", "sent_digests", "head", ""):
        whole, short = compared(store, f"edited{seed}")
        for one in whole.calls():
            assert [bytes.fromhex(hash_) for hash_ in one.input_hashes] == sent[one.span_id]
        if name:
            table = "message" if name == "head" else "llm_call"
            store.command(f"ALTER TABLE {table} CLEAR COLUMN {name} SETTINGS mutations_sync = 2")
    for calls in (1, 17, 79, 80, 500):
        begun = outline(store, PROJECT, f"edited{seed}", calls=calls)
        assert begun.continues == (calls < len(sent))
        assert begun.cursor == ("" if begun.continues else short.cursor)
        for name in ("calls", "messages", "turns", "steps"):
            some, every = getattr(begun, name), getattr(short, name)
            assert some == every[: len(some)], name
        assert len(begun.calls) == min(calls, len(sent))


def test_a_beginning_has_the_calls_that_have_not_ended(store: Store) -> None:
    """As the whole has them: not those that began later, and none that ended without saying so."""
    insert(store, *of("begun", *(call(f"b{at}", at) for at in range(4))))
    begun = outline(store, PROJECT, "begun", calls=2)
    assert [one.span_id for one in begun.calls] == ["b0", "b1"] and not begun.running

    def unended(span: str, status: str, start: float) -> RunningCall:
        known: dict[str, Any] = {"project": PROJECT, "session_id": "begun", "trace_id": "t"}
        began = T0 + int(start * SECOND)
        return RunningCall(span_id=span, status=status, start_time=began, written_at=T0, **known)

    insert(store, unended("r1", "running", 0.5), unended("r2", "interrupted", 1.5),
           unended("r3", "running", 2.5), unended("b1", "running", 1))  # fmt: skip
    begun, whole = (outline(store, PROJECT, "begun", calls=calls) for calls in (2, 0))
    assert {one.span_id for one in begun.calls} == {"b0", "r1", "b1", "r2"} and begun.running
    assert {one.span_id for one in whole.calls} == {"b0", "r1", "b1", "r2", "b2", "r3", "b3"}
