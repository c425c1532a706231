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
