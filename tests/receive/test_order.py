"""Spans of one trace in any order, in many batches, from several processes: the same records."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from receive.otlp import Made, agent, chat, request, span_id, tool, trace_id
from receive.serving import serving
from turnspan_clickhouse.normalise import nesting
from turnspan_clickhouse.receive import Receiver, ReceiveSettings, trace_buffer
from turnspan_clickhouse.receive.decoded import InternCache
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

Row = dict[str, Any]

TWO_AGENTS = (
    Made("GET /ask", "", 0, 20),
    agent("planner", "GET /ask", 1, 19),
    chat("first", "planner", 2),
    tool("research", "planner", 3, 8),
    Made("POST /research", "research", 4, 10, service="research"),
    agent("researcher", "POST /research", 5, 9, service="research"),
    chat("inner", "researcher", 6, service="research"),
    tool("search", "researcher", 7, service="research"),
    chat("second", "planner", 12),
    chat("third", "planner", 14),
    Made("SELECT 1", "planner", 15, 16, scope="sql"),
)
NO_AGENT = (
    Made("GET /loop", "", 0, 20),
    chat("one", "GET /loop", 1),
    tool("look", "GET /loop", 2),
    chat("two", "GET /loop", 3),
    chat("three", "GET /loop", 5),
)


class Sender:
    """Sends stories to a receiver, a request at a time."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self._shared = InternCache()

    def send(self, salt: str, *batches: Sequence[Made]) -> None:
        """One request a batch, each after the one before was acknowledged."""
        for batch in batches:
            body = request(salt, batch).SerializeToString()
            self.receiver.submit(decode_protobuf(body, self._shared)).result(10)


@contextmanager
def receiving(dsn: Dsn, **limits: Any) -> Generator[Sender]:
    """A receiver that has stopped in order when the block ends."""
    receiver = Receiver(dsn, settings=ReceiveSettings(**limits))
    receiver.start()
    try:
        yield Sender(receiver)
    finally:
        receiver.stop()


def ask(dsn: Dsn, sql: str) -> list[Row]:
    """Land what is spooled, then ask."""
    ship(dsn, deadline=time.monotonic() + 30)
    with open_store(dsn) as store:
        return store.query(sql).dicts()


def turns_of(rows: list[Row], salt: str) -> dict[str, Row]:
    """The turns of a story by agent, without what differs from telling to telling."""
    mine = [row for row in rows if row["trace_id"] == trace_id(salt).hex()]
    assert len({row["agent_name"] for row in mine}) == len(mine)
    names = {span_id(salt, one.name).hex(): one.name for one in (*TWO_AGENTS, *NO_AGENT)}
    names[trace_id(salt).hex()] = "the trace"
    said: dict[str, Row] = {}
    for row in mine:
        row = {key: names.get(str(value), value) for key, value in row.items()}
        row.pop("trace_id")
        said[str(row["agent_name"])] = row
    return said


TURNS = """
SELECT trace_id, agent_name, turn_id, parent_turn_id, status, stop_reason, rounds, llm_call_count,
    tool_call_count, input_tokens, output_tokens, response_text, toString(start_time) AS start,
    round(duration, 3) AS seconds, toFloat64(cost_usd) AS cost
FROM turn_summary ORDER BY start_time"""
PARTS = """
SELECT trace_id, name, turn_id, round FROM
(
    SELECT trace_id, response_text AS name, turn_id, round FROM llm_call
    UNION ALL SELECT trace_id, name, turn_id, round FROM tool_call
) ORDER BY name"""


