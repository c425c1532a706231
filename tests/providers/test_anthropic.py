"""What a message made through the anthropic SDK leaves behind; and never a second span for it."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import anthropic
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

import turnspan
from providers.conftest import Spans
from support.model_replies import message, message_stream
from turnspan.testing import ModelServer

HELLO: list[Any] = [{"role": "user", "content": "hi"}]
TOOL: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}
WEATHER: dict[str, Any] = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "weather",
    "input": {"city": "Oslo"},
}


def outcome(span: ReadableSpan) -> Any:
    """How a stream ended."""
    return (span.attributes or {}).get("turnspan.stream.outcome")


_BETA_HELPER = pytest.param(
    "beta helper", marks=pytest.mark.needs("anthropic.resources.beta.messages:Messages.stream")
)
_DROP = pytest.param(
    "drop", marks=pytest.mark.needs("anthropic:Anthropic.__init__(open_telemetry)")
)


@pytest.mark.needs("anthropic.resources.messages:Messages.create(output_config)")
def test_a_call_has_every_attribute(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """One CLIENT span; input tokens include those read from and written to the cache."""
    server.answer(message())

    reply = claude.messages.create(
        model="claude-test",
        max_tokens=100,
        messages=HELLO,
        system="Be brief.",
        stop_sequences=["END"],
        output_config={"effort": "low"},
        tools=[TOOL],
        extra_body={"temperature": 1, "top_k": 3, "top_p": 0.5},
    )

    span = spans.call()
    assert type(reply) is anthropic.types.Message
    assert (span.name, span.kind) == ("chat claude-test", SpanKind.CLIENT)
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "turnspan.anthropic"
    assert spans.attributes() == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rsplit(":", 1)[1]),
        "gen_ai.request.model": "claude-test",
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.temperature": 1.0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.top_k": 3,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.model": "claude-sonnet-4-5-20250929",
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": 125,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_write.input_tokens": 20,
    }
    content = spans.content()
    assert content.dialect == "anthropic.messages"
    assert content.request == server.requests[0].body
    assert content.response == message()


@pytest.mark.needs("anthropic:Anthropic.__init__(open_telemetry)")
def test_only_one_span_whoever_is_asked_to_trace(spans: Spans, server: ModelServer) -> None:
    """The SDK's own tracing on (the default), sent elsewhere, or off: one span, and it is ours."""
    theirs = Spans()
    options: list[Any] = [None, {"tracer_provider": theirs.provider}, False]
    for option in options:
        server.answer(message())
        with anthropic.Anthropic(base_url=server.url, api_key="k", open_telemetry=option) as client:
            before = client.open_telemetry
            client.messages.create(model="m", max_tokens=1, messages=HELLO)
            assert client.open_telemetry == before

    assert [s.instrumentation_scope.name for s in spans.all() if s.instrumentation_scope] == [
        "turnspan.anthropic"
    ] * 3
    assert theirs.all() == []


