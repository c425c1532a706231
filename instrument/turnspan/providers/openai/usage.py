"""Token counts in OpenAI's form, and in the places where servers that speak it put theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.tracing.endpoint import add_tokens, fields_of, write_tokens
from turnspan.turn.turn import TokenUsage

_CACHED: Final = (
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot, Together, Zhipu
    "num_cached_tokens",  # Mistral
    "cache_read_input_tokens",  # LiteLLM, and others that pass Anthropic's on
)
_WRITTEN: Final = ("cache_creation_input_tokens", "cache_write_tokens")
_SCHEMA: Final = frozenset(
    {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
    }
)
"""OpenAI's own fields: where there are no others, nothing is to be looked for."""
_DETAILS: Final = (
    ("prompt_tokens_details", semconv.INPUT),
    ("input_tokens_details", semconv.INPUT),
    ("completion_tokens_details", semconv.OUTPUT),
    ("output_tokens_details", semconv.OUTPUT),
)
_MODALITIES: Final = (("text_tokens", "text"), ("image_tokens", "image"), ("audio_tokens", "audio"))
_BY_MODALITY: Final = frozenset({"cached_tokens_details", *(name for name, _ in _MODALITIES)})


def usage_of(fields: Mapping[str, Any]) -> Any:
    """The usage of a response or chunk; Groq's stands in a field of its own, Moonshot's in the
    choice."""
    usage = fields.get("usage")
    if usage is None:
        own = fields.get("x_groq")
        if own is not None:
            usage = fields_of(own).get("usage")
        for choice in fields.get("choices") or ():
            extra = getattr(choice, "__pydantic_extra__", choice)
            if extra and usage is None:
                usage = fields_of(extra).get("usage")
    return usage


def read_usage(usage: Any) -> TokenUsage:
    """Token counts. The prompt's include the cached ones; the reply's include the reasoning, also
    where the server counts it beside them (xAI does, and its total tells)."""
    given, made, cached, written, reasoned = _tokens(fields_of(usage))
    return TokenUsage(given, made, cached, written, reasoned)


def _tokens(counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
    """Those of a ``TokenUsage``, in its order."""
    given, made = counts.get("prompt_tokens"), counts.get("completion_tokens")
    cached = written = reasoned = None
    details = counts.get("prompt_tokens_details")
    if details is not None:
        within = fields_of(details)
        cached, written = within.get("cached_tokens"), within.get("cache_write_tokens")
        if written is None:
            written = within.get("cache_creation_tokens")
    details = counts.get("completion_tokens_details")
    if details is not None:
        reasoned = fields_of(details).get("reasoning_tokens")
    if not _SCHEMA.issuperset(counts):  # a server counts in places of its own
        if given is None and made is None:
            given, made = counts.get("input_tokens"), counts.get("output_tokens")
        cached = _first(counts, _CACHED) if cached is None else cached
        written = _first(counts, _WRITTEN) if written is None else written
        if reasoned is None:
            reasoned = counts.get("reasoning_tokens")  # Perplexity
    if reasoned and given is not None and made is not None:
        whole = given + made + reasoned
        made += reasoned if counts.get("total_tokens") == whole else 0
    return given, made, cached, written, reasoned


def describe_usage(usage: Any, attributes: dict[str, Any]) -> None:
    """Write the token counts that are known, and what the server says that they cost."""
    counts = fields_of(usage)
    given, made, cached, written, reasoned = _tokens(counts)
    write_tokens(attributes, given, made, cached, written, reasoned)
    describe_modalities(counts, attributes)
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


def describe_modalities(counts: Mapping[str, Any], attributes: dict[str, Any]) -> None:
    """Write the tokens of each modality, where the server tells them apart."""
    for key, kind in _DETAILS:
        details = counts.get(key)
        if details is None:
            continue
        within = fields_of(details)
        if _BY_MODALITY.isdisjoint(within):
            continue  # nearly always, and this is on the calling thread
        for name, modality in _MODALITIES:
            count = within.get(name)
            if count:
                add_tokens(attributes, kind, modality, count)
        cached = within.get("cached_tokens_details")
        if cached is not None:
            for name, modality in _MODALITIES:
                add_tokens(attributes, semconv.CACHE_READ, modality, fields_of(cached).get(name))


def _first(counts: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        count = counts.get(name)
        if count is not None:
            return count
    return None