def test_any_order_of_arrival_gives_the_same_turns(embedded_dsn: Dsn) -> None:
    """Each span in a request of its own, in 12 orders, beside the order in which they ended."""
    chance = random.Random(4)
    ended = sorted(TWO_AGENTS, key=lambda one: one.end)
    with receiving(embedded_dsn) as sender:
        sender.send("in order", *([one] for one in ended))
        sender.send("at once", TWO_AGENTS)
        sender.send("backwards", *([one] for one in reversed(ended)))
        for number in range(12):
            spans = chance.sample(TWO_AGENTS, len(TWO_AGENTS))
            cut = chance.randint(1, 5)
            batches = [spans[i : i + cut] for i in range(0, len(spans), cut)]
            sender.send(f"shuffled {number}", *batches)
    rows = ask(embedded_dsn, TURNS)
    expected = turns_of(rows, "in order")

    assert set(expected) == {"planner", "researcher"}
    planner, researcher = expected["planner"], expected["researcher"]
    assert (planner["turn_id"], researcher["turn_id"]) == ("planner", "researcher")
    assert researcher["parent_turn_id"] == "planner"
    assert (planner["rounds"], planner["llm_call_count"], planner["tool_call_count"]) == (3, 3, 1)
    assert (researcher["rounds"], researcher["tool_call_count"]) == (1, 1)
    assert (planner["input_tokens"], researcher["input_tokens"]) == (400, 100)
    assert (planner["response_text"], planner["stop_reason"]) == ("third", "completed")
    for salt in ("at once", "backwards", *(f"shuffled {number}" for number in range(12))):
        assert turns_of(rows, salt) == expected, salt
    assert len(rows) == 2 * 15
    _check_parts(embedded_dsn)


def _check_parts(dsn: Dsn) -> None:
    """Every call and tool is there once, in its turn and round; every span is there once."""
    rows = ask(dsn, PARTS)
    seen: dict[str, list[tuple[str, str, int]]] = {}
    for row in rows:
        seen.setdefault(row["trace_id"], []).append((row["name"], row["turn_id"], row["round"]))
    assert len(seen) == 15
    for salt in ("in order", "backwards", "shuffled 7"):
        planner, researcher = span_id(salt, "planner").hex(), span_id(salt, "researcher").hex()
        assert seen[trace_id(salt).hex()] == [
            ("first", planner, 1),
            ("inner", researcher, 1),
            ("research", planner, 1),
            ("search", researcher, 1),
            ("second", planner, 2),
            ("third", planner, 3),
        ]
    spans = ask(dsn, "SELECT count() AS n, uniqExact(trace_id, span_id) AS u FROM span")
    assert spans == [{"n": 15 * len(TWO_AGENTS), "u": 15 * len(TWO_AGENTS)}]


def test_calls_that_no_agent_is_around_become_one_turn(embedded_dsn: Dsn) -> None:
    """The turn is derived from its calls, whatever the order, and lands once it is quiet."""
    chance = random.Random(5)
    with receiving(embedded_dsn, settle_after=0.0) as sender:
        sender.send("in order", *([one] for one in sorted(NO_AGENT, key=lambda one: one.end)))
        for number in range(10):
            spans = chance.sample(NO_AGENT, len(NO_AGENT))
            sender.send(f"shuffled {number}", *([one] for one in spans))
            time.sleep(0.01)  # so that some settle before the last call of theirs comes
    rows = ask(embedded_dsn, TURNS)
    expected = turns_of(rows, "in order")[""]

    assert (expected["turn_id"], expected["rounds"], expected["tool_call_count"]) == (
        "the trace",
        3,
        1,
    )
    assert len(rows) == 11
    for number in range(10):
        found = turns_of(rows, f"shuffled {number}")[""]
        for name in ("rounds", "llm_call_count", "tool_call_count", "input_tokens", "cost"):
            assert found[name] == expected[name], (number, name)
        assert found["response_text"] == "three"


