"""A reply taken apart: what a record has of it, and what its API's body is put together of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PIECE = 8


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of a reply, ``None`` where unknown. Cached ones are part of the input, reasoning of
    the output, whichever API counts them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def known(self) -> bool:
        """Whether anything was counted."""
        return self.input_tokens is not None or self.output_tokens is not None

    @property
    def both(self) -> int:
        """Those of input and output."""
        return (self.input_tokens or 0) + (self.output_tokens or 0)


@dataclass(frozen=True, slots=True)
class ResponseParts:
    """A reply; ``join_response`` puts its body together.

    ``messages`` and ``finish_reasons`` are as ``output_messages`` gives them, ``details`` as
    ``response_details`` does, ``request`` is the body that is answered. ``created`` is in seconds
    since the epoch.
    """

    messages: list[Any]
    finish_reasons: list[str] = field(default_factory=list[str])
    id: str = ""
    model: str = ""
    created: int = 0
    tokens: TokenCounts = field(default_factory=TokenCounts)
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def reason(self) -> str | None:
        """Why the first choice ended."""
        return self.finish_reasons[0] if self.finish_reasons else None


def pieces_of(text: str) -> list[str]:
    """A text as a stream brings it."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def known_counts(**counts: int | None) -> dict[str, Any]:
    """The counts that are known."""
    return {name: count for name, count in counts.items() if count is not None}
