"""Undecorated Gemini: sessions, turns and tools by its messages, whose calls mostly have no ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support.gemini_bodies import call, content, pieces, text
from support.google_sdk import genai
from turnspan.testing import ModelServer
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model provider."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """The SDK instrumented; the spans finished."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    default.content.attach()
    turnspan.instrument(tracer_provider=provider, only=("google_genai",))
    yield exporter
    turnspan.uninstrument()
    default.content.detach()


def landed(spans: InMemorySpanExporter) -> Batch:
    """The rows of all that was recorded, the last of each key."""
    batch = Batch("test", 1)
    normaliser = Normaliser(default.content, "test")
    for span in spans.get_finished_spans():
        normaliser.span(span, batch)
    normaliser.finish(batch)
    return batch


def rows(batch: Batch, kind: type[Any]) -> list[Any]:
    """Rows of a kind."""
    return list(batch.rows.get(kind, []))


@pytest.mark.parametrize("ids", [False, True])
def test_results_go_to_the_call_of_their_name(
    ids: bool, spans: InMemorySpanExporter, server: ModelServer
) -> None:
    """Also where they come in another order than they were asked for, and have no ids."""
    options: Any = {"base_url": server.url}
    client = genai.Client(api_key="k", http_options=options)
    asked = [
        call("weather", {"city": "Rome"}, "c1" if ids else ""),
        call("lookup", {"order": 7}, "c2" if ids else ""),
        call("weather", {"city": "Oslo"}, "c3" if ids else ""),
    ]
    server.answer(content(*asked))
    server.answer(text("Done."))
    user: dict[str, Any] = {"role": "user", "parts": [{"text": "hi"}]}
    answers = [
        {"function_response": {"name": name, "response": response}}
        for name, response in (
            ("lookup", {"error": "lost"}),
            ("weather", {"result": "sunny"}),
            ("weather", {"result": "grey"}),
        )
    ]
    reply = client.models.generate_content(model="gemini-2.5-flash", contents=[user])
    history = [user, reply.candidates[0].content, {"role": "user", "parts": answers}]
    client.models.generate_content(model="gemini-2.5-flash", contents=history)

    batch = landed(spans)

    tools = {(row.name, row.arguments): row for row in rows(batch, ToolCall)}
    assert len(rows(batch, ToolCall)) == 3
    assert tools["weather", '{"city":"Rome"}'].result == '{"result":"sunny"}'
    assert tools["weather", '{"city":"Oslo"}'].result == '{"result":"grey"}'
    lost = tools["lookup", '{"order":7}']
    assert (lost.result, lost.failed) == ('{"error":"lost"}', True)
    assert lost.call_id == ("c2" if ids else "")
    calls = rows(batch, LlmCall)
    assert [row.round for row in calls] == [1, 2]
    assert len({row.session_id for row in calls}) == len({row.turn_id for row in calls}) == 1
    turn = rows(batch, TurnSummary)[-1]
    assert (turn.stop_reason, turn.tool_call_count, turn.rounds) == ("tool_failure", 3, 2)
    assert turn.user_message == "hi"


def weather(city: str) -> str:
    """What the weather is."""
    return f"sunny in {city}"


weather.__annotations__.update({"city": str, "return": str})


@pytest.mark.parametrize("streamed", [False, True])
def test_a_chat_that_calls_functions(
    streamed: bool, spans: InMemorySpanExporter, server: ModelServer
) -> None:
    """One session, a turn for each message sent, each function one row; streamed as well."""
    options: Any = {"base_url": server.url}
    client = genai.Client(api_key="k", http_options=options)
    chat = client.chats.create(model="gemini-2.5-flash", config={"tools": [weather]})
    asked = content(call("weather", {"city": "Rome"}))
    if streamed:
        server.stream([asked])
        server.stream(pieces("It is ", "sunny."))
        server.stream(pieces("Good", "bye."))
        list(chat.send_message_stream("What is the weather in Rome?"))
        list(chat.send_message_stream("bye"))
    else:
        for body in (asked, text("It is sunny."), text("Goodbye.")):
            server.answer(body)
        chat.send_message("What is the weather in Rome?")
        chat.send_message("bye")

    batch = landed(spans)

    calls = rows(batch, LlmCall)
    assert [row.response_text for row in calls] == ["", "It is sunny.", "Goodbye."]
    assert len({row.session_id for row in calls}) == 1
    assert len({row.turn_id for row in calls}) == 2
    (tool,) = rows(batch, ToolCall)
    assert (tool.name, tool.arguments) == ("weather", '{"city":"Rome"}')
    assert tool.result == '{"result":"sunny in Rome"}'
    assert all(row.cost_usd is not None for row in calls)
