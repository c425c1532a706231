"""The dialect ``anthropic.messages``: kwargs of ``messages.create`` and a Message."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import (
    EXTRA,
    KEYS,
    LAYOUT,
    Spec,
    generic_part,
    generic_raw,
    joined,
    only_text,
    put_layout,
    split,
)
from turnspan.content.media import blob_part, blob_text
from turnspan.content.model import (
    BLOB,
    FILE,
    REASONING,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
    TEXT,
    TOOL_CALL,
    TOOL_CALL_RESPONSE,
    UNKNOWN,
    URI,
    Message,
    Part,
    as_dict,
    as_list,
    as_text,
    text_part,
    unknown_part,
)
from turnspan.dialects.request_fields import RequestFields

NAME: Final = "anthropic.messages"

_TEXT = Spec("text", TEXT, (("text", "content"),))
_THINKING = Spec("thinking", REASONING, (("thinking", "content"), ("signature", "signature")))
_TOOL_USE = Spec("tool_use", TOOL_CALL, (("id", "id"), ("name", "name"), ("input", "arguments")))
_TOOL_RESULT = Spec(
    "tool_result", TOOL_CALL_RESPONSE, (("tool_use_id", "id"), ("content", "response"))
)
_SPECS: Final = {spec.raw_type: spec for spec in (_TEXT, _THINKING, _TOOL_USE, _TOOL_RESULT)}
_BY_PART: Final = {spec.part_type: spec for spec in _SPECS.values()}
_WRITTEN: Final = ("text", "thinking")
"""Blocks with a text of the model's or the user's, in the field of that name."""
_FILES: Final = ("image", "document")


# -- the request and the response ------------------------------------------------------------------


_REQUEST: Final = RequestFields("messages", system="system")
split_request: Final = _REQUEST.split
join_request: Final = _REQUEST.join


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the system field: a text or a list of blocks."""
    if isinstance(raw_system, str):
        return [text_part(raw_system)]
    return [_block(raw) for raw in as_list(raw_system) or []]


def tool_definitions(raw_tools: Any) -> list[dict[str, Any]]:
    """GenAI tool definitions of the tools field."""
    found: list[dict[str, Any]] = []
    for raw in as_list(raw_tools) or []:
        tool = as_dict(raw)
        if tool is None:
            found.append({"type": "unknown", "value": raw})
        elif "input_schema" in tool:
            definition = {"type": "function", **tool}
            definition["parameters"] = definition.pop("input_schema")
            if definition["type"] == "custom":
                definition["type"] = "function"
            found.append(definition)
        else:
            found.append(tool)
    return found


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The reply as the message that it is sent back as, and its stop reason."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    if "content" not in body:
        return [], []
    message = {"role": body.get("role", "assistant"), "content": body["content"]}
    reason = body.get("stop_reason")
    return [message], [reason] if isinstance(reason, str) else []


# -- one message -----------------------------------------------------------------------------------


