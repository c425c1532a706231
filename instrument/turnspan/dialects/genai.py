"""The dialect ``genai``: messages that already are in the GenAI schema.

A request holds ``messages``, ``system`` and ``tools``; a response is a message, a
list of messages, ``{"messages": [...]}`` or plain text. A message may also be written the short
way, ``{"role", "content": text}``.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import generic_part
from turnspan.content.model import (
    Message,
    Part,
    as_dict,
    as_list,
    as_text,
    leading_system,
    text_part,
    unknown_part,
)
from turnspan.dialects.request_fields import RequestFields

NAME: Final = "genai"

_REQUEST: Final = RequestFields("messages", system="system")
split_request: Final = _REQUEST.split
join_request: Final = _REQUEST.join


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the system field (text or parts), else of the leading system messages."""
    if isinstance(raw_system, str):
        return [text_part(raw_system)]
    if raw_system is None:
        return leading_system(messages)
    return [_part(raw) for raw in as_list(raw_system) or []]


def tool_definitions(raw_tools: Any) -> list[dict[str, Any]]:
    """The tools field as it is; what is no object becomes a generic definition."""
    return [as_dict(raw) or {"type": "unknown", "value": raw} for raw in as_list(raw_tools) or []]


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The reply's messages and their finish reasons."""
    body = as_dict(response)
    if body is not None and "messages" in body:
        found = as_list(body["messages"]) or []
    else:
        found = as_list(response) or ([] if response is None else [response])
    reasons = [as_text((as_dict(m) or {}).get("finish_reason")) for m in found]
    return found, [reason for reason in reasons if reason]


def to_message(raw: Any, default_role: str) -> Message:
    """One message in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    body = as_dict(raw)
    if body is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    message: Message = {"role": as_text(body.get("role")) or default_role, "parts": []}
    if isinstance(body.get("parts"), list):
        message["parts"] = [_part(part) for part in as_list(body["parts"]) or []]
    elif isinstance(body.get("content"), str):
        message["parts"] = [text_part(body["content"])]
    else:
        message["parts"] = [unknown_part(raw)]
    if isinstance(body.get("name"), str):
        message["name"] = body["name"]
    return message


def _part(raw: Any) -> Part:
    part = as_dict(raw)
    if part is None:
        return text_part(raw) if isinstance(raw, str) else unknown_part(raw)
    kind = part.get("type")
    if not isinstance(kind, str):
        return unknown_part(raw)
    if kind in ("text", "reasoning") and not isinstance(part.get("content"), str):
        return unknown_part(raw)
    if kind == "tool_call" and "name" not in part:
        return unknown_part(raw)
    if kind == "tool_call_response" and "response" not in part and "result" in part:
        return {("response" if k == "result" else k): v for k, v in part.items()}
    return part if kind != "unknown" else generic_part(raw)


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The message: ``to_message``'s inverse for messages that need no source."""
    message: Message = {"role": role, "parts": parts}
    if name:
        message["name"] = name
    return message
