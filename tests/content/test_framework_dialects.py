"""What the instrumentations of frameworks emitted for one conversation, read into one form.

The spans in ``dialects/*.json`` are of LangGraph 1.2 (``openinference-instrumentation-langchain``
0.1.80, ``opentelemetry-instrumentation-langchain`` 0.62.4, ``langsmith`` 0.15), google-genai 3.4
and 2.x, Google's ADK 1.14, OpenAI's agents 0.24 and LlamaIndex, over a model server on this machine
(``make test-stacks``): a question that a tool answers, and one whose tool fails.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnspan.redaction.content_keys import is_content
from turnspan.runtime.guard import errors
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import INFERENCE, OTHER, TOOL, ForeignCall, ForeignSpan

CAPTURES = Path(__file__).parent / "dialects"
WEATHER = "25 degrees and sunny"
ASKED = [("get_weather", {"city": "Rome"}), ("broken_lookup", {"order_id": 7})]

LANGCHAIN = ("openinference-langchain", "openllmetry-langchain", "langsmith-langchain")
AGENTS = ("openinference-openai-agents", "openllmetry-openai-agents")
GOOGLE = ("openinference-google-genai", "official-google-genai", "google-adk")
EVERY = (*LANGCHAIN, *AGENTS, *GOOGLE, "openinference-llama-index")


def calls(name: str, kind: str) -> list[ForeignCall]:
    """The spans of a kind in a capture, read."""
    errors.reset()
    found: list[ForeignCall] = []
    for span in json.loads((CAPTURES / f"{name}.json").read_text("utf-8")):
        attributes: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value  # pyright: ignore
            for key, value in span["attributes"].items()
        }
        events = [(event, said) for event, said in span["events"]]
        read = foreign_dialects.read(ForeignSpan(span["name"], span["scope"], attributes, events))
        if read is not None and read.kind == kind:
            found.append(read)
    assert errors.counts() == {}
    return found


def parts(call: ForeignCall, kind: str, *, reply: bool = False) -> list[dict[str, Any]]:
    """The parts of a kind in what a call sent, or in its reply."""
    messages = call.output if reply else call.input
    return [part for m in messages for part in m["parts"] if part["type"] == kind]


@pytest.mark.parametrize("name", EVERY)
def test_a_reply_is_one_message_with_the_calls_it_asked_for(name: str) -> None:
    """Text and tool calls of one reply are together, and each call has an id."""
    asked: list[tuple[str, Any]] = []
    for call in calls(name, INFERENCE):
        assert len(call.output) == 1
        assert call.output[0]["role"] == "assistant"
        assert [p["content"] for p in parts(call, "text", reply=True)][:1] != []
        for part in parts(call, "tool_call", reply=True):
            assert part["id"]
            asked.append((part["name"], part["arguments"]))
    assert sorted(asked, key=str) == sorted(ASKED, key=str)  # LangSmith tells in any order


@pytest.mark.parametrize("name", EVERY)
def test_every_result_is_of_a_call(name: str) -> None:
    """A result in the history has the id of the call that asked for it, whoever made ids up."""
    results = 0
    for call in calls(name, INFERENCE):
        ids = {part["id"] for part in parts(call, "tool_call")}
        for part in parts(call, "tool_call_response"):
            assert part["id"] in ids
            results += 1
        assert {message["role"] for message in call.input} <= {
            "system",
            "user",
            "assistant",
            "tool",
        }
    assert results


@pytest.mark.parametrize("name", EVERY)
def test_tokens_are_those_of_the_reply(name: str) -> None:
    """Each call's counts, the cached ones and those of reasoning among them."""
    found = [call.usage for call in calls(name, INFERENCE)]
    assert all(one.input_tokens and one.output_tokens for one in found)
    assert len({(one.input_tokens, one.output_tokens) for one in found}) == len(found) >= 3
    assert {one.cache_read_tokens for one in found} == {64}


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("google-adk",)])
def test_a_reply_has_its_id(name: str) -> None:
    """The id that the provider gave, by which other spans of the call are known."""
    ids = [call.response_id for call in calls(name, INFERENCE)]
    if name == "openinference-llama-index":
        assert ids  # it records none
    else:
        assert all(each.startswith(("chatcmpl-", "resp_", "gemini-")) for each in ids)


@pytest.mark.parametrize("name", [name for name in EVERY if not name.endswith("google-genai")])
def test_a_tool_has_its_arguments_and_result(name: str) -> None:
    """Both as the tool had them, out of whatever the framework puts around them."""
    weather, broken = calls(name, TOOL)
    assert weather.tool_name == "get_weather"
    assert weather.tool_arguments in ({"city": "Rome"}, None)
    assert WEATHER in (json.dumps(weather.tool_result) if weather.tool_result else "")
    assert broken.tool_name == "broken_lookup"
    assert broken.tool_arguments == {"order_id": 7}
    assert not weather.tool_failed


@pytest.mark.parametrize("name", LANGCHAIN)
def test_a_tool_of_langchain_tells_which_call_it_answers(name: str) -> None:
    """Its message has the call's id, and the text alone is its result."""
    weather = calls(name, TOOL)[0]
    asked = [p for c in calls(name, INFERENCE) for p in parts(c, "tool_call", reply=True)]
    assert weather.tool_call_id == next(p["id"] for p in asked if p["name"] == "get_weather")
    assert weather.tool_result == WEATHER


