"""turnspan.inference: model calls that no instrumentor covers, recorded by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

import turnspan
from providers.conftest import Spans
from turnspan.runtime.guard import errors

HELLO: list[Any] = [{"role": "user", "content": "hi"}]
PARTS: list[Any] = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]


def test_a_call_told_in_full(spans: Spans) -> None:
    """Everything told has its standard name; the content is in OpenAI's form."""
    with turnspan.inference(
        provider="my-llm",
        model="m-7b",
        messages=HELLO,
        system="Be brief.",
        tools=[{"type": "function", "function": {"name": "weather"}}],
        server_address="llm.local",
        server_port=8000,
        temperature=0,
        max_tokens=9,
        stop=["END"],
        grammar="json",
    ) as call:
        call.response(
            text="Hello",
            thoughts="Hm.",
            finish_reason="stop",
            input_tokens=11,
            output_tokens=7,
            cache_read_tokens=4,
            reasoning_tokens=2,
            tool_calls=[{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
            model="m-7b-q4",
            id="r-1",
        )

    span = spans.call()
    assert span.name == "chat m-7b"
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "turnspan.inference"
    assert spans.attributes() == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "my-llm",
        "server.address": "llm.local",
        "server.port": 8000,
        "gen_ai.request.model": "m-7b",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.response.id": "r-1",
        "gen_ai.response.model": "m-7b-q4",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.reasoning.output_tokens": 2,
    }
    content = spans.content()
    assert content.dialect == "openai.chat"
    assert content.request["messages"] == [{"role": "system", "content": "Be brief."}, *HELLO]
    assert content.request["grammar"] == "json"
    (choice,) = content.response["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": "Hello",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "weather", "arguments": {"city": "Oslo"}},
            }
        ],
    }


def test_messages_in_the_genai_schema(spans: Spans) -> None:
    """Messages with parts are kept as they are, the reply in the same schema."""
    with turnspan.inference(model="m", messages=PARTS, system="Be brief.") as call:
        call.response(text="Hello", thoughts="Hm.", finish_reason="stop")

    content = spans.content()
    assert content.dialect == "genai"
    assert content.request == {"model": "m", "messages": PARTS, "system": "Be brief."}
    assert content.response["messages"] == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Hm."},
                {"type": "text", "content": "Hello"},
            ],
            "finish_reason": "stop",
        }
    ]


def test_a_streamed_reply(spans: Spans) -> None:
    """Pieces make up the text; the time to the first is known."""
    with turnspan.inference(model="m", messages="hi") as call:
        for piece in ("Hel", "lo"):
            call.chunk(piece)

    assert spans.attributes()["turnspan.stream.outcome"] == "complete"
    assert spans.attributes()["gen_ai.response.time_to_first_chunk"] > 0
    content = spans.content()
    assert content.request["messages"] == HELLO
    assert content.response["choices"][0]["message"]["content"] == "Hello"


def test_a_generator_that_its_consumer_leaves(spans: Spans) -> None:
    """Abandoned, with what had been given out; no error."""

    def pieces() -> Iterator[str]:
        with turnspan.inference(model="m", messages=HELLO) as call:
            for piece in ("Hel", "lo"):
                call.chunk(piece)
                yield piece

    reader = pieces()
    assert next(reader) == "Hel"
    reader.close()  # type: ignore[attr-defined]

    assert spans.attributes()["turnspan.stream.outcome"] == "abandoned"
    assert spans.call().status.status_code is StatusCode.UNSET
    assert spans.content().response["choices"][0]["message"]["content"] == "Hel"


def test_an_exception_passes_through(spans: Spans) -> None:
    """It is recorded and goes on, the same object."""
    mine = ValueError("no such model")

    with (
        pytest.raises(ValueError, match="no such") as caught,
        turnspan.inference(model="m", messages=HELLO),
    ):
        raise mine

    assert caught.value is mine
    assert spans.attributes()["error.type"] == "ValueError"
    assert spans.call().status.description == "ValueError: no such model"


def test_an_asynchronous_call_in_a_turn(spans: Spans) -> None:
    """async with, counted by the turn around it."""

    @turnspan.agent
    async def answer() -> tuple[int, int | None, str]:
        async with turnspan.inference(model="m", messages=HELLO) as call:
            await asyncio.sleep(0)
            call.response(text="Hello", input_tokens=11)
            call.response(output_tokens=7, tool_calls=[{"id": "c", "name": "t"}])
        turn = turnspan.current_turn()
        return turn.rounds, turn.usage.output_tokens, turn.last_text

    assert asyncio.run(answer()) == (1, 7, "Hello")
    assert spans.attributes()["turnspan.round"] == 1


def test_other_operations(spans: Spans) -> None:
    """The operation names the span."""
    with turnspan.inference(provider="p", model="e", operation="embeddings", input=["a"]):
        pass

    (span,) = spans.all()
    assert span.name == "embeddings e"


class Hostile:
    """Nothing works on it."""

    def __repr__(self) -> str:
        raise RuntimeError("hostile")


@pytest.mark.tests_internal_errors
def test_what_cannot_be_recorded_is_left_out(spans: Spans) -> None:
    """Bad arguments never raise: the span is there, the failure is counted."""
    bad: Any = Hostile()
    with turnspan.inference(model="m", messages=[bad], tools=bad) as call:
        call.response(tool_calls=[bad])
        call.response(text="Hello", input_tokens=bad)
        call.chunk(bad)

    assert spans.call().name == "chat m"
    assert errors.counts()
