"""The replies of the providers' APIs, whole and streamed, as their servers write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from turnspan.testing import anthropic_wire, gemini_wire, openai_wire
from turnspan.testing.replies import ApiReply

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
    "messages": anthropic_wire.message,
    "gemini": gemini_wire.gemini,
}
_EVENTS: Final[dict[str, Callable[[ApiReply], Iterator[dict[str, Any]]]]] = {
    "chat": openai_wire.chat_events,
    "responses": openai_wire.response_events,
    "messages": anthropic_wire.message_events,
    "gemini": gemini_wire.gemini_events,
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
