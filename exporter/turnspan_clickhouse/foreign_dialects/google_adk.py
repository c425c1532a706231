"""Google's agent development kit by itself: ``gcp.vertex.agent.*``, the bodies of its calls."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import as_dict
from turnspan.dialects.convert import convert
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects import genai
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    NOT_SAID,
    OTHER,
    TOOL,
    ForeignCall,
    ForeignSpan,
    fill_usage,
    first,
    integer,
    parsed,
    take_converted,
    text,
)

SCOPE: Final = "gcp.vertex.agent"
_OWN: Final = "gcp.vertex.agent."
_GEMINI: Final = "gcp.gemini"


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span of the kit, of a release that uses the conventions or of an older one."""
    a = span.attributes
    call = genai.read(span)
    call.operation = _operation(span, call)
    call.conversation_id = call.conversation_id or text(a.get(f"{_OWN}session_id"))
    if call.provider in (SCOPE, ""):
        call.provider = _GEMINI if call.kind == INFERENCE else ""
    if call.kind == AGENT and not call.agent_name:
        call.agent_name = span.name.partition("[")[2].rstrip("]")
    if call.kind == TOOL:
        if call.tool_arguments is None:
            call.tool_arguments = parsed(a.get(f"{_OWN}tool_call_args"))
        if call.tool_result is None:
            call.tool_result = parsed(a.get(f"{_OWN}tool_response"))
        if call.tool_result in ({"result": NOT_SAID}, {}):
            call.tool_result = None
    if call.kind == INFERENCE:
        _read_bodies(call, span)
    return call


def _operation(span: ForeignSpan, call: ForeignCall) -> str:
    if span.name.startswith("call_llm"):
        return semconv.OP_GENERATE_CONTENT
    if span.name.startswith("agent_run"):
        return semconv.OP_INVOKE_AGENT
    if span.name.startswith("invocation"):
        return semconv.OP_INVOKE_WORKFLOW
    return call.operation if call.kind != OTHER else ""


def _read_bodies(call: ForeignCall, span: ForeignSpan) -> None:
    asked = as_dict(parsed(span.attributes.get(f"{_OWN}llm_request"))) or {}
    said = as_dict(parsed(span.attributes.get(f"{_OWN}llm_response"))) or {}
    settings = as_dict(asked.get("config")) or {}
    request: dict[str, Any] = {"contents": asked.get("contents") or []}
    system = first(settings, "system_instruction", "systemInstruction")
    if isinstance(system, str):
        request["systemInstruction"] = {"parts": [{"text": system}]}
    elif system is not None:
        request["systemInstruction"] = system
    if settings.get("tools"):
        request["tools"] = settings["tools"]
    candidate = {
        "content": said.get("content"),
        "finishReason": first(said, "finish_reason", "finishReason"),
    }
    found = convert("gemini", request, {"candidates": [candidate]})
    take_converted(call, found)
    call.request_model = call.request_model or text(asked.get("model"))
    call.response_model = call.response_model or text(
        first(said, "model_version", "modelVersion") or asked.get("model")
    )
    call.response_id = call.response_id or text(first(said, "response_id", "responseId"))
    call.finish_reasons = found.finish_reasons or call.finish_reasons
    usage = as_dict(first(said, "usage_metadata", "usageMetadata")) or {}
    fill_usage(call.usage, _usage(usage))


def _usage(told: dict[str, Any]) -> TokenUsage:
    """Gemini's counts: what it thought is output that it does not count among the candidates'."""
    thought = integer(first(told, "thoughts_token_count", "thoughtsTokenCount"))
    made = integer(first(told, "candidates_token_count", "candidatesTokenCount"))
    asked = integer(first(told, "prompt_token_count", "promptTokenCount"))
    used = integer(first(told, "tool_use_prompt_token_count", "toolUsePromptTokenCount"))
    return TokenUsage(
        input_tokens=None if asked is None else asked + (used or 0),
        output_tokens=None if made is None and thought is None else (made or 0) + (thought or 0),
        cache_read_tokens=integer(
            first(told, "cached_content_token_count", "cachedContentTokenCount")
        ),
        reasoning_tokens=thought,
    )
