"""How many tokens a call took, by what llm and its plug-ins write of it."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.model import as_dict
from turnspan.turn.turn import TokenUsage
from turnspan_records.importing.llm.values import count_of

_READ: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
    ("cachedContentTokenCount",),
)
_WRITTEN: Final = (("cache_creation_input_tokens",),)
_REASONING: Final = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),
    ("thoughtsTokenCount",),
)


def usage_of(input_tokens: Any, output_tokens: Any, details: Any) -> TokenUsage:
    """The counts of a row; ``details`` is what the provider told beside, as a plug-in keeps it."""
    told = as_dict(details) or {}
    usage = TokenUsage(
        count_of(input_tokens),
        count_of(output_tokens),
        _first(told, _READ),
        _first(told, _WRITTEN),
        _first(told, _REASONING),
    )
    if usage.input_tokens is not None and (
        "cache_read_input_tokens" in told or "cache_creation_input_tokens" in told
    ):
        # Anthropic counts what its cache held beside the input; here it is part of it.
        usage.input_tokens += (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return usage


def _first(told: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> int | None:
    for path in paths:
        value: Any = told
        for key in path:
            value = (as_dict(value) or {}).get(key)
        found = count_of(value)
        if found is not None:
            return found
    return None
