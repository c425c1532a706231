"""Carriers: what travels, what comes out at the other end, and headers nobody should trust."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import baggage, propagate, trace
from opentelemetry import context as otel_context
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import turnspan
from emit.conftest import Spans
from support.fan_out import helper, piece
from turnspan import semconv
from turnspan.runtime import guard
from turnspan.runtime.guard import errors

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "00f067aa0ba902b7"
TURN = "b7ad6b7169203331"


def attribute(span: ReadableSpan, key: str) -> Any:
    assert span.attributes is not None
    return span.attributes.get(key)


def sent(**values: str) -> dict[str, str]:
    """Headers as another process of ours sends them."""
    pairs = {"turn_id": TURN, "agent": "boss", "round": "4", "session_id": "s-1"} | values
    return {
        "traceparent": f"00-{TRACE}-{PARENT}-01",
        "baggage": ",".join(f"turnspan.{key}={value}" for key, value in pairs.items() if value),
    }


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once a process is said again."""
    monkeypatch.setattr(guard, "_said", set[str]())


def test_carrier_is_plain_and_standard(spans: Spans) -> None:
    """A dict of texts: W3C headers, fit for JSON, pickle and HTTP."""
    with turnspan.session("sess;ion,=ü 1", user_id="u@x"), turnspan.agent("Böss") as turn:
        piece("here")
        span = trace.get_current_span().get_span_context()
        carrier = turnspan.inject()

    assert carrier["traceparent"] == f"00-{span.trace_id:032x}-{span.span_id:016x}-03"
    assert carrier["baggage"].split(",") == [
        f"turnspan.turn_id={turn.id}",
        "turnspan.agent=B%C3%B6ss",
        "turnspan.round=1",
        "turnspan.session_id=sess%3Bion%2C%3D%C3%BC+1",
        "turnspan.user_id=u%40x",
    ]
    assert json.loads(json.dumps(carrier)) == carrier
    assert pickle.loads(pickle.dumps(carrier)) == carrier
    assert all(value.isascii() for value in carrier.values())
    with turnspan.extract(carrier) as received:
        assert turnspan.current_turn() is received
        again = turnspan.inject()
    assert again == carrier


def test_given_carrier_is_filled_and_returned(spans: Spans) -> None:
    """inject() adds to headers that are there already; outside any trace it adds nothing."""
    headers = {"accept": "*/*"}
    assert turnspan.inject(headers) is headers
    assert headers == {"accept": "*/*"}
    with turnspan.agent("a"):
        turnspan.inject(headers)
    assert set(headers) == {"accept", "traceparent", "baggage"}


def test_work_inside_belongs_to_the_remote_turn(spans: Spans) -> None:
    """Trace, parent, turn, agent, session, user and round go on; a sub-agent is nested; no second
    root turn; afterwards everything is as before."""
    with turnspan.extract(sent(user_id="u-1")) as turn:
        assert (turn.id, turn.agent_name, turn.rounds) == (TURN, "boss", 4)
        piece("there")
        helper("sub")
    assert turnspan.current_turn().id == ""
    assert not trace.get_current_span().get_span_context().is_valid

    assert {span.context.trace_id for span in spans.all() if span.context} == {int(TRACE, 16)}
    assert all(span.parent is not None for span in spans.all())
    tool = spans.one("execute_tool piece")
    assert tool.parent is not None
    assert tool.parent.span_id == int(PARENT, 16)
    assert attribute(tool, semconv.TURN_ID) == TURN
    assert attribute(tool, semconv.CONVERSATION_ID) == "s-1"
    assert attribute(tool, semconv.USER_ID) == "u-1"
    assert attribute(tool, semconv.AGENT_NAME) == "boss"
    calls = [span for span in spans.all() if span.name == "chat m"]
    assert [attribute(call, semconv.ROUND) for call in calls] == [5, 1]
    nested = spans.one("invoke_agent helper")
    assert attribute(nested, semconv.TURN_PARENT_ID) == TURN
    assert attribute(nested, semconv.CONVERSATION_ID) == "s-1"


def test_work_that_returns_to_its_own_process_counts(spans: Spans) -> None:
    """Over an in-process queue the turn is the very one: its counters are complete."""
    with turnspan.agent("boss") as turn:
        carrier = turnspan.inject()
        token = otel_context.attach(otel_context.Context())  # a consumer knows of no turn
        with turnspan.extract(carrier) as received:
            assert received is turn
            piece("there")
        otel_context.detach(token)
    assert attribute(spans.one("invoke_agent boss"), semconv.TURN_TOOL_CALLS) == 1
    assert attribute(spans.one("invoke_agent boss"), semconv.TURN_LLM_CALLS) == 1


