"""Tools called through the ``mcp`` client, against a real server in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.server.mcpserver import Context, MCPServer
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.trace import SpanKind, StatusCode

import turnspan
from emit.conftest import Spans
from support.conformance import metric_faults
from turnspan import semconv
from turnspan.providers.mcp import instrumentor as mcp
from turnspan.providers.mcp.instrumentor import McpInstrumentor
from turnspan.tracing.content_store import ToolContent
from turnspan.tracing.state import default

Work = Callable[[Client], Awaitable[Any]]
seen: list[dict[str, Any]] = []


def server() -> MCPServer:
    """A server of three tools; ``seen`` gets the ``_meta`` of every call."""
    app = MCPServer("weather")

    @app.tool()
    def get_weather(city: str, ctx: Context) -> str:
        """The weather."""
        meta = ctx.request_context.meta
        seen.append(dict(meta or {}))
        return f"sunny in {city}"

    @app.tool()
    def broken(city: str) -> str:
        """Always fails."""
        raise ValueError(f"no such city: {city}")

    @app.tool()
    async def slow() -> str:
        """Takes its time."""
        await asyncio.sleep(10)
        return "done"

    return app


def run(work: Work) -> Any:
    """Do the work with a client that is connected to the server."""

    async def connected() -> Any:
        async with Client(server()) as client:
            return await work(client)

    return asyncio.run(connected())


@pytest.fixture(autouse=True)
def instrumented(spans: Spans) -> Iterator[None]:
    """The mcp package, instrumented; nothing seen by the server yet."""
    seen.clear()
    instrumentor = McpInstrumentor()
    instrumentor.instrument(tracer_provider=spans.provider)
    yield
    instrumentor.uninstrument()


def tools(spans: Spans) -> list[Any]:
    """The spans of executed tools."""
    return [s for s in spans.all() if (s.attributes or {}).get(semconv.OPERATION_NAME)]


def test_a_call_is_one_execute_tool_span(spans: Spans) -> None:
    """Kind CLIENT, the conventions' names, arguments and result beside it; the result untouched."""
    given = {"city": "Paris"}
    result = run(lambda client: client.call_tool("get_weather", given))

    assert result.content[0].text == "sunny in Paris"
    span = spans.one("tools/call get_weather")
    assert span.kind is SpanKind.CLIENT
    attributes = dict(span.attributes or {})
    assert attributes[semconv.OPERATION_NAME] == "execute_tool"
    assert attributes[semconv.TOOL_NAME] == "get_weather"
    assert attributes[semconv.MCP_METHOD_NAME] == "tools/call"
    assert attributes[semconv.MCP_PROTOCOL_VERSION]
    content = spans.content(span)
    assert isinstance(content, ToolContent)
    assert content.arguments == {"city": "Paris"}
    assert content.result["content"][0]["text"] == "sunny in Paris"
    assert [s.name for s in tools(spans)] == ["tools/call get_weather"]
    assert given == {"city": "Paris"}


def test_the_context_travels_in_meta(spans: Spans) -> None:
    """The server gets traceparent and the turn's baggage; the caller's own ``meta`` stays its."""
    meta: Any = {"mine": 1}

    async def work(client: Client) -> None:
        with turnspan.session("s-1"), turnspan.agent("weatherman"):
            await client.call_tool("get_weather", {"city": "Rome"}, meta=meta)

    run(work)

    span = spans.one("tools/call get_weather")
    assert span.context is not None
    trace_id, span_id = f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"
    assert seen[0]["traceparent"].startswith(f"00-{trace_id}-{span_id}-")
    assert "turnspan.session_id=s-1" in seen[0]["baggage"]
    assert seen[0]["mine"] == 1
    assert meta == {"mine": 1}


