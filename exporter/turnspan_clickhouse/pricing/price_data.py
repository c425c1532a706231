"""The price data of ``genai-prices``, read without importing that package.

To import it is to import pydantic and an HTTP client (it can fetch newer prices), on a thread of
ours and at a moment of ours: an application that imports the same at that moment finds a module
half loaded. Its data is one file of constructor calls. That file alone is executed here, with
classes of ours in place of the package's; they look models up and choose prices as those do.
Prices that the application itself has updated (``genai_prices.UpdatePrices``) are used as they are.
"""

from __future__ import annotations

import builtins
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import date, datetime, time, timezone
from decimal import Decimal
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, ClassVar, Final, cast

_PACKAGE: Final = "genai_prices"
_KNOWN_IMPORTS: Final = ("datetime", "decimal", "typing")
_COMPACT_DATE: Final = re.compile(r"-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


class _Fields:
    """What a constructor call in the data says, by keyword; later versions may say more."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Clause(_Fields):
    """A condition on a model's or provider's name; one of a kind we do not know never holds."""

    def is_match(self, text: str) -> bool:
        """Whether it holds of a text in lower case."""
        del text
        return False


class ClauseStartsWith(Clause):
    """The name begins so."""

    starts_with: str

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return text.startswith(self.starts_with.lower())


class ClauseEndsWith(Clause):
    """The name ends so."""

    ends_with: str

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return text.endswith(self.ends_with.lower())


class ClauseContains(Clause):
    """The name has this in it."""

    contains: str

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return self.contains.lower() in text


class ClauseRegex(Clause):
    """The pattern is found in the name."""

    regex: str

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return re.search(self.regex, text) is not None


class ClauseEquals(Clause):
    """The name is this."""

    equals: str

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return text == self.equals.lower()


class ClauseOr(Clause):
    """One of several conditions holds."""

    or_: Sequence[Clause]

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return any(clause.is_match(text) for clause in self.or_)


class ClauseAnd(Clause):
    """All of several conditions hold."""

    and_: Sequence[Clause]

    def is_match(self, text: str) -> bool:
        """Whether it holds."""
        return all(clause.is_match(text) for clause in self.and_)


class StartDateConstraint(_Fields):
    """Prices from a day on, UTC."""

    start_date: date

    def active(self, moment: datetime) -> bool:
        """Whether they are in force at a moment in UTC."""
        return moment.date() >= self.start_date


class TimeOfDateConstraint(_Fields):
    """Prices of some hours of the day."""

    start_time: time
    end_time: time

    def active(self, moment: datetime) -> bool:
        """Whether they are in force at a moment in UTC."""
        now, start, end = moment.timetz(), _in_utc(self.start_time), _in_utc(self.end_time)
        return start <= now < end if start <= end else now >= start or now < end


def _in_utc(value: time) -> time:
    if value.tzinfo is None:
        return value.replace(tzinfo=timezone.utc)
    return datetime.combine(date(1970, 1, 1), value).astimezone(timezone.utc).timetz()


class TieredPrices(_Fields):
    """A price that depends on how long the prompt is."""

    base: Decimal
    tiers: list[Any]

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.tiers.sort(key=lambda tier: tier.start)


class ModelPrice(_Fields):
    """What each kind of token costs: attributes named by ``price_key`` of the units."""


class ModelInfo(_Fields):
    """A model and its prices."""

    id: str
    match: Clause
    prices: Any = ()
    price_variants: Sequence[Any] | None = None

    def get_prices(self, moment: datetime, context: Mapping[str, str] | None = None) -> Any:
        """The prices in force at a moment in UTC, for a request of this kind."""
        prices = self.prices
        if isinstance(prices, (list, tuple)):
            each = cast("Sequence[Any]", prices)
            active = (one for one in reversed(each) if _active(one, moment))
            prices = next(active, each[0]).prices
        if not context:
            return prices
        special: dict[str, Any] = {}
        for variant in self.price_variants or ():
            if _active(variant, moment) and all(
                context.get(key) == value for key, value in variant.when.items()
            ):
                for key, price in fields_of(variant.prices).items():
                    if price is not None:
                        special.setdefault(key, price)
        resolved = copy(prices)
        fields_of(resolved).update(special)
        return resolved


def fields_of(prices: Any) -> dict[str, Any]:
    """A model's prices by their keys."""
    return cast("dict[str, Any]", vars(prices))


def base_of(price: Any) -> Decimal:
    """A price, or of one with tiers that below the first."""
    base: Decimal = price if isinstance(price, Decimal) else price.base
    return base


def tiers_of(price: Any) -> Sequence[Any]:
    """What a price is above some lengths of the prompt, the shortest first."""
    tiers: Sequence[Any] = () if isinstance(price, Decimal) else price.tiers
    return tiers


def _active(price: Any, moment: datetime) -> bool:
    constraint = getattr(price, "constraint", None)
    return constraint is None or bool(constraint.active(moment))


class Provider(_Fields):
    """A provider and its models."""

    id: str
    model_match: Clause | None = None
    provider_match: Clause | None = None
    fallback_model_providers: Sequence[str] | None = None
    models: Sequence[ModelInfo] = ()

    def find(self, name: str, providers: Mapping[str, Provider]) -> ModelInfo | None:
        """The model of this name: its own, else one of a provider whose models it offers too."""
        for each in (self, *map(providers.get, self.fallback_model_providers or ())):
            for model in each.models if each is not None else ():
                if model.match.is_match(name):
                    return model
        return None


class _Other(Clause):
    """Whatever else the data names: plain fields, and what only a later version knows."""

    def __init__(self, *_: Any, **fields: Any) -> None:
        super().__init__(**fields)

    def active(self, moment: datetime) -> bool:
        """A condition that is not understood is not met."""
        del moment
        return False


class Prices:
    """All providers' models and prices; looks up as the package's own snapshot does."""

    from_auto_update: ClassVar = False

    def __init__(self, providers: Sequence[Provider], units: Mapping[str, Any]) -> None:
        self._providers = {provider.id: provider for provider in reversed(providers)}
        self._ordered = providers
        self.units = units
        """By kind of token: ``per`` how many, the ``price_key``, and ``dimensions``."""

    def find_provider_model(
        self, name: str, provider: None, provider_id: str | None, url: None
    ) -> tuple[Provider, ModelInfo]:
        """The provider and the model of this name.

        Raises:
            LookupError: one of them is not known.
        """
        del provider, url
        name = name.lower()
        if provider_id and provider_id.lower() == "litellm":
            given, slash, rest = name.partition("/")
            if slash and given and self._provider(given) is not None:
                provider_id, name = given, rest
        found = self._provider(provider_id) if provider_id is not None else None
        if found is None and (provider_id is None or provider_id.lower() == "litellm"):
            found = next((each for each in self._ordered if _matches(each.model_match, name)), None)
        if found is None:
            raise LookupError(provider_id or name)
        model = found.find(name, self._providers)
        if model is None:  # routers say 20251211 where the data says 2025-12-11
            model = found.find(_COMPACT_DATE.sub(_dashed, name), self._providers)
        if model is None:
            raise LookupError(name)
        return found, model

    def _provider(self, name: str) -> Provider | None:
        name = name.lower().strip()
        found = self._providers.get(name)
        if found is None:
            found = next((p for p in self._ordered if _matches(p.provider_match, name)), None)
        return found


def _matches(clause: Clause | None, name: str) -> bool:
    return clause is not None and clause.is_match(name)


def _dashed(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return match.group(0)
    return f"-{year}-{month}-{day}"


_KINDS: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        ClauseStartsWith,
        ClauseEndsWith,
        ClauseContains,
        ClauseRegex,
        ClauseEquals,
        ClauseOr,
        ClauseAnd,
        StartDateConstraint,
        TimeOfDateConstraint,
        TieredPrices,
        ModelPrice,
        ModelInfo,
        Provider,
    )
}


