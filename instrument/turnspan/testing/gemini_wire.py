"""Replies of Gemini's API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from turnspan.testing.replies import ApiReply, fields_of, pieces_of

_REASONS: Final = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}


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
    reason = _REASONS.get(answer.reply.reason, "OTHER")
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