def to_message(raw: Any, default_role: str) -> Message:
    """One message in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    body: dict[Any, Any] | None = as_dict(raw)  # any keys: what comes need not be a JSON object
    if body is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    parts: list[Part] = []
    keys: list[Any] = []
    extra: dict[Any, Any] = {}
    for key, value in body.items():
        keys.append(key)
        if key == "content" and isinstance(value, str):
            parts.append(text_part(value))
        elif key == "content" and isinstance(value, list):
            parts.extend(_block(block) for block in as_list(value) or [])
            keys[-1] = "content[]"
        elif key != "role":
            extra[key] = value
    role = as_text(body.get("role")) or default_role
    put_layout(parts, joined(tuple(keys)), _expected(parts), extra)
    return {"role": role, "parts": parts}


def is_exact(raw: dict[str, Any]) -> bool:
    """Whether ``from_message`` surely gives back a message of these fields: the usual ones."""
    if tuple(raw) != ("role", "content") or type(raw["role"]) is not str:
        return False
    content = raw["content"]
    if type(content) is str:
        return True
    blocks = as_list(content)
    return bool(blocks) and all(map(_is_exact_block, blocks or ()))


def _is_exact_block(raw: Any) -> bool:
    block = as_dict(raw)
    spec = _SPECS.get(as_text(block.get("type"))) if block is not None else None
    if block is None or spec is None or block.keys() != spec.keys:
        return False
    kind = spec.raw_type
    return kind not in _WRITTEN or type(block[kind]) is str


def _block(raw: Any) -> Part:
    block = as_dict(raw)
    if block is None:
        return unknown_part(raw)
    kind = as_text(block.get("type"))
    spec = _SPECS.get(kind)
    if spec is not None:
        if kind in _WRITTEN and not isinstance(block.get(kind), str):
            return unknown_part(raw)
        return spec.encode(block)
    if kind in _FILES:
        return _file(kind, block)
    if kind == "redacted_thinking" and block.keys() == {"type", "data"}:
        part: Part = {"type": REASONING, "content": "", "redacted": block["data"]}
        return part if next(iter(block)) == "type" else {**part, KEYS: "data,type"}
    if kind.endswith("tool_use") and isinstance(block.get("name"), str):
        return _server_part(SERVER_TOOL_CALL, "id", block)
    if kind.endswith("_tool_result"):
        return _server_part(SERVER_TOOL_CALL_RESPONSE, "tool_use_id", block)
    return generic_part(raw)


def _server_part(part_type: str, id_key: str, block: dict[str, Any]) -> Part:
    part: Part = {"type": part_type}
    if id_key in block:
        part["id"] = block[id_key]
    if part_type == SERVER_TOOL_CALL:
        part["name"] = block["name"]
    part[part_type] = block
    return part


def _file(kind: str, block: dict[str, Any]) -> Part:
    source = as_dict(block.get("source"))
    if source is None:
        return unknown_part(block)
    held = as_text(source.get("type"))
    beside = {k: v for k, v in block.items() if k not in ("type", "source")}
    if beside.keys() & {"content", "uri", "modality", "mime_type", "file_id"}:
        return unknown_part(block)
    if held == "base64" and isinstance(source.get("data"), str):
        mime_type = as_text(source.get("media_type"))
        return blob_part(source["data"], mime_type, kind) | beside
    if held == "url" and isinstance(source.get("url"), str):
        return {"type": URI, "modality": kind, "uri": source["url"], **beside}
    if held == "file" and isinstance(source.get("file_id"), str):
        return {"type": FILE, "modality": kind, "file_id": source["file_id"], **beside}
    return unknown_part(block)


# -- and back --------------------------------------------------------------------------------------


def _expected(parts: list[Part]) -> str:
    return "role,content" if only_text(parts) else "role,content[]"


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message: the inverse of ``to_message`` for messages that need no source.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    head: Part = parts[0] if parts else {}
    extra = head.get(EXTRA, {})
    layout = head.get(LAYOUT)
    raw: dict[str, Any] = {}
    for key in split(_expected(parts) if layout is None else layout):
        if key == "role":
            raw[key] = role
        elif key == "content":
            raw[key] = parts[0]["content"]
        elif key == "content[]":
            raw["content"] = [_raw_block(part) for part in parts]
        else:
            raw[key] = extra[key]
    return raw


def _raw_block(part: Part) -> Any:
    kind = part["type"]
    if kind == REASONING and "redacted" in part:
        block: dict[str, Any] = {"type": "redacted_thinking", "data": part["redacted"]}
        return {key: block[key] for key in str(part.get(KEYS, "type,data")).split(",")}
    spec = _BY_PART.get(kind)
    if spec is not None:
        return spec.decode(part)
    if kind in (SERVER_TOOL_CALL, SERVER_TOOL_CALL_RESPONSE):
        return part[kind]
    if kind == UNKNOWN:
        return part["value"]
    if kind not in (BLOB, URI, FILE):
        return generic_raw(part)
    source: dict[str, Any]
    if kind == BLOB:
        source = {"type": "base64", "media_type": part["mime_type"], "data": blob_text(part)}
    elif kind == URI:
        source = {"type": "url", "url": part["uri"]}
    else:
        source = {"type": "file", "file_id": part["file_id"]}
    beside = {k: v for k, v in part.items() if k not in _FILE_KEYS}
    return {"type": part["modality"], "source": source, **beside}


_FILE_KEYS: Final = frozenset(
    {"type", "modality", "mime_type", "sha256", "size", "content", "uri", "file_id", LAYOUT, EXTRA}
)
