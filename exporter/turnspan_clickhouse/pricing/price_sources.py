"""Whose price a call has: its provider's name in the price data, or what the provider told."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.later import later

TOLD: Final = "provider"
"""The version of a price that came with the answer."""

_PROVIDERS: Final[Mapping[str, str]] = {
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gen_ai": "google",
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "ibm.watsonx.ai": "watsonx",
    "x_ai": "x-ai",
    "mistral_ai": "mistral",
    "moonshot_ai": "moonshotai",
    "aws.bedrock": "aws",
}
"""OpenTelemetry's provider names where genai-prices has others."""

_HOST: Final = later(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}|[0-9a-f]*[.:][0-9a-f.:]+")
"""What a server is called that has no name (``turnspan.providers.hosts``)."""
_MAKERS: Final = ("openai", "anthropic")
"""Whose models a gateway most likely passes on, at their prices."""
_BILLING: Final = frozenset({"llm-consortium", "openrouter", "perplexity"})
"""Who tells with each answer what it cost, in US dollars. (A consortium's own answer costs nothing:
its members' and its arbiter's do.)"""

_PER_PROMPT: Final = later(r"(.*/)?gemini-[12]\b.*")
"""Google's models of which it prices a prompt that searched (1,000 for $35); of later ones, each
query (1,000 for $14): ai.google.dev/gemini-api/docs/pricing, "Grounding with Google Search"."""
_ADDED: Final = (
    ("gpt-4o-audio-preview-2024-10-01", "100", "200"),
    ("gpt-4o-audio-preview", "40", "80"),
    ("gpt-4o-mini-audio-preview", "10", "20"),
)
"""Models of OpenAI that the price data has without their audio: the beginning of the name, and the
dollars of a million tokens in and out (platform.openai.com/docs/pricing, "Audio tokens")."""
_MAKING: Final = (("tts", "output_audio_tokens"), ("gpt-image", "output_image_tokens"))
"""What is in the names of models whose one output price is that of what they make."""


def searches_billed(names: tuple[str, str, str], queries: int) -> int:
    """How many searches are paid for, by the names of provider and models."""
    google = _PROVIDERS.get(names[0], names[0]) == "google"
    return 1 if google and _PER_PROMPT.fullmatch(names[1] or names[2]) else queries


def added_prices(provider: str, model: str) -> dict[str, Decimal]:
    """Prices that the price data does not have, by its keys."""
    for name, given, made in _ADDED if provider in ("openai", "azure") else ():
        if model.startswith(name):
            return {"input_audio_mtok": Decimal(given), "output_audio_mtok": Decimal(made)}
    return {}


def priced_like_text(provider: str, model: str) -> frozenset[str]:
    """Kinds of tokens that cost what text does where a model has no price for them: with Google
    audio that is heard, and what a model makes that makes nothing else."""
    kinds = {kind for word, kind in _MAKING if word in model}
    return frozenset(kinds | ({"input_audio_tokens"} if provider == "google" else set()))


def lookups(provider: str) -> list[tuple[str | None, str | None]]:
    """Where to look for a model's price, in this order: (provider's id, its address)."""
    found: list[tuple[str | None, str | None]] = [
        (_PROVIDERS.get(provider, provider) or None, None)
    ]
    if provider not in _PROVIDERS and _HOST.fullmatch(provider):
        found.append((None, f"https://{provider}"))
        found += [(maker, None) for maker in _MAKERS]
    return found


def told_cost(attributes: Mapping[str, Any]) -> Decimal | None:
    """What the provider said that a call cost; ``None`` where it did not, or in unknown money."""
    told = attributes.get(semconv.USAGE_COST)
    if told is None or attributes.get(semconv.PROVIDER_NAME) not in _BILLING:
        return None
    return Decimal(str(told)) if isinstance(told, (int, float)) else None
