"""Replies of OpenAI's APIs: chat completions, responses, embeddings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from itertools import count
from struct import pack
from typing import Any, Final

from turnspan.content.model import as_list
from turnspan.testing.records import ToolRequest
from turnspan.testing.replies import ApiReply, arguments_of, pieces_of

_CREATED: Final = 1_790_000_000
_CUT: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why a response is incomplete."""


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


def _chat_usage(answer: ApiReply) -> dict[str, Any]:
    usage = answer.reply.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
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


def chat(answer: ApiReply) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.reply.text or None}
    if answer.calls:
        message["tool_calls"] = _chat_calls(answer.calls)
    return {
        "id": answer.id,
        "object": "chat.completion",
        "created": _CREATED,
        "model": answer.model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": answer.reply.reason, "logprobs": None}
        ],
        "usage": _chat_usage(answer),
    }


def chat_events(answer: ApiReply) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed one."""

    def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
        return {
            "id": answer.id,
            "object": "chat.completion.chunk",
            "created": _CREATED,
            "model": answer.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces_of(answer.reply.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_chat_calls(answer.calls)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, answer.reply.reason)
    if answer.told_usage:
        yield {**chunk({}), "choices": [], "usage": _chat_usage(answer)}


def _output(answer: ApiReply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
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


def response(answer: ApiReply) -> dict[str, Any]:
    """A response."""
    usage = answer.reply.usage
    cut = _CUT.get(answer.reply.reason)
    return {
        "id": answer.id,
        "object": "response",
        "created_at": _CREATED,
        "status": "completed" if cut is None else "incomplete",
        "error": None,
        "incomplete_details": None if cut is None else {"reason": cut},
        "instructions": answer.body.get("instructions"),
        "max_output_tokens": None,
        "model": answer.model,
        "output": _output(answer),
        "parallel_tool_calls": True,
        "previous_response_id": answer.body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": answer.body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read_tokens,
                "cache_write_tokens": 0,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
        "user": None,
        "metadata": {},
    }


def response_events(answer: ApiReply) -> Iterator[dict[str, Any]]:
    """The events of a streamed one."""
    numbers = count()

    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": kind, "sequence_number": next(numbers), **fields}

    done = response(answer)
    begun: dict[str, Any] = {**done, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    items: list[dict[str, Any]] = done["output"]
    for place, item in enumerate(items):
        where: dict[str, Any] = {"item_id": item["id"], "output_index": place}
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        started = {**item, **empty, "status": "in_progress"}
        yield event("response.output_item.added", output_index=place, item=started)
        if item["type"] == "message":
            part: dict[str, Any] = item["content"][0]
            where["content_index"] = 0
            yield event("response.content_part.added", **where, part={**part, "text": ""})
            for piece in pieces_of(answer.reply.text):
                yield event("response.output_text.delta", **where, delta=piece, logprobs=[])
            yield event("response.output_text.done", **where, text=answer.reply.text, logprobs=[])
            yield event("response.content_part.done", **where, part=part)
        else:
            written = item["arguments"]
            yield event("response.function_call_arguments.delta", **where, delta=written)
            yield event(
                "response.function_call_arguments.done",
                **where,
                arguments=written,
                name=item["name"],
            )
        yield event("response.output_item.done", output_index=place, item=item)
    yield event(f"response.{done['status']}", response=done)
