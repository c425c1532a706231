"""The dialect ``openai.chat``: kwargs of ``chat.completions.create`` and a ChatCompletion."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import (
    EXTRA,
    LAYOUT,
    Spec,
    arguments_part,
    arguments_text,
    first,
    generic_part,
    generic_raw,
    joined,
    only_text,
    put_layout,
    split,
)
from turnspan.content.media import blob_part, blob_text, part_url, url_part
from turnspan.content.model import (
    BLOB,
    FILE,
    REASONING,
    TEXT,
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    URI,
    Message,
    Part,
    as_dict,
    as_list,
    as_text,
    leading_system,
    text_part,
    unknown_part,
)
from turnspan.dialects.openai_tool_calls import call_part, raw_call
from turnspan.dialects.request_fields import RequestFields
from turnspan.runtime.type_guards import is_dict, is_list

NAME: Final = "openai.chat"

_TEXT = Spec("text", TEXT, (("text", "content"),))
_CALL: Final = frozenset({"id", "type", "function"})
_FUNCTION: Final = frozenset({"name", "arguments"})
_REPLY: Final = frozenset(
    {"role", "content", "refusal", "annotations", "audio", "function_call", "tool_calls"}
)
"""The fields of a message that the API sends."""
_REASONING_KEYS: Final = ("reasoning_content", "reasoning")
_TOOL_ROLES: Final = ("tool", "function")


# -- the request and the response ------------------------------------------------------------------


_REQUEST: Final = RequestFields("messages")
"""There is no system field: system messages are messages."""
split_request: Final = _REQUEST.split
join_request: Final = _REQUEST.join


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the leading system messages."""
    return leading_system(messages)


def tool_definitions(raw_tools: Any) -> list[dict[str, Any]]:
    """GenAI tool definitions of the tools field."""
    found: list[dict[str, Any]] = []
    for raw in as_list(raw_tools) or []:
        tool = as_dict(raw)
        function = as_dict(tool.get("function")) if tool is not None else None
        if function is not None and tool is not None:
            found.append({"type": tool.get("type", "function"), **function})
        elif tool is not None:
            found.append(tool)
        else:
            found.append({"type": "unknown", "value": raw})
    return found


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The choices' messages, as the provider wrote them, and their finish reasons."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    messages: list[Any] = []
    reasons: list[str] = []
    for raw in as_list(body.get("choices")) or []:
        choice = as_dict(raw) or {}
        if "message" in choice:
            messages.append(choice["message"])
        elif "text" in choice:  # the legacy completions endpoint
            messages.append({"role": "assistant", "content": choice["text"]})
        reason = choice.get("finish_reason")
        if isinstance(reason, str):
            reasons.append(reason)
    return messages, reasons


# -- one message -----------------------------------------------------------------------------------


