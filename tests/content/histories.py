"""Short conversations, and how much two frozen histories share."""

from __future__ import annotations

from typing import Any

Messages = list[dict[str, Any]]


def said(*texts: str) -> Messages:
    """Messages of these texts."""
    return [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(texts)]


def shared(before: Messages, after: Messages) -> int:
    """How many of the first messages are the very same objects."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old is not new:
            break
        count += 1
    return count
