"""Cohere's own API in OpenAI's words (docs.cohere.com/reference/chat)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from turnspan.dialects.response_parts import pieces_of
from turnspan.runtime.type_guards import is_dict, is_list

_ROLES: Final = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_FINISH: Final = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "ERROR_TOXIC": "content_filter",
    "ERROR_LIMIT": "error",
}
"""Cohere's finish reasons in the conventions' words."""
_PIECES: Final = (("text", "content"), ("thinking", "reasoning_content"))


def _usage(counts: Any) -> dict[str, Any]:
    """Token counts: those of the model, else those that are billed."""
    fields = counts if is_dict(counts) else {}
    tokens = fields.get("tokens") or fields.get("billed_units")
    if not is_dict(tokens):
        return {}
    usage = {
        "prompt_tokens": _whole(tokens.get("input_tokens")),
        "completion_tokens": _whole(tokens.get("output_tokens")),
    }
    if fields.get("cached_tokens") is not None:
        usage["cached_tokens"] = _whole(fields["cached_tokens"])
    return {"usage": usage}


def _reason(fields: dict[str, Any]) -> Any:
    reason = fields.get("finish_reason")
    return _FINISH.get(reason, reason) if isinstance(reason, str) else reason


def _whole(count: Any) -> Any:
    return int(count) if isinstance(count, float) else count


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/v2/chat``."""
    message = body.get("message")
    if not is_dict(message):
        return body
    choice = {"index": 0, "message": _message(message), "finish_reason": _reason(body)}
    return {"id": body.get("id"), "choices": [choice], **_usage(body.get("usage"))}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """A message, its thoughts beside its content."""
    content = message.get("content")
    if not is_list(content):
        return message
    made = {**message, "content": [b for b in content if _kind(b) != "thinking"]}
    thoughts = [b.get("thinking") or "" for b in content if is_dict(b) and _kind(b) == "thinking"]
    if thoughts:
        made["reasoning_content"] = "".join(thoughts)
    return made


def _kind(block: Any) -> Any:
    return block.get("type") if is_dict(block) else None


def event(body: dict[str, Any]) -> dict[str, Any]:
    """An event of a streamed answer of ``/v2/chat``."""
    fields = body.get("delta")
    if not is_dict(fields):
        return body
    message = fields.get("message")
    delta: dict[str, Any] = dict(message) if is_dict(message) else {}
    content = delta.pop("content", None)
    for block in content if is_list(content) else [content]:
        for key, name in _PIECES:
            if is_dict(block) and block.get(key):
                delta[name] = block[key]
    call = delta.pop("tool_calls", None)
    if is_dict(call):
        delta["tool_calls"] = [{"index": body.get("index"), **call}]
    delta.pop("citations", None)
    choice = {"index": 0, "delta": delta, "finish_reason": _reason(fields)}
    return {"id": body.get("id"), "choices": [choice], **_usage(fields.get("usage"))}


# -- the first version -------------------------------------------------------------------------


def old_request(body: dict[str, Any]) -> dict[str, Any]:
    """A request of ``/v1/chat``."""
    sent = {k: v for k, v in body.items() if k not in ("message", "chat_history", "preamble")}
    messages: list[Any] = []
    if body.get("preamble"):
        messages.append({"role": "system", "content": body["preamble"]})
    history = body.get("chat_history")
    for each in history if is_list(history) else []:
        role = _ROLES.get(str(each.get("role")), "user") if is_dict(each) else "user"
        messages.append({"role": role, "content": each.get("message") if is_dict(each) else each})
    if body.get("message"):
        messages.append({"role": "user", "content": body["message"]})
    return {**sent, "messages": messages}


