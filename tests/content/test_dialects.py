"""Spans of other instrumentations become the records that ours would be.

``dialects/*.json`` are the spans that the real packages emitted for one and the same exchange with
the provider's SDK (its replies served locally): ``openinference-instrumentation-*`` 0.1.66 and
3.1.0, ``opentelemetry-instrumentation-*`` 0.62.4 and, as ``-old``, 0.33.12 (OpenLLMetry),
``opentelemetry-instrumentation-genai-*`` 1.3b0 (official), the Anthropic SDK 2.11.0 by itself, and
pydantic-ai 2.31.1 in its data formats 5 and 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind

from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.tracing.content_store import ContentStore
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import ForeignCall, ForeignSpan
from turnspan_clickhouse.normalise.attributes import CONTENT
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import (
    Definition,
    LlmCall,
    MessageRow,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
)

CAPTURES = Path(__file__).parent / "dialects"
OPENAI = ("official-openai", "openinference-openai", "openllmetry-openai", "openllmetry-openai-old")
ANTHROPIC = (
    "anthropic-sdk",
    "official-anthropic",
    "openinference-anthropic",
    "openllmetry-anthropic",
    "openllmetry-anthropic-old",
)

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A message in the GenAI schema."""
    return {"role": role, "parts": list(parts)}


def words(content: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "content": content}


def asked(call_id: str, city: str) -> dict[str, Any]:
    """A tool_call part."""
    return {"type": "tool_call", "id": call_id, "name": "get_weather", "arguments": {"city": city}}


SUNNY = {"type": "tool_call_response", "id": "call_1", "response": "sunny"}
ROME = {"type": "uri", "modality": "image", "uri": "https://example.com/rome.png"}
OPENAI_INPUT = [
    said("system", words("Be brief.")),
    said("user", words("Weather in Paris?")),
    said("assistant", asked("call_1", "Paris")),
    said("tool", SUNNY),
    said("user", words("And Rome?"), ROME),
]
ANTHROPIC_INPUT = [
    said("user", words("Weather in Paris?")),
    said("assistant", asked("call_1", "Paris")),
    said("user", SUNNY),
    said("user", words("And Rome?")),
]


@pytest.fixture(autouse=True)
def _no_swallowed_errors() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    errors.reset()
    config.activate(config.resolve({}, {}))
    yield
    config.activate(config.resolve({}, {}))
    assert errors.counts() == {}


def captured(name: str) -> list[dict[str, Any]]:
    """The spans of a capture, as the SDK had them: sequences are tuples."""
    spans: list[dict[str, Any]] = json.loads((CAPTURES / f"{name}.json").read_text("utf-8"))
    for span in spans:
        span["attributes"] = {
            key: tuple(value) if isinstance(value, list) else value  # pyright: ignore
            for key, value in span["attributes"].items()
        }
    return spans


def calls(name: str) -> list[ForeignCall]:
    """The spans of a capture, read."""
    found: list[ForeignCall] = []
    for span in captured(name):
        events = [(event, attributes) for event, attributes in span["events"]]
        read = foreign_dialects.read(
            ForeignSpan(span["name"], span["scope"], span["attributes"], events)
        )
        assert read is not None
        found.append(read)
    return found


def records(name: str) -> dict[type[Record], list[Any]]:
    """The records that the spans of a capture land as."""
    batch = Batch("test", 1)
    normaliser = Normaliser(ContentStore())
    for number, span in enumerate(captured(name), start=1):
        normaliser.span(
            ReadableSpan(
                name=span["name"],
                context=SpanContext(1, number, is_remote=False),
                resource=Resource({"service.name": "shop"}),
                attributes=span["attributes"],
                events=[Event(event, attributes, 5) for event, attributes in span["events"]],
                kind=SpanKind[span["kind"]],
                start_time=1_790_000_000_000_000_000,
                end_time=1_790_000_001_000_000_000,
                instrumentation_scope=InstrumentationScope(span["scope"], span["version"]),
            ),
            batch,
        )
    return {kind: list(rows) for kind, rows in batch.rows.items()}