def to_message(raw: Any, default_role: str) -> Message:
    """One message in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    body: dict[Any, Any] | None = as_dict(raw)  # any keys: what comes need not be a JSON object
    if body is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    role = as_text(body.get("role")) or default_role
    parts: list[Part] = []
    keys: list[Any] = []
    extra: dict[Any, Any] = {}
    for key, value in body.items():
        keys.append(_convert_field(key, value, body, role, parts, extra))
    message: Message = {"role": role, "parts": parts}
    if isinstance(body.get("name"), str):
        message["name"] = body["name"]
    put_layout(parts, joined(tuple(keys)), _expected(message), extra)
    return message


def is_exact(raw: dict[str, Any]) -> bool:
    """Whether ``from_message`` surely gives back a message of these fields: the usual ones."""
    keys = tuple(raw)
    if keys == ("role", "content"):
        return type(raw["content"]) is str and type(raw["role"]) is str
    if keys == ("role", "tool_call_id", "content"):
        return type(raw["content"]) is str and raw["role"] == "tool"
    return "role" in raw and raw["role"] == "assistant" and _is_exact_reply(raw)


def _is_exact_reply(raw: dict[str, Any]) -> bool:
    """A reply as the API sends it: text or calls make a part to note the others on, as they are."""
    for key, value in raw.items():
        if key not in _REPLY:
            return False
        if value is None or key == "role" or (key == "content" and type(value) is str):
            continue
        if key == "tool_calls" and is_list(value):
            for call in value:
                if not _is_exact_call(call):
                    return False
        elif (key != "annotations" and key != "audio") or type(value) is str:
            return False
    return type(raw.get("content")) is str or bool(raw.get("tool_calls"))


def _is_exact_call(raw: Any) -> bool:
    """A function's call with the usual fields, whose order its part notes; its arguments' text is
    proved where it is parsed."""
    if not is_dict(raw) or raw.keys() != _CALL or raw["type"] != "function":
        return False
    made = raw["function"]
    return is_dict(made) and made.keys() == _FUNCTION and type(made["arguments"]) is str


def _convert_field(
    key: Any, value: Any, body: dict[Any, Any], role: str, parts: list[Part], extra: dict[Any, Any]
) -> Any:
    if key == "role" or (key == "name" and isinstance(value, str)):
        return key
    if key == "content":
        return _convert_content(value, body, role, parts, extra)
    if key == "tool_calls" and value and isinstance(value, list):
        parts.extend(call_part(call) for call in as_list(value) or [])
        return key
    if key == "function_call" and tuple(as_dict(value) or ()) == ("name", "arguments"):
        parts.append(arguments_part(value["name"], value["arguments"]) | {"legacy": True})
        return key
    if key == "tool_call_id" and role in _TOOL_ROLES and "content" in body:
        return key
    if value and isinstance(value, str):
        if key == "refusal":
            parts.append({"type": TEXT, "content": value, "refusal": True})
            return key
        if key in _REASONING_KEYS:
            parts.append({"type": REASONING, "content": value})
            return key
    extra[key] = value
    return key


def _convert_content(
    value: Any, body: dict[str, Any], role: str, parts: list[Part], extra: dict[str, Any]
) -> str:
    if role in _TOOL_ROLES and ("tool_call_id" in body or "name" in body):
        part: Part = {"type": TOOL_CALL_RESPONSE, "response": value}
        if "tool_call_id" in body:
            part = {"type": TOOL_CALL_RESPONSE, "id": body["tool_call_id"], "response": value}
        parts.append(part)
        return "content"
    if isinstance(value, str):
        parts.append(text_part(value))
        return "content"
    blocks = as_list(value)
    if blocks is not None:
        parts.extend(_block(block) for block in blocks)
        return "content[]"
    if value is not None:
        extra["content"] = value
        return "content="
    return "content=null"


def _block(raw: Any) -> Part:
    block = as_dict(raw)
    kind = None if block is None else block.get("type")
    if block is None or kind is None:
        return unknown_part(raw)
    if kind == "text" and isinstance(block.get("text"), str):
        return _TEXT.encode(block)
    inner = as_dict(block.get(kind)) if isinstance(kind, str) and len(block) == 2 else None
    if inner is not None:
        if kind == "image_url" and isinstance(inner.get("url"), str):
            return url_part(inner["url"], "image") | _beside(inner, "url")
        if kind == "input_audio" and isinstance(inner.get("data"), str):
            mime_type = f"audio/{inner.get('format', '')}"
            return blob_part(inner["data"], mime_type, "audio")
        if kind == "file" and isinstance(inner.get("file_data"), str):
            return url_part(inner["file_data"], "document") | _beside(inner, "file_data")
        if kind == "file" and isinstance(inner.get("file_id"), str):
            return {"type": FILE, "modality": "document", "file_id": inner["file_id"]}
    return generic_part(raw)


def _beside(inner: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in inner.items() if k in ("detail", "filename") and k != key}


# -- and back --------------------------------------------------------------------------------------


def _expected(message: Message) -> str:
    """The layout of a message that needs none noted."""
    role, parts = message["role"], message["parts"]
    keys = ["role"]
    if role in _TOOL_ROLES and parts and parts[0]["type"] == TOOL_CALL_RESPONSE:
        if "id" in parts[0]:
            keys.append("tool_call_id")
        if "name" in message:
            keys.append("name")
        return ",".join([*keys, "content"])
    if "name" in message:
        keys.append("name")
    calls = any(p["type"] == TOOL_CALL for p in parts)
    rest = [p for p in parts if p["type"] != TOOL_CALL]
    if calls and not rest:
        keys.append("content=null")
    else:
        keys.append("content" if only_text(rest) else "content[]")
    if calls:
        keys.append("tool_calls")
    return ",".join(keys)


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message: the inverse of ``to_message`` for messages that need no source.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    message: Message = {"role": role, "parts": parts}
    if name:
        message["name"] = name
    head: Part = parts[0] if parts else {}
    extra = head.get(EXTRA, {})
    layout = head.get(LAYOUT)
    raw: dict[str, Any] = {}
    for key in split(_expected(message) if layout is None else layout):
        if key in extra:
            raw[key] = extra[key]
        elif key == "content=":
            raw["content"] = extra["content"]
        elif key == "content=null":
            raw["content"] = None
        else:
            raw[key.removesuffix("[]")] = _field(key, role, name, parts)
    return raw


def _field(key: str, role: str, name: str, parts: list[Part]) -> Any:
    if key == "role":
        return role
    if key == "name":
        return name
    if key == "tool_call_id":
        return parts[0]["id"]
    if key == "tool_calls":
        return [raw_call(p) for p in parts if p["type"] == TOOL_CALL]
    if key == "function_call":
        part = first(p for p in parts if p.get("legacy"))
        return {"name": part["name"], "arguments": arguments_text(part)}
    if key == "refusal":
        return first(p for p in parts if p.get("refusal"))["content"]
    if key in _REASONING_KEYS:
        return first(p for p in parts if p["type"] == REASONING)["content"]
    if key == "content[]":
        kept = (TOOL_CALL, REASONING)
        return [_raw_block(p) for p in parts if p["type"] not in kept and "refusal" not in p]
    if key != "content":
        raise LookupError(key)
    if parts[0]["type"] == TOOL_CALL_RESPONSE:
        return parts[0]["response"]
    return first(p for p in parts if p["type"] == TEXT and "refusal" not in p)["content"]


def _raw_block(part: Part) -> Any:
    kind = part["type"]
    if kind == TEXT:
        return _TEXT.decode(part)
    beside = {k: part[k] for k in ("detail", "filename") if k in part}
    if kind == FILE:
        return {"type": "file", "file": {"file_id": part["file_id"]}}
    if kind == URI or (kind == BLOB and part["modality"] == "image"):
        return {"type": "image_url", "image_url": {"url": part_url(part), **beside}}
    if kind == BLOB and part["modality"] == "audio":
        audio = {"data": blob_text(part), "format": part["mime_type"].removeprefix("audio/")}
        return {"type": "input_audio", "input_audio": audio}
    if kind == BLOB:
        return {"type": "file", "file": {**beside, "file_data": part_url(part)}}
    return generic_raw(part)
