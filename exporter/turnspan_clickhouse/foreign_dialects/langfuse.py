"""Langfuse's SDK (3 to 5): ``langfuse.observation.*``, of any tracer provider it was given."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import as_dict, as_list, text_part
from turnspan.dialects.convert import convert, convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects.base import (
    AGENT,
    INFERENCE,
    TOOL,
    WORKFLOW,
    Attributes,
    ForeignCall,
    ForeignSpan,
    definitions,
    integer,
    money,
    operation_of,
    parsed,
    take_converted,
    text,
)

TYPE: Final = "langfuse.observation.type"


def read(span: ForeignSpan) -> ForeignCall:
    """Read an observation."""
    a = span.attributes
    call = ForeignCall(operation_of(a.get(TYPE)))
    kind = call.kind
    call.conversation_id = text(a.get(semconv.SESSION_ID))
    call.user_id = text(a.get(semconv.USER_ID))
    given = parsed(a.get("langfuse.observation.input"))
    made = parsed(a.get("langfuse.observation.output"))
    if kind == TOOL:
        call.tool_name = span.name
        call.tool_arguments, call.tool_result = _arguments(given), made
    elif kind == AGENT:
        call.agent_name = span.name
        said = _arguments(given)
        values = as_list((as_dict(said) or {}).get("args")) or []
        asked = values[0] if values else next(iter((as_dict(said) or {}).values()), said)
        if isinstance(asked, str):
            call.input = [{"role": "user", "parts": [text_part(asked)]}]
        if made is not None:
            call.output = [{"role": "assistant", "parts": [text_part(text(made))]}]
    elif kind == WORKFLOW:
        call.agent_name = span.name
    elif kind == INFERENCE:
        _read_generation(call, span, given, made)
    if a.get("langfuse.observation.level") == "ERROR":  # an application may set it, and no status
        call.error_type = semconv.ERROR_OTHER
        call.error_message = text(a.get("langfuse.observation.status_message"))
    return call


def _arguments(given: Any) -> Any:
    """What ``@observe`` writes of a call are its ``args`` and ``kwargs``."""
    fields = as_dict(given)
    if fields is None or fields.keys() != {"args", "kwargs"}:
        return given
    return given if fields["args"] else fields["kwargs"]


def _read_generation(call: ForeignCall, span: ForeignSpan, given: Any, made: Any) -> None:
    a = span.attributes
    # One name for both: what the reply says replaces what was asked for.
    call.request_model = call.response_model = text(a.get("langfuse.observation.model.name"))
    call.parameters = as_dict(parsed(a.get("langfuse.observation.model.parameters"))) or {}
    call.usage = _usage(as_dict(parsed(a.get("langfuse.observation.usage_details"))) or {})
    costs = as_dict(parsed(a.get("langfuse.observation.cost_details"))) or {}
    call.cost_usd = money(costs.get("total"))
    call.time_to_first_chunk = _since_start(a, span.start_time)
    call.stream = call.time_to_first_chunk is not None
    _read_request(call, given)
    _read_reply(call, made)


def _usage(told: dict[str, Any]) -> TokenUsage:
    """OpenAI's usage as it came, or Langfuse's own buckets, which share no token."""
    if "prompt_tokens" in told or "completion_tokens" in told:
        read_details = as_dict(told.get("prompt_tokens_details")) or {}
        made_details = as_dict(told.get("completion_tokens_details")) or {}
        return TokenUsage(
            input_tokens=integer(told.get("prompt_tokens")),
            output_tokens=integer(told.get("completion_tokens")),
            cache_read_tokens=integer(read_details.get("cached_tokens")),
            reasoning_tokens=integer(made_details.get("reasoning_tokens")),
        )
    cached = _bucket(told, "cache_read_input_tokens", "input_cached_tokens", "input_cache_read")
    written = _bucket(told, "cache_creation_input_tokens", "input_cache_creation")
    reasoning = _bucket(told, "output_reasoning_tokens", "output_reasoning")
    fresh = _bucket(told, "input", "input_tokens")
    output = _bucket(told, "output", "output_tokens")
    input_tokens = None if fresh is None else fresh + (cached or 0) + (written or 0)
    output_tokens = None if output is None else output + (reasoning or 0)
    # Some write buckets that have the others in them: then the total is of the two alone.
    total = _bucket(told, "total", "total_tokens")
    if total is not None and total != (input_tokens or 0) + (output_tokens or 0):
        for given, made in ((fresh, output), (fresh, output_tokens), (input_tokens, output)):
            if total == (given or 0) + (made or 0):
                input_tokens, output_tokens = given, made
                break
    return TokenUsage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


def _bucket(told: dict[str, Any], *names: str) -> int | None:
    return next(
        (count for count in (integer(told.get(n)) for n in names) if count is not None), None
    )


def _since_start(a: Attributes, start_time: int) -> float | None:
    began = parsed(a.get("langfuse.observation.completion_start_time"))
    if not isinstance(began, str) or not start_time:
        return None
    try:
        moment = datetime.fromisoformat(began.replace("Z", "+00:00"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(moment.timestamp() - start_time / 1e9, 0.0)


def _read_request(call: ForeignCall, given: Any) -> None:
    fields = as_dict(given)
    messages = as_list(given if fields is None else fields.get("messages"))
    if messages is not None and all(as_dict(message) for message in messages):
        call.input = [convert_message("openai.chat", message) for message in messages]
        call.tools = definitions((fields or {}).get("tools") or [])
    elif fields is not None and "input" in fields:  # the Responses API
        take_converted(call, convert("openai.responses", fields, None))
    elif given is not None:
        call.input = [{"role": "user", "parts": [text_part(text(given))]}]


def _read_reply(call: ForeignCall, made: Any) -> None:
    if made is None or call.operation == semconv.OP_EMBEDDINGS:
        return
    fields = as_dict(made)
    listed = as_list(made)
    if fields is not None and "role" in fields:
        call.output = [convert_message("openai.chat", fields)]
    elif listed is not None and all("type" in (as_dict(item) or {}) for item in listed):
        found = convert("openai.responses", {}, {"output": listed})
        call.output = found.output
    else:
        call.output = [{"role": "assistant", "parts": [text_part(text(made))]}]
