"""The dialect ``gemini``: the body of ``generateContent``, as it goes on the wire, and its answer.

The SDK writes some names in camel case and others as Python does, so both are read.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import (
    EXTRA,
    KEYS,
    LAYOUT,
    STYLE,
    WRITTEN,
    generic_part,
    generic_raw,
    joined,
    put_layout,
    split,
)
from turnspan.content.media import blob_part, blob_text, modality_of
from turnspan.content.model import (
    BLOB,
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
    unknown_part,
)
from turnspan.dialects.request_fields import RequestFields

NAME: Final = "gemini"

_FILTERED: Final = "content_filter"
_FINISH: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "PROHIBITED_CONTENT"), _FILTERED),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_RECITATION", "IMAGE_PROHIBITED_CONTENT"), _FILTERED),
    **dict.fromkeys(("BLOCKLIST", "SPII", "MODEL_ARMOR"), _FILTERED),
}
"""Gemini's finish reasons in the conventions' words; of others the name, in small letters."""

_NESTED: Final = {
    "functionCall": TOOL_CALL,
    "function_call": TOOL_CALL,
    "functionResponse": TOOL_CALL_RESPONSE,
    "function_response": TOOL_CALL_RESPONSE,
    "inlineData": BLOB,
    "inline_data": BLOB,
    "fileData": URI,
    "file_data": URI,
}
"""What a part holds one object of, and the type of ours that it is."""

_SERVER: Final = {
    "executableCode": SERVER_TOOL_CALL,
    "executable_code": SERVER_TOOL_CALL,
    "codeExecutionResult": SERVER_TOOL_CALL_RESPONSE,
    "code_execution_result": SERVER_TOOL_CALL_RESPONSE,
    "toolCall": SERVER_TOOL_CALL,
    "tool_call": SERVER_TOOL_CALL,
    "toolResponse": SERVER_TOOL_CALL_RESPONSE,
    "tool_response": SERVER_TOOL_CALL_RESPONSE,
}
_NAMES: Final = {
    TOOL_CALL: {"id": "id", "name": "name", "args": "arguments"},
    TOOL_CALL_RESPONSE: {"id": "id", "name": "name", "response": "response"},
    BLOB: {"data": "content", "mimeType": "mime_type", "mime_type": "mime_type"},
    URI: {
        "fileUri": "uri",
        "file_uri": "uri",
        "mimeType": "mime_type",
        "mime_type": "mime_type",
    },
}
"""Under which names the fields of these objects stand on our part; others under their own."""

_USUAL: Final = {
    TEXT: "text",
    REASONING: "text,thought",
    TOOL_CALL: "functionCall:args:name",
    TOOL_CALL_RESPONSE: "functionResponse:name:response",
    BLOB: "inlineData:data:mime_type",
    URI: "fileData:file_uri:mime_type",
}
"""The keys of a part, and of the object in it, as the SDK writes them most often."""

_USUAL_WITH_ID: Final = {
    TOOL_CALL: "functionCall:id:args:name",
    TOOL_CALL_RESPONSE: "functionResponse:id:name:response",
}
_PART_ORDER: Final = ("functionCall", "text", "thought", "thoughtSignature")

_TAKEN: Final = frozenset(
    {"type", "content", "modality", "sha256", "size", KEYS, LAYOUT, EXTRA, STYLE, WRITTEN}
)
_LAYOUT: Final = "parts,role"


# -- the request and the response ------------------------------------------------------------------


_REQUEST: Final = RequestFields(
    "contents", system="systemInstruction", system_types=(dict,), tools_types=(list, dict)
)
split_request: Final = _REQUEST.split
join_request: Final = _REQUEST.join


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The parts of the system instruction."""
    body = as_dict(raw_system)
    return [_part(raw) for raw in as_list(body.get("parts")) or []] if body is not None else []


def tool_definitions(raw_tools: Any) -> list[dict[str, Any]]:
    """GenAI tool definitions: every function declared, and the provider's own tools by name."""
    found: list[dict[str, Any]] = []
    given: list[Any] = as_list(raw_tools) or ([raw_tools] if as_dict(raw_tools) else [])
    for raw in given:
        tool = as_dict(raw)
        if tool is None:
            found.append({"type": "unknown", "value": raw})
            continue
        for key, value in tool.items():
            declared = as_list(value)
            if key not in ("functionDeclarations", "function_declarations") or declared is None:
                found.append({"type": key, **(as_dict(value) or {})})
                continue
            found += [_definition(each) for each in declared]
    return found