class _Scope(dict[str, Any]):
    """The names that the data's file uses: our classes, and a stand-in for what we do not know."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return _Other


class _Theirs:
    """A module of the package, as far as its data sees one."""

    __all__ = ()

    def __getattr__(self, name: str) -> Any:
        return _KINDS.get(name, _Other)


def _import(name: str, *_: Any) -> Any:
    """``import`` in the data's files: no module that is not loaded already, nothing of theirs."""
    return sys.modules[name] if name in _KNOWN_IMPORTS else _Theirs()


class Source:
    """Where the data lies, found on the thread that makes this; ``read`` may be called on any."""

    def __init__(self) -> None:
        self.version = importlib.metadata.version("genai-prices")
        package = importlib.util.find_spec(_PACKAGE)  # finds it, does not load it
        where = None if package is None else package.submodule_search_locations
        if where is None:
            raise ImportError("genai-prices is not installed as a package")
        self._data = _part("data", where)
        self._units = _part("data_units", where)

    def read(self) -> Prices:
        """The prices of the installed version; 20 ms, or 0.4 s where nothing was compiled yet."""
        units = executed(self._units)["unit_data"]
        return Prices(executed(self._data)["providers"], units)


def _part(name: str, where: Sequence[str]) -> ModuleSpec:
    found = PathFinder.find_spec(f"{_PACKAGE}.{name}", list(where))
    if found is None or found.loader is None:
        raise ImportError(f"this version of genai-prices has no {name}")
    return found


def executed(part: ModuleSpec) -> Mapping[str, Any]:
    """What a file of the package says, with our classes for its own."""
    loader: Any = part.loader
    scope = _Scope(_KINDS)
    exec(  # the installed package's own file
        loader.get_code(part.name),
        {"__name__": part.name, "__builtins__": {**vars(builtins), "__import__": _import}},
        scope,
    )
    return scope


def updated() -> Any:
    """The prices that the application has fetched or set with genai-prices itself, else None."""
    module = sys.modules.get("genai_prices.data_snapshot")
    return getattr(module, "_custom_snapshot", None)
