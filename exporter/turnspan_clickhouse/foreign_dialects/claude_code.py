"""Claude Code: ``claude_code.*`` spans, and the spans that its log events are made into.

Source: its monitoring guide, releases 2.1.170 to 2.1.289. Counts of input tokens are without the
cached ones there. Text is ``<REDACTED>`` unless the user of Claude Code has asked for it.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import Message, text_part
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    TOOL,
    Attributes,
    ForeignCall,
    ForeignSpan,
    first,
    integer,
    parsed,
    provider,
    seconds,
    text,
    texts,
)

EVENTS: Final = "com.anthropic.claude_code.events"
"""The scope of its log events."""
SCOPES: Final = frozenset(
    {"com.anthropic.claude_code.tracing", "com.anthropic.claude_code.traces", EVENTS}
)
CALL: Final = "claude_code.llm_request"
TOOL_RUN: Final = "claude_code.tool"
_EXECUTION: Final = "claude_code.tool.execution"
_OPERATIONS: Final = {
    "claude_code.interaction": semconv.OP_INVOKE_AGENT,
    CALL: semconv.OP_CHAT,
    TOOL_RUN: semconv.OP_EXECUTE_TOOL,
}
_NAME: Final = "claude-code"
_HIDDEN: Final = "<REDACTED>"
_OUTPUT_EVENT: Final = "tool.output"


def read(span: ForeignSpan) -> ForeignCall:
    """Read a span; one of its waiting for a permission, and of its hooks, is only a span."""
    a = span.attributes
    call = ForeignCall(_OPERATIONS.get(span.name, ""))
    if span.name == _EXECUTION and a.get("tool_use_id"):  # it alone says how the tool ended
        call.operation = semconv.OP_EXECUTE_TOOL
    call.conversation_id = text(a.get(semconv.SESSION_ID))
    call.user_id = text(a.get(semconv.USER_ID))
    if call.kind == AGENT:
        call.agent_name = _NAME
        call.input = _said(a, "user_prompt", "user")
    elif call.kind == INFERENCE:
        _read_call(call, a)
    elif call.kind == TOOL:
        _read_tool(call, span)
    if call.kind in (INFERENCE, TOOL) and str(a.get("success")).lower() == "false":
        call.error_type = text(first(a, "error_class", "error_type", "status_code"))
        call.error_type = call.error_type or semconv.ERROR_OTHER
        call.error_message = text(a.get("error"))
        call.tool_failed = call.kind == TOOL
    return call


def _read_call(call: ForeignCall, a: Attributes) -> None:
    call.provider = provider(first(a, semconv.PROVIDER_NAME, "gen_ai.system") or "anthropic")
    call.request_model = text(first(a, semconv.REQUEST_MODEL, "model"))
    call.response_id = text(first(a, semconv.RESPONSE_ID, "request_id"))
    call.finish_reasons = texts(first(a, semconv.RESPONSE_FINISH_REASONS, "stop_reason"))
    cached = integer(a.get("cache_read_tokens"))
    written = integer(a.get("cache_creation_tokens"))
    fresh = integer(a.get("input_tokens"))
    call.usage = TokenUsage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=integer(a.get("output_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
    call.time_to_first_chunk = seconds(number(a.get("ttft_ms")), 0.001)
    call.stream = call.time_to_first_chunk is not None
    if a.get("effort"):
        call.parameters = {"reasoning_effort": a["effort"]}
    for name, value in (
        (semconv.TRIES, integer(a.get("attempt"))),
        (semconv.RESPONSE_SPEED, a.get("speed") if a.get("speed") == "fast" else None),
    ):
        if value:
            call.extra[name] = value
    call.input = _said(a, "user_prompt", "user")
    call.output = _said(a, "response.model_output", "assistant")


def _read_tool(call: ForeignCall, span: ForeignSpan) -> None:
    a = span.attributes
    call.tool_name = text(a.get("tool_name"))
    call.tool_type = "function"
    call.tool_call_id = text(first(a, semconv.TOOL_CALL_ID, "tool_use_id"))
    call.tool_arguments = parsed(first(a, "tool_input", "tool_parameters"))
    if call.tool_arguments is None:
        given = {"command": a.get("full_command"), "file_path": a.get("file_path")}
        call.tool_arguments = {k: v for k, v in given.items() if v is not None} or None
    for name, said in span.events:
        if name == _OUTPUT_EVENT:
            call.tool_result = parsed(first(said, "output", "content", "diff"))


def _said(a: Attributes, key: str, role: str) -> list[Message]:
    said = a.get(key)
    if not isinstance(said, str) or not said or said == _HIDDEN:
        return []
    return [{"role": role, "parts": [text_part(said)]}]


def number(value: Any) -> float | None:
    """A number, which an event may write as text; ``None`` for what is none."""
    try:
        found = None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return found if found is not None and 0 <= found < 2**53 else None
