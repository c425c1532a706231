"""The replies of the providers' APIs, whole and streamed, as their servers write them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from struct import pack
from typing import Any, Final

from turnspan.content.model import as_list
from turnspan.dialects import anthropic_messages, gemini, openai_chat, openai_responses
from turnspan.dialects.replies import REASONS, error_body, join_response, response_pieces
from turnspan.dialects.response_parts import ResponseParts, TokenCounts
from turnspan.testing.replies import ApiReply, arguments_of, fields_of

_UNTOLD: Final[dict[str, dict[str, None]]] = {
    "chat": {"cache_write_tokens": None},
    "messages": {"reasoning_tokens": None},
}
"""The tokens that an API does not count."""
_CREATED: Final = 1_790_000_000


def _inputs(given: Any) -> int:
    """How many vectors are asked for: one of a text or of one text's tokens."""
    items = as_list(given)
    return len(items) if items and not isinstance(items[0], int) else 1


def _embeddings(answer: ApiReply) -> dict[str, Any]:
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


def _chat(answer: ApiReply) -> list[Any]:
    """The message of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.reply.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_of(call)},
            }
            for call in answer.calls
        ]
    return [message]


def _output(answer: ApiReply) -> list[Any]:
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


def _content(answer: ApiReply) -> list[Any]:
    """The message of Anthropic's reply."""
    text = answer.reply.text
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": fields_of(call.arguments)}
        for call in answer.calls
    ]
    return [{"role": "assistant", "content": content}]


def _contents(answer: ApiReply) -> list[Any]:
    """The content of Gemini's."""
    parts: list[dict[str, Any]] = [{"text": answer.reply.text}] if answer.reply.text else []
    parts += [
        {"functionCall": {"name": call.name, "args": fields_of(call.arguments), "id": call.id}}
        for call in answer.calls
    ]
    return [{"role": "model", "parts": parts}]


_APIS: Final = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/embeddings": "embeddings",
    "/messages": "messages",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}

_SAID: Final[dict[str, tuple[str, Callable[[ApiReply], list[Any]]]]] = {
    "chat": (openai_chat.NAME, _chat),
    "responses": (openai_responses.NAME, _output),
    "messages": (anthropic_messages.NAME, _content),
    "gemini": (gemini.NAME, _contents),
}
"""The dialect of each API, and what makes the messages of a reply."""


def api_of(path: str) -> str:
    """Which API a path is of; empty where it is none of these."""
    path = path.partition("?")[0]
    return next((api for end, api in _APIS.items() if path.endswith(end)), "")


def refusal(api: str, text: str, kind: str, status: int = 400) -> dict[str, Any]:
    """The body of a request that failed."""
    dialect = _SAID[api][0] if api in _SAID else openai_chat.NAME
    return error_body(dialect, text, kind, status)


def whole(answer: ApiReply) -> dict[str, Any]:
    """A reply in one piece."""
    if answer.api == "embeddings":
        return _embeddings(answer)
    dialect, made = _SAID[answer.api]
    reason = answer.reply.reason
    parts = ResponseParts(
        made(answer),
        [REASONS.get(dialect, {}).get(reason, reason)],
        answer.id,
        answer.model,
        _CREATED,
        replace(TokenCounts(**asdict(answer.reply.usage)), **_UNTOLD.get(answer.api, {})),
        request=answer.body,
    )
    return join_response(dialect, parts)


def events(answer: ApiReply) -> Iterator[str]:
    """A reply as the lines of its stream."""
    body = whole(answer)
    if answer.api == "chat" and not answer.told_usage:
        del body["usage"]
    for event in response_pieces(_SAID[answer.api][0], body):
        kind = f"event: {event['type']}\n" if answer.api in ("responses", "messages") else ""
        yield f"{kind}data: {json.dumps(event)}\n\n"
    if answer.api == "chat":
        yield "data: [DONE]\n\n"
