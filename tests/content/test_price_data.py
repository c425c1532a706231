"""The price data is genai-prices' own, and nothing of that package is loaded for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from importlib.metadata import PackageNotFoundError
from types import CodeType, SimpleNamespace
from typing import Any

import genai_prices
import pytest
from genai_prices.data_snapshot import DataSnapshot, get_snapshot, set_custom_snapshot
from genai_prices.types import ClauseEquals, ModelInfo, ModelPrice, Provider

from support.pricing import price
from support.representatives import few
from turnspan.runtime.guard import errors
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.pricing import price_data
from turnspan_clickhouse.pricing.price_data import PriceSource
from turnspan_clickhouse.pricing.prices import Pricer

# Asked for in this way, since pyright takes 25 s to look through the 1.6 MB of genai_prices.data.
PROVIDERS = get_snapshot().providers

START = datetime(2025, 2, 1, 0, 10, tzinfo=timezone.utc)
MOMENTS = [START + timedelta(days=97 * n, hours=7 * n) for n in range(9)]
USAGES = [TokenUsage(1234, 567), TokenUsage(400_001, 30, 90_000, 40_000)]

READ = """
import sys
from turnspan_clickhouse.pricing.prices import price_of_call
from turnspan.turn.turn import TokenUsage
attributes = {"gen_ai.provider.name": "openai", "gen_ai.response.model": "gpt-4o"}
cost, version = price_of_call(attributes, TokenUsage(1000, 500), 1_790_000_000_000_000_000)
assert cost is not None and version, (cost, version)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def pricer() -> Iterator[Pricer]:
    """A pricer that has swallowed no error, under no prices of the application's."""
    errors.reset()
    yield Pricer()
    set_custom_snapshot(None)
    assert errors.counts() == {}


def official(provider: str, model: str, usage: TokenUsage, moment: datetime) -> Decimal | None:
    """What genai-prices itself says."""
    try:
        return genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
            ),
            model,
            provider_id=provider or None,
            genai_request_timestamp=moment,
        ).total_price
    except LookupError:
        return None


def ours(pricer: Pricer, provider: str, model: str, usage: TokenUsage, moment: datetime) -> Any:
    """What the pricer says."""
    return price(pricer, provider, model, "", usage, int(moment.timestamp()) * 1_000_000_000)[0]


def test_nothing_is_loaded_for_it() -> None:
    """Neither the package nor its HTTP client nor pydantic: the application may be about to."""
    command = [sys.executable, "-c", READ]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    assert {"genai_prices", "httpx", "httpx2", "pydantic", "typing_extensions"} & {*loaded} <= {
        "typing_extensions"  # OpenTelemetry's
    }


@pytest.mark.parametrize("provider", [each.id for each in PROVIDERS])
def test_every_model_costs_what_genai_prices_says(pricer: Pricer, provider: str) -> None:
    """Each model of each provider by its id, at several times of day and year."""
    names = [model.id for each in PROVIDERS if each.id == provider for model in each.models]
    for place, name in enumerate(names):
        for usage in USAGES:
            moment = MOMENTS[place % len(MOMENTS)]
            said = official(provider, name, usage, moment)
            assert ours(pricer, provider, name, usage, moment) == said, (name, usage, moment)


@pytest.mark.parametrize(
    "provider",
    few(["", "openai", "LiteLLM", "openrouter", "Azure ", "who"], ["", "openai", "LiteLLM"]),
)
def test_every_spelling_finds_the_same_model(pricer: Pricer, provider: str) -> None:
    """Other case, routers' prefixes, dates without dashes, dates that are none, other providers."""
    spellings = ["{}", "{}-20251211", "{}-20259911", "{}-20250231:free", "{}-latest", "x/{}"]
    known = [(each.id, model.id) for each in PROVIDERS for model in each.models[::7]]
    for place, (owner, name) in enumerate(known):
        for spelling in (spellings[place % len(spellings)], f"{owner}/{{}}"):
            model = spelling.format(name.upper() if place % 3 else name)
            moment = MOMENTS[place % len(MOMENTS)]
            said = official(provider, model, USAGES[0], moment)
            assert ours(pricer, provider, model, USAGES[0], moment) == said, model


def test_prices_that_the_application_has_updated_count(pricer: Pricer) -> None:
    """As soon as they are there, and no longer than that."""
    usage = TokenUsage(1_000_000, 0)
    before = ours(pricer, "openai", "gpt-4o", usage, START)
    fresh = Provider(
        id="openai",
        name="OpenAI",
        api_pattern="",
        models=[
            ModelInfo(
                id="gpt-4o",
                match=ClauseEquals("gpt-4o"),
                prices=ModelPrice(input_mtok=Decimal("0.5")),
            )
        ],
    )
    set_custom_snapshot(DataSnapshot(providers=[fresh], from_auto_update=True))

    cost, version = price(pricer, "openai", "gpt-4o", "", usage, 0)
    assert cost == Decimal("0.5")
    assert version.startswith(f"genai-prices {genai_prices.__version__} updated 20")

    set_custom_snapshot(None)
    assert ours(pricer, "openai", "gpt-4o", usage, START) == before != cost
    assert get_snapshot().from_auto_update is False


def test_data_of_a_later_version_is_read_as_far_as_it_is_understood() -> None:
    """Unknown fields are passed over, a condition of an unknown kind never holds."""
    code = compile(
        """
from .types import *
from .other import MoonConstraint
providers: list[Provider] = [Provider(id='p', colour='red', model_match=ClauseSounds(like='x'),
    extractors=[UsageExtractor(root='usage')], models=[
    ModelInfo(id='a', match=ClauseSounds(like='a'), prices=ModelPrice(input_mtok=1)),
    ModelInfo(id='b', match=ClauseEquals(equals='b'), prices=[
        ConditionalPrice(prices=ModelPrice(input_mtok=2)),
        ConditionalPrice(constraint=MoonConstraint('full'), prices=ModelPrice(input_mtok=3))])])]
""",
        "data",
        "exec",
    )
    codes: dict[str, CodeType] = {"data": code}
    part: Any = SimpleNamespace(name="data", loader=SimpleNamespace(get_code=codes.get))
    scope = price_data.executed(part)
    prices = price_data.Prices(scope["providers"], {})

    _, model = prices.find_provider_model("B", None, "p", None)
    assert model.get_prices(START).input_mtok == 2
    with pytest.raises(LookupError):
        prices.find_provider_model("a", None, "p", None)


def test_without_the_data_there_are_no_prices_and_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An application frozen without the package's data is recorded all the same."""
    errors.reset()
    monkeypatch.setattr("importlib.metadata.distribution", _missing)
    pricer = Pricer()
    for _ in range(3):
        assert price(pricer, "openai", "gpt-4o", "", USAGES[0], 0) == (None, "")

    assert errors.counts() == {"pricing": 1}
    assert len(caplog.records) == 1
    errors.reset()


def _missing(name: str) -> str:
    raise PackageNotFoundError(name)


def test_the_source_says_its_version() -> None:
    """Rows say which prices they were made with."""
    assert PriceSource().version == genai_prices.__version__
