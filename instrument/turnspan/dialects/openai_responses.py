"""The dialect ``openai.responses``: kwargs of ``responses.create`` and a Response.

Every item of ``input`` and of ``output`` is one message here (a tool call is an assistant's
message, its output a tool's), so that items which are sent back later are the same messages.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import (
    EXTRA,
    LAYOUT,
    Spec,
    arguments_part,
    arguments_text,
    generic_part,
    generic_raw,
    joined,
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
    RequestParts,
    as_dict,
    as_list,
    as_text,
    leading_system,
    text_part,
    unknown_part,
)
from turnspan.dialects.openai_chat import tool_definitions as tool_definitions
from turnspan.dialects.openai_items import ANSWERED, ASKED, asked_key, has_failed, tool_name
from turnspan.dialects.request_fields import RequestFields

NAME: Final = "openai.responses"

_INPUT_TEXT = Spec("input_text", TEXT, (("text", "content"),))
_OUTPUT_TEXT = Spec("output_text", TEXT, (("text", "content"),))
_TEXTS: Final = {spec.raw_type: spec for spec in (_INPUT_TEXT, _OUTPUT_TEXT)}
_NAMED: Final = ("function_call", "custom_tool_call")
_KIND: Final = "kind"
_ITEM: Final = "item"
_TRANSCRIPT: Final = "transcript"
_OF_AUDIO: Final = ("seconds", "truncated")


# -- the request and the response ------------------------------------------------------------------


_REQUEST: Final = RequestFields("input", system="instructions", system_types=(str,))


def split_request(request: dict[str, Any]) -> RequestParts:
    """Take a request apart; an ``input`` that is plain text becomes a list of that one text."""
    given = request.get("input")
    return _REQUEST.split({**request, "input": [given]} if isinstance(given, str) else request)


def join_request(parts: RequestParts) -> dict[str, Any]:
    """The request that ``split_request`` took apart; without input where it had none."""
    request = _REQUEST.join(parts)
    messages = parts.messages_raw
    if "input" not in parts.parameters and len(messages) == 1 and isinstance(messages[0], str):
        request["input"] = messages[0]
    return request


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the instructions, and those of the leading system messages."""
    given = [text_part(raw_system)] if isinstance(raw_system, str) else []
    return given + leading_system(messages)


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The output items, and why the reply ended: its status, or the reason it is incomplete."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    items = as_list(body.get("output")) or []
    reason = as_text(body.get("status"))
    details = as_dict(body.get("incomplete_details"))
    if details is not None and details.get("reason"):
        reason = as_text(details["reason"])
    return items, [reason] if reason else []


# -- one item --------------------------------------------------------------------------------------


def to_message(raw: Any, default_role: str) -> Message:
    """One item in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    item = as_dict(raw)
    if item is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    kind = as_text(item.get("type")) or "message"
    if kind == "message" and "role" in item:
        return _from_spoken(item, default_role)
    key = asked_key(item) if "type" in item else ""
    if key:
        part = arguments_part(tool_name(item), item[key])
        part = {"type": TOOL_CALL, "id": item["call_id"], **part}
        return _lone("assistant", part, item, _layout_of(kind, key))
    answered = ANSWERED.get(kind)
    if answered is not None and answered[0] in item:
        part = {
            "type": TOOL_CALL_RESPONSE,
            "id": item[answered[0]],
            "response": item.get(answered[1]),
        }
        if has_failed(item):
            part["is_error"] = True
        return _lone("tool", part, item, ("type", *answered))
    if kind == "reasoning":
        return {"role": "assistant", "parts": [{"type": REASONING, "content": _thoughts(item)}]}
    role = "tool" if kind.endswith("_output") else "assistant"
    return {"role": role, "parts": [generic_part(item)]}


def _layout_of(kind: str, key: str) -> tuple[str, ...]:
    """The fields of a call of the usual order, which need not be noted."""
    return ("type", "call_id", "name", key) if kind in _NAMED else ("type", "call_id", key)


def _lone(role: str, part: Part, item: dict[str, Any], known: tuple[str, ...]) -> Message:
    if item["type"] not in ("function_call", "function_call_output"):
        part[_ITEM] = item["type"]
    extra = {key: value for key, value in item.items() if key not in known}
    put_layout([part], joined(tuple(item)), joined(known), extra)
    return {"role": role, "parts": [part]}


def _thoughts(item: dict[str, Any]) -> str:
    pieces = [*(as_list(item.get("summary")) or []), *(as_list(item.get("content")) or [])]
    return "\n".join(as_text((as_dict(piece) or {}).get("text")) for piece in pieces)


def _from_spoken(item: dict[Any, Any], default_role: str) -> Message:
    role = as_text(item.get("role")) or default_role
    parts: list[Part] = []
    keys: list[Any] = []  # what comes need not be a JSON object
    extra: dict[Any, Any] = {}
    for key, value in item.items():
        keys.append(key)
        if key == "content" and isinstance(value, str):
            parts.append(text_part(value))
        elif key == "content" and isinstance(value, list):
            for block in as_list(value) or []:
                parts.extend(_parts(block, role))
            keys[-1] = "content[]"
        elif key != "role":
            extra[key] = value
    put_layout(parts, joined(tuple(keys)), "role,content", extra)
    return {"role": role, "parts": parts}


def _parts(raw: Any, role: str) -> list[Part]:
    """The part of a block; of audio in a realtime conversation its transcript's before it."""
    block = as_dict(raw)
    if block is None or block.get("type") != _audio_of(role):
        return [_block(raw, role)]
    said, written = block.get("transcript"), block.get("data")
    audio = generic_part({key: value for key, value in block.items() if key != "transcript"})
    if isinstance(written, str):
        rest = {key: block[key] for key in _OF_AUDIO if key in block}
        audio = blob_part(written, as_text(block.get("format")), "audio") | rest
    return [{**text_part(said), _KIND: _TRANSCRIPT}, audio] if isinstance(said, str) else [audio]