def _definition(raw: Any) -> dict[str, Any]:
    declared = as_dict(raw)
    if declared is None:
        return {"type": "unknown", "value": raw}
    definition = {"type": "function", **declared}
    for key in ("parametersJsonSchema", "parameters_json_schema"):
        if key in definition and "parameters" not in definition:
            definition["parameters"] = definition.pop(key)
    return definition


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The candidates' contents, as the SDK sends them back, and their finish reasons."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    candidates = [as_dict(raw) or {} for raw in as_list(body.get("candidates")) or []]
    contents = [_sent_back(each["content"]) for each in candidates if each.get("content")]
    return contents, finish_reasons(body)


def _sent_back(raw: Any) -> Any:
    """A reply in the order in which the SDK writes it, so that it is one with what is resent."""
    content = as_dict(raw)
    parts = as_list(content.get("parts")) if content is not None else None
    if content is None or parts is None:
        return raw
    return {**_ordered(content, ("parts", "role")), "parts": [_part_sent_back(p) for p in parts]}


def _part_sent_back(raw: Any) -> Any:
    part = as_dict(raw)
    if part is None:
        return raw
    part = dict(part)
    call = as_dict(part.get("functionCall"))
    if call is not None:
        part["functionCall"] = _ordered(call, ("id", "args", "name"))
    signature = part.get("thoughtSignature")
    if isinstance(signature, str):  # base64, of which the SDK writes the kind for URLs
        part["thoughtSignature"] = signature.replace("+", "-").replace("/", "_")
    return _ordered(part, _PART_ORDER)


