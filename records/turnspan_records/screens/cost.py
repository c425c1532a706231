"""What a model call's cost is made of, by the prices that it was priced with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from turnspan import semconv
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.pricing.price_sources import TOLD
from turnspan_clickhouse.pricing.prices import parts_of_call
from turnspan_clickhouse.pricing.rates import ATTRIBUTES
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask_row

_KINDS: Mapping[str, str] = {
    "": "request",
    "input_tokens": "uncached input",
    "cache_read_tokens": "cache read",
    "cache_write_tokens": "cache write",
    "cache_write_1h_tokens": "cache write, kept for an hour",
    "output_tokens": "output",
    "output_reasoning_tokens": "reasoning",
    "storage_searches": "file searches",
}


@dataclass(frozen=True, slots=True)
class CostPart:
    """So many tokens of a kind (or searches, or the request itself) and what they cost."""

    kind: str
    count: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class CostParts:
    """The cost of a call, and its parts.

    ``cost_usd`` is the recorded cost, ``None`` if it is unknown. ``estimated`` is true if the parts
    do not add up to it: today's prices are not those of the record, or the tokens were counted by
    us. Without parts, ``reason`` says why."""

    cost_usd: Decimal | None
    price_version: str
    parts: tuple[CostPart, ...] = ()
    estimated: bool = False
    reason: str = ""


def cost_parts(store: Store, project: str, span_id: str) -> CostParts:
    """The parts of a call's cost.

    Raises:
        KeyError: there is no such call.
        StoreError: as ``Store.query``.
    """
    return cost_of_row(ask_row(store, "call/cost", span_id, project=project, span=span_id))


def cost_of_row(row: Mapping[str, Any]) -> CostParts:
    """``cost_parts`` of a row of ``llm_call`` whose start, in ns since the epoch, is ``time``."""
    cost, version = row["cost_usd"], str(row["price_version"])
    if cost is None:
        return CostParts(
            None, version, reason="no price is known for this model, or for some of what it did"
        )
    if version == TOLD:
        return CostParts(cost, version, reason="the provider stated the cost in its answer")
    priced = parts_of_call(_attributes(row), of_row(TokenUsage, row), int(row["time"]))
    parts = tuple(
        CostPart(_KINDS.get(kind, kind.removesuffix("_tokens").replace("_", " ")), count, paid)
        for kind, count, paid in priced
    )
    if not parts:
        return CostParts(cost, version, reason="today's prices do not know this model")
    differs = abs(sum((part.cost_usd for part in parts), Decimal(0)) - cost) > Decimal("1e-12")
    return CostParts(cost, version, parts, differs or bool(row["tokens_estimated"]))


def _attributes(row: Mapping[str, Any]) -> dict[str, Any]:
    """The span's attributes that a price depends on, as the span had them."""
    attributes: dict[str, Any] = dict(row["attributes"])
    for name in ATTRIBUTES.values():
        attributes[name] = int(attributes[name]) if attributes.get(name, "").isdigit() else 0
    attributes[semconv.PROVIDER_NAME] = row["provider"]
    attributes[semconv.RESPONSE_MODEL] = row["response_model"]
    attributes[semconv.REQUEST_MODEL] = row["request_model"]
    return attributes
