"""One agent's turn, sent over OTLP and read back: the tree that Jaeger shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.seen import SeenTrace
from support.traces import TraceBackend
from turnspan_demo.model import Reply, Run, ToolUse, Turn
from turnspan_demo.server import ModelServer

QUESTION = "What is the weather in Oslo?"
ANSWER = "It is raining in Oslo."
LOOK = ToolUse("call_1", "weather", '{"city": "Oslo"}', result="rain")
RUN = Run(
    id="oslo",
    turns=(
        Turn(
            user=QUESTION,
            replies=(
                Reply(tools=(LOOK,), finish="tool_calls", usage=(20, 7)),
                Reply(text=ANSWER, usage=(35, 9)),
            ),
        ),
    ),
)
CONTENT = {
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
}


@turnspan.tool
def weather(city: str) -> str:
    """Look out of the window."""
    return LOOK.result if city == "Oslo" else "unknown"


@turnspan.agent("forecaster", version="7")
def answer(question: str, client: OpenAI) -> tuple[str, int]:
    """Ask the model until it needs no tool; returns its reply and the turn's trace id."""
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        response = client.chat.completions.create(model="gpt-4o", messages=messages)
        message = response.choices[0].message
        messages.append(message.to_dict())
        if not message.tool_calls:
            trace_id = trace.get_current_span().get_span_context().trace_id
            return message.content or "", trace_id
        for call in message.tool_calls:
            result = weather("Oslo")
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


@pytest.fixture
def recording(
    trace_backend: TraceBackend, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TraceBackend]:
    """Turnspan, sending to the backend over OTLP/HTTP with gzip."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", trace_backend.endpoint)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    provider = TracerProvider(resource=Resource({"service.name": "weather-desk"}))
    turnspan.configure(tracer_provider=provider, exporters=["otlp"])
    turnspan.instrument(tracer_provider=provider)
    yield trace_backend
    turnspan.uninstrument()
    turnspan.shutdown()
    provider.shutdown()


@pytest.fixture
def content_on_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard switch, set before Turnspan is configured."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")


def play(backend: TraceBackend) -> SeenTrace:
    """Run the agent once in a session and read its trace back."""
    with (
        ModelServer([RUN]) as model,
        OpenAI(base_url=model.openai_url, api_key="any") as client,
        turnspan.session("s-1", user_id="u-1"),
    ):
        text, trace_id = answer(QUESTION, client)
    assert text == ANSWER
    assert turnspan.flush().ok
    return backend.trace(f"{trace_id:032x}", spans=4)


def test_a_turn_is_one_trace_of_agent_calls_and_tools(recording: TraceBackend) -> None:
    """Names, kinds and parents are those of the GenAI conventions."""
    seen = play(recording)

    assert seen.names() == [
        "invoke_agent forecaster",
        "chat gpt-4o",
        "execute_tool weather",
        "chat gpt-4o",
    ]
    agent = seen.one("invoke_agent forecaster")
    assert agent.parent == ""
    assert [(span.name, span.kind) for span in seen.children(agent)] == [
        ("chat gpt-4o", "client"),
        ("execute_tool weather", "internal"),
        ("chat gpt-4o", "client"),
    ]
    assert (agent.kind, agent.resource["service.name"]) == ("internal", "weather-desk")
    assert {span.status for span in seen.spans} == {"unset"}
    assert all(agent.start <= span.start <= span.end <= agent.end for span in seen.spans)


def test_the_spans_carry_typed_attributes_and_no_content(recording: TraceBackend) -> None:
    """Models, tokens, finish reasons and the turn's outcome are there; what was said is not."""
    seen = play(recording)
    agent = seen.one("invoke_agent forecaster").attributes
    first, tool, second = (s.attributes for s in seen.children(seen.one("invoke_agent forecaster")))

    assert agent["gen_ai.operation.name"] == "invoke_agent"
    assert (agent["gen_ai.agent.name"], agent["turnspan.agent.version"]) == ("forecaster", "7")
    assert agent["gen_ai.conversation.id"] == "s-1"
    assert agent["turnspan.turn.stop_reason"] == "completed"
    assert agent["turnspan.turn.rounds"] == 2
    assert (agent["gen_ai.usage.input_tokens"], agent["gen_ai.usage.output_tokens"]) == (55, 16)
    assert first["gen_ai.operation.name"] == "chat"
    assert first["gen_ai.request.model"] == "gpt-4o"
    assert first["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert second["gen_ai.response.finish_reasons"] == ["stop"]
    assert (first["gen_ai.usage.input_tokens"], first["gen_ai.usage.output_tokens"]) == (20, 7)
    assert tool["gen_ai.tool.name"] == "weather"
    assert tool["gen_ai.tool.call.id"] == "call_1"
    assert not any(CONTENT & set(span.attributes) for span in seen.spans)


def test_content_is_on_the_spans_where_the_standard_variable_asks(
    content_on_spans: None, recording: TraceBackend
) -> None:
    """Jaeger then shows the messages, the tool's arguments and its result."""
    seen = play(recording)
    _, tool, second = (s.attributes for s in seen.children(seen.one("invoke_agent forecaster")))

    assert QUESTION in second["gen_ai.input.messages"]
    assert ANSWER in second["gen_ai.output.messages"]
    assert tool["gen_ai.tool.call.arguments"] == '{"city":"Oslo"}'
    assert tool["gen_ai.tool.call.result"] == "rain"
