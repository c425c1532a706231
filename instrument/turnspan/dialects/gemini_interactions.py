"""The dialect ``gemini.interactions``: the body of Google's ``POST /interactions``, and its answer.

Every step of ``input`` and of ``steps`` is one message, so that steps which are sent back later are
the same messages; an ``input`` of another form is one message of the user. The order of keys is not
kept: the SDK writes what it sends back in another one than the API.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.json_codec import canonical, generic_part, generic_raw
from turnspan.content.media import blob_part, blob_text
from turnspan.content.model import (
    BLOB,
    REASONING,
    SERVER_TOOL_CALL,
    SERVER_TOOL_CALL_RESPONSE,
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
from turnspan.dialects.genai import tool_definitions as tool_definitions
from turnspan.dialects.request_fields import RequestFields
from turnspan.runtime.type_guards import is_dict

NAME: Final = "gemini.interactions"

PENDING: Final = frozenset({"queued", "in_progress"})
_FINISH: Final = {
    "completed": "stop",
    "requires_action": "tool_call",
    "incomplete": "length",
    "budget_exceeded": "length",
    "failed": "error",
}
"""What a status is in the conventions' words; any other is the reason itself."""

_FILES: Final = frozenset({"image", "audio", "video", "document"})
_CONTENTS: Final = _FILES | {"text"}
_FREE: Final = frozenset({"function_call", "mcp_server_tool_call"})
"""Steps with arguments that the API knows nothing of."""
_TYPES: Final = {TEXT: "text", TOOL_CALL: "function_call", TOOL_CALL_RESPONSE: "function_result"}
_NAMES: Final = {
    TEXT: {"text": "content"},
    TOOL_CALL_RESPONSE: {"call_id": "id", "result": "response"},
}
"""Under which names the fields of an object stand on our part; others under their own."""
_OURS: Final = frozenset({"type", "modality", "content", "sha256", "size"})
_NO_DETAILS: Final = frozenset(
    {"id", "model", "agent", "object", "status", "steps", "created", "updated", "input", "tools"}
    | {"system_instruction", "previous_interaction_id", "generation_config", "response_format"}
)

_REQUEST: Final = RequestFields("input", system="system_instruction", system_types=(str,))


def split_request(request: dict[str, Any]) -> RequestParts:
    """Take a request apart; an ``input`` that is no list of steps becomes a list of that one."""
    value = request.get("input")
    steps = as_list(value)
    if isinstance(value, str) or _is_content(value) or (steps and all(map(_is_content, steps))):
        steps = [value]
    return _REQUEST.split(
        request if steps is None else {**request, "input": list(map(_step, steps))}
    )


def join_request(parts: RequestParts) -> dict[str, Any]:
    """The request that ``split_request`` took apart; without input where it had none."""
    request, messages = _REQUEST.join(parts), parts.messages_raw
    if not messages and "input" not in parts.parameters:
        del request["input"]
    elif len(messages) == 1 and (isinstance(messages[0], (str, list)) or _is_content(messages[0])):
        request["input"] = messages[0]
    return request


def _is_content(raw: Any) -> bool:
    return (as_dict(raw) or {}).get("type") in _CONTENTS


def _step(raw: Any) -> Any:
    """A step whose JSON does not depend on the order of its keys, but of a function's arguments."""
    step = canonical(raw)
    if is_dict(raw) and raw.get("type") in _FREE and "arguments" in raw:
        step["arguments"] = raw["arguments"]
    return step


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """The system instruction's text."""
    return [text_part(raw_system)] if isinstance(raw_system, str) else leading_system(messages)


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The steps that the model made, and why they ended."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    return list(map(_step, made_steps(body))), finish_reasons(body)


def made_steps(body: dict[str, Any]) -> list[Any]:
    """The steps of an answer without those of its input, which may stand before them."""
    steps = as_list(body.get("steps")) or []
    kinds = [(as_dict(step) or {}).get("type") for step in steps]
    return steps[len(kinds) - kinds[::-1].index("user_input") :] if "user_input" in kinds else steps


def finish_reasons(body: dict[str, Any]) -> list[str]:
    """Why an interaction ended, by its status; nothing while it goes on."""
    status = as_text(body.get("status"))
    return [_FINISH.get(status, status)] if status and status not in PENDING else []