@pytest.mark.needs("anthropic:Anthropic.__init__(open_telemetry)")
def test_trace_headers_go_out_as_the_sdk_would_send_them(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """The SDK propagates its span's context; with ours in its place, it propagates ours."""
    server.answer(message())
    claude.messages.create(model="m", max_tokens=1, messages=HELLO)

    context = spans.call().context
    assert context is not None
    sent = server.requests[0].headers["traceparent"]
    assert sent.split("-")[1:3] == [f"{context.trace_id:032x}", f"{context.span_id:016x}"]


@pytest.mark.needs("anthropic:Anthropic.__init__(open_telemetry)")
def test_the_sdks_own_spans_are_back_after_uninstrument(spans: Spans, server: ModelServer) -> None:
    """Control: without us the SDK traces itself, so what is above is our doing."""
    turnspan.uninstrument()
    server.answer(message())
    with anthropic.Anthropic(
        base_url=server.url,
        api_key="k",
        open_telemetry={"tracer_provider": spans.provider},
    ) as client:
        client.messages.create(model="m", max_tokens=1, messages=HELLO)

    (span,) = spans.all()
    assert span.name == "anthropic.messages.create"


@pytest.mark.parametrize("way", ["create", "helper", "beta", _BETA_HELPER])
def test_streams_by_every_way(
    way: str, spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """Thinking, text and a tool call are put together as they would have come unstreamed."""
    server.stream(message_stream("It ", "may."))
    api: Any = claude.beta.messages if way.startswith("beta") else claude.messages

    if way.endswith("helper"):
        with api.stream(model="m", max_tokens=9, messages=HELLO) as stream:
            final = stream.get_final_message()
        assert final.content[1].text == "It may."
    else:
        events: Any = api.create(model="m", max_tokens=9, messages=HELLO, stream=True)
        assert f"{type(events).__module__}.{type(events).__name__}" == "anthropic.Stream"
        kinds = [event.type for event in events]
        assert kinds[-1] == "message_stop"

    attributes = spans.attributes()
    assert outcome(spans.call()) == "complete"
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.usage.output_tokens"] == 42
    assert attributes["gen_ai.usage.input_tokens"] == 125
    assert attributes["gen_ai.response.finish_reasons"] == ("tool_use",)
    assert attributes["gen_ai.response.time_to_first_chunk"] > 0
    content = spans.content()
    assert content.request["messages"] == HELLO
    assert content.response["content"] == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "text", "text": "It may."},
        WEATHER,
    ]
    assert content.response["stop_reason"] == "tool_use"