def test_spans_of_turnspan_itself(embedded_dsn: Dsn) -> None:
    """A decorated turn that another process sent over OTLP, its content on the spans."""
    turn = {"turnspan.turn.id": "ab" * 8, "turnspan.round": 1}
    decorated = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "planner",
        "turnspan.turn.rounds": 1,
        "turnspan.turn.llm_calls": 1,
        "turnspan.turn.stop_reason": "round_cap",
        **turn,
    }
    whole = Made("planner", "", 0, 9, scope="turnspan", attributes=decorated)
    call = chat("said", "planner", 1, scope="turnspan.openai", attributes=turn)
    with receiving(embedded_dsn) as sender:
        sender.send("ours", [whole], [call], [whole, call])
    turns = ask(
        embedded_dsn,
        "SELECT turn_id, stop_reason, rounds, llm_call_count, toFloat64(cost_usd) AS cost"
        " FROM turn_summary",
    )
    calls = ask(embedded_dsn, "SELECT turn_id, response_text FROM llm_call")

    assert turns == [
        {
            "turn_id": "ab" * 8,
            "stop_reason": "round_cap",
            "rounds": 1,
            "llm_call_count": 1,
            "cost": pytest.approx(0.00035),
        }
    ]
    assert calls == [{"turn_id": "ab" * 8, "response_text": "said"}]


def test_a_batch_that_is_sent_again_adds_nothing(embedded_dsn: Dsn) -> None:
    """At once, after others, and to a receiver that has started anew."""
    with receiving(embedded_dsn) as sender:
        sender.send("again", TWO_AGENTS, TWO_AGENTS[:4], TWO_AGENTS)
        assert sender.receiver.counts["spans"] == len(TWO_AGENTS)
        assert sender.receiver.counts["again"] == len(TWO_AGENTS) + 4
    with receiving(embedded_dsn) as sender:
        sender.send("again", TWO_AGENTS)
        assert sender.receiver.counts["again"] == 0
    counts = ask(
        embedded_dsn,
        "SELECT (SELECT count() FROM llm_call) AS calls, (SELECT count() FROM tool_call) AS tools,"
        " (SELECT count() FROM turn_summary) AS turns, (SELECT count() FROM span) AS spans,"
        " (SELECT sum(llm_call_count) FROM turn_summary) AS counted",
    )

    assert counts == [{"calls": 4, "tools": 2, "turns": 2, "spans": 11, "counted": 4}]


def test_a_loop_of_traces_is_one_session(embedded_dsn: Dsn) -> None:
    """Calls that are each a trace of their own, as a loop without any span around them makes."""
    history = [{"role": "user", "parts": [{"type": "text", "content": "go on"}]}]
    with receiving(embedded_dsn) as sender:
        for number in range(3):
            said = {"gen_ai.input.messages": json.dumps(history)}
            call = chat(f"reply {number}", "", number, attributes=said)
            sender.send(f"loop {number}", [call], [call])
            reply = {"type": "text", "content": f"reply {number}"}
            history.append({"role": "assistant", "parts": [reply]})
            more = {"type": "tool_call_response", "id": "", "response": "ok"}
            history.append({"role": "tool", "parts": [more]})
    rows = ask(embedded_dsn, "SELECT session_id, rounds, llm_call_count FROM turn_summary")

    session = f"auto-{trace_id('loop 0').hex()}"
    assert rows == [{"session_id": session, "rounds": 3, "llm_call_count": 3}]


@pytest.mark.parametrize(
    "limits",
    [{"max_held_bytes": 20_000}, {"give_up_after": 0.0, "settle_after": 0.0}],
    ids=["size", "age"],
)
def test_what_is_kept_of_traces_is_bounded(embedded_dsn: Dsn, limits: dict[str, Any]) -> None:
    """Traces over the bound are let go of; their records have landed all the same."""
    with receiving(embedded_dsn, **limits) as sender:
        for number in range(20):
            sender.send(f"bounded {number}", sorted(TWO_AGENTS, key=lambda one: one.end))
            assert sender.receiver.book.size <= 20_000
            sender.send(f"bounded {number}", TWO_AGENTS)
        assert sender.receiver.counts["again"] == 20 * len(TWO_AGENTS)
    rows = ask(embedded_dsn, TURNS)

    assert len(rows) == 40
    assert sum(row["llm_call_count"] for row in rows) == 80


