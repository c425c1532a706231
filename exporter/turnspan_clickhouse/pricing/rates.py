"""A model's prices per token as whole numbers, and what so many tokens of each kind cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan_clickhouse.pricing.price_data import base_of, tiers_of

_OF_MODALITY: Final = {
    semconv.INPUT: "input_{}_tokens",
    semconv.OUTPUT: "output_{}_tokens",
    semconv.CACHE_READ: "cache_{}_read_tokens",
}
ATTRIBUTES: Final[Mapping[str, str]] = {
    "cache_write_1h_tokens": semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS,
    "input_tool_tokens": semconv.USAGE_TOOL_INPUT_TOKENS,
    "web_searches": semconv.USAGE_WEB_SEARCHES,
    "storage_searches": semconv.USAGE_FILE_SEARCHES,
    "map_searches": semconv.USAGE_MAP_SEARCHES,
    "image_generations": semconv.USAGE_IMAGE_GENERATIONS,
    **{
        _OF_MODALITY[kind].format(modality): name
        for (kind, modality), name in semconv.USAGE_BY_MODALITY.items()
    },
}
"""The attributes of what is counted beside the columns, by its kind."""
REPORTED: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_reasoning_tokens",
    *ATTRIBUTES,
)
"""The kinds of what is counted, in the order of ``counts`` everywhere here."""
_NEVER_LIKE_TEXT: Final = (
    *("web_searches", "storage_searches", "map_searches", "image_generations"),
    *("input_audio_tokens", "output_audio_tokens", "output_image_tokens", "output_video_tokens"),
)
"""Kinds whose price is no other kind's: without one of their own it is not known."""
_MILLION: Final = 6
"""Prices are of a million tokens, or of fewer."""


@dataclass(frozen=True, slots=True)
class _Rate:
    """The price of one kind of token. ``subsets`` are kinds that are priced on their own."""

    index: int
    subsets: tuple[int, ...]
    base: int
    tiers: tuple[tuple[int, int], ...]

    def price(self, context: int) -> int:
        """The price of one, in a request of so many input tokens."""
        for start, above in self.tiers:
            if context > start:
                return above
        return self.base


@dataclass(frozen=True, slots=True)
class Rates:
    """A model's prices per token, most specific kind first, and per request, as whole numbers of
    ``unit`` (US dollars): small integers add up quicker than decimals."""

    rates: tuple[_Rate, ...]
    per_request: int
    unit: Decimal
    unpriced: tuple[int, ...]
    """Kinds whose price is not known, and with it the cost of a call that has any."""

    def cost(self, counts: tuple[int, ...]) -> Decimal | None:
        """The cost of these counts; ``None`` if they contradict each other or have no price."""
        own = self._own(counts)
        if own is None:
            return None
        total = self.per_request
        for rate, count in zip(self.rates, own, strict=True):
            if count:
                total += rate.price(counts[0]) * count
        return self.unit * total

    def parts(self, counts: tuple[int, ...]) -> list[tuple[str, int, Decimal]]:
        """Kind of token, how many that are of no more specific kind, and what they cost; what a
        request costs by itself has no kind. Nothing where ``cost`` is not known."""
        own = self._own(counts)
        if own is None:
            return []
        found = [
            (REPORTED[rate.index], count, self.unit * (rate.price(counts[0]) * count))
            for rate, count in zip(self.rates, own, strict=True)
            if count
        ]
        if self.per_request:
            found.append(("", 1, self.unit * self.per_request))
        return found

    def _own(self, counts: tuple[int, ...]) -> list[int] | None:
        """How many of each rate's kind are of no more specific kind; ``None`` where that would be
        less than none, or where some have no known price."""
        for kind in self.unpriced:
            if counts[kind]:
                return None
        own = [0] * len(counts)
        found: list[int] = []
        for rate in self.rates:
            count = counts[rate.index]
            for subset in rate.subsets:
                count -= own[subset]
            if count < 0:
                return None
            own[rate.index] = count
            found.append(count)
        return found


def compiled_rates(
    amounts: Mapping[str, Any], units: Mapping[str, Any], like_text: frozenset[str], told: bool
) -> Rates:
    """Rates for the kinds of tokens that Turnspan reports; all others count as none used.

    ``like_text`` are kinds that cost what text does where they have no price of their own. Unless
    ``told``, these are not the prices of the calls that they are for.
    """

    def dimensions(name: str) -> set[tuple[str, str]]:
        return set(units[name].get("dimensions", {}).items())

    def amount(name: str) -> Any:
        return amounts.get(str(units[name].get("price_key", name)))

    priced = [name for name in REPORTED if name in units and amount(name) is not None]
    priced.sort(key=lambda name: (-len(dimensions(name)), name))
    places = _places(amounts)
    rates: list[_Rate] = []
    for name in priced:
        price = amount(name)
        per = Decimal(units[name]["per"])
        subsets = [n for n in priced if n != name and dimensions(name) <= dimensions(n)]
        tiers = tuple(
            (tier.start, _units(tier.price / per, places)) for tier in reversed(tiers_of(price))
        )
        base = _units(base_of(price) / per, places)
        positions = tuple(REPORTED.index(n) for n in subsets)
        rates.append(_Rate(REPORTED.index(name), positions, base, tiers))
    requests = amount("requests")
    per_request = Decimal(0) if requests is None else base_of(requests) / units["requests"]["per"]
    unit = Decimal(1).scaleb(-places)
    unknown = [name for name in _NEVER_LIKE_TEXT if name not in priced and name not in like_text]
    unpriced = tuple(REPORTED.index(name) for name in (unknown if told else REPORTED))
    return Rates(tuple(rates), _units(per_request, places), unit, unpriced)


def _places(prices: Mapping[str, Any]) -> int:
    """How many decimal places the finest of a model's prices has for one token."""
    amounts: list[Any] = []
    for price in prices.values():
        if price is not None:
            amounts += [base_of(price), *(tier.price for tier in tiers_of(price))]
    exponents = [amount.as_tuple().exponent for amount in amounts]
    return _MILLION - min((e for e in exponents if isinstance(e, int)), default=0)


def _units(price: Decimal, places: int) -> int:
    return int(price.scaleb(places))
