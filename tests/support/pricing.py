"""What a call costs by what was counted of it, where no span says it."""

from __future__ import annotations

from decimal import Decimal

from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.pricing.prices import UNKNOWN, Pricer
from turnspan_clickhouse.pricing.rates import ATTRIBUTES


def price(
    pricer: Pricer,
    provider: str,
    response_model: str,
    request_model: str,
    usage: TokenUsage,
    when: int,
    *,
    service_tier: str = "",
    speed: str = "",
    batch: bool = False,
    cached: bool = False,
    **counted: int,
) -> tuple[Decimal | None, str]:
    """(cost in USD, version of the price data), as ``price_of_call`` has it. ``when`` is in ns
    since the epoch; ``counted`` is what ``REPORTED`` names beside the ``usage``."""
    if cached:
        return pricer.nothing()
    if usage.input_tokens is None and usage.output_tokens is None:
        return UNKNOWN
    known = (
        *(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
        *(usage.cache_write_tokens, usage.reasoning_tokens),
    )
    counts = (*(count or 0 for count in known), *(counted.get(kind, 0) for kind in ATTRIBUTES))
    names = (provider, response_model, request_model)
    return pricer.cost(names, counts, when, service_tier, speed, batch)