def test_more_traces_than_the_normaliser_keeps_in_mind(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace that was pushed out is told again when it goes on."""
    monkeypatch.setattr(trace_buffer, "MAX_LIVE", 3)
    halves = sorted(TWO_AGENTS, key=lambda one: one.end)
    with receiving(embedded_dsn) as sender:
        for half in (halves[:5], halves[5:]):
            for number in range(12):
                sender.send(f"many {number}", half)
    rows = ask(embedded_dsn, TURNS)
    expected = turns_of(rows, "many 0")

    assert expected["planner"]["llm_call_count"] == 3
    for number in range(12):
        assert turns_of(rows, f"many {number}") == expected


def test_a_trace_without_end_is_bounded(embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service whose spans are all of one trace, under parents that are sent elsewhere: what is
    kept of it does not grow, and no other trace is given up for it."""
    monkeypatch.setattr(trace_buffer, "MAX_SPANS", 100)
    monkeypatch.setattr(nesting, "MAX_PARENTS", 50)
    with receiving(embedded_dsn, max_held_bytes=1_000_000) as sender:
        sender.send("beside", [Made("waits", "for its parent", 0)])
        for number in range(60):
            some = [chat(f"{number}-{n}", f"elsewhere {number}-{n}", number) for n in range(20)]
            sender.send("endless", some, some)
        book = sender.receiver.book
        endless = book.get(trace_id("endless").hex())
        assert endless is not None
        known = (endless.spans, endless.seen, endless.missing, endless.sessions, endless.calls)
        assert max(map(len, known)) <= 100
        assert (endless.size, len(book)) == (0, 2)
        assert sender.receiver.counts["again"] == 60 * 20
    rows = ask(embedded_dsn, "SELECT count() AS calls, uniqExact(span_id) AS spans FROM llm_call")
    turns = ask(embedded_dsn, "SELECT llm_call_count FROM turn_summary")

    assert rows == [{"calls": 1_200, "spans": 1_200}]
    assert turns == [{"llm_call_count": 1_200}]


def test_a_large_request_keeps_nobody_waiting(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after it is answered before it; every span of it lands once, and a trace whole."""
    monkeypatch.setattr("turnspan_clickhouse.receive.landing_request.MAX_SPANS_AT_ONCE", 20)
    large = request("", ())
    for number in range(60):
        large.MergeFrom(request(f"large {number}", TWO_AGENTS))
    with receiving(embedded_dsn) as sender:
        shared = InternCache()
        ended: list[str] = []
        first = sender.receiver.submit(decode_protobuf(large.SerializeToString(), shared))
        first.add_done_callback(lambda _: ended.append("large"))
        body = request("small", TWO_AGENTS).SerializeToString()
        second = sender.receiver.submit(decode_protobuf(body, shared))
        second.add_done_callback(lambda _: ended.append("small"))
        assert (first.result(60).refused, second.result(60).refused) == ({}, {})
        assert ended == ["small", "large"]
        sent = sender.receiver.counts["spans"]
    assert sent == 61 * len(TWO_AGENTS)
    rows = ask(embedded_dsn, TURNS)
    expected = turns_of(rows, "small")
    for number in range(60):
        assert turns_of(rows, f"large {number}") == expected


def test_a_request_of_too_many_spans_is_refused(embedded_dsn: Dsn) -> None:
    """With the limit in the answer, and nothing of it lands."""
    body = request("many", TWO_AGENTS).SerializeToString()
    with serving(embedded_dsn, max_request_spans=len(TWO_AGENTS) - 1) as served:
        headers = {"content-type": "application/x-protobuf"}
        answer = served.ask("POST", "/v1/traces", body, headers)
        assert answer.status == 413
        assert b"spans" in answer.body
    with serving(embedded_dsn, max_request_spans=len(TWO_AGENTS)) as served:
        assert served.ask("POST", "/v1/traces", body, headers).status == 200