def _audio_of(role: str) -> str:
    return "output_audio" if role == "assistant" else "input_audio"


def _block(raw: Any, role: str) -> Part:
    block = as_dict(raw)
    kind = as_text(block.get("type")) if block is not None else ""
    if block is None:
        return unknown_part(raw)
    spec = _TEXTS.get(kind)
    if spec is not None and isinstance(block.get("text"), str):
        part = spec.encode(block)
        if part["type"] == TEXT and spec is not _default_text(role):
            part[_KIND] = kind
        return part
    if kind == "refusal" and tuple(block) == ("type", "refusal"):
        return {"type": TEXT, "content": as_text(block["refusal"]), "refusal": True}
    detail = {"detail": block["detail"]} if "detail" in block else {}
    if kind == "input_image" and isinstance(block.get("image_url"), str):
        return url_part(block["image_url"], "image") | detail
    if kind in ("input_image", "input_file") and isinstance(block.get("file_id"), str):
        modality = "image" if kind == "input_image" else "document"
        return {"type": FILE, "modality": modality, "file_id": block["file_id"], **detail}
    if kind == "input_file" and isinstance(block.get("file_data"), str):
        name = {"filename": block["filename"]} if "filename" in block else {}
        return url_part(block["file_data"], "document") | name
    return generic_part(raw)


def _default_text(role: str) -> Spec:
    return _OUTPUT_TEXT if role == "assistant" else _INPUT_TEXT


# -- and back --------------------------------------------------------------------------------------


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The provider's item: the inverse of ``to_message`` for messages that need no source.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of an item of this dialect.
    """
    head: Part = parts[0] if parts else {}
    kind = head.get("type")
    layout = head.get(LAYOUT)
    if kind == TOOL_CALL:
        item = head.get(_ITEM, "function_call")
        return _raw_lone(head, layout or joined(_layout_of(item, ASKED[item])), item)
    if kind == TOOL_CALL_RESPONSE:
        item = head.get(_ITEM, "function_call_output")
        return _raw_lone(head, layout or joined(("type", *ANSWERED[item])), item)
    if kind not in (TEXT, URI, BLOB, FILE):
        return generic_raw(head)
    extra = head.get(EXTRA, {})
    raw: dict[str, Any] = {}
    for key in split(layout or "role,content"):
        if key == "role":
            raw[key] = role
        elif key == "content":
            raw[key] = parts[0]["content"]
        elif key == "content[]":
            raw["content"] = _raw_blocks(parts, role)
        else:
            raw[key] = extra[key]
    return raw


def _raw_lone(part: Part, layout: str, item: str) -> dict[str, Any]:
    extra = part.get(EXTRA, {})
    names = ANSWERED.get(item, ("call_id", ""))
    raw: dict[str, Any] = {}
    for key in split(layout):
        if key in extra:
            raw[key] = extra[key]
        elif key == "type":
            raw[key] = item
        elif key == names[0]:
            raw[key] = part["id"]
        elif key == "name":
            raw[key] = part["name"]
        elif key == names[1]:
            raw[key] = part["response"]
        else:
            raw[key] = arguments_text(part)
    return raw


def _raw_blocks(parts: list[Part], role: str) -> list[Any]:
    blocks: list[Any] = []
    said: dict[str, Any] = {}
    for part in parts:
        if part.get(_KIND) == _TRANSCRIPT:
            said = {"transcript": part["content"]}
            continue
        block = _raw_block(part, role)
        blocks.append({**block, **said} if said else block)
        said = {}
    return blocks


def _raw_block(part: Part, role: str) -> Any:
    kind = part["type"]
    if kind == BLOB and part.get("modality") == "audio":
        rest = {key: part[key] for key in _OF_AUDIO if key in part}
        data = {"format": part["mime_type"], "data": blob_text(part)}
        return {"type": _audio_of(role), **data, **rest}
    if kind == TEXT:
        if "refusal" in part:
            return {"type": "refusal", "refusal": part["content"]}
        return _TEXTS.get(part.get(_KIND, ""), _default_text(role)).decode(part)
    detail = {"detail": part["detail"]} if "detail" in part else {}
    image = part.get("modality") == "image"
    if kind == FILE:
        name = "input_image" if image else "input_file"
        return {"type": name, "file_id": part["file_id"], **detail}
    if kind in (URI, BLOB) and image:
        return {"type": "input_image", "image_url": part_url(part), **detail}
    if kind in (URI, BLOB):
        filename = {"filename": part["filename"]} if "filename" in part else {}
        return {"type": "input_file", **filename, "file_data": part_url(part)}
    return generic_raw(part)
