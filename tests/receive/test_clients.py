"""Real OTLP clients: OpenTelemetry's SDKs for Python and JavaScript, and the Vercel AI SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from receive.serving import serving
from receive.test_order import ask
from support import node
from support.representatives import few
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema

AGENT = Path(__file__).with_name("agent.mjs")
QUESTION = "What is the weather in Oslo?"
ANSWER = "It is 4 degrees in Oslo."


@pytest.mark.parametrize("kind", few(["plain", "ai6", "ai7", "ai7-legacy"], ["ai7"]))
def test_a_javascript_agent(embedded_dsn: Dsn, kind: str) -> None:
    """One turn of two calls and a tool, told by hand and by each generation of the AI SDK, once
    in JSON and once in protobuf."""
    with serving(embedded_dsn) as served:
        node.run_node(AGENT, kind, "json", served.endpoint)
        node.run_node(AGENT, kind, "protobuf", served.endpoint)
        assert set(served.receiver.answers) == {"200"}
    turns = ask(
        embedded_dsn,
        "SELECT service, session_id, environment, agent_name, stop_reason, rounds, llm_call_count,"
        " tool_call_count, input_tokens, output_tokens, toFloat64(cost_usd) AS cost, user_message,"
        " response_text, status, turn_id FROM turn_summary ORDER BY start_time",
    )
    calls = ask(
        embedded_dsn,
        "SELECT provider, request_model, round, turn_id, response_text, chat_history"
        " FROM llm_call_full WHERE session_id = 'session-1' ORDER BY turn_id, round",
    )
    tools = ask(
        embedded_dsn,
        "SELECT name, call_id, arguments, result, session_id, turn_id FROM tool_call",
    )

    ids = [turn.pop("turn_id") for turn in turns]
    assert (
        turns
        == [
            {
                "service": f"js-{kind}",
                "session_id": "session-1",
                "environment": "staging",
                "agent_name": "weather",
                "stop_reason": "completed",
                "rounds": 2,
                "llm_call_count": 2,
                "tool_call_count": 1,
                "input_tokens": 200,
                "output_tokens": 40,
                "cost": pytest.approx(0.0009),
                "user_message": QUESTION,
                "response_text": ANSWER,
                "status": "final",
            }
        ]
        * 2
    )
    assert [(c["provider"], c["request_model"], c["turn_id"], c["round"]) for c in calls] == [
        ("openai", "gpt-4o", turn_id, number) for turn_id in sorted(ids) for number in (1, 2)
    ]
    assert [c["response_text"] for c in calls] == ["", ANSWER] * 2
    history: list[Any] = json.loads(calls[1]["chat_history"])
    assert [message["role"] for message in history] == ["user", "assistant", "tool"]
    assert {tool.pop("turn_id") for tool in tools} == set(ids)
    for tool in tools:
        assert json.loads(tool.pop("arguments")) == {"city": "Oslo"}
        assert str(json.loads(tool.pop("result"))) == "4"
    assert tools == [{"name": "weather", "call_id": "c1", "session_id": "session-1"}] * 2


def test_a_python_application(embedded_dsn: Dsn) -> None:
    """The standard exporter, gzip and not, under the standard processor."""
    with serving(embedded_dsn) as served:
        for compression in (Compression.Gzip, Compression.NoCompression):
            exporter = OTLPSpanExporter(f"{served.endpoint}/v1/traces", compression=compression)
            provider = TracerProvider(resource=Resource.create({"service.name": "py"}))
            provider.add_span_processor(BatchSpanProcessor(exporter))
            tracer = provider.get_tracer("openinference.instrumentation.openai")
            with tracer.start_as_current_span("agent") as span:
                span.set_attributes({"openinference.span.kind": "AGENT", "input.value": QUESTION})
                with tracer.start_as_current_span("ChatCompletion") as call:
                    call.set_attributes(
                        {
                            "openinference.span.kind": "LLM",
                            "llm.model_name": "gpt-4o",
                            "llm.token_count.prompt": 7,
                            "llm.output_messages.0.message.role": "assistant",
                            "llm.output_messages.0.message.content": ANSWER,
                        }
                    )
            provider.shutdown()
    rows = ask(
        embedded_dsn,
        "SELECT llm_call_count, input_tokens, response_text FROM turn_summary WHERE service = 'py'",
    )

    assert rows == [{"llm_call_count": 1, "input_tokens": 7, "response_text": ANSWER}] * 2
