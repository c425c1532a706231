"""What LangChain writes of its messages and results, which several instrumentations pass on."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import Message, as_dict, as_list
from turnspan.dialects.convert import convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.foreign_dialects.base import (
    ForeignCall,
    definitions,
    first,
    integer,
    parsed,
    text,
)

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "developer": "system",
}
_CALLS: Final = frozenset({"tool_use", "function_call", "tool_call", "tool_call_chunk"})
"""Blocks of content that say what ``tool_calls`` says."""


def fields_of(value: Any) -> dict[str, Any] | None:
    """A message's fields, of each of the ways in which LangChain serialises it."""
    said = as_dict(parsed(value))
    if said is None:
        return None
    for wrapped in ("kwargs", "data"):
        inner = as_dict(said.get(wrapped))
        if inner is not None and ("lc" in said or "type" in said) and "content" in inner:
            return {"type": said.get("type"), **inner}
    return said if "content" in said and ("type" in said or "role" in said) else None


def messages(value: Any) -> list[Message]:
    """The messages that a model was given: ``{"messages": [[...]]}``, or a list of them."""
    given = parsed(value)
    fields = as_dict(given)
    listed = as_list(given if fields is None else fields.get("messages")) or []
    if len(listed) == 1 and as_list(listed[0]) is not None:  # the batch, of one
        listed = as_list(listed[0]) or []
    return [_message(each) for each in map(fields_of, listed) if each is not None]


def reply(value: Any) -> ForeignCall | None:
    """The reply of an ``LLMResult``; ``None`` for what is none."""
    body = as_dict(parsed(value)) or {}
    generations = as_list(body.get("generations"))
    while generations and as_list(generations[0]) is not None:
        generations = as_list(generations[0])
    if not generations:
        return None
    found = ForeignCall()
    made = as_dict(body.get("llm_output")) or {}
    for each in map(as_dict, generations):
        said = fields_of((each or {}).get("message"))
        if each is None or said is None:
            continue
        found.output.append(_message(said))
        about = as_dict(said.get("response_metadata")) or {}
        told = as_dict(each.get("generation_info")) or {}
        found.response_id = found.response_id or text(first({**made, **about}, "id"))
        found.response_model = found.response_model or text(
            first({**made, **about}, "model_name", "model")
        )
        reason = text(first({**told, **about}, "finish_reason", "stop_reason"))
        found.finish_reasons += [reason] if reason else []
        found.usage = _usage(as_dict(said.get("usage_metadata")) or {})
    return found


def tools(value: Any) -> list[dict[str, Any]]:
    """The tools that a model was offered, among the parameters of its invocation."""
    given = as_dict(parsed(value)) or {}
    return definitions(as_list(given.get("tools")) or [])


def read_result(call: ForeignCall, value: Any) -> bool:
    """Take a tool's result, and whose it is, from its ``ToolMessage``; whether this is one."""
    body = as_dict(parsed(value)) or {}
    said = fields_of(body.get("output")) or fields_of(body)
    if said is None or _ROLES.get(text(said.get("type"))) != "tool":
        return False
    call.tool_call_id = call.tool_call_id or text(said.get("tool_call_id"))
    call.tool_result, call.tool_failed = said.get("content"), said.get("status") == "error"
    return True


def _message(said: dict[str, Any]) -> Message:
    kind = text(first(said, "type", "role"))
    role = _ROLES.get(kind, kind)
    given: dict[str, Any] = {"role": role, "content": _content(said.get("content"))}
    calls = [as_dict(call) or {} for call in as_list(said.get("tool_calls")) or []]
    if calls:
        given["tool_calls"] = [_call(call) for call in calls]
    if said.get("tool_call_id"):
        given["tool_call_id"] = said["tool_call_id"]
    return convert_message("openai.chat", given)


def _call(call: dict[str, Any]) -> dict[str, Any]:
    if "function" in call:
        return call
    named = {"name": call.get("name"), "arguments": call.get("args")}
    return {"id": call.get("id"), "type": "function", "function": named}


def _content(content: Any) -> Any:
    blocks = as_list(content)
    if blocks is None:
        return content
    return [block for block in blocks if (as_dict(block) or {}).get("type") not in _CALLS]


def _usage(told: dict[str, Any]) -> TokenUsage:
    read = as_dict(told.get("input_token_details")) or {}
    made = as_dict(told.get("output_token_details")) or {}
    return TokenUsage(
        input_tokens=integer(told.get("input_tokens")),
        output_tokens=integer(told.get("output_tokens")),
        cache_read_tokens=integer(read.get("cache_read")),
        cache_write_tokens=integer(read.get("cache_creation")),
        reasoning_tokens=integer(made.get("reasoning")),
    )