def details(response: Any) -> dict[str, Any]:
    """What an answer says beside its messages and what it was asked: counts, errors, and whatever
    comes to be."""
    body = as_dict(response) or {}
    return {key: value for key, value in body.items() if key not in _NO_DETAILS}


def to_message(raw: Any, default_role: str) -> Message:
    """One message in the GenAI schema. ``raw`` is reduced: without embedded bytes."""
    contents = as_list(raw)
    step = as_dict(raw) if contents is None else {"content": contents}
    if step is None:
        return {"role": default_role, "parts": [unknown_part(raw)]}
    kind = as_text(step.get("type"))
    if kind in _CONTENTS:
        step, kind = {"content": [step]}, ""
    if kind in ("", "user_input", "model_output"):
        role = "model" if kind == "model_output" else as_text(step.get("role")) or default_role
        content = step.get("content")
        parts = (
            [text_part(content)]
            if isinstance(content, str)
            else list(map(_content, as_list(content) or ()))
        )
        return {"role": "assistant" if role == "model" else role, "parts": parts}
    if kind == "function_result":
        return {"role": "tool", "parts": [_part(step, TOOL_CALL_RESPONSE)]}
    if kind == "function_call":
        part = _part(step, TOOL_CALL)
    elif kind == "thought":
        texts = [
            as_text((as_dict(block) or {}).get("text"))
            for block in as_list(step.get("summary")) or ()
        ]
        part = {"type": REASONING, "content": "\n".join(texts)}
    elif kind.endswith("_call"):
        name = as_text(step.get("name")) or kind.removesuffix("_call")
        part = {"type": SERVER_TOOL_CALL, "id": step.get("id"), "name": name}
        part[SERVER_TOOL_CALL] = step
    elif kind.endswith("_result"):
        part = {"type": SERVER_TOOL_CALL_RESPONSE, "id": step.get("call_id")}
        part[SERVER_TOOL_CALL_RESPONSE] = step
    else:
        part = generic_part(step)
    return {"role": "assistant", "parts": [part]}


def _content(raw: Any) -> Part:
    content = as_dict(raw) or {}
    kind = as_text(content.get("type"))
    if kind == "text" and isinstance(content.get("text"), str):
        return _part(content, TEXT)
    if kind in _FILES and isinstance(content.get("data"), str):
        mime_type = as_text(content.get("mime_type"))
        return {**_part(content, BLOB), **blob_part(content["data"], mime_type, kind)}
    if kind in _FILES and isinstance(content.get("uri"), str):
        return {**_part(content, URI), "modality": kind}
    return generic_part(raw)


def _part(raw: dict[str, Any], kind: str) -> Part:
    """The part of an object, field by field, but for a file's bytes."""
    names = _NAMES.get(kind, {})
    if not _OURS.isdisjoint(raw.keys() - {"type"}) or not raw.keys().isdisjoint(names.values()):
        return unknown_part(raw)
    named = {names.get(key, key): raw[key] for key in raw if key != "type"}
    if kind == BLOB:
        del named["data"]
    return {"type": kind, **named}


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The provider's message: the inverse of ``to_message`` for messages that need no source.

    Raises:
        LookupError, TypeError, ValueError: the parts are not of a message of this dialect.
    """
    kind = parts[0]["type"]
    if kind in (SERVER_TOOL_CALL, SERVER_TOOL_CALL_RESPONSE):
        return parts[0][kind]
    if kind in (TOOL_CALL, TOOL_CALL_RESPONSE):
        return _raw(parts[0])
    kind = "user_input" if role == "user" else "model_output"
    return {"content": list(map(_raw, parts)), "type": kind}


def _raw(part: Part) -> Any:
    kind = part["type"]
    if kind not in _TYPES and kind not in (BLOB, URI):
        return generic_raw(part)
    names = {name: key for key, name in _NAMES.get(kind, {}).items()}
    raw = {names.get(k, k): part[k] for k in part if k in names or k not in _OURS}
    raw["type"] = _TYPES.get(kind) or part["modality"]
    if kind == BLOB:
        raw["data"] = blob_text(part)
    return {key: raw[key] for key in sorted(raw)}