def _ordered(fields: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    first = {key: fields[key] for key in order if key in fields}
    return {**first, **fields}


def finish_reasons(body: dict[str, Any]) -> list[str]:
    """Why each candidate ended; a prompt that was blocked has none, and is filtered."""
    reasons: list[str] = []
    for raw in as_list(body.get("candidates")) or []:
        reason = as_text((as_dict(raw) or {}).get("finishReason"))
        if reason:
            reasons.append(_FINISH.get(reason, reason.lower()))
    if not reasons and (as_dict(body.get("promptFeedback")) or {}).get("blockReason"):
        reasons.append(_FILTERED)
    return reasons


def details(response: Any) -> dict[str, Any]:
    """What an answer says beside its messages, its id and its model: grounding, citations, log
    probabilities, ratings, counts, and whatever comes to be. Where a candidate stands in the list
    and that it just stopped, or was cut, goes without saying."""
    body = dict(as_dict(response) or {})
    for key in ("responseId", "modelVersion", "sdkHttpResponse"):
        body.pop(key, None)
    candidates = [
        _candidate_details(as_dict(raw) or {}, place)
        for place, raw in enumerate(as_list(body.pop("candidates", None)) or [])
    ]
    if any(candidates):
        body["candidates"] = candidates
    return body


def _candidate_details(candidate: dict[str, Any], place: int) -> dict[str, Any]:
    known = {"index": place, "finishReason": candidate.get("finishReason")}
    if _FINISH.get(str(known["finishReason"])) == _FILTERED:
        del known["finishReason"]
    return {
        key: value
        for key, value in candidate.items()
        if key != "content" and (key not in known or known[key] != value)
    }


# -- one message -----------------------------------------------------------------------------------


def to_message(raw: Any, default_role: str) -> Message:
    """One message in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    body: dict[Any, Any] | None = as_dict(raw)  # any keys: what comes need not be a JSON object
    if body is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    parts: list[Part] = []
    extra: dict[Any, Any] = {}
    for key, value in body.items():
        if key == "parts" and isinstance(value, list):
            parts = [_part(part) for part in as_list(value) or []]
        elif key != "role":
            extra[key] = value
    role = as_text(body.get("role")) or default_role
    put_layout(parts, joined(tuple(body)), _LAYOUT, extra)
    return {"role": "assistant" if role == "model" else role, "parts": parts}


def is_exact(raw: dict[str, Any]) -> bool:
    """Whether ``from_message`` surely gives back a message of these fields: texts alone."""
    if raw.keys() != {"parts", "role"} or raw["role"] not in ("user", "model"):
        return False
    parts = as_list(raw["parts"])
    return bool(parts) and all(map(_is_text, parts or ()))


def _is_text(raw: Any) -> bool:
    part = as_dict(raw)
    return part is not None and tuple(part) == ("text",) and type(part["text"]) is str


def _part(raw: Any) -> Part:
    block = as_dict(raw)
    if block is None:
        return unknown_part(raw)
    text = block.get("text")
    if type(text) is str:
        return _text(block, text)
    for key in block:
        nested = _NESTED.get(key)
        if nested is not None:
            return _object(block, key, nested)
        kind = _SERVER.get(key)
        within = as_dict(block[key]) if kind is not None else None
        if kind is not None and within is not None:
            part: Part = {"type": kind, kind: block}
            if kind == SERVER_TOOL_CALL:
                named = within.get("toolType", within.get("tool_type"))
                part["name"] = named if isinstance(named, str) else "code_execution"
            return part
    return generic_part(raw)


def _text(block: dict[str, Any], text: str) -> Part:
    thought = block.get("thought") is True
    part: Part = {"type": REASONING if thought else TEXT, "content": text}
    if len(block) > 1:
        for key, value in block.items():
            if key == "text" or (thought and key == "thought"):
                continue
            if key in part or not _may_stand(key):
                return unknown_part(block)
            part[key] = value
        _put_keys(part, joined(tuple(block)))
    return part


def _object(block: dict[str, Any], main: str, kind: str) -> Part:
    inner = as_dict(block[main])
    if inner is None:
        return unknown_part(block)
    part: Part = {"type": kind}
    names = _NAMES[kind]
    for key, value in inner.items():
        name = names.get(key, key)
        if name in part or (key not in names and not _may_stand(key)):
            return unknown_part(block)
        part[name] = value
    if kind == BLOB:
        data = part.pop("content", None)
        if type(data) is not str:
            return unknown_part(block)
        part.update(blob_part(data, as_text(part.get("mime_type"))))
    elif kind == URI:
        part["modality"] = modality_of(as_text(part.get("mime_type")))
    for key, value in block.items():
        if key != main:
            if key in part or not _may_stand(key) or key in _NESTED:
                return unknown_part(block)
            part[key] = value
    within = ":".join([main, *inner])
    _put_keys(part, ",".join([within if key == main else key for key in block]))
    return part


def _may_stand(key: Any) -> bool:
    """Whether a key may stand on a part under its own name."""
    return type(key) is str and key not in _TAKEN and "," not in key and ":" not in key


def _put_keys(part: Part, order: str) -> None:
    if order != _usual(part):
        part[KEYS] = order


def _usual(part: Part) -> str | None:
    """The keys of a part, as the SDK writes them most often; ``None`` of a type not coded here."""
    found = _USUAL_WITH_ID.get(part["type"]) if "id" in part else None
    return found or _USUAL.get(part["type"])


# -- and back --------------------------------------------------------------------------------------


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message: the inverse of ``to_message`` for messages that need no source.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    head: Part = parts[0] if parts else {}
    extra = head.get(EXTRA, {})
    raw: dict[str, Any] = {}
    for key in split(head.get(LAYOUT, _LAYOUT)):
        if key in extra:
            raw[key] = extra[key]
        elif key == "parts":
            raw[key] = [_raw_part(part) for part in parts]
        elif key == "role":
            raw[key] = "model" if role == "assistant" else role
        else:
            raise LookupError(key)
    return raw


def _raw_part(part: Part) -> Any:
    kind = part["type"]
    if kind in (SERVER_TOOL_CALL, SERVER_TOOL_CALL_RESPONSE):
        return part[kind]
    usual = _usual(part)
    if usual is None:
        return part["value"] if kind == UNKNOWN else generic_raw(part)
    raw: dict[str, Any] = {}
    for token in split(part.get(KEYS, usual)):
        key, *inner = token.split(":")
        if key in _NESTED:
            names = _NAMES[kind]
            raw[key] = {each: _value(part, names.get(each, each)) for each in inner}
        elif key == "text":
            raw[key] = part["content"]
        else:
            raw[key] = True if key == "thought" and kind == REASONING else part[key]
    return raw


def _value(part: Part, name: str) -> Any:
    return blob_text(part) if name == "content" else part[name]
