"""What both providers' wire formats share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

RUN_HEADER = "x-replay-run"
"""The request header that names the run to replay."""
INSTANCE_HEADER = "x-replay-instance"
"""The request header that tells two replays of one run apart (for faults, which are counted)."""


class BadRequestError(Exception):
    """The request is not one the provider would accept."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An HTTP error in a provider's own form."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def parse(body: bytes) -> dict[str, Any]:
    """The request's JSON object.

    Raises:
        BadRequestError: it is none.
    """
    try:
        value: object = json.loads(body)
    except ValueError:
        raise BadRequestError("The body is not valid JSON.") from None
    return mapping(value, "The body")


def mapping(value: object, what: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise BadRequestError(f"{what} must be an object.")
    return cast("dict[str, Any]", value)


def items(value: object, what: str) -> list[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        raise BadRequestError(f"{what} must be a list.")
    return value  # pyright: ignore[reportUnknownVariableType]


def text_of(content: object, what: str) -> str:
    """The text of a content field: a string, nothing, or a list of text parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in items(content, what):
        piece = mapping(part, what)
        if piece.get("type") in ("text", "input_text"):
            texts.append(str(piece.get("text", "")))
    return "".join(texts)


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in parts of ``size`` characters; one empty part for an empty text."""
    for start in range(0, max(1, len(text)), size):
        yield text[start : start + size]


def dumps(value: object) -> str:
    """JSON as the providers write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
