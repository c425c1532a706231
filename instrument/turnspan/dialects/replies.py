"""From a reply's parts to the body and the events that its provider sends: the twin of
``convert.join_request``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from turnspan.dialects import (
    anthropic_messages,
    gemini,
    gemini_interactions,
    model_request,
    openai_chat,
    openai_completions,
    openai_responses,
)
from turnspan.dialects.openai_replies import (
    chat_chunks,
    completion_chunks,
    join_completion,
    join_responses,
    response_events,
    with_usage,
)
from turnspan.dialects.other_replies import (
    gemini_chunks,
    join_gemini,
    join_message,
    message_events,
)
from turnspan.dialects.response_parts import ResponseParts

REASONS: Final[Mapping[str, Mapping[str, str]]] = {
    anthropic_messages.NAME: {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "content_filter": "refusal",
    },
    gemini.NAME: {"tool_calls": "stop"},
    openai_responses.NAME: {
        "stop": "completed",
        "tool_calls": "completed",
        "length": "max_output_tokens",
    },
}
"""Chat completions' finish reasons in the words of other dialects, where these have others."""


def _join_interaction(parts: ResponseParts) -> dict[str, Any]:
    """An interaction of Gemini's; its status is not among its details where it just completed."""
    named = {"id": parts.id, "model": parts.model, "object": "interaction"}
    return {"status": "completed", **parts.details, **named, "steps": parts.messages}


_BODIES: Final[Mapping[str, Callable[[ResponseParts], dict[str, Any]]]] = {
    openai_chat.NAME: partial(join_completion, "chatcmpl", "chat.completion", "message"),
    openai_completions.NAME: partial(join_completion, "cmpl", "text_completion", "text"),
    openai_responses.NAME: join_responses,
    anthropic_messages.NAME: join_message,
    gemini.NAME: join_gemini,
    gemini_interactions.NAME: _join_interaction,
    model_request.NAME: lambda parts: dict(parts.details),
}
_EVENTS: Final[Mapping[str, Callable[[dict[str, Any]], Iterator[dict[str, Any]]]]] = {
    openai_chat.NAME: chat_chunks,
    openai_completions.NAME: completion_chunks,
    openai_responses.NAME: response_events,
    anthropic_messages.NAME: message_events,
    gemini.NAME: gemini_chunks,
}


def join_response(dialect: str, parts: ResponseParts) -> dict[str, Any]:
    """The body that a provider sends for a reply that is not streamed.

    Raises:
        LookupError: no API's replies are known in this dialect.
    """
    return _BODIES[dialect](parts)


def response_pieces(
    dialect: str, body: dict[str, Any], *, usage_apart: bool = True
) -> Iterator[dict[str, Any]]:
    """The events of a stream whose whole is ``body``; the body alone where none are known.

    ``usage_apart``: completions end with a chunk of the usage alone, not with it in the last one.
    """
    made = _EVENTS.get(dialect)
    if made is None:
        return iter([body])
    return with_usage(made(body), body, apart=usage_apart) if "choices" in body else made(body)


def error_body(
    dialect: str, text: str, kind: str, status: int = 400, code: str | None = None
) -> dict[str, Any]:
    """The body of a request that failed; ``code`` is OpenAI's more precise word."""
    if dialect == anthropic_messages.NAME:
        return {"type": "error", "error": {"type": kind, "message": text}}
    if dialect.startswith(gemini.NAME):
        return {"error": {"message": text, "status": kind.upper(), "code": status}}
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}
