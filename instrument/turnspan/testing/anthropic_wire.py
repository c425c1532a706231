"""Replies of Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from turnspan.testing.replies import ApiReply, fields_of, pieces_of

_REASONS: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
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
        "stop_reason": _REASONS.get(answer.reply.reason, answer.reply.reason),
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