def test_a_call_belongs_to_its_turn_and_to_what_the_model_asked_for(spans: Spans) -> None:
    """It counts as a tool call of the turn and takes the model's call id."""

    async def work(client: Client) -> None:
        with turnspan.agent("weatherman") as turn:
            turn.begin_call()
            turn.end_call(
                model="m",
                finish_reasons=["tool_calls"],
                text="",
                tool_requests=[("call_1", "get_weather", '{"city": "Rome"}')],
                usage=None,
            )
            await client.call_tool("get_weather", {"city": "Rome"})

    run(work)

    attributes = dict(spans.one("tools/call get_weather").attributes or {})
    assert attributes[semconv.TOOL_CALL_ID] == "call_1"
    assert attributes[semconv.ROUND] == 1
    turn = dict(spans.one("invoke_agent weatherman").attributes or {})
    assert attributes[semconv.TURN_ID] == turn[semconv.TURN_ID]
    assert turn[semconv.TURN_TOOL_CALLS] == 1


def test_an_error_result_is_a_failed_tool(spans: Spans) -> None:
    """isError: error.type tool_error and status ERROR; the caller gets the result as it is."""

    async def work(client: Client) -> Any:
        with turnspan.agent("weatherman"):
            return await client.call_tool("broken", {"city": "Atlantis"})

    result = run(work)

    assert result.is_error
    span = spans.one("tools/call broken")
    attributes = dict(span.attributes or {})
    assert attributes[semconv.ERROR_TYPE] == "tool_error"
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == result.content[0].text
    assert attributes[semconv.TOOL_FAILED] is True
    turn = dict(spans.one("invoke_agent weatherman").attributes or {})
    assert turn[semconv.TURN_TOOL_ERRORS] == 1
    assert turn[semconv.TURN_STOP_REASON] == "tool_failure"


def test_a_protocol_error_has_its_code(spans: Spans) -> None:
    """A JSON-RPC error is raised as ever; the span has its code as error.type."""

    async def work(client: Client) -> None:
        with pytest.raises(MCPError) as raised:
            await client.session.call_tool("get_weather", {"city": "x"}, request_state="forged")
        codes.append(str(raised.value.code))

    codes: list[str] = []
    run(work)

    attributes = dict(spans.one("tools/call get_weather").attributes or {})
    assert attributes[semconv.ERROR_TYPE] == codes[0]
    assert attributes[semconv.RPC_RESPONSE_STATUS_CODE] == codes[0]