@pytest.mark.parametrize("name", OPENAI)
def test_an_openai_call_reads_the_same_in_every_dialect(name: str) -> None:
    """Models, tokens, parameters, messages and tools are the same, whoever traced the call."""
    (call,) = calls(name)
    assert (call.kind, call.operation, call.provider) == ("inference", "chat", "openai")
    assert (call.request_model, call.response_model) == ("gpt-4o", "gpt-4o-2024-08-06")
    old = name.endswith("-old")  # which says neither the id nor details of the tokens
    assert call.response_id == ("" if old else "chatcmpl-1")
    assert call.usage == (TokenUsage(100, 20) if old else TokenUsage(100, 20, 64, None, 8))
    assert call.parameters == {"max_tokens": 100, "temperature": 0.5}
    assert call.finish_reasons in (["tool_calls"], ["tool_call"])
    assert call.input == OPENAI_INPUT
    (reply,) = call.output
    assert reply["role"] == "assistant"
    assert words("Let me look.") in reply["parts"]
    assert asked("call_2", "Rome") in reply["parts"]
    assert len(reply["parts"]) == 2
    assert call.tools == [TOOL]


@pytest.mark.parametrize("name", [*OPENAI, *ANTHROPIC])
def test_a_span_keeps_its_own_attributes(name: str) -> None:
    """All that it said, in its package's words; what landed as messages once is not said twice."""
    spans = captured(name)
    rows = records(name)[SpanRow]
    assert len(rows) == len(spans)
    for span, row in zip(spans, rows, strict=True):
        kept = row.attributes.texts()
        assert kept.keys() == span["attributes"].keys() - CONTENT
        for key, value in span["attributes"].items():
            if key not in CONTENT and isinstance(value, str):
                assert kept[key] == value


@pytest.mark.parametrize("name", ANTHROPIC)
def test_an_anthropic_call_reads_the_same_in_every_dialect(name: str) -> None:
    """Input tokens include the cached ones, and the system prompt is no message."""
    (call,) = calls(name)
    assert (call.kind, call.operation, call.provider) == ("inference", "chat", "anthropic")
    assert call.request_model == "claude-sonnet-4-5"
    assert call.response_model == "claude-sonnet-4-5-20250929"
    assert call.response_id == ("" if name.endswith("-old") else "msg_1")
    assert call.usage == TokenUsage(100, 20, 64, 6)
    assert call.finish_reasons in (["tool_use"], ["tool_call"])
    assert call.system == [words("Be brief.")]
    expected = [dict(message) for message in ANTHROPIC_INPUT]
    if name == "openinference-anthropic":
        expected[2]["role"] = "tool"  # as that instrumentation writes it
    if name == "anthropic-sdk":
        expected[2] = said("user", {**SUNNY, "response": [{"type": "text", "text": "sunny"}]})
    assert call.input == expected
    assert call.output == [said("assistant", words("Let me look."), asked("call_2", "Rome"))]
    assert call.tools == ([] if name == "anthropic-sdk" else [TOOL])


@pytest.mark.parametrize("name", ["pydantic-ai", "pydantic-ai-v2"])
def test_a_pydantic_ai_run_is_an_agent_with_calls_and_a_tool(name: str) -> None:
    """The agent's usage is the aggregate; arguments and results are values, not JSON text."""
    first, tool, second, agent = calls(name)
    assert [c.kind for c in (first, tool, second, agent)] == [
        "inference",
        "tool",
        "inference",
        "agent",
    ]
    assert first.usage == TokenUsage(100, 20, 64, None, 8)
    assert first.system == [words("Be brief.")]
    assert first.input == [said("user", words("Weather in Rome?"))]
    assert first.output == [said("assistant", words("Let me look."), asked("call_2", "Rome"))]
    assert [t["name"] for t in first.tools] == ["get_weather"]
    assert (tool.tool_name, tool.tool_call_id) == ("get_weather", "call_2")
    assert (tool.tool_arguments, tool.tool_result) == ({"city": "Rome"}, "sunny")
    assert second.input[1] == first.output[0]
    assert agent.agent_name == "weather"
    assert agent.usage == TokenUsage(200, 40, 128, None, 16)
    assert agent.output == [said("assistant", words("Sunny."))]


