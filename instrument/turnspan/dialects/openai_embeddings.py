"""The dialect ``openai.embeddings``: kwargs of ``embeddings.create``. The vectors are not kept."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import RequestParts
from turnspan.dialects.openai_completions import (
    from_message,
    system_parts,
    to_message,
    tool_definitions,
)
from turnspan.dialects.plain_text import join_texts, split_texts

__all__ = [
    "NAME",
    "from_message",
    "join_request",
    "output_messages",
    "split_request",
    "system_parts",
    "to_message",
    "tool_definitions",
]

NAME: Final = "openai.embeddings"


def split_request(request: dict[str, Any]) -> RequestParts:
    """Take a request apart: each text to embed is a message."""
    return split_texts(request, "input")


def join_request(parts: RequestParts) -> dict[str, Any]:
    """The request that ``split_request`` took apart."""
    return join_texts(parts, "input")


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """Nothing: the model says nothing."""
    return [], []