@pytest.mark.parametrize("way", [_DROP, "collect", "close", "helper"])
def test_streams_left_early(
    way: str, spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """This SDK's streams are in no cycle: a dropped one ends its span at once.

    In the SDK's older versions they are in one: the span ends when they are collected.
    """
    server.stream(message_stream("It ", "may."), hold_after=9)

    def leave() -> None:
        if way == "helper":
            with claude.messages.stream(model="m", max_tokens=9, messages=HELLO) as helper:
                next(helper.text_stream)
            return
        stream = claude.messages.create(model="m", max_tokens=9, messages=HELLO, stream=True)
        for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                break
        if way == "close":
            stream.close()

    leave()
    if way == "collect":
        gc.collect()

    assert outcome(spans.call()) == "abandoned"
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ("error",)
    assert spans.call().status.status_code is StatusCode.UNSET
    assert spans.content().response["content"][1] == {"type": "text", "text": "It "}


def test_asynchronous_calls_and_streams(spans: Spans, server: ModelServer) -> None:
    """AsyncAnthropic alike: a message, a stream, the helper."""
    server.answer(message())
    server.stream(message_stream("It ", "may."))
    server.stream(message_stream("It ", "may."))

    async def run() -> None:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k") as client:
            await client.messages.create(model="m", max_tokens=9, messages=HELLO)
            stream = await client.messages.create(
                model="m", max_tokens=9, messages=HELLO, stream=True
            )
            assert type(stream) is anthropic.AsyncStream
            async for _ in stream:
                pass
            async with client.messages.stream(model="m", max_tokens=9, messages=HELLO) as helper:
                assert (await helper.get_final_message()).stop_reason == "tool_use"

    asyncio.run(run())

    assert [outcome(span) for span in spans.calls()] == [None, "complete", "complete"]


@pytest.mark.parametrize("way", ["close", "cancel"])
def test_asynchronous_streams_left_early(way: str, spans: Spans, server: ModelServer) -> None:
    """Closed or cancelled: what never finished says so, and it is no error."""
    server.stream(message_stream("It ", "may."), hold_after=9)

    async def read(stream: Any) -> None:
        async for event in stream:
            if way == "close" and event.type == "content_block_delta":
                return

    async def run() -> None:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k") as client:
            stream = await client.messages.create(
                model="m", max_tokens=9, messages=HELLO, stream=True
            )
            task = asyncio.create_task(read(stream))
            if way == "cancel":
                await asyncio.sleep(0.05)
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            server.release.set()
            await stream.close()

    asyncio.run(run())

    assert outcome(spans.call()) == ("cancelled" if way == "cancel" else "abandoned")
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ("error",)
    assert spans.call().status.status_code is StatusCode.UNSET


def test_an_error_within_a_stream(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """The API's own type of error, whether it answers with it or sends it as an event."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}
    server.answer(error, status=529)
    server.stream([*message_stream("It ")[:3], ("error", error)])

    with pytest.raises(anthropic.InternalServerError):
        claude.messages.create(model="m", max_tokens=9, messages=HELLO)
    stream = claude.messages.create(model="m", max_tokens=9, messages=HELLO, stream=True)
    with pytest.raises(anthropic.APIStatusError):
        list(stream)

    first, second = spans.calls()
    assert (first.attributes or {})["error.type"] == "overloaded_error"
    assert (second.attributes or {})["error.type"] == "overloaded_error"
    assert (outcome(first), outcome(second)) == (None, "error")
    assert "gen_ai.response.finish_reasons" not in (first.attributes or {})  # nothing had begun
    assert (second.attributes or {})["gen_ai.response.finish_reasons"] == ("error",)
    assert second.status.status_code is StatusCode.ERROR


def test_history_with_the_sdks_own_objects(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """Blocks appended as the SDK gave them are recorded as they go over the wire."""
    server.answer(message(WEATHER, reason="tool_use"))
    server.answer(message())
    messages: list[Any] = list(HELLO)
    first = claude.messages.create(model="m", max_tokens=9, messages=messages, tools=[TOOL])
    messages.append({"role": "assistant", "content": first.content})
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}
    messages.append({"role": "user", "content": [result]})
    claude.messages.create(model="m", max_tokens=9, messages=messages, tools=[TOOL])

    content = spans.content(spans.calls()[1])
    assert content.request["messages"] == [
        *HELLO,
        {"role": "assistant", "content": [WEATHER]},
        {"role": "user", "content": [result]},
    ]


def test_a_generator_of_messages_reaches_the_sdk_unread(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """The SDK takes any iterable; looking at it must not use it up."""
    server.answer(message())
    claude.messages.create(
        model="m", max_tokens=9, messages=(m for m in HELLO), stop_sequences=["E"]
    )

    assert server.requests[0].body["messages"] == HELLO
    assert len(spans.calls()) == 1


def test_a_turn_counts_its_calls(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """Tool requests, usage and the last text reach the turn."""
    server.answer(message(WEATHER, reason="tool_use"))
    server.answer(message())

    @turnspan.agent
    def answer() -> tuple[int, int, int | None, str]:
        claude.messages.create(model="m", max_tokens=9, messages=HELLO)
        silent = turnspan.current_turn().silent_rounds
        claude.messages.create(model="m", max_tokens=9, messages=HELLO)
        turn = turnspan.current_turn()
        return turn.rounds, silent, turn.usage.input_tokens, turn.last_text

    assert answer() == (2, 1, 250, "Hello")


@pytest.mark.needs("anthropic.resources.messages:Messages.count_tokens")
def test_count_tokens_is_left_alone(
    spans: Spans, server: ModelServer, claude: anthropic.Anthropic
) -> None:
    """It is no model call: the SDK's own tracing is left to it."""
    server.answer({"input_tokens": 9})
    claude.messages.count_tokens(model="m", messages=HELLO)

    assert spans.calls() == []


@pytest.mark.needs("anthropic:AnthropicBedrock.__init__(api_key)")
def test_platform_clients_name_their_platform(spans: Spans, server: ModelServer) -> None:
    """Bedrock's client is of the same SDK and is recorded, under the platform's name."""
    server.answer(message())
    from anthropic.lib.bedrock import AnthropicBedrock

    with AnthropicBedrock(base_url=server.url, aws_region="eu-west-1", api_key="k") as client:
        client.messages.create(model="anthropic.claude", max_tokens=9, messages=HELLO)

    assert spans.attributes()["gen_ai.provider.name"] == "aws.bedrock"
    assert spans.attributes()["gen_ai.request.model"] == "anthropic.claude"
    assert spans.content().request["messages"] == HELLO
