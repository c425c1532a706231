"""The SDK's tool runners: each run a turn, each call of theirs a span, each tool run a span."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

import turnspan
from providers.conftest import Spans
from support.model_replies import message, message_stream
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer
from turnspan.tracing.content_store import ToolContent
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

HELLO: list[Any] = [{"role": "user", "content": "How is the weather?"}]


def use(call_id: str, **given: Any) -> dict[str, Any]:
    """A call of the weather tool."""
    return {"type": "tool_use", "id": call_id, "name": "weather", "input": given}


def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    if city == "Moon":
        raise ToolError([{"type": "text", "text": "no weather there"}])
    return f"rain in {city}"


async def aweather(city: str) -> str:
    """The weather in a city, at leisure."""
    await asyncio.sleep(0)
    return weather(city)


def sync_tool(func: Any = weather) -> Any:
    """The SDK's tool of a function."""
    return anthropic.beta_tool(func, name="weather")


def async_tool(func: Any = aweather) -> Any:
    """The SDK's tool of a coroutine function."""
    return anthropic.beta_async_tool(func, name="weather")


def run(claude: anthropic.Anthropic, tool: Any, **more: Any) -> Any:
    """A runner over one tool."""
    api: Any = claude.beta.messages
    return api.tool_runner(model="m", max_tokens=9, messages=HELLO, tools=[tool], **more)


def tools(spans: Spans) -> list[ReadableSpan]:
    """The executed tools."""
    return [span for span in spans.all() if span.name.startswith("execute_tool")]


def turn_of(spans: Spans) -> ReadableSpan:
    """The only turn."""
    (turn,) = [span for span in spans.all() if span.name.startswith("invoke_agent")]
    return turn


def tool_content(span: ReadableSpan) -> ToolContent:
    """Take the content kept beside a tool's span."""
    assert span.context is not None
    content = default.content.take(span.context.trace_id, span.context.span_id)
    assert isinstance(content, ToolContent)
    return content


def ids(spans: list[ReadableSpan]) -> set[int]:
    """The parents of spans."""
    return {span.parent.span_id for span in spans if span.parent is not None}


@pytest.fixture(params=["off", "default", "elsewhere"])
def client(request: pytest.FixtureRequest, server: ModelServer) -> Iterator[anthropic.Anthropic]:
    """Clients whose own tracing is off, as by default, or explicitly sent to a provider."""
    theirs = Spans()
    options: dict[str, Any] = {
        "off": False,
        "default": None,
        "elsewhere": {"tracer_provider": theirs.provider},
    }
    with anthropic.Anthropic(
        base_url=server.url, api_key="k", open_telemetry=options[request.param]
    ) as made:
        yield made
    assert theirs.all() == []


def test_a_run_is_a_turn(spans: Spans, server: ModelServer, client: anthropic.Anthropic) -> None:
    """One invoke_agent span over two calls and two tools, whoever is told to trace; the records
    agree with each other, and each tool lands once."""
    server.answer(message(use("a", city="Oslo"), use("b", city="Rome"), reason="tool_use"))
    server.answer(message({"type": "text", "text": "Wet."}))

    final = run(client, sync_tool()).until_done()

    assert type(final).__name__.startswith("ParsedBetaMessage")
    turn, executed, calls = turn_of(spans), tools(spans), spans.calls()
    assert turn.context is not None
    assert len(spans.all()) == 5
    assert ids([*executed, *calls]) == {turn.context.span_id}
    first, second = executed
    assert dict(first.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "a",
        "gen_ai.tool.description": "The weather in a city.",
        "turnspan.turn.id": f"{turn.context.span_id:016x}",
        "turnspan.round": 1,
        "gen_ai.conversation.id": f"auto-{turn.context.trace_id:032x}",
    }
    assert (second.attributes or {})["gen_ai.tool.call.id"] == "b"
    attributes = dict(turn.attributes or {})
    assert attributes["turnspan.turn.stop_reason"] == "completed"
    assert attributes["turnspan.turn.rounds"] == 2
    assert attributes["turnspan.turn.tool_calls"] == 2

    batch = Batch("test", 1)
    normaliser = Normaliser(default.content, "test")
    for span in spans.all():
        normaliser.span(span, batch)
    normaliser.finish(batch)
    (row,) = batch.rows[TurnSummary]
    assert isinstance(row, TurnSummary)
    assert (row.user_message, row.response_text) == ("How is the weather?", "Wet.")
    rows = [r for r in batch.rows[ToolCall] if isinstance(r, ToolCall)]
    assert [(r.arguments, r.result, r.call_id) for r in rows] == [
        ('{"city":"Oslo"}', "rain in Oslo", "a"),
        ('{"city":"Rome"}', "rain in Rome", "b"),
    ]
    assert {r.turn_id for r in batch.rows[LlmCall] if isinstance(r, LlmCall)} == {row.turn_id}