@pytest.mark.parametrize("name", [*OPENAI, *ANTHROPIC])
def test_a_foreign_call_lands_as_a_row_with_its_messages(name: str) -> None:
    """Columns, cost, messages, system prompt and tools are filled; the raw attributes are kept."""
    landed = records(name)
    (row,) = landed[LlmCall]
    assert isinstance(row, LlmCall)
    assert row.operation == "chat"
    assert (row.input_tokens, row.output_tokens) == (100, 20)
    assert row.cost_usd is not None and row.cost_usd > 0
    assert row.response_text == "Let me look."
    (made,) = json.loads(row.tool_calls)
    assert made == {"id": "call_2", "name": "get_weather", "arguments": {"city": "Rome"}}
    messages = {m.hash: m for m in landed[MessageRow]}
    texts = [messages[digest].parts for digest in row.input_messages]
    assert any('"And Rome?"' in parts for parts in texts)
    assert [m.source for m in landed[MessageRow]] == [""] * len(landed[MessageRow])
    prompts = {d.kind: d.body for d in landed[Definition]}
    assert prompts["system_prompt"] == "Be brief."
    assert ("tool_definitions" in prompts) == (name != "anthropic-sdk")
    assert json.loads(row.request_parameters)["max_tokens" if "old" not in name else "temperature"]
    assert "And Rome?" not in repr(row.attributes)
    (span,) = landed[SpanRow]
    originals = captured(name)[0]["attributes"]
    attributes = span.attributes.texts()
    assert {"gen_ai.system", "llm.system", "gen_ai.provider.name"} & attributes.keys()
    assert attributes.keys() <= originals.keys()


def test_the_same_history_has_the_same_hashes_in_every_dialect() -> None:
    """The messages of one exchange are the same records, whichever package traced it."""
    hashes = [records(name)[LlmCall][0].input_messages for name in OPENAI]
    assert all(found == hashes[0] for found in hashes)
    assert len(hashes[0]) == len(OPENAI_INPUT)


def test_a_foreign_agent_and_its_tool_land_as_turn_and_tool_call() -> None:
    """pydantic-ai's run is a turn with what was asked and answered; its tool has its arguments."""
    landed = records("pydantic-ai")
    turn = next(row for row in landed[TurnSummary] if row.agent_name == "weather")
    assert (turn.user_message, turn.response_text) == ("Weather in Rome?", "Sunny.")
    assert (turn.input_tokens, turn.output_tokens) == (200, 40)
    assert "pydantic_ai.all_messages" not in turn.attributes.texts()
    (tool,) = [row for row in landed[ToolCall] if row.scope_name == "pydantic-ai"]
    assert (tool.name, tool.arguments, tool.result) == ("get_weather", '{"city":"Rome"}', "sunny")


@pytest.mark.parametrize("name", [*OPENAI, *ANTHROPIC, "pydantic-ai", "pydantic-ai-v2"])
def test_switched_off_content_is_off_for_foreign_spans_too(name: str) -> None:
    """Tokens and models are landed; no word of the conversation is in any record."""
    config.activate(config.resolve({"capture_content": False}, {}))
    landed = records(name)
    assert landed[LlmCall][0].input_tokens == 100
    written = repr(landed)
    for word in ("Paris", "Rome", "sunny", "Sunny", "Be brief", "Let me look", "The weather."):
        assert word not in written


