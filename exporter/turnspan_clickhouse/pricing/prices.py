"""What a model call cost, in US dollars, by the maintained price data of ``genai-prices``.

``genai_prices.calc_price`` takes some 70 us a call. Here a model's prices are looked up once and
kept as rates per token, so that a call costs a few multiplications; the results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Final

from turnspan import semconv
from turnspan.content.model import as_text
from turnspan.runtime.forks import ForkSafeLock
from turnspan.runtime.guard import errors, guard
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.pricing.price_data import Prices, PriceSource, fields_of, updated
from turnspan_clickhouse.pricing.price_sources import (
    TOLD,
    added_prices,
    lookups,
    priced_like_text,
    searches_billed,
    told_cost,
)
from turnspan_clickhouse.pricing.rates import ATTRIBUTES, REPORTED, Rates, compiled_rates

UNKNOWN: Final[tuple[Decimal | None, str]] = (None, "")
"""The price is not known: never 0."""

_BATCH: Final = "batch"
_SEARCHES: Final = REPORTED.index("web_searches")
_MAX_CACHED: Final = 10_000
_MINUTE: Final = 60_000_000_000


class _PricedModel:
    """A model found in the price data, with the rates that were computed last."""

    __slots__ = ("always", "model", "name", "provider", "rates", "timed")

    def __init__(self, provider: Any, model: Any, name: str) -> None:
        self.provider = provider
        self.model = model
        self.name = name.lower()
        self.timed = isinstance(model.prices, list)
        self.always: Rates | None = None
        """Of the usual calls, where they do not change with time."""
        self.rates: dict[tuple[str, str, bool], tuple[int, Rates]] = {}


class Pricer:
    """Prices model calls. Thread-safe; never raises."""

    def __init__(self) -> None:
        self._models: dict[tuple[str, str, str], _PricedModel | None] = {}
        self._source: PriceSource | None = None
        self._missing = False
        """Whether there is no price data to be read."""
        self._bundled: Prices | None = None
        self._snapshot: Any = None
        """What ``_models`` were found in: ours, or what the application has updated."""
        self._version = ""
        self._lock = ForkSafeLock()

    def prepare(self) -> None:
        """Find the price data, so that no other thread has to search for what is installed."""
        if self._source is None and not self._missing:
            self._missing = True
            with guard("pricing"):
                self._source = PriceSource()
                self._missing = False

    def nothing(self) -> tuple[Decimal | None, str]:
        """The price of an answer from the application's own cache."""
        try:
            snapshot = self._current()
            return UNKNOWN if snapshot is None else (Decimal(0), self._version_of(snapshot))
        except Exception as error:  # noqa: BLE001  a price is never worth a lost record
            errors.record("pricing", error)
            return UNKNOWN

    def cost(
        self,
        names: tuple[str, str, str],
        counts: tuple[int, ...],
        when: int,
        service_tier: str,
        speed: str,
        batch: bool,
    ) -> tuple[Decimal | None, str]:
        """(cost in USD, version of the price data) of what ``REPORTED`` names; ``(None, "")`` where
        the price is unknown.

        ``names`` are those of the provider and of the response's model, which is looked up first,
        and the request's. ``when`` is in ns since the epoch. Input tokens include cached ones, and
        written ones those kept for an hour, as everywhere in Turnspan.
        """
        try:
            known = self._find(names)
            if known is None:
                return UNKNOWN
            rates = self._rates(known, when, service_tier, speed, batch)
        except Exception as error:  # noqa: BLE001  a price is never worth a lost record
            errors.record("pricing", error)
            return UNKNOWN
        cost = rates.cost(counts)
        return UNKNOWN if cost is None else (cost, self._version)

    def parts(
        self,
        names: tuple[str, str, str],
        counts: tuple[int, ...],
        when: int,
        service_tier: str,
        speed: str,
        batch: bool,
    ) -> list[tuple[str, int, Decimal]]:
        """What ``cost`` is the sum of; nothing where the price is not known."""
        known = self._find(names)
        if known is None:
            return []
        return self._rates(known, when, service_tier, speed, batch).parts(counts)

    def _current(self) -> Any:
        """The prices in force; ``None`` where there are none."""
        bundled = self._bundled
        if bundled is None:
            bundled = self._load()
            if bundled is None:
                return None
        return updated() or bundled

    def _load(self) -> Prices | None:
        self.prepare()
        with self._lock:
            if self._bundled is None and self._source is not None and not self._missing:
                self._missing = True  # if this fails it does not get better
                self._bundled = self._source.read()
                self._missing = False
            return self._bundled

    def _version_of(self, snapshot: Any) -> str:
        version = "genai-prices " + ("" if self._source is None else self._source.version)
        if snapshot.from_auto_update:
            version += f" updated {snapshot.timestamp:%Y-%m-%dT%H:%M:%S}"
        return version

    def _find(self, names: tuple[str, str, str]) -> _PricedModel | None:
        snapshot = self._current()
        if snapshot is None:
            return None
        if snapshot is self._snapshot:
            found = self._models.get(names)
            if found is not None or names in self._models:
                return found
        provider, response_model, request_model = names
        with self._lock:
            if snapshot is not self._snapshot or len(self._models) >= _MAX_CACHED:
                self._models = {}
                self._version = self._version_of(snapshot)
                self._snapshot = snapshot
            known = None
            for model in (response_model, request_model):
                known = known or _look_up(snapshot, provider, model)
            self._models[names] = known
        return known

    def _rates(
        self, known: _PricedModel, when: int, service_tier: str, speed: str, batch: bool
    ) -> Rates:
        usual = not (known.timed or service_tier or speed or batch)
        if usual and known.always is not None:
            return known.always
        key = (service_tier, speed, batch)
        minute = when // _MINUTE if known.timed or any(key) else 0
        cached = known.rates.get(key)
        if cached is not None and cached[0] == minute:
            return cached[1]
        moment = datetime.fromtimestamp(when // 1_000_000_000, timezone.utc)
        context: dict[str, str] = {}
        if service_tier:
            context["service_tier"] = service_tier
        if speed:
            context["speed"] = speed
        if batch:
            context["processing"] = "batch"
        if not any(known.model is model for model in known.provider.models):
            context = {}  # another provider's model: its variants are not this provider's
        units: Mapping[str, Any] = {} if self._bundled is None else self._bundled.units
        provider = known.provider.id
        prices = fields_of(known.model.get_prices(moment, context))
        # Google has tiers of which the data has no prices, and capacity that is paid for before.
        unusual = bool(service_tier) and provider == "google"
        told = not unusual or prices != fields_of(known.model.get_prices(moment))
        prices = {**added_prices(provider, known.name), **prices}
        rates = compiled_rates(prices, units, priced_like_text(provider, known.name), told)
        known.rates[key] = (minute, rates)
        if usual:
            known.always = rates
        return rates


def _look_up(snapshot: Any, provider: str, model: str) -> _PricedModel | None:
    if not model:
        return None
    for provider_id, address in lookups(provider):
        try:
            found, info = snapshot.find_provider_model(model, None, provider_id, address)
        except LookupError:
            continue
        return _PricedModel(found, info, model)
    return None


_pricer: Final = Pricer()

prepare = _pricer.prepare
"""``Pricer.prepare`` of the process's pricer."""


def price_of_call(
    attributes: dict[str, Any], usage: TokenUsage, when: int
) -> tuple[Decimal | None, str]:
    """``Pricer.cost`` of the call whose span has these attributes. An answer from the application's
    own cache cost nothing, whatever it cost the first time."""
    if attributes.get(semconv.RESPONSE_CACHED) is True:
        return _pricer.nothing()
    told = told_cost(attributes)
    if told is not None:
        return told, TOLD
    if usage.input_tokens is None and usage.output_tokens is None:
        return UNKNOWN
    names, tier, speed, batch = _priced_as(attributes)
    return _pricer.cost(names, _counts(attributes, names, usage), when, tier, speed, batch)


def parts_of_call(
    attributes: dict[str, Any], usage: TokenUsage, when: int
) -> list[tuple[str, int, Decimal]]:
    """What ``price_of_call`` is the sum of: kind of token, how many, their cost. Nothing where the
    price is not known, or was told by the provider."""
    if attributes.get(semconv.RESPONSE_CACHED) is True or told_cost(attributes) is not None:
        return []
    names, tier, speed, batch = _priced_as(attributes)
    return _pricer.parts(names, _counts(attributes, names, usage), when, tier, speed, batch)


def _counts(
    attributes: dict[str, Any], names: tuple[str, str, str], usage: TokenUsage
) -> tuple[int, ...]:
    """Those of ``REPORTED``; what was not told counts as none."""
    known = (
        *(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
        *(usage.cache_write_tokens, usage.reasoning_tokens),
    )
    counts = [count or 0 for count in known]
    counts += [_count(attributes.get(name)) for name in ATTRIBUTES.values()]
    if counts[_SEARCHES]:
        counts[_SEARCHES] = searches_billed(names, counts[_SEARCHES])
    return tuple(counts)


def _priced_as(attributes: dict[str, Any]) -> tuple[tuple[str, str, str], str, str, bool]:
    """Provider and models, service tier, speed, and whether it was part of a batch."""
    tier: object = attributes.get(semconv.OPENAI_RESPONSE_SERVICE_TIER)
    if not isinstance(tier, str):
        tier = as_text(attributes.get(semconv.RESPONSE_SERVICE_TIER))
    names = (
        as_text(attributes.get(semconv.PROVIDER_NAME)),
        as_text(attributes.get(semconv.RESPONSE_MODEL)),
        as_text(attributes.get(semconv.REQUEST_MODEL)),
    )
    batch = tier == _BATCH
    return names, "" if batch else tier, as_text(attributes.get(semconv.RESPONSE_SPEED)), batch


def cost_of_call(attributes: dict[str, Any], usage: TokenUsage, when: int) -> Decimal | None:
    """What the call cost in USD, for the metric of costs; ``None`` where it is not known."""
    return price_of_call(attributes, usage, when)[0]


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