def test_pieces_of_one_turn_count_rounds_together(spans: Spans) -> None:
    """Two messages of one turn handled at once do not number their rounds alike."""
    with turnspan.extract(sent()) as first, turnspan.extract(sent()) as second:
        assert first is second
        piece("a")
        piece("b")
    calls = [span for span in spans.all() if span.name == "chat m"]
    assert [attribute(call, semconv.ROUND) for call in calls] == [5, 6]


def test_span_of_a_server_stays_the_parent(spans: Spans) -> None:
    """Where the framework's instrumentation continued the trace, its span is not skipped."""
    tracer = trace.get_tracer("server", tracer_provider=spans.provider)
    headers = sent()
    remote = TraceContextTextMapPropagator().extract(headers)
    with tracer.start_as_current_span("POST /work", remote), turnspan.extract(headers):
        piece("there")

    tool, server = spans.one("execute_tool piece"), spans.one("POST /work")
    assert tool.parent is not None
    assert server.context is not None
    assert tool.parent.span_id == server.context.span_id
    assert attribute(tool, semconv.TURN_ID) == TURN


def test_sender_outside_any_turn(spans: Spans) -> None:
    """A trace without a turn is continued as that: what is current here does not leak into it."""
    with turnspan.session("here"), turnspan.agent("here"):
        with turnspan.extract({"traceparent": f"00-{TRACE}-{PARENT}-01"}) as turn:
            assert turn.id == turnspan.current_turn().id == ""
            piece("there")
        assert turnspan.current_turn().agent_name == "here"
    tool = spans.one("execute_tool piece")
    assert attribute(tool, semconv.TURN_ID) is None
    assert attribute(tool, semconv.CONVERSATION_ID) is None


@pytest.mark.parametrize("carrier", [None, {}, [], {"accept": "*/*"}, {"traceparent": "rubbish"}])
def test_headers_that_say_nothing_change_nothing(spans: Spans, carrier: Any) -> None:
    """An uninstrumented sender: what is current stays current."""
    with turnspan.agent("here") as turn, turnspan.extract(carrier):
        assert turnspan.current_turn() is turn


@pytest.mark.parametrize(
    "carrier",
    [
        {key.title(): value for key, value in sent().items()},
        [(key.encode(), value.encode()) for key, value in sent().items()],
        {key: [value] for key, value in sent().items()},
        [
            ("traceparent", sent()["traceparent"]),
            *(("baggage", p) for p in sent()["baggage"].split(",")),
        ],
    ],
    ids=["title case", "pairs of bytes", "lists", "repeated"],
)
def test_carriers_of_other_shapes(spans: Spans, carrier: Any) -> None:
    """Header mappings of frameworks, message headers of brokers."""
    with turnspan.extract(carrier) as turn:
        assert (turn.id, turn.rounds) == (TURN, 4)
        assert trace.get_current_span().get_span_context().trace_id == int(TRACE, 16)


