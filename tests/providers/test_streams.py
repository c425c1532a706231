"""Streams: the SDK's own objects, one span each, however they end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionChunk
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from providers.conftest import Spans
from support.model_replies import USAGE, WEATHER_CALL, chat_stream, chunk
from support.sdks import BROKEN
from turnspan import config
from turnspan.testing import ModelServer

HELLO: list[Any] = [{"role": "user", "content": "hi"}]


def outcome(span: ReadableSpan) -> Any:
    """How a stream ended."""
    return (span.attributes or {}).get("turnspan.stream.outcome")


def reasons(spans: Spans) -> Any:
    """Why each choice of the only call finished."""
    return spans.attributes()["gen_ai.response.finish_reasons"]


def text_of(spans: Spans) -> Any:
    """The text that was kept of the only call."""
    return spans.content().response["choices"][0]["message"]["content"]


def start(gpt: openai.OpenAI, **more: Any) -> Any:
    """Begin a stream."""
    return gpt.chat.completions.create(model="m", messages=HELLO, stream=True, **more)


def test_a_stream_read_to_its_end(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """The SDK's own type; the chunks make up the reply that would have come unstreamed."""
    server.stream(chat_stream("Hel", "lo"))

    stream = start(gpt)
    assert type(stream.response).__name__ == "Response"
    assert spans.all() == []
    assert stream.__class__ is openai.Stream
    texts = [part.choices[0].delta.content for part in stream]

    assert texts == ["", "Hel", "lo", None]
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert attributes["gen_ai.usage.input_tokens"] == 11
    assert 0 < attributes["gen_ai.response.time_to_first_chunk"] < 5
    assert outcome(spans.call()) == "complete"
    content = spans.content()
    assert "stream_options" not in content.request
    assert content.response["usage"] == USAGE
    assert content.response["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello"},
            "finish_reason": "stop",
        }
    ]


def test_tool_calls_refusals_and_fields_of_other_servers(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """Everything a delta may carry is put together, for every choice."""
    call = {"index": 0, **WEATHER_CALL}
    begun = {**call, "function": {"name": "weather", "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": a}} for a in ('{"city":', ' "Oslo"}')]
    second = [{"index": 1, "delta": {"content": "Bye"}, "finish_reason": "length"}]
    server.stream(
        [
            chunk({"role": "assistant", "content": None, "reasoning_content": "Let me "}),
            chunk({"reasoning_content": "see."}),
            chunk({"tool_calls": [begun]}),
            *(chunk({"tool_calls": [piece]}) for piece in pieces),
            chunk({}, choices=second),
            chunk({"content": "and", "refusal": "No."}),
            chunk({"content": " text"}, "tool_calls"),
            "[DONE]",
        ]
    )

    list(start(gpt, n=2))

    first, other = spans.content().response["choices"]
    assert first["message"] == {
        "role": "assistant",
        "content": "and text",
        "refusal": "No.",
        "tool_calls": [WEATHER_CALL],
        "reasoning_content": "Let me see.",
    }
    assert (first["finish_reason"], other["finish_reason"]) == ("tool_calls", "length")
    assert other["message"]["content"] == "Bye"


