"""The replies of the APIs, whole and streamed, as their servers write them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import count
from struct import pack
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stacks.script import Call, Reply
    from stacks.stub import Request
    from stacks.wires import Asked

REASONING: Final = 2
"""Of every reply's output tokens, those of reasoning, where the API says so."""
_CREATED: Final = 1_790_000_000
_SERVED: Final = (
    "/chat/completions",
    "/responses",
    "/embeddings",
    "/messages",
    ":generateContent",
    ":streamGenerateContent",
)
_IDS: Final = {
    "chat": "chatcmpl-{}",
    "responses": "resp_{}",
    "messages": "msg_{}",
    "gemini": "gemini-{}",
    "embeddings": "",
}


def serves(path: str) -> bool:
    """Whether there is an answer to a request of this path."""
    return path.endswith(_SERVED)


def identity(api: str, number: int) -> str:
    """The id of a reply."""
    return _IDS[api].format(number)


def refusal(text: str) -> dict[str, Any]:
    """The body of a request that failed."""
    return {"error": {"message": text, "type": "invalid_request_error", "code": "bad"}}


def whole(request: Request, asked: Asked, said: Reply) -> dict[str, Any]:
    """A reply in one piece."""
    if asked.api == "embeddings":
        return _embeddings(request, asked)
    make = {"chat": _chat, "responses": _response, "messages": _message, "gemini": _gemini}
    return make[asked.api](request, asked, said)


def events(request: Request, asked: Asked, said: Reply) -> Iterator[str]:
    """A reply as the lines of its stream."""
    make = {
        "chat": _chat_events,
        "responses": _response_events,
        "messages": _message_events,
        "gemini": _gemini_events,
    }
    for event in make[asked.api](request, asked, said):
        kind = f"event: {event['type']}\n" if asked.api in ("responses", "messages") else ""
        yield f"{kind}data: {json.dumps(event)}\n\n"
    if asked.api == "chat":
        yield "data: [DONE]\n\n"


def _pieces(text: str) -> list[str]:
    return [text[start : start + 8] for start in range(0, len(text), 8)]


# -- OpenAI ----------------------------------------------------------------------------------------


def _embeddings(request: Request, asked: Asked) -> dict[str, Any]:
    vector: Any = [0.125] * 8
    if asked.body.get("encoding_format") == "base64":
        vector = b64encode(pack("<8f", *vector)).decode()
    return {
        "object": "list",
        "model": asked.model,
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index in range(asked.inputs)
        ],
        "usage": {"prompt_tokens": request.input_tokens, "total_tokens": request.input_tokens},
    }


def _chat_usage(request: Request) -> dict[str, Any]:
    return {
        "prompt_tokens": request.input_tokens,
        "completion_tokens": request.output_tokens,
        "total_tokens": request.input_tokens + request.output_tokens,
        "prompt_tokens_details": {"cached_tokens": request.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": REASONING},
    }


def _chat_calls(calls: list[Call]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in calls
    ]


def _chat(request: Request, asked: Asked, said: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = _chat_calls(said.calls)
    finish = "tool_calls" if said.calls else "stop"
    return {
        "id": request.response_id,
        "object": "chat.completion",
        "created": _CREATED,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": _chat_usage(request),
    }


def _chat_events(request: Request, asked: Asked, said: Reply) -> Iterator[dict[str, Any]]:
    def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
        return {
            "id": request.response_id,
            "object": "chat.completion.chunk",
            "created": _CREATED,
            "model": asked.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(said.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_chat_calls(said.calls)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, "tool_calls" if said.calls else "stop")
    if asked.told_usage:
        yield {**chunk({}), "choices": [], "usage": _chat_usage(request)}


def _output(request: Request, said: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if said.text:
        part: dict[str, Any] = {"type": "output_text", "text": said.text}
        part |= {"annotations": [], "logprobs": []}
        items.append(
            {
                "type": "message",
                "id": f"msg_{request.number}",
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
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in said.calls
    ]
    return items


def _response(request: Request, asked: Asked, said: Reply) -> dict[str, Any]:
    return {
        "id": request.response_id,
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": asked.body.get("instructions"),
        "max_output_tokens": None,
        "model": asked.model,
        "output": _output(request, said),
        "parallel_tool_calls": True,
        "previous_response_id": asked.body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": asked.body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": request.input_tokens,
            "input_tokens_details": {
                "cached_tokens": request.cached_tokens,
                "cache_write_tokens": 0,
            },
            "output_tokens": request.output_tokens,
            "output_tokens_details": {"reasoning_tokens": REASONING},
            "total_tokens": request.input_tokens + request.output_tokens,
        },
        "user": None,
        "metadata": {},
    }


def _response_events(request: Request, asked: Asked, said: Reply) -> Iterator[dict[str, Any]]:
    numbers = count()

    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": kind, "sequence_number": next(numbers), **fields}

    done = _response(request, asked, said)
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
            for piece in _pieces(said.text):
                yield event("response.output_text.delta", **where, delta=piece, logprobs=[])
            yield event("response.output_text.done", **where, text=said.text, logprobs=[])
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
    yield event("response.completed", response=done)


# -- Anthropic -------------------------------------------------------------------------------------


def _message(request: Request, asked: Asked, said: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in said.calls
    ]
    return {
        "id": request.response_id,
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": request.input_tokens - request.cached_tokens,
            "output_tokens": request.output_tokens,
            "cache_read_input_tokens": request.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def _message_events(request: Request, asked: Asked, said: Reply) -> Iterator[dict[str, Any]]:
    done = _message(request, asked, said)
    begun: dict[str, Any] = {**done, "content": [], "stop_reason": None}
    begun["usage"] = {**done["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(done["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(said.text)]
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": written}]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": request.output_tokens}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


# -- Gemini ----------------------------------------------------------------------------------------


def _gemini(request: Request, asked: Asked, said: Reply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": said.text}] if said.text else []
    parts += [
        {"functionCall": {"name": call.name, "args": call.arguments, "id": call.id}}
        for call in said.calls
    ]
    return _candidate(request, asked, parts, ended=True)


def _candidate(
    request: Request, asked: Asked, parts: list[dict[str, Any]], *, ended: bool
) -> dict[str, Any]:
    finish = {"finishReason": "STOP"} if ended else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **finish}],
        "usageMetadata": {
            "promptTokenCount": request.input_tokens,
            "candidatesTokenCount": request.output_tokens - REASONING,
            "thoughtsTokenCount": REASONING,
            "totalTokenCount": request.input_tokens + request.output_tokens,
            "cachedContentTokenCount": request.cached_tokens,
        },
        "modelVersion": asked.model,
        "responseId": request.response_id,
    }


def _gemini_events(request: Request, asked: Asked, said: Reply) -> Iterator[dict[str, Any]]:
    pieces = _pieces(said.text)
    if said.calls or not pieces:
        yield _gemini(request, asked, said)
        return
    for index, piece in enumerate(pieces):
        yield _candidate(request, asked, [{"text": piece}], ended=index == len(pieces) - 1)