def test_a_langfuse_generation_is_read() -> None:
    """Its own buckets of tokens share none: ours include the cached and the reasoning ones."""
    call = foreign_dialects.read(
        ForeignSpan(
            "answer",
            "langfuse-sdk",
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.model.name": "claude-sonnet-4-5",
                "langfuse.observation.input": '[{"role": "user", "content": "hi"}]',
                "langfuse.observation.output": "hello",
                "langfuse.observation.usage_details": (
                    '{"input": 10, "output": 2, "cache_read_input_tokens": 4,'
                    ' "input_cache_creation": 3, "output_reasoning_tokens": 5}'
                ),
                "langfuse.observation.cost_details": '{"total": 0.25}',
                "langfuse.observation.completion_start_time": '"2026-11-21T10:00:00.500000Z"',
                "session.id": "s",
                "user.id": "u",
            },
            start_time=1_795_255_200_000_000_000,
        )
    )

    assert call is not None
    assert (call.kind, call.operation, call.request_model) == (
        "inference",
        "chat",
        "claude-sonnet-4-5",
    )
    assert call.usage == TokenUsage(17, 7, 4, 3, 5)
    assert call.cost_usd == Decimal("0.25")
    assert (call.stream, call.time_to_first_chunk) == (True, 0.5)
    assert (call.conversation_id, call.user_id) == ("s", "u")
    assert [message["parts"][0] for message in (*call.input, *call.output)] == [
        {"type": "text", "content": "hi"},
        {"type": "text", "content": "hello"},
    ]


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"input": 10, "output": 2, "input_cached_tokens": 4, "total": 12}, (10, 2)),
        ({"input": 10, "output": 7, "output_reasoning_tokens": 5, "total": 17}, (10, 7)),
        ({"input": 10, "output": 2, "input_cached_tokens": 4, "total": 16}, (14, 2)),
        ({"input": 10, "output": 7, "output_reasoning": 5, "input_cache_read": 4, "total": 21},
         (14, 7)),
        ({"input": 10, "output": 2, "output_reasoning": 5, "input_cache_read": 4, "total": 17},
         (10, 7)),
        ({"input": 10, "output": 2, "input_cached_tokens": 4, "total": 99}, (14, 2)),
    ],
)  # fmt: skip
def test_a_langfuse_total_says_which_buckets_have_others_in_them(
    told: dict[str, int], usage: tuple[int, int]
) -> None:
    attributes = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.usage_details": json.dumps(told),
    }
    call = foreign_dialects.read(ForeignSpan("answer", "langfuse-sdk", attributes))
    assert call is not None
    assert (call.usage.input_tokens, call.usage.output_tokens) == usage