def test_a_request_is_measured(spans: Spans) -> None:
    """Once a request, with the name the server knows the tool by, and how it ended."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    default.metrics.use(provider)

    async def work(client: Client) -> None:
        with turnspan.agent("weatherman"), turnspan.tool("weather", arguments={"city": "Rome"}):
            await client.call_tool("get_weather", {"city": "Rome"})
        await client.call_tool("broken", {"city": "Atlantis"})

    try:
        run(work)
        data = reader.get_metrics_data()
    finally:
        default.metrics.use(None)
        provider.shutdown()
    assert data is not None
    (metric,) = [
        one
        for scope in data.resource_metrics[0].scope_metrics
        for one in scope.metrics
        if one.name == "mcp.client.operation.duration"
    ]
    assert metric_faults(metric) == []
    points = {
        str((point.attributes or {})["gen_ai.tool.name"]): dict(point.attributes or {})
        for point in metric.data.data_points
    }
    assert all(one.pop("mcp.protocol.version") for one in points.values())
    head = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}
    assert points == {
        "get_weather": {**head, "gen_ai.tool.name": "get_weather"},
        "broken": {**head, "gen_ai.tool.name": "broken", "error.type": "tool_error"},
    }


def test_a_cancelled_call_is_not_an_error(spans: Spans) -> None:
    """Cancelled from outside: raised as ever, the span ended, not ERROR."""

    async def work(client: Client) -> None:
        task = asyncio.create_task(client.call_tool("slow", {}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work)

    assert spans.one("tools/call slow").status.status_code is not StatusCode.ERROR


def test_a_recorded_tool_of_the_same_name_is_the_call(spans: Spans) -> None:
    """One span, the decorated one, enriched; and one tool call in the turn."""

    async def work(client: Client) -> None:
        @turnspan.tool
        async def get_weather(place: str) -> str:
            result: Any = await client.call_tool("get_weather", {"city": place})
            return str(result.content[0].text)

        with turnspan.agent("weatherman"):
            assert await get_weather("Rome") == "sunny in Rome"

    run(work)

    assert [s.name for s in tools(spans)] == ["execute_tool get_weather", "invoke_agent weatherman"]
    span = spans.one("execute_tool get_weather")
    attributes = dict(span.attributes or {})
    assert attributes[semconv.MCP_METHOD_NAME] == "tools/call"
    assert dict(spans.one("invoke_agent weatherman").attributes or {})[semconv.TURN_TOOL_CALLS] == 1
    assert span.context is not None
    assert f"{span.context.span_id:016x}" in seen[0]["traceparent"]


def test_a_recorded_dispatcher_takes_the_name_of_what_it_calls(spans: Spans) -> None:
    """``call(name, arguments)`` is the tool it calls: its name, arguments, call id and failure."""

    async def work(client: Client) -> None:
        @turnspan.tool
        async def call(name: str, arguments: dict[str, Any]) -> str:
            result: Any = await client.call_tool(name, arguments)
            return str(result.content[0].text)

        with turnspan.agent("weatherman") as turn:
            turn.begin_call()
            turn.end_call(
                model="m",
                finish_reasons=[],
                text="",
                tool_requests=[("call_7", "broken", {"city": "Rome"})],
                usage=None,
            )
            await call("broken", {"city": "Rome"})

    run(work)

    span = spans.one("execute_tool broken")
    attributes = dict(span.attributes or {})
    assert attributes[semconv.TOOL_NAME] == "broken"
    assert attributes[semconv.TOOL_CALL_ID] == "call_7"
    assert attributes[semconv.ERROR_TYPE] == "tool_error"
    content = spans.content(span)
    assert isinstance(content, ToolContent)
    assert content.arguments == {"city": "Rome"}
    turn = dict(spans.one("invoke_agent weatherman").attributes or {})
    assert (turn[semconv.TURN_TOOL_CALLS], turn[semconv.TURN_TOOL_ERRORS]) == (1, 1)


def test_another_tool_inside_a_recorded_one_is_its_own(spans: Spans) -> None:
    """A tool that uses a tool of another name with other arguments: two tools, one in the other."""

    async def work(client: Client) -> None:
        @turnspan.tool
        async def plan_trip(days: int) -> str:
            result: Any = await client.call_tool("get_weather", {"city": "Rome"})
            return f"{days} days, {result.content[0].text}"

        await plan_trip(3)

    run(work)

    inner, outer = spans.one("tools/call get_weather"), spans.one("execute_tool plan_trip")
    assert inner.parent is not None
    assert outer.context is not None
    assert inner.parent.span_id == outer.context.span_id


def test_nothing_is_recorded_once_uninstrumented(spans: Spans) -> None:
    """The package has its own functions back."""
    from mcp.client.session import ClientSession

    McpInstrumentor().uninstrument()
    run(lambda client: client.call_tool("get_weather", {"city": "Paris"}))

    assert tools(spans) == []
    assert not hasattr(ClientSession.call_tool, "__wrapped__")


@pytest.mark.parametrize("seam", ["_begin", "_stand_in", "_running"])
@pytest.mark.tests_internal_errors
def test_a_fault_of_ours_costs_only_telemetry(
    spans: Spans, seam: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails in here, the caller gets the result."""

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("injected")

    monkeypatch.setattr(mcp.McpSdk, seam, fail)
    result = run(lambda client: client.call_tool("get_weather", {"city": "Paris"}))

    assert result.content[0].text == "sunny in Paris"


@pytest.mark.parametrize("seam", ["enter", "leave", "describe", "answered", "failed"])
@pytest.mark.tests_internal_errors
def test_a_fault_around_the_call_costs_only_telemetry(
    spans: Spans, seam: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails around the call, the caller gets the result, and the error as it is."""

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("injected")

    async def work(client: Client) -> Any:
        with pytest.raises(MCPError):
            await client.session.call_tool("get_weather", {"city": "x"}, request_state="forged")
        return await client.call_tool("get_weather", {"city": "Paris"})

    monkeypatch.setattr(mcp.McpCall, seam, fail)

    assert run(work).content[0].text == "sunny in Paris"
    assert not trace.get_current_span().get_span_context().is_valid
