"""OpenLLMetry (Traceloop): ``gen_ai.prompt.N.*`` in older releases, current names in newer."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import Message, as_dict, as_list, text_part
from turnspan.dialects.convert import convert_message
from turnspan_clickhouse.foreign_dialects import genai, langchain
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    OTHER,
    TOOL,
    WORKFLOW,
    Attributes,
    ForeignCall,
    ForeignSpan,
    definitions,
    first,
    integer,
    items,
    keywords,
    operation_of,
    parsed,
    text,
    tool_call,
)

_REQUEST_TYPES: Final = {
    "chat": semconv.OP_CHAT,
    "completion": semconv.OP_TEXT_COMPLETION,
    "embedding": semconv.OP_EMBEDDINGS,
}


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span of an OpenLLMetry instrumentation or of the Traceloop SDK."""
    a = span.attributes
    call = genai.read(span)
    if call.kind == OTHER:
        call.operation = _operation(span)
    association = "traceloop.association.properties"
    ids = ("session_id", "conversation_id", "thread_id")
    call.conversation_id = call.conversation_id or text(
        first(a, *(f"{association}.{name}" for name in ids))
    )
    call.user_id = call.user_id or text(a.get(f"{association}.user_id"))
    if call.kind == WORKFLOW:
        call.agent_name = call.agent_name or text(a.get("traceloop.workflow.name"))
    entity = text(a.get("traceloop.entity.name"))
    if call.kind == AGENT:
        call.agent_name = call.agent_name or entity
        call.input = call.input or _plain(a, "traceloop.entity.input", "user")
        call.output = call.output or _plain(a, "traceloop.entity.output", "assistant")
    if call.kind == TOOL:
        call.tool_name = call.tool_name or entity or span.name.removesuffix(".tool")
        # LangChain's are inside what it was called with and gave.
        given, made = call.tool_arguments, call.tool_result
        if given is None:
            given = parsed(a.get("traceloop.entity.input"))
        if made is None:
            made = parsed(a.get("traceloop.entity.output"))
        call.tool_arguments, call.tool_result = keywords(given), made
        asked = as_dict((as_dict(given) or {}).get("kwargs")) or {}
        call.tool_call_id = call.tool_call_id or text(asked.get("tool_call_id"))
        langchain.read_result(call, made)
    if call.kind == INFERENCE:
        if not call.input:
            call.input = [_message(said, "user") for said in items(a, "gen_ai.prompt")]
        if not call.output:
            replies = items(a, "gen_ai.completion")
            call.output = [_message(said, "assistant") for said in replies]
            reasons = [text(said["finish_reason"]) for said in replies if said.get("finish_reason")]
            call.finish_reasons = call.finish_reasons or reasons
        if not call.tools:
            functions = [
                {key: parsed(value) for key, value in said.items()}
                for said in items(a, "llm.request.functions")
            ]
            call.tools = definitions(functions)
    _fill_usage(call, a)
    return call


def _plain(a: Attributes, name: str, role: str) -> list[Message]:
    """What an agent was asked or said, where it is a text."""
    value = a.get(name)
    if not isinstance(value, str) or not value or not isinstance(parsed(value), str):
        return []
    return [{"role": role, "parts": [text_part(value)]}]


def _operation(span: ForeignSpan) -> str:
    a = span.attributes
    operation = _REQUEST_TYPES.get(text(a.get("llm.request.type")).lower())
    if operation and span.name.endswith(".chat"):
        return semconv.OP_CHAT  # older releases called Anthropic's a completion
    return operation or operation_of(a.get("traceloop.span.kind"))


def _message(said: dict[str, Any], default_role: str) -> Message:
    role = text(said.get("role")) or default_role
    content = parsed(said.get("content"))
    fields: dict[str, Any] = {"role": role}
    if said.get("tool_call_id"):
        fields["tool_call_id"] = said["tool_call_id"]
    if as_list(content) is not None and all(as_dict(block) for block in as_list(content) or [0]):
        fields["content"] = content
    elif said.get("content") is not None:
        fields["content"] = text(said.get("content"))
    blocks = as_list(fields.get("content")) or []
    anthropic = any((as_dict(b) or {}).get("type") in _ANTHROPIC_BLOCKS for b in blocks)
    message = convert_message("anthropic.messages" if anthropic else "openai.chat", fields)
    known = {part.get("id") for part in message["parts"] if part["type"] == "tool_call"}
    for call in map(as_dict, as_list(said.get("tool_calls")) or []):
        asked = call or {}
        part = tool_call(asked.get("name"), asked.get("arguments", ""), asked.get("id"))
        if part.get("id") is None or part["id"] not in known:
            message["parts"].append(part)
    return message


_ANTHROPIC_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "image", "document"})


def _fill_usage(call: ForeignCall, a: Attributes) -> None:
    usage = call.usage
    total = integer(first(a, "llm.usage.total_tokens", "gen_ai.usage.total_tokens"))
    if usage.output_tokens is None and total is not None and usage.input_tokens is not None:
        usage.output_tokens = max(0, total - usage.input_tokens)
    if usage.input_tokens is None and usage.output_tokens is None and total is not None:
        usage.input_tokens = total  # embeddings of older releases say the total only