def test_a_run_within_a_turn_belongs_to_it(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """No turn of its own, and no span of the SDK's."""
    server.answer(message(use("a", city="Oslo"), reason="tool_use"))
    server.answer(message())

    @turnspan.agent
    def answer() -> None:
        for reply in run(claude, sync_tool()):
            assert reply.role == "assistant"

    answer()

    turn = turn_of(spans)
    assert turn.context is not None
    assert turn.name == "invoke_agent answer"
    assert ids([*tools(spans), *spans.calls()]) == {turn.context.span_id}
    assert (turn.attributes or {})["turnspan.turn.tool_calls"] == 1


def test_a_decorated_tool_is_recorded_once(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """``turnspan.tool`` below ``beta_tool``: one span, with what both know. Other decorated tools
    that it calls have their own."""
    server.answer(message(use("a", city="Oslo"), use("b", city="Atlantis"), reason="tool_use"))
    server.answer(message())

    @turnspan.tool
    def lookup(city: str) -> str:
        return weather(city)

    @turnspan.tool("by another name", attributes={"app.source": "yr"})
    def decorated(city: str) -> str:
        """Mine."""
        return lookup(city)

    run(claude, sync_tool(decorated)).until_done()

    assert [span.name for span in tools(spans)] == [
        "execute_tool lookup",
        "execute_tool weather",
        "execute_tool lookup",
        "execute_tool weather",
    ]
    inner, outer = tools(spans)[:2]
    assert outer.context is not None
    assert ids([inner]) == {outer.context.span_id}
    assert (outer.attributes or {})["app.source"] == "yr"
    assert (outer.attributes or {})["gen_ai.tool.call.id"] == "a"
    failed = tools(spans)[3]
    assert (failed.attributes or {})["error.type"] == "LookupError"


def test_tools_that_fail(
    spans: Spans,
    server: ModelServer,
    claude: anthropic.Anthropic,
) -> None:
    """The model gets the SDK's error result; the span has the type of what was raised, also where
    the arguments did not even reach the function."""
    uses = [use("a", city="Atlantis"), use("b", city="Moon"), use("c", town="Oslo")]
    server.answer(message(*uses, reason="tool_use"))
    server.answer(message())

    run(claude, sync_tool()).until_done()

    sent = server.requests[1].body["messages"][-1]["content"]
    assert [result["is_error"] for result in sent] == [True] * 3
    attributes = [dict(span.attributes or {}) for span in tools(spans)]
    assert [a["error.type"] for a in attributes] == ["LookupError", "ToolError", "ValueError"]
    assert all(span.status.status_code is StatusCode.ERROR for span in tools(spans))
    assert all(a["turnspan.tool.failed"] for a in attributes)
    contents = [tool_content(span) for span in tools(spans)]
    assert contents[0].result == "LookupError('no such city')"
    assert contents[1].result == [{"type": "text", "text": "no weather there"}]
    assert contents[2].arguments == {"town": "Oslo"}
    assert (turn_of(spans).attributes or {})["turnspan.turn.tool_errors"] == 3


def test_a_limit_of_iterations_is_the_turns_budget(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """Stopped with the model still asking for tools: round_cap."""
    for number in range(2):
        server.answer(message(use(str(number), city="Oslo"), reason="tool_use"))

    run(claude, sync_tool(), max_iterations=2).until_done()

    assert (turn_of(spans).attributes or {})["turnspan.turn.stop_reason"] == "round_cap"


def test_a_run_that_is_left(spans: Spans, server: ModelServer, claude: anthropic.Anthropic) -> None:
    """The turn ends when the runner is closed; the application's own spans are none of its."""
    server.answer(message(use("a", city="Oslo"), reason="tool_use"))
    tracer = spans.provider.get_tracer("app")

    runner = run(claude, sync_tool())
    for _ in runner:
        assert not trace.get_current_span().get_span_context().is_valid
        with tracer.start_as_current_span("mine"):
            break
    runner.close()

    mine = next(span for span in spans.all() if span.name == "mine")
    assert mine.parent is None
    assert (turn_of(spans).attributes or {})["turnspan.turn.stop_reason"] == "user_aborted"


def test_a_run_that_raises(spans: Spans, server: ModelServer, claude: anthropic.Anthropic) -> None:
    """The caller gets the SDK's error; the turn ends with it."""
    server.answer({"type": "error", "error": {"type": "api_error", "message": "x"}}, status=500)

    with pytest.raises(anthropic.InternalServerError):
        run(claude, sync_tool()).until_done()

    turn = turn_of(spans)
    assert (turn.attributes or {})["error.type"] == "InternalServerError"
    assert (turn.attributes or {})["turnspan.turn.stop_reason"] == "error"


@pytest.mark.parametrize("eager", [False, True])
def test_a_streaming_run(
    eager: bool, spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """Streams of the runner are calls of the turn; tools run while one is read are too."""
    server.stream(message_stream("It ", "may."))
    server.stream(message_stream("It ", "may.")[:9] + _end())
    options: dict[str, Any] = {"run_tools_eagerly": True} if eager else {}

    texts: list[str] = []
    for stream in run(claude, sync_tool(), stream=True, **options):
        texts += [event.text for event in stream if event.type == "text"]

    assert texts == ["It ", "may."] * 2
    turn = turn_of(spans)
    assert turn.context is not None
    assert len(tools(spans)) == 1
    assert len(spans.calls()) == 2
    assert ids([*tools(spans), *spans.calls()]) == {turn.context.span_id}


def _end() -> list[Any]:
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    delta = {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 4}}
    return [
        ("content_block_stop", {"type": "content_block_stop", "index": 1}),
        ("message_delta", delta),
        ("message_stop", {"type": "message_stop"}),
    ]


def test_the_asynchronous_runner(spans: Spans, server: ModelServer) -> None:
    """AsyncAnthropic alike, decorated tools and two runs at once included."""
    for _ in range(2):
        server.answer(message(use("a", city="Oslo"), reason="tool_use"))
    for _ in range(2):
        server.answer(message())
    begun: list[str] = []

    async def weather_of_both(city: str) -> str:
        """The weather, once both runs want it: the server answers in the order of their calls."""
        begun.append(city)
        while len(begun) < 2:
            await asyncio.sleep(0.001)
        return await aweather(city)

    tool = async_tool(turnspan.tool("aweather")(weather_of_both))

    async def one(client: anthropic.AsyncAnthropic) -> str:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=9, messages=HELLO, tools=[tool]
        )
        final = await runner.until_done()
        return type(final).__name__

    async def both() -> None:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k") as client:
            await asyncio.gather(one(client), one(client))

    asyncio.run(both())

    turns = [span for span in spans.all() if span.name == "invoke_agent"]
    assert len(turns) == 2
    assert len(tools(spans)) == 2
    assert ids(tools(spans)) == {span.context.span_id for span in turns if span.context}
    assert [tool_content(span).result for span in tools(spans)] == ["rain in Oslo"] * 2


SEAMS = [
    "anthropic.tools.begin_turn",
    "anthropic.tools.begin_tool",
    "anthropic.tools.active_turn",
    "anthropic.tools.enter_run",
    "anthropic.tools.current_run",
    "anthropic.tools.recording.detach",
    "anthropic.tools.RunnerStep._make_current",
    "anthropic.tools.RunnerSpan._finish",
    "anthropic.tools.ToolSpan._end",
    "anthropic.tools.ToolRunners._begin_run",
]


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("city", ["Oslo", "Atlantis"])
def test_a_fault_of_ours_never_reaches_the_application(
    seam: str,
    city: str,
    spans: Spans,
    server: ModelServer,
    claude: anthropic.Anthropic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever fails in here, the run goes on as without us: same requests, same reply."""

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("ours")

    def go() -> tuple[Any, Any]:
        server.requests.clear()
        server.answer(message(use("a", city=city), reason="tool_use"))
        server.answer(message())
        final = run(claude, sync_tool()).until_done()
        return final.model_dump(), [request.body for request in server.requests]

    monkeypatch.setattr(f"turnspan.providers.{seam}", broken)
    traced = contextvars.copy_context().run(go)  # in which it may leave our context behind
    counted = errors.counts()
    turnspan.uninstrument()

    assert traced == go()
    assert counted


def test_uninstrumented_runners_are_the_sdks_own(spans: Spans, server: ModelServer) -> None:
    """Control: without us the SDK makes its own spans, a run among them; with us none."""
    turnspan.uninstrument()
    server.answer(message(use("a", city="Oslo"), reason="tool_use"))
    server.answer(message())
    with anthropic.Anthropic(
        base_url=server.url, api_key="k", open_telemetry={"tracer_provider": spans.provider}
    ) as client:
        run(client, sync_tool()).until_done()

    assert sorted(span.name for span in spans.all()) == [
        "anthropic.custom_tool_use weather",
        "anthropic.messages.create",
        "anthropic.messages.create",
        "anthropic.messages.tool_runner",
    ]


@pytest.mark.parametrize("named", ["", "s-ada"])
def test_every_row_of_a_run_has_its_session(
    spans: Spans, server: ModelServer, client: anthropic.Anthropic, named: str
) -> None:
    """The application's, or one of the run's own; two runs have two."""
    seen: list[str] = []
    for _ in range(2):
        spans.exporter.clear()
        server.answer(message(use("a", city="Oslo"), reason="tool_use"))
        server.answer(message({"type": "text", "text": "Wet."}))
        if named:
            with turnspan.session(named):
                run(client, sync_tool()).until_done()
        else:
            run(client, sync_tool()).until_done()
        said = [(span.attributes or {}).get("gen_ai.conversation.id") for span in spans.all()]
        assert len(said) == 4
        assert len(set(said)) == 1
        seen.append(str(said[0]))
    if named:
        assert seen == [named, named]
    else:
        assert seen[0] != seen[1]
        assert all(session.startswith("auto-") for session in seen)