def test_a_vercel_call_is_read() -> None:
    """The AI SDK's inner span is the call, its outer one the agent; JSON attributes are parsed."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool-call",
                    "toolCallId": "call_1",
                    "toolName": "get_weather",
                    "input": {"city": "Paris"},
                }
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call_1",
                    "toolName": "get_weather",
                    "output": "sunny",
                }
            ],
        },
    ]
    attributes: dict[str, Any] = {
        "ai.operationId": "ai.streamText.doStream",
        "ai.model.provider": "openai.chat",
        "ai.model.id": "gpt-4o",
        "ai.response.model": "gpt-4o-2024-08-06",
        "ai.response.id": "chatcmpl-1",
        "ai.response.finishReason": "tool-calls",
        "ai.response.msToFirstChunk": 250.0,
        "ai.response.text": "Let me look.",
        "ai.response.toolCalls": json.dumps(
            [{"toolCallId": "call_2", "toolName": "get_weather", "input": '{"city":"Rome"}'}]
        ),
        "ai.prompt.messages": json.dumps(messages),
        "ai.prompt.tools": (
            json.dumps(
                {
                    "type": "function",
                    "name": "get_weather",
                    "description": "The weather.",
                    "inputSchema": TOOL["parameters"],
                }
            ),
        ),
        "ai.usage.inputTokens": 100,
        "ai.usage.outputTokens": 20,
        "ai.usage.cachedInputTokens": 64,
        "ai.usage.reasoningTokens": 8,
        "ai.telemetry.functionId": "weather",
        "ai.telemetry.metadata.sessionId": "s1",
        "gen_ai.request.temperature": 0.5,
    }
    call = foreign_dialects.read(ForeignSpan("ai.streamText.doStream", "ai", attributes))
    assert call is not None
    assert (call.kind, call.operation, call.provider) == ("inference", "chat", "openai")
    assert call.usage == TokenUsage(100, 20, 64, None, 8)
    assert call.stream
    assert call.time_to_first_chunk == 0.25
    assert call.conversation_id == "s1"
    assert call.finish_reasons == ["tool-calls"]
    assert call.input == [
        said("system", words("Be brief.")),
        said("user", words("Weather?")),
        said("assistant", asked("call_1", "Paris")),
        said("tool", SUNNY),
    ]
    assert call.output == [said("assistant", words("Let me look."), asked("call_2", "Rome"))]
    assert call.tools == [TOOL]
    outer = foreign_dialects.read(
        ForeignSpan(
            "ai.generateText",
            "ai",
            {
                "ai.operationId": "ai.generateText",
                "ai.prompt": '{"system":"Be brief.","prompt":"Weather?"}',
                "ai.usage.promptTokens": 7,
                "ai.usage.completionTokens": 3,
            },
        )
    )
    assert outer is not None
    assert (outer.kind, outer.usage, outer.system) == ("agent", TokenUsage(7, 3), "Be brief.")
    assert outer.input == [said("user", words("Weather?"))]


def test_per_message_events_of_the_older_conventions_are_read() -> None:
    """Messages that were span events, and prompts that were one JSON attribute."""
    call = foreign_dialects.read(
        ForeignSpan(
            "chat gpt-4o",
            "opentelemetry.instrumentation.openai_v2",
            {"gen_ai.operation.name": "chat", "gen_ai.system": "az.ai.openai"},
            [
                ("gen_ai.system.message", {"content": "Be brief."}),
                ("gen_ai.user.message", {"content": "Weather?"}),
                ("gen_ai.tool.message", {"content": "sunny", "id": "call_1"}),
                (
                    "gen_ai.choice",
                    {"message": '{"content": "Sunny."}', "finish_reason": "stop", "index": 0},
                ),
            ],
        )
    )
    assert call is not None
    assert call.provider == "azure.ai.openai"
    assert call.input == [
        said("system", words("Be brief.")),
        said("user", words("Weather?")),
        said("tool", SUNNY),
    ]
    assert call.output == [said("assistant", words("Sunny."))]
    assert call.finish_reasons == ["stop"]


@pytest.mark.parametrize(
    ("scope", "attributes", "expected"),
    [
        ("opentelemetry.instrumentation.requests", {"http.request.method": "GET"}, None),
        ("my.app", {}, None),
        ("my.app", {"gen_ai.operation.name": "chat"}, "genai"),
        ("com.anthropic.sdk.python", {}, "genai"),
        ("opentelemetry.instrumentation.genai.openai", {}, "genai"),
        ("openinference.instrumentation.langchain", {}, "openinference"),
        ("my.app", {"openinference.span.kind": "LLM"}, "openinference"),
        ("my.app", {"traceloop.span.kind": "workflow"}, "openllmetry"),
        ("opentelemetry.instrumentation.cohere", {"llm.request.type": "chat"}, "openllmetry"),
        ("ai", {"ai.operationId": "ai.embed"}, "vercel"),
        ("pydantic-ai", {}, "pydantic_ai"),
        ("logfire.openai", {"request_data": "{}"}, "pydantic_ai"),
        ("logfire.httpx", {}, None),
    ],
)
def test_the_dialect_is_known_by_scope_then_by_attributes(
    scope: str, attributes: dict[str, Any], expected: str | None
) -> None:
    """Spans that are about no model, tool or agent are left alone."""
    found = foreign_dialects.detect(scope, attributes)
    assert found == expected


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference.span.kind": "LLM", "llm.input_messages.0.message": 5, "llm.tools.0": "x"},
        {"openinference.span.kind": 7, "llm.input_messages.x.message.role": None},
        {"openinference.span.kind": "LLM", "llm.input_messages.0.message.tool_calls.0": "x"},
        {"llm.request.type": "chat", "gen_ai.prompt.0.content": "[1, 2]", "gen_ai.prompt.0": 1},
        {"llm.request.type": "chat", "gen_ai.prompt.0.tool_calls.0.arguments": 5},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": "[1, null, {}]"},
        {"ai.operationId": 5, "ai.prompt": "not json", "ai.response.toolCalls": "[5]"},
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": '[5, "x", {"parts": 5}]'},
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "many"},
        {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": '[5, {"name": 5}, "x"]'},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{broken"},
        {"request_data": "[]", "gen_ai.system": "openai", "events": "[5]"},
    ],
)
@pytest.mark.parametrize("scope", ["my.app", "pydantic-ai"])
def test_odd_attributes_raise_nothing(scope: str, attributes: dict[str, Any]) -> None:
    """A span whose attributes are not as its dialect has them is read as far as they go."""
    call = foreign_dialects.read(ForeignSpan("span", scope, attributes))
    assert call is None or isinstance(call.canonical(), dict)
