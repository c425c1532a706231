"""The GenAI conventions themselves: the current names, and every older one they had."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import Message
from turnspan.dialects.convert import convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects.base import (
    WORKFLOW,
    Attributes,
    ForeignCall,
    ForeignSpan,
    counted,
    definitions,
    first,
    genai_messages,
    parsed,
    provider,
    seconds,
    sequence,
    text,
    texts,
    tool_call_id,
)

_PARAMETERS: Final = {
    "max_tokens": (semconv.REQUEST_MAX_TOKENS,),
    "temperature": (semconv.REQUEST_TEMPERATURE,),
    "top_p": (semconv.REQUEST_TOP_P, "llm.top_p"),
    "top_k": (semconv.REQUEST_TOP_K, "llm.top_k"),
    "stop": (semconv.REQUEST_STOP_SEQUENCES, "llm.chat.stop_sequences"),
    "frequency_penalty": (semconv.REQUEST_FREQUENCY_PENALTY, "llm.frequency_penalty"),
    "presence_penalty": (semconv.REQUEST_PRESENCE_PENALTY, "llm.presence_penalty"),
    "seed": (semconv.REQUEST_SEED, "gen_ai.openai.request.seed"),
    "n": (semconv.REQUEST_CHOICE_COUNT,),
    "reasoning_effort": (semconv.REQUEST_REASONING_LEVEL, "gen_ai.request.reasoning_effort"),
    "response_format": (
        semconv.OUTPUT_TYPE,
        "gen_ai.openai.request.response_format",
        "gen_ai.request.response_format",
    ),
    "service_tier": (
        semconv.OPENAI_REQUEST_SERVICE_TIER,
        "gen_ai.openai.request.service_tier",
    ),
}


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span whose attributes are those of the GenAI conventions of any year."""
    a = span.attributes
    call = ForeignCall()
    call.operation = text(a.get(semconv.OPERATION_NAME)).lower()
    read_facts(call, a)
    read_content(call, span)
    return call


def read_facts(call: ForeignCall, a: Attributes) -> None:
    """Everything of the conventions but content."""
    call.provider = provider(first(a, semconv.PROVIDER_NAME, "gen_ai.system"))
    call.request_model = text(first(a, semconv.REQUEST_MODEL, "llm.request.model"))
    call.response_model = text(first(a, semconv.RESPONSE_MODEL, "llm.response.model"))
    call.response_id = text(a.get(semconv.RESPONSE_ID))
    call.parameters = parameters(a)
    call.usage = usage(a)
    call.finish_reasons = texts(
        first(
            a,
            semconv.RESPONSE_FINISH_REASONS,
            "gen_ai.response.finish_reason",
            "gen_ai.response.stop_reason",
            "anthropic.message.stop_reason",
        )
    )
    streamed = first(a, semconv.REQUEST_STREAM, "gen_ai.is_streaming", "llm.is_streaming")
    call.stream = str(streamed).lower() == "true"  # LiteLLM writes it as Python does
    call.time_to_first_chunk = seconds(
        first(
            a,
            semconv.RESPONSE_TIME_TO_FIRST_CHUNK,
            "gen_ai.client.operation.time_to_first_chunk",  # the Vercel AI SDK 7, by its metric
        )
    )
    call.stream = call.stream or call.time_to_first_chunk is not None
    call.conversation_id = text(first(a, semconv.CONVERSATION_ID, semconv.SESSION_ID))
    call.user_id = text(first(a, semconv.USER_ID, "gen_ai.user", "llm.user"))
    call.agent_name = text(a.get(semconv.AGENT_NAME))
    if call.kind == WORKFLOW:
        call.agent_name = text(first(a, semconv.EARLIER[semconv.AGENT_NAME], semconv.AGENT_NAME))
    call.tool_name = text(a.get(semconv.TOOL_NAME))
    call.tool_type = text(a.get(semconv.TOOL_TYPE))
    call.tool_call_id = tool_call_id(a.get(semconv.TOOL_CALL_ID))


def parameters(a: Attributes) -> dict[str, Any]:
    """The request's parameters, by the names the providers' APIs use."""
    found: dict[str, Any] = {}
    for name, keys in _PARAMETERS.items():
        value = first(a, *keys)
        if value is not None:
            found[name] = sequence(value) or value
    return found


def usage(a: Attributes, prefix: str = "gen_ai.usage") -> TokenUsage:
    """Token counts under a prefix; the cached ones are subsets of the input."""
    return counted(
        a,
        input_tokens=(f"{prefix}.input_tokens", f"{prefix}.prompt_tokens"),
        output_tokens=(f"{prefix}.output_tokens", f"{prefix}.completion_tokens"),
        cache_read_tokens=(
            f"{prefix}.cache_read.input_tokens",
            f"{prefix}.cache_read_input_tokens",
            f"{prefix}.details.cache_read_tokens",
        ),
        cache_write_tokens=(
            f"{prefix}.cache_write.input_tokens",
            f"{prefix}.cache_creation.input_tokens",
            f"{prefix}.cache_creation_input_tokens",
            f"{prefix}.details.cache_write_tokens",
        ),
        reasoning_tokens=(
            f"{prefix}.reasoning.output_tokens",
            f"{prefix}.reasoning_tokens",
            f"{prefix}.details.reasoning_tokens",
            "llm.usage.reasoning_tokens",
        ),
    )


def read_content(call: ForeignCall, span: ForeignSpan) -> None:
    """Messages, system instructions, tools, arguments and results, in attributes or events."""
    a = span.attributes
    system = parsed(a.get(semconv.SYSTEM_INSTRUCTIONS))
    if system is not None and system != "":
        call.system = system if isinstance(system, str) else sequence(system)
    call.input = genai_messages(first(a, semconv.INPUT_MESSAGES, "gen_ai.prompt"), "user")
    call.output = genai_messages(
        first(a, semconv.OUTPUT_MESSAGES, "gen_ai.completion"), "assistant"
    )
    call.tools = definitions(a.get(semconv.TOOL_DEFINITIONS))
    call.tool_arguments = parsed(a.get(semconv.TOOL_CALL_ARGUMENTS))
    call.tool_result = parsed(a.get(semconv.TOOL_CALL_RESULT))
    for name, said in span.events:
        if name == "gen_ai.content.prompt":
            call.input += genai_messages(said.get("gen_ai.prompt"), "user")
        elif name == "gen_ai.content.completion":
            call.output += genai_messages(said.get("gen_ai.completion"), "assistant")
        elif name in _EVENT_ROLES:
            call.input += event_messages(said, _EVENT_ROLES[name])
        elif name == "gen_ai.choice":
            call.output += event_messages(parsed(said.get("message", said)), "assistant")
            call.finish_reasons += texts(said.get("finish_reason"))
        elif name == "gen_ai.client.inference.operation.details":
            call.input += genai_messages(said.get(semconv.INPUT_MESSAGES), "user")
            call.output += genai_messages(said.get(semconv.OUTPUT_MESSAGES), "assistant")


_EVENT_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def event_messages(said: Any, role: str) -> list[Message]:
    """The message of a per-message event: content and tool calls as the chat API writes them."""
    if not isinstance(said, dict):
        return genai_messages(said, role)
    fields: dict[str, Any] = {"role": role}
    for key, value in said.items():  # pyright: ignore[reportUnknownVariableType]
        if key in ("content", "tool_calls"):
            fields[key] = parsed(value)
        elif key == "role" and value:
            fields[key] = value
        elif key == "id" and role == "tool":
            fields["tool_call_id"] = value
    return [convert_message("openai.chat", fields, default_role=role)]
