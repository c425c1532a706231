"""The tokens of a model call, or of many."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TokenUsage:
    """Token counts; ``None`` is unknown. Cache and reasoning counts are subsets, never added."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def add(self, other: TokenUsage) -> None:
        """Add another call's counts; unknown plus known is known."""
        self.input_tokens = _sum(self.input_tokens, other.input_tokens)
        self.output_tokens = _sum(self.output_tokens, other.output_tokens)
        self.cache_read_tokens = _sum(self.cache_read_tokens, other.cache_read_tokens)
        self.cache_write_tokens = _sum(self.cache_write_tokens, other.cache_write_tokens)
        self.reasoning_tokens = _sum(self.reasoning_tokens, other.reasoning_tokens)


def _sum(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more