class Hostile:
    """A carrier or a value whose every method raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("make", [Hostile, lambda: 7, lambda: [1, 2], lambda: [("a",)], object])
def test_carriers_that_are_none(spans: Spans, make: Callable[[], Any]) -> None:
    """Never raises, changes nothing; it is counted."""
    with turnspan.agent("here") as turn, turnspan.extract(make()):
        assert turnspan.current_turn() is turn
    assert errors.counts() == {"extract": 1}


@pytest.mark.parametrize(
    "headers",
    [
        sent(turn_id="x" * 16),
        sent(turn_id="B7AD6B7169203331"),
        sent(turn_id="../../etc"),
        sent(turn_id="b7ad6b71"),
        sent(turn_id="b" * 5_000),
        sent(turn_id=f"{TURN}%0Ax"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_ids_that_are_not_ours_are_no_turn(spans: Spans, headers: dict[str, str]) -> None:
    """Only what inject() would have written names a turn; the trace goes on all the same."""
    with turnspan.extract(headers) as turn:
        assert turn.id == ""
        piece("there")
    tool = spans.one("execute_tool piece")
    assert tool.context is not None
    assert tool.context.trace_id == int(TRACE, 16)
    assert attribute(tool, semconv.TURN_ID) is None


def test_nothing_but_our_keys_reaches_a_span(spans: Spans) -> None:
    """Foreign baggage stays baggage; control characters, endless values and numbers that are none
    are ignored."""
    headers = sent(
        session_id="a%00b", user_id="u" * 2_000, agent="x%0d%0aset-cookie", round="-1", model="evil"
    )
    headers["baggage"] += ",gen_ai.agent.name=evil,turnspan.turn.stop_reason=evil,theirs=1"
    with turnspan.extract(headers) as turn:
        assert (turn.rounds, turn.agent_name) == (0, "")
        assert baggage.get_all() == {
            "theirs": "1",
            "gen_ai.agent.name": "evil",
            "turnspan.turn.stop_reason": "evil",
            "turnspan.model": "evil",
        }
        piece("there")

    tool = spans.one("execute_tool piece")
    assert set(tool.attributes or {}) == {
        semconv.OPERATION_NAME,
        semconv.TOOL_NAME,
        semconv.TOOL_TYPE,
        semconv.TOOL_DESCRIPTION,
        semconv.TURN_ID,
        semconv.ROUND,
    }


def test_our_baggage_goes_no_further_by_itself(spans: Spans) -> None:
    """A request to a third party from inside does not tell it who the user is."""
    with turnspan.extract(sent(user_id="u-1")):
        outgoing: dict[str, str] = {}
        propagate.inject(outgoing)
    assert set(outgoing) == {"traceparent"}


def test_baggage_of_the_application_travels(spans: Spans) -> None:
    """Both ways, beside ours."""
    token = otel_context.attach(baggage.set_baggage("tenant", "t 1"))
    with turnspan.agent("a"):
        carrier = turnspan.inject()
    otel_context.detach(token)
    with turnspan.extract(carrier):
        assert baggage.get_all() == {"tenant": "t 1"}
    assert baggage.get_all() == {}


def test_session_id_too_long_to_travel_is_left_out(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """A cut id would be another session's: it is left out, and that is said once."""
    with turnspan.session("s" * 1_100), turnspan.agent("a") as turn:
        carriers = [turnspan.inject(), turnspan.inject()]
    assert [record.message for record in caplog.records] == [
        "turnspan.session_id is too long to travel (1,100 characters) and is left out."
    ]
    for carrier in carriers:
        assert "session_id" not in carrier["baggage"]
        assert turn.id in carrier["baggage"]


@pytest.fixture
def without_baggage() -> Iterator[None]:
    """OTEL_PROPAGATORS=tracecontext"""
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(CompositePropagator([TraceContextTextMapPropagator()]))
    yield
    propagate.set_global_textmap(before)


@pytest.mark.usefixtures("without_baggage")
def test_propagators_without_baggage(spans: Spans) -> None:
    """The turn travels also where the application switched baggage off; its own does not."""
    token = otel_context.attach(baggage.set_baggage("tenant", "t-1"))
    with turnspan.session("s-1"), turnspan.agent("a") as turn:
        carrier = turnspan.inject()
    otel_context.detach(token)
    assert dict(baggage.get_all(W3CBaggagePropagator().extract(carrier))) == {
        "turnspan.turn_id": turn.id,
        "turnspan.agent": "a",
        "turnspan.session_id": "s-1",
        "turnspan.round": "0",
    }
    with turnspan.extract(carrier):
        assert turnspan.current_turn().id == turn.id


def test_steering_a_remote_turn_is_refused_aloud(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """stop, abort and set are for the process that the turn lives in; one line each says so."""
    with caplog.at_level(logging.WARNING, "turnspan"), turnspan.extract(sent()) as turn:
        for _ in range(2):
            turn.stop("done")
            turn.abort()
            turn.set(intent="deploy", anything=1)
    assert [record.message.split(" ")[0] for record in caplog.records] == [
        "turn.stop()",
        "turn.abort()",
        "turn.set()",
    ]


def test_extract_in_tasks(spans: Spans) -> None:
    """``async with``; one object entered by many tasks at once."""
    scope = turnspan.extract(sent())

    async def work() -> str:
        async with scope as turn:
            await asyncio.sleep(0.001)
            assert turnspan.current_turn() is turn
        return turnspan.current_turn().id

    async def main() -> list[str]:
        return await asyncio.gather(*(work() for _ in range(10)))

    assert asyncio.run(main()) == [""] * 10


def test_session_object_shared_by_tasks_is_left_by_each() -> None:
    """Each task leaves its own entry: none stays in the session, none takes another's."""
    scope = turnspan.session("s-1")

    async def work(delay: float) -> str:
        async with scope:
            await asyncio.sleep(delay)
        return turnspan.inject().get("baggage", "")

    async def main() -> list[str]:
        return await asyncio.gather(*(work(delay) for delay in (0.003, 0.001, 0.002)))

    assert asyncio.run(main()) == ["", "", ""]