def old_answer(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/v1/chat``."""
    if "text" not in body:
        return body
    message: dict[str, Any] = {"role": "assistant", "content": body["text"]}
    calls = body.get("tool_calls")
    if is_list(calls) and calls:
        message["tool_calls"] = [_old_tool_call(call) for call in calls if is_dict(call)]
    choice = {"index": 0, "message": message, "finish_reason": _reason(body)}
    identity = body.get("response_id") or body.get("generation_id")
    return {"id": identity, "choices": [choice], **_usage(body.get("meta"))}


def _old_tool_call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = orjson.dumps(call.get("parameters") or {}).decode()
    function = {"name": call.get("name"), "arguments": arguments}
    return {"id": "", "type": "function", "function": function}


def old_event(body: dict[str, Any]) -> dict[str, Any]:
    """An event of a streamed answer of ``/v1/chat``; the last one brings all but the text."""
    kind = body.get("event_type")
    if kind == "text-generation":
        return {"choices": [{"index": 0, "delta": {"content": body.get("text")}}]}
    response = body.get("response")
    if kind != "stream-end" or not is_dict(response):
        return {}
    whole = old_answer({**response, "finish_reason": body.get("finish_reason")})
    for choice in whole.get("choices") or ():
        choice["delta"] = {k: v for k, v in choice.pop("message").items() if k == "tool_calls"}
    return whole


# -- and back ----------------------------------------------------------------------------------

_REASONS: Final = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}


def _counts(body: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any]
    usage: dict[str, Any] = body.get("usage") or {}
    named = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
    details: dict[str, Any] = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens")
    made = {"tokens": {name: usage.get(key, 0) for name, key in named}}
    return made if cached is None else {**made, "cached_tokens": cached}


def _raw(message: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``_message``."""
    thoughts, content = message.get("reasoning_content"), message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if thoughts:
        blocks = [{"type": "thinking", "thinking": thoughts}, *blocks]
    made = {**message, "content": blocks}
    made.pop("reasoning_content", None)
    return made if blocks else {k: v for k, v in made.items() if k != "content"}


def written(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of ``/v2/chat`` that ``answer`` reads as this one."""
    choice = body["choices"][0]
    reason = _REASONS.get(choice["finish_reason"], choice["finish_reason"])
    made = {"id": body["id"], "finish_reason": reason, "message": _raw(choice["message"])}
    return {**made, "usage": _counts(body)}


def written_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a streamed answer of ``/v2/chat``, of a whole one in OpenAI's words."""
    whole = written(body)
    message = whole["message"]
    yield {"type": "message-start", "id": whole["id"],
           "delta": {"message": {"role": "assistant", "content": []}}}  # fmt: skip
    for index, block in enumerate(message.get("content") or ()):
        kind = block["type"]
        begun: dict[str, Any] = {"message": {"content": {"type": kind, kind: ""}}}
        yield {"type": "content-start", "index": index, "delta": begun}
        for piece in pieces_of(block[kind]):
            delta = {"message": {"content": {kind: piece}}}
            yield {"type": "content-delta", "index": index, "delta": delta}
        yield {"type": "content-end", "index": index}
    if "tool_plan" in message:
        delta = {"message": {"tool_plan": message["tool_plan"]}}
        yield {"type": "tool-plan-delta", "delta": delta}
    for index, call in enumerate(message.get("tool_calls") or ()):
        asked = call.get("function") or {}
        begun = {**call, "function": {**asked, "arguments": ""}}
        delta = {"message": {"tool_calls": begun}}
        yield {"type": "tool-call-start", "index": index, "delta": delta}
        pieces: dict[str, Any] = {"function": {"arguments": asked.get("arguments", "")}}
        delta = {"message": {"tool_calls": pieces}}
        yield {"type": "tool-call-delta", "index": index, "delta": delta}
        yield {"type": "tool-call-end", "index": index}
    ended = {"finish_reason": whole["finish_reason"], "usage": whole["usage"]}
    yield {"type": "message-end", "id": whole["id"], "delta": ended}


def old_written(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of ``/v1/chat`` that ``old_answer`` reads as this one."""
    choice = body["choices"][0]
    message = choice["message"]
    made = {
        "response_id": body["id"],
        "text": message.get("content") or "",
        "finish_reason": _REASONS.get(choice["finish_reason"], choice["finish_reason"]),
        "meta": _counts(body),
    }
    asked = [call["function"] for call in message.get("tool_calls") or ()]
    if asked:
        made["tool_calls"] = [
            {"name": one["name"], "parameters": orjson.loads(one["arguments"])} for one in asked
        ]
    return made


def old_written_events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a streamed answer of ``/v1/chat``."""
    whole = old_written(body)
    yield {"event_type": "stream-start", "generation_id": body["id"], "is_finished": False}
    for piece in pieces_of(whole["text"]):
        yield {"event_type": "text-generation", "text": piece, "is_finished": False}
    reason = whole.pop("finish_reason")
    yield {"event_type": "stream-end", "finish_reason": reason, "response": whole,
           "is_finished": True}  # fmt: skip


# -- embeddings --------------------------------------------------------------------------------


def texts(body: dict[str, Any]) -> dict[str, Any]:
    """A request of ``/v2/embed``: what is embedded has OpenAI's name."""
    sent = {key: value for key, value in body.items() if key not in ("texts", "inputs", "images")}
    for key in ("texts", "inputs", "images"):
        if body.get(key):
            sent["input"] = body[key]
    return sent


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of ``/v2/embed``."""
    vectors = body.get("embeddings")
    if is_dict(vectors):  # by the type of their numbers
        kinds = [each for each in vectors.values() if is_list(each)]
        vectors = kinds[0] if kinds else None
    data = [{"embedding": vector} for vector in vectors] if is_list(vectors) else []
    return {"id": body.get("id"), "data": data, **_usage(body.get("meta"))}
