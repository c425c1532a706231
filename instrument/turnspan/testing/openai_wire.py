"""What a model says, in the words of OpenAI's APIs."""

from __future__ import annotations

from base64 import b64encode
from struct import pack
from typing import Any

from turnspan.content.model import as_list
from turnspan.testing.records import ToolRequest
from turnspan.testing.replies import ApiReply, arguments_of


def _inputs(given: Any) -> int:
    """How many vectors are asked for: one of a text or of one text's tokens."""
    items = as_list(given)
    return len(items) if items and not isinstance(items[0], int) else 1


def embeddings(answer: ApiReply) -> dict[str, Any]:
    """Vectors, one an input."""
    usage = answer.reply.usage
    vector: Any = [0.125] * 8
    if answer.body.get("encoding_format") == "base64":
        vector = b64encode(pack("<8f", *vector)).decode()
    return {
        "object": "list",
        "model": answer.model,
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index in range(_inputs(answer.body.get("input")))
        ],
        "usage": {"prompt_tokens": usage.input_tokens, "total_tokens": usage.input_tokens},
    }


def _chat_calls(calls: list[ToolRequest]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_of(call)},
        }
        for call in calls
    ]


def chat(answer: ApiReply) -> list[Any]:
    """The message of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.reply.text or None}
    if answer.calls:
        message["tool_calls"] = _chat_calls(answer.calls)
    return [message]


def output(answer: ApiReply) -> list[Any]:
    """The items of a response."""
    items: list[Any] = []
    if answer.reply.text:
        part: dict[str, Any] = {"type": "output_text", "text": answer.reply.text}
        part |= {"annotations": [], "logprobs": []}
        items.append(
            {
                "type": "message",
                "id": f"msg_{answer.number}",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    items += [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_of(call),
            "status": "completed",
        }
        for call in answer.calls
    ]
    return items