def test_text_that_comes_with_more_than_text(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """Servers that repeat the role, say what is null, or put thoughts beside the text."""
    old = {"name": "look", "arguments": "{}"}
    server.stream(
        [
            chunk({"role": "assistant", "content": "a"}),
            chunk({"role": "assistant", "content": "b"}),
            chunk({"content": "c", "refusal": None, "tool_calls": None}),
            chunk({"content": "d", "reasoning_content": "Hm."}),
            chunk({"content": "e", "function_call": old}),
            chunk({"content": ""}),
            chunk({"content": "f"}),
            chunk({"content": "g"}, "stop"),
            "[DONE]",
        ]
    )

    list(start(gpt))

    (choice,) = spans.content().response["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": "abcdefg",
        "reasoning_content": "Hm.",
        "function_call": old,
    }
    assert choice["finish_reason"] == "stop"


def broken_off(gpt: openai.OpenAI) -> None:
    """Leave the loop after the first text; the stream goes with this frame."""
    for part in start(gpt):
        if part.choices[0].delta.content:
            break


def closed(gpt: openai.OpenAI) -> None:
    """Leave the loop and close."""
    with start(gpt) as stream:
        for part in stream:
            if part.choices[0].delta.content:
                break


def raised_in(gpt: openai.OpenAI) -> None:
    """An exception of the caller's own, in the loop's body."""
    with pytest.raises(KeyError), start(gpt) as stream:
        for part in stream:
            if part.choices[0].delta.content:
                raise KeyError("mine")


def stepped(gpt: openai.OpenAI) -> None:
    """Take two chunks by hand."""
    stream = start(gpt)
    next(stream)
    next(stream)


@pytest.mark.parametrize("leave", [broken_off, closed, raised_in, stepped])
def test_a_stream_left_early(
    leave: Any, spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """Abandoned is no error; what had arrived is kept."""
    server.stream(chat_stream("Hel", "lo"), hold_after=2)

    leave(gpt)
    gc.collect()  # the SDK's stream refers to itself: dropped, it lives until then, traced or not

    assert outcome(spans.call()) == "abandoned"
    assert reasons(spans) == ("error",)
    assert spans.call().status.status_code is StatusCode.UNSET
    assert text_of(spans) == "Hel"


def test_a_stream_never_read(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """Dropped at once: one span, with nothing in it."""
    server.stream(chat_stream("Hello"))

    start(gpt)
    gc.collect()

    assert outcome(spans.call()) == "abandoned"
    assert reasons(spans) == ("error",)
    assert spans.content().response is None


def test_each_choice_of_a_broken_stream_has_its_own_reason(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """By position: one that had finished keeps its reason, one that had not gets ``error``."""
    first = chunk({"content": "Hel"})
    ended = {"index": 1, "delta": {"content": "Bye"}, "finish_reason": "stop"}
    server.stream([first, chunk({}, choices=[ended]), first], stop_after=2)

    with pytest.raises(BROKEN):
        list(start(gpt, n=2))

    assert reasons(spans) == ("error", "stop")


@pytest.mark.filterwarnings("error")
def test_a_dropped_stream_is_ended_by_the_garbage_collector(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    """The SDK's stream is in a cycle: until it is collected its span is open. No one is warned."""
    gc.collect()
    gc.disable()
    try:
        server.stream(chat_stream("Hel", "lo"), hold_after=2)
        broken_off(gpt)
        assert spans.all() == []
        gc.collect()
    finally:
        gc.enable()

    assert outcome(spans.call()) == "abandoned"
    assert caplog.records == []


def test_whoever_stops_at_the_finish_reason_has_read_it_all(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """Nothing is missing when a reader leaves after the last chunk with a choice."""
    server.stream(chat_stream("Hello"))
    for part in start(gpt):
        if part.choices[0].finish_reason:
            break
    gc.collect()

    assert outcome(spans.call()) == "complete"


def test_a_stream_that_breaks(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """The caller gets the SDK's error; the span is an error with what had arrived."""
    server.stream(chat_stream("Hel", "lo"), stop_after=2)

    with pytest.raises(BROKEN) as caught:
        list(start(gpt))

    assert outcome(spans.call()) == "error"
    assert reasons(spans) == ("error",)
    assert spans.call().status.status_code is StatusCode.ERROR
    assert spans.attributes()["error.type"] == caught.type.__name__
    assert text_of(spans) == "Hel"


def test_usage_is_asked_for_and_hidden_only_where_it_may_be(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """The caller who asked sees the chunk; who did not does not; who declined gets his way."""
    for _ in range(3):
        server.stream(chat_stream("Hello"))

    silent = list(start(gpt, stream_options={"include_obfuscation": False}))
    asked = list(start(gpt, stream_options={"include_usage": True}))
    declined = list(start(gpt, stream_options={"include_usage": False}))

    assert [r.body["stream_options"] for r in server.requests] == [
        {"include_obfuscation": False, "include_usage": True},
        {"include_usage": True},
        {"include_usage": False},
    ]
    assert all(part.choices for part in silent)
    assert asked[-1].choices == []
    assert asked[-1].usage.total_tokens == 18
    assert all(part.usage is None for part in declined)
    recorded = [(s.attributes or {}).get("gen_ai.usage.input_tokens") for s in spans.calls()]
    assert recorded == [11, 11, None]


@pytest.mark.usefixtures("settings")
def test_usage_can_be_left_unasked(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """One setting turns it off; the request goes out as it was."""
    config.activate(config.resolve({}, {"TURNSPAN_REQUEST_STREAM_USAGE": "false"}))
    server.stream(chat_stream("Hello"))

    list(start(gpt))

    assert "stream_options" not in server.requests[0].body
    assert "gen_ai.usage.input_tokens" not in spans.attributes()


def test_a_server_that_refuses_is_not_asked_again(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """What a server answers 400 for is not sent to it a second time."""
    server.answer({"error": {"message": "Unknown field: stream_options"}}, status=400)
    server.stream(chat_stream("Hello"))

    with pytest.raises(openai.BadRequestError):
        start(gpt)
    list(start(gpt))

    assert "stream_options" not in server.requests[1].body


@pytest.mark.needs("openai.resources.chat.completions:Completions.stream")
def test_the_stream_helper(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """chat.completions.stream() works unmodified, read to the end or left."""
    server.stream(chat_stream("Hel", "lo"))
    server.stream(chat_stream("Hel", "lo"), hold_after=2)

    with gpt.chat.completions.stream(model="m", messages=HELLO) as whole:
        kinds = {event.type for event in whole}
        final = whole.get_final_completion()
    with gpt.chat.completions.stream(model="m", messages=HELLO) as part:
        next(iter(part))
        left = part

    assert "content.delta" in kinds
    assert final.choices[0].message.content == "Hello"
    assert left is not None
    assert [outcome(span) for span in spans.calls()] == ["complete", "abandoned"]


def test_raw_streams(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """A stream taken from a raw response is followed; one read as bytes is left as it came."""
    for _ in range(3):
        server.stream(chat_stream("Hello"))
    create = gpt.chat.completions

    raw = create.with_raw_response.create(model="m", messages=HELLO, stream=True)
    parts = list(raw.parse())
    with create.with_streaming_response.create(model="m", messages=HELLO, stream=True) as one:
        again = list(one.parse())
    with create.with_streaming_response.create(model="m", messages=HELLO, stream=True) as two:
        lines = list(two.iter_lines())

    assert all(part.choices for part in parts)
    assert again[-1].usage is None  # its bytes may be read, so nothing was asked for
    assert lines[-2:] == ["data: [DONE]", ""]
    assert ["stream_options" in r.body for r in server.requests] == [True, False, False]
    assert [outcome(span) for span in spans.calls()] == ["complete"] * 3
    assert (spans.calls()[0].attributes or {})["gen_ai.usage.input_tokens"] == 11


def test_the_span_is_not_current_in_the_callers_loop(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """What the caller does between two chunks is no child of the call."""
    server.stream(chat_stream("Hel", "lo"))
    tracer = spans.provider.get_tracer("caller")

    with tracer.start_as_current_span("around") as around:
        for part in start(gpt):
            assert trace.get_current_span() is around
            if part.choices[0].delta.content:
                break
        gc.collect()
        assert trace.get_current_span() is around

    call = spans.call()
    assert call.parent is not None
    assert call.parent.span_id == around.get_span_context().span_id


async def _read(stream: Any) -> None:
    async for _ in stream:
        pass


async def _break(stream: Any) -> None:
    async for part in stream:
        if part.choices[0].delta.content:
            break
    await stream.close()


async def _drop(stream: Any) -> None:
    async for part in stream:
        if part.choices[0].delta.content:
            break
    await stream.response.aclose()


async def _forget(stream: Any) -> None:
    async for part in stream:
        if part.choices[0].delta.content:
            break


async def _aclose(stream: Any) -> None:
    iterator = stream.__aiter__()
    await anext(iterator)
    await anext(iterator)
    await iterator.aclose()
    await stream.close()


async def _cancel(stream: Any) -> None:
    task = asyncio.create_task(_read(stream))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("leave", "expected", "hold"),
    [
        (_read, "complete", None),
        (_break, "abandoned", 2),
        (_drop, "abandoned", 2),
        (_forget, "abandoned", 2),
        (_aclose, "abandoned", 2),
        (_cancel, "cancelled", 2),
    ],
)
def test_asynchronous_streams(
    leave: Any, expected: str, hold: int | None, spans: Spans, server: ModelServer
) -> None:
    """The same for AsyncStream, cancelled tasks included; and nothing of OpenTelemetry's logs."""
    server.stream(chat_stream("Hel", "lo"), hold_after=hold)

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            stream = await client.chat.completions.create(model="m", messages=HELLO, stream=True)
            assert type(stream) is openai.AsyncStream
            try:
                await leave(stream)
            finally:
                server.release.set()
                del stream
                gc.collect()
                await asyncio.sleep(0)

    asyncio.run(run())

    assert outcome(spans.call()) == expected
    assert reasons(spans) == (("stop",) if expected == "complete" else ("error",))
    assert text_of(spans) == ("Hello" if expected == "complete" else "Hel")
    assert spans.call().status.status_code is StatusCode.UNSET


@pytest.mark.needs("openai.resources.chat.completions:Completions.stream")
def test_the_asynchronous_helper(spans: Spans, server: ModelServer) -> None:
    """AsyncOpenAI's stream() helper works unmodified."""
    server.stream(chat_stream("Hel", "lo"))

    async def run() -> str | None:
        async with (
            openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client,
            client.chat.completions.stream(model="m", messages=HELLO) as stream,
        ):
            final = await stream.get_final_completion()
        return final.choices[0].message.content

    assert asyncio.run(run()) == "Hello"
    assert outcome(spans.call()) == "complete"


@pytest.mark.tests_internal_errors
def test_a_stream_of_an_unknown_kind_is_left_alone(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """An SDK whose streams are made otherwise: the span ends at once, the stream just works."""

    class Other(openai.Stream[ChatCompletionChunk]):
        def __init__(self, **made: Any) -> None:
            super().__init__(**made)
            self._mine = self.__dict__.pop("_iterator")

        def __iter__(self) -> Iterator[ChatCompletionChunk]:
            return iter(self._mine)

    server.stream(chat_stream("Hello"))
    from openai._models import FinalRequestOptions

    options = FinalRequestOptions.construct(
        method="post",
        url="/chat/completions",
        json_data={"model": "m", "messages": HELLO, "stream": True},
    )
    stream: Any = gpt.request(ChatCompletionChunk, options, stream=True, stream_cls=Other)

    assert len(spans.calls()) == 1
    assert [c.choices[0].delta.content for c in stream] == ["", "Hello", None]
    from turnspan.runtime.guard import errors

    assert set(errors.counts()) == {"sdk.call_answered"}
    assert "stream_options" not in server.requests[0].body
