"""Token counts in OpenAI's form, and in the places where servers that speak it put theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.patching.endpoint import fields_of, write_usage
from turnspan.turn import Usage

_CACHED: Final = (
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together, Zhipu
    "num_cached_tokens",  # Mistral
    "cache_read_input_tokens",  # LiteLLM, and others that pass Anthropic's on
)
_WRITTEN: Final = ("cache_creation_input_tokens", "cache_write_tokens")
_WRITTEN_WITHIN: Final = ("cache_write_tokens", "cache_creation_tokens")
_REASONED: Final = ("reasoning_tokens",)  # Perplexity


def usage_of(fields: Mapping[str, Any]) -> Any:
    """The usage of a response or chunk; Groq's stands in a field of its own, Moonshot's in the
    choice."""
    usage = fields.get("usage")
    if usage is None:
        own = fields.get("x_groq")
        if own is not None:
            usage = fields_of(own).get("usage")
    if usage is None:
        for choice in fields.get("choices") or ():
            extra = getattr(choice, "__pydantic_extra__", choice)
            if extra:
                usage = fields_of(extra).get("usage")
    return usage


def read_usage(usage: Any) -> Usage:
    """Token counts. The prompt's include the cached ones; the reply's include the reasoning, also
    where the server counts it beside them (xAI does, and its total tells)."""
    counts = fields_of(usage)
    given, made = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if given is None and made is None:
        given, made = counts.get("input_tokens"), counts.get("output_tokens")
    cached = written = reasoned = None
    details = counts.get("prompt_tokens_details")
    if details is not None:
        within = fields_of(details)
        cached, written = within.get("cached_tokens"), _first(within, _WRITTEN_WITHIN)
    details = counts.get("completion_tokens_details")
    if details is not None:
        reasoned = fields_of(details).get("reasoning_tokens")
    if cached is None:
        cached = _first(counts, _CACHED)
    if written is None:
        written = _first(counts, _WRITTEN)
    if reasoned is None:
        reasoned = _first(counts, _REASONED)
    total = counts.get("total_tokens")
    if reasoned and made is not None and given is not None and total == given + made + reasoned:
        made += reasoned
    return Usage(given, made, cached, written, reasoned)


def describe_usage(usage: Any, attributes: dict[str, Any]) -> None:
    """Write the token counts that are known, and what the server says that they cost."""
    write_usage(read_usage(usage), attributes)
    counts = fields_of(usage)
    cost = counts.get("cost")
    if cost is None:
        return
    if not isinstance(cost, (int, float)):  # Perplexity's comes in parts
        cost = fields_of(cost).get("total_cost")
    if counts.get("is_byok"):  # OpenRouter's fee, beside what the provider bills
        more = fields_of(counts.get("cost_details")).get("upstream_inference_cost")
        if isinstance(more, (int, float)) and isinstance(cost, (int, float)):
            cost += more
    if isinstance(cost, (int, float)) and not isinstance(cost, bool):
        attributes[semconv.USAGE_COST] = float(cost)


def _first(counts: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        count = counts.get(name)
        if count is not None:
            return count
    return None
