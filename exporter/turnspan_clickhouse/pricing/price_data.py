"""The price data of ``genai-prices``, read without importing that package.

To import it is to import pydantic and an HTTP client (it can fetch newer prices), on a thread of
ours and at a moment of ours: an application that imports the same at that moment finds a module
half loaded. Its data is one file of constructor calls. That file alone is executed here, with
dictionaries in place of the package's objects; models are looked up and prices chosen as it does.
Prices that the application itself has updated (``genai_prices.UpdatePrices``) are used as they are.
"""

from __future__ import annotations

import builtins
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timezone
from decimal import Decimal
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType
from typing import Any, ClassVar, Final, cast

from turnspan.runtime import installed
from turnspan.runtime.later import later
from turnspan.runtime.type_guards import is_dict, is_list

_PACKAGE: Final = "genai_prices"
_KNOWN_IMPORTS: Final = ("datetime", "decimal", "typing")
_COMPACT_DATE: Final = later(r"-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


_Said = dict[str, Any]
"""What a constructor call in the data says, by keyword: most of the 13,000 are never looked at. A
dictionary takes a third of the time of an object, and two thirds of all are nothing that a garbage
collection goes through. One of the whole process takes more than all of the reading."""


class _Other:
    """What the data names and we do not know: a later version's. Such a condition never holds."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


_CLAUSES: Final[Mapping[str, Callable[[Any, str], bool]]] = {
    "starts_with": lambda beginning, text: text.startswith(beginning.lower()),
    "ends_with": lambda end, text: text.endswith(end.lower()),
    "contains": lambda part, text: part.lower() in text,
    "regex": lambda pattern, text: re.search(pattern, text) is not None,
    "equals": lambda whole, text: text == whole.lower(),
    "or_": lambda clauses, text: any(holds(clause, text) for clause in clauses),
    "and_": lambda clauses, text: all(holds(clause, text) for clause in clauses),
}
"""The conditions on a name, by what each of them says."""


def holds(clause: Any, text: str) -> bool:
    """Whether a condition holds of a text in lower case; one of an unknown kind never does."""
    for key, value in clause.items() if is_dict(clause) else ():
        test = _CLAUSES.get(key)
        if test is not None:
            return test(value, text)
    return False


def _active(price: _Said, moment: datetime) -> bool:
    """Whether a price is in force at a moment in UTC."""
    constraint = price.get("constraint")
    if constraint is None:
        return True
    if not is_dict(constraint):
        return False
    if "start_date" in constraint:
        since: date = constraint["start_date"]
        return moment.date() >= since
    if "start_time" not in constraint:
        return False
    start, end = _in_utc(constraint["start_time"]), _in_utc(constraint["end_time"])
    now = moment.timetz()
    return start <= now < end if start <= end else now >= start or now < end


def _in_utc(value: time) -> time:
    if value.tzinfo is None:
        return value.replace(tzinfo=timezone.utc)
    return datetime.combine(date(1970, 1, 1), value).astimezone(timezone.utc).timetz()


@dataclass(frozen=True, slots=True)
class Tier:
    """What a price is from a length of the prompt on."""

    start: int
    price: Decimal


@dataclass(frozen=True, slots=True)
class TieredPrices:
    """A price that depends on how long the prompt is."""

    base: Decimal
    tiers: Sequence[Tier]


class ModelPrice:
    """What each kind of token costs: attributes named by ``price_key`` of the units."""

    def __init__(self, said: _Said) -> None:
        self.__dict__.update({key: _tiered(price) for key, price in said.items()})


def _tiered(price: Any) -> Any:
    """A price; where it depends on the prompt's length, with its tiers in order."""
    if not is_dict(price):
        return price
    tiers = [Tier(each["start"], each["price"]) for each in price["tiers"]]
    return TieredPrices(price["base"], sorted(tiers, key=lambda tier: tier.start))


class ModelInfo:
    """A model and its prices."""

    __slots__ = ("_said", "match", "prices")

    def __init__(self, said: _Said) -> None:
        self._said = said
        self.match: Any = said.get("match")
        """What the names of the model fulfil, in lower case."""
        self.prices: Any = said.get("prices")

    def get_prices(self, moment: datetime, context: Mapping[str, str] | None = None) -> Any:
        """The prices in force at a moment in UTC, for a request of this kind.

        Raises:
            LookupError: the data does not say them in a way that we know.
        """
        prices: Any = self.prices
        if is_list(prices):
            known = [one for one in prices if is_dict(one)]
            active = (one for one in reversed(known) if _active(one, moment))
            prices = next(active, known[0])["prices"]
        if not is_dict(prices):
            raise LookupError("prices of an unknown kind")
        return ModelPrice({**prices, **(self._special(moment, context) if context else {})})

    def _special(self, moment: datetime, context: Mapping[str, str]) -> _Said:
        """What requests of this kind cost else; where several say it the first one counts."""
        special: _Said = {}
        for variant in self._said.get("price_variants") or ():
            if not is_dict(variant) or not _active(variant, moment):
                continue
            if all(context.get(key) == value for key, value in variant["when"].items()):
                for key, price in variant["prices"].items():
                    if price is not None:
                        special.setdefault(key, price)
        return special


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


class PricedProvider:
    """A provider and its models."""

    def __init__(self, said: _Said) -> None:
        self._said = said
        self.id: str = said["id"]
        self._models: list[ModelInfo] | None = None

    @property
    def models(self) -> list[ModelInfo]:
        """Its models, the same objects each time."""
        models = self._models
        if models is None:
            said: Sequence[Any] = self._said.get("models") or ()
            models = self._models = [ModelInfo(each) for each in said if is_dict(each)]
        return models

    def is_called(self, name: str) -> bool:
        """Whether this is a name of the provider, in lower case."""
        return holds(self._said.get("provider_match"), name)

    def has(self, name: str) -> bool:
        """Whether a model of this name, in lower case, is most likely its."""
        return holds(self._said.get("model_match"), name)

    def find(self, name: str, providers: Mapping[str, PricedProvider]) -> ModelInfo | None:
        """The model of this name: its own, else one of a provider whose models it offers too."""
        others: Sequence[str] = self._said.get("fallback_model_providers") or ()
        for each in (self, *map(providers.get, others)):
            for model in each.models if each is not None else ():
                if holds(model.match, name):
                    return model
        return None


class Prices:
    """All providers' models and prices; looks up as the package's own snapshot does."""

    from_auto_update: ClassVar = False

    def __init__(self, providers: Sequence[Any], units: Mapping[str, Any]) -> None:
        self._ordered = [PricedProvider(each) for each in providers if is_dict(each)]
        self._providers = {provider.id: provider for provider in reversed(self._ordered)}
        self.units = units
        """By kind of token: ``per`` how many, the ``price_key``, and ``dimensions``."""

    def find_provider_model(
        self, name: str, provider: None, provider_id: str | None, url: None
    ) -> tuple[PricedProvider, ModelInfo]:
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
            found = next((each for each in self._ordered if each.has(name)), None)
        if found is None:
            raise LookupError(provider_id or name)
        model = found.find(name, self._providers)
        if model is None:  # routers say 20251211 where the data says 2025-12-11
            model = found.find(_COMPACT_DATE.sub(_dashed, name), self._providers)
        if model is None:
            raise LookupError(name)
        return found, model

    def _provider(self, name: str) -> PricedProvider | None:
        name = name.lower().strip()
        found = self._providers.get(name)
        if found is None:
            found = next((each for each in self._ordered if each.is_called(name)), None)
        return found


def _dashed(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return match.group(0)
    return f"-{year}-{month}-{day}"


_KINDS: Final[Mapping[str, type[Any]]] = dict.fromkeys(
    (
        "ArrayMatch",
        "ClauseAnd",
        "ClauseContains",
        "ClauseEndsWith",
        "ClauseEquals",
        "ClauseOr",
        "ClauseRegex",
        "ClauseStartsWith",
        "ConditionalPrice",
        "ModelInfo",
        "ModelPrice",
        "PriceVariant",
        "Provider",
        "StartDateConstraint",
        "Tier",
        "TieredPrices",
        "TimeOfDateConstraint",
        "UsageExtractor",
        "UsageExtractorMapping",
    ),
    dict,
)
"""The constructors that we know, which say all by keyword."""


class _Theirs:
    """A module of the package, as far as its data sees one."""

    __all__ = ()

    def __getattr__(self, name: str) -> Any:
        return _KINDS.get(name, _Other)


def _import(name: str, *_: Any) -> Any:
    """``import`` in the data's files: no module that is not loaded already, nothing of theirs."""
    return sys.modules[name] if name in _KNOWN_IMPORTS else _Theirs()


class PriceSource:
    """Where the data lies, found on the thread that makes this; ``read`` may be called on any."""

    def __init__(self) -> None:
        self.version = installed.version("genai-prices")
        package = importlib.util.find_spec(_PACKAGE)  # finds it, does not load it
        where = None if package is None else package.submodule_search_locations
        if where is None or not self.version:
            raise ImportError("genai-prices is not installed as a package")
        self._data = _part("data", where)
        self._units = _part("data_units", where)

    def read(self) -> Prices:
        """The prices of the installed version; 7 ms, or 0.4 s where nothing was compiled yet."""
        units = executed(self._units)["unit_data"]
        return Prices(executed(self._data)["providers"], units)


def _part(name: str, where: Sequence[str]) -> ModuleSpec:
    found = PathFinder.find_spec(f"{_PACKAGE}.{name}", list(where))
    if found is None or found.loader is None:
        raise ImportError(f"this version of genai-prices has no {name}")
    return found


def executed(part: ModuleSpec) -> Mapping[str, Any]:
    """What a file of the package says, with dictionaries for its objects."""
    loader: Any = part.loader
    code: CodeType = loader.get_code(part.name)
    theirs = (name for name in code.co_names if not hasattr(builtins, name) and name[:2] != "__")
    # A name that is not found at once, as in a scope that is no plain dictionary, triples the time.
    scope: dict[str, Any] = {name: _KINDS.get(name, _Other) for name in theirs}
    scope["__name__"] = part.name
    scope["__builtins__"] = {**vars(builtins), "__import__": _import}
    exec(code, scope)  # the installed package's own file
    return scope


def updated() -> Any:
    """The prices that the application has fetched or set with genai-prices itself, else None."""
    module = sys.modules.get("genai_prices.data_snapshot")
    return getattr(module, "_custom_snapshot", None)