@pytest.mark.parametrize("name", [*LANGCHAIN, "google-adk"])
def test_the_conversation_is_the_framework_s(name: str) -> None:
    """The id of its thread or session is that of every call, and where they have it of tools."""
    found = [*calls(name, INFERENCE), *(calls(name, TOOL) if name in LANGCHAIN else [])]
    ids = {call.conversation_id for call in found}
    assert len(ids) == 1
    assert ids != {""}


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        (
            "gen_ai",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.client.operation.time_to_first_chunk": 0.25,
            },
        ),
        (
            "ai",
            {"ai.operationId": "ai.streamText.doStream", "ai.response.msToFirstChunk": 250},
        ),
        (
            "ai",
            {"ai.operationId": "ai.streamText.doStream", "ai.stream.msToFirstChunk": 250},
        ),
    ],
    ids=["version 7", "version 6", "version 7 in its legacy mode"],
)
def test_the_vercel_sdk_tells_when_the_first_chunk_came(
    scope: str, attributes: dict[str, Any]
) -> None:
    """In seconds, and the call is a streamed one, by whichever name the release has for it."""
    read = foreign_dialects.read(ForeignSpan("chat gpt-4o", scope, attributes))
    assert read is not None
    assert (read.time_to_first_chunk, read.stream) == (0.25, True)


@pytest.mark.parametrize(
    "value",
    [
        '{"generations": [[]]}',
        '{"generations": [[{"message": null}], 3]}',
        '{"output": [{"type": "message", "content": 4}]}',
        '{"candidates": [null, {"content": {"parts": "x"}}]}',
        '{"type": "tool", "data": {"content": {"a": 1}}}',
        "[[[]]]",
        "{",
    ],
)
def test_bodies_of_any_shape_are_read(value: str) -> None:
    """What is not as it should be costs no span."""
    errors.reset()
    for kind in ("LLM", "TOOL", "AGENT"):
        attributes = {
            "openinference.span.kind": kind,
            "input.value": value,
            "output.value": value,
        }
        scope = "openinference.instrumentation.langchain"
        assert foreign_dialects.read(ForeignSpan("ChatOpenAI", scope, attributes)) is not None
    for kind in ("llm", "tool", "chain"):
        attributes = {
            "langsmith.span.kind": kind,
            "gen_ai.prompt": value,
            "gen_ai.completion": value,
        }
        assert foreign_dialects.read(ForeignSpan("ChatOpenAI", "langsmith", attributes)) is not None
    attributes = {f"gcp.vertex.agent.llm_{part}": value for part in ("request", "response")}
    assert (
        foreign_dialects.read(ForeignSpan("call_llm", "gcp.vertex.agent", attributes)) is not None
    )
    assert errors.counts() == {}


def test_what_others_hold_as_content_is_content() -> None:
    """The attributes that these dialects read content from are left out where none is recorded."""
    for name in EVERY:
        for span in json.loads((CAPTURES / f"{name}.json").read_text("utf-8")):
            kept = [key for key in span["attributes"] if not is_content(key)]
            told = json.dumps({key: span["attributes"][key] for key in kept})
            assert "Rome" not in told
            assert WEATHER not in told


def test_a_model_that_is_called_by_its_dunder() -> None:
    """DSPy's ``LM.__call__`` is a call; LlamaIndex's ``LLM._helper`` is none."""
    attributes: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hello.",
    }
    for name, kind in (("LM.__call__", INFERENCE), ("LLM._helper", "")):
        span = ForeignSpan(name, "openinference.instrumentation.dspy", attributes, [])
        read = foreign_dialects.read(span)
        assert (read.kind if read is not None else "") == (kind or OTHER)


def test_an_agent_that_was_asked_in_plain_text() -> None:
    """OpenLLMetry's span of an agent says what the user said and what came back."""
    attributes: dict[str, Any] = {
        "traceloop.span.kind": "agent",
        "traceloop.entity.input": "What is the weather in Rome?",
        "traceloop.entity.output": "It is sunny in Rome.",
    }
    read = foreign_dialects.read(
        ForeignSpan("desk.agent", "opentelemetry.instrumentation.agno", attributes, [])
    )
    assert read is not None
    assert parts(read, "text")[0]["content"] == "What is the weather in Rome?"
    assert parts(read, "text", reply=True)[0]["content"] == "It is sunny in Rome."


def test_a_tool_result_that_is_an_error() -> None:
    """OpenInference's attributes of Anthropic's calls do not say it; the body does."""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    attributes: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "llm.provider": "anthropic",
        "input.value": json.dumps({"messages": [{"role": "user", "content": [result]}]}),
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.tool_call_id": "t1",
        "llm.input_messages.0.message.content": "no",
    }
    scope = "openinference.instrumentation.anthropic"
    read = foreign_dialects.read(ForeignSpan("messages.create", scope, attributes, []))
    assert read is not None
    (part,) = parts(read, "tool_call_response")
    assert part["is_error"] is True


@pytest.mark.parametrize("name", ["gen_ai.agent.name", "gen_ai.workflow.name"])
def test_a_workflow_has_one_name(name: str) -> None:
    """By the conventions 0.1.0 and by those before: a workflow is an agent's span."""
    said = {"gen_ai.operation.name": "invoke_workflow", name: "crew"}

    call = foreign_dialects.read(ForeignSpan("invoke_workflow crew", "crewai", said))

    assert call is not None
    assert call.canonical() == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.agent.name": "crew",
    }
