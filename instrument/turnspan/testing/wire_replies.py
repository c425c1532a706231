"""The replies of the providers' APIs, whole and streamed, as their servers write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from turnspan.testing import openai_wire
from turnspan.testing.replies import ApiReply, fields_of, pieces_of

# Finish reasons in the words of Anthropic and of Gemini.
_ANTHROPIC: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_GEMINI: Final = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}


def message(answer: ApiReply) -> dict[str, Any]:
    """An Anthropic message."""
    usage = answer.reply.usage
    text = answer.reply.text
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": fields_of(call.arguments)}
        for call in answer.calls
    ]
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": _ANTHROPIC.get(answer.reply.reason, answer.reply.reason),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_input_tokens": usage.cache_read_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
        },
    }


def message_events(answer: ApiReply) -> Iterator[dict[str, Any]]:
    """The events of a streamed one."""
    usage = answer.reply.usage
    done = message(answer)
    begun: dict[str, Any] = {**done, "content": [], "stop_reason": None}
    begun["usage"] = {**done["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(done["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [
                {"type": "text_delta", "text": piece} for piece in pieces_of(answer.reply.text)
            ]
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": written}]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    told = {"output_tokens": usage.output_tokens}
    yield {"type": "message_delta", "delta": ended, "usage": told}
    yield {"type": "message_stop"}


def gemini(answer: ApiReply) -> dict[str, Any]:
    """A reply of Gemini's."""
    parts: list[dict[str, Any]] = [{"text": answer.reply.text}] if answer.reply.text else []
    parts += [
        {"functionCall": {"name": call.name, "args": fields_of(call.arguments), "id": call.id}}
        for call in answer.calls
    ]
    return _candidate(answer, parts, ended=True)


def _candidate(answer: ApiReply, parts: list[dict[str, Any]], *, ended: bool) -> dict[str, Any]:
    usage = answer.reply.usage
    reason = _GEMINI.get(answer.reply.reason, "OTHER")
    finish = {"finishReason": reason} if ended else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **finish}],
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
            "thoughtsTokenCount": usage.reasoning_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
            "cachedContentTokenCount": usage.cache_read_tokens,
        },
        "modelVersion": answer.model,
        "responseId": answer.id,
    }


def gemini_events(answer: ApiReply) -> Iterator[dict[str, Any]]:
    """The parts of a streamed one."""
    pieces = pieces_of(answer.reply.text)
    if answer.calls or not pieces:
        yield gemini(answer)
        return
    for index, piece in enumerate(pieces):
        yield _candidate(answer, [{"text": piece}], ended=index == len(pieces) - 1)


_APIS: Final = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/embeddings": "embeddings",
    "/messages": "messages",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}

_WHOLE: Final[dict[str, Callable[[ApiReply], dict[str, Any]]]] = {
    "chat": openai_wire.chat,
    "responses": openai_wire.response,
    "embeddings": openai_wire.embeddings,
    "messages": message,
    "gemini": gemini,
}
_EVENTS: Final[dict[str, Callable[[ApiReply], Iterator[dict[str, Any]]]]] = {
    "chat": openai_wire.chat_events,
    "responses": openai_wire.response_events,
    "messages": message_events,
    "gemini": gemini_events,
}


def api_of(path: str) -> str:
    """Which API a path is of; empty where it is none of these."""
    path = path.partition("?")[0]
    return next((api for end, api in _APIS.items() if path.endswith(end)), "")


def refusal(api: str, text: str, kind: str, status: int = 400) -> dict[str, Any]:
    """The body of a request that failed."""
    if api == "messages":
        return {"type": "error", "error": {"type": kind, "message": text}}
    if api == "gemini":
        return {"error": {"message": text, "status": kind.upper(), "code": status}}
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


def whole(answer: ApiReply) -> dict[str, Any]:
    """A reply in one piece."""
    return _WHOLE[answer.api](answer)


def events(answer: ApiReply) -> Iterator[str]:
    """A reply as the lines of its stream."""
    for event in _EVENTS[answer.api](answer):
        kind = f"event: {event['type']}\n" if answer.api in ("responses", "messages") else ""
        yield f"{kind}data: {json.dumps(event)}\n\n"
    if answer.api == "chat":
        yield "data: [DONE]\n\n"
