"""What calls cost: the rows and the metric say the same, and the metric says it unsampled too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import genai_prices
import pytest
from anthropic import Anthropic
from openai import OpenAI
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

import turnspan
from support.model_stub import ModelStub
from turnspan.pipeline.processor import RecordProcessor
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

MESSAGES: Any = [{"role": "user", "content": "hi"}]

# 100 tokens in, 60 of them read from the cache, 20 out, at 2.5, 1.25 and 10 dollars a million
GPT_4O = Decimal("0.000375")
# 30 new, 60 read, 4 written for five minutes, 6 for an hour, 20 out, at 5, 0.5, 6.25, 10 and 25
CLAUDE = Decimal("0.000765")


class Shop:
    """An application with metrics and records."""

    def __init__(self, dsn: Dsn, sampler: Sampler) -> None:
        self.dsn = dsn
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader])
        self.provider = TracerProvider(sampler=sampler)
        self.processor = RecordProcessor(ClickHouseSpanExporter(str(dsn)), flush_interval=60)
        self.provider.add_span_processor(self.processor)
        default.metrics.use(self.meters)
        default.provider = self.provider
        turnspan.instrument(tracer_provider=self.provider)

    def spent(self) -> dict[str, float]:
        """The metric of costs, by the model asked for."""
        data = self._reader.get_metrics_data()
        spent: dict[str, float] = {}
        for resource in data.resource_metrics if data is not None else ():
            for metric in (m for scope in resource.scope_metrics for m in scope.metrics):
                for point in metric.data.data_points:
                    if metric.name == "turnspan.client.cost":
                        assert isinstance(point, NumberDataPoint)
                        assert metric.unit == "{USD}"
                        spent[str((point.attributes or {})["gen_ai.request.model"])] = point.value
        return spent

    def rows(self) -> list[dict[str, Any]]:
        """What landed."""
        assert self.processor.force_flush()
        ship(self.dsn, deadline=time.monotonic() + 30)
        with open_store(self.dsn) as store:
            return store.query(
                "SELECT request_model, cost_usd, price_version FROM llm_call ORDER BY request_model"
            ).dicts()

    def close(self) -> None:
        """Leave everything as it was."""
        turnspan.uninstrument()
        default.metrics.use(None)
        default.metrics.pricer = None
        default.provider = None
        self.provider.shutdown()
        self.meters.shutdown()


@pytest.fixture
def server() -> Iterator[ModelStub]:
    """The model server."""
    with ModelStub() as stub:
        yield stub


def spend(url: str) -> None:
    """A call of each provider, one answered by a cache and one of an unknown price."""
    with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
    with Anthropic(base_url=url, api_key="none") as claude:
        claude.messages.create(model="claude-opus-4-6", max_tokens=50, messages=MESSAGES)
    with turnspan.inference(provider="openai", model="gpt-4o-mini") as call:
        call.response(text="again", input_tokens=1000, output_tokens=10, cached=True)
    with turnspan.inference(provider="mine", model="of-my-own") as call:
        call.response(text="hello", input_tokens=1000, output_tokens=10)


@pytest.mark.parametrize("sampler", [ALWAYS_ON, ALWAYS_OFF], ids=["sampled", "dropped"])
def test_rows_and_metric_agree(server: ModelStub, embedded_dsn: Dsn, sampler: Sampler) -> None:
    """T-04, T-31: exact decimals with the prices' version; unknown is NULL and counts nowhere."""
    shop = Shop(embedded_dsn, sampler)
    try:
        spend(server.url)

        assert shop.spent() == {
            "gpt-4o": pytest.approx(float(GPT_4O)),
            "claude-opus-4-6": pytest.approx(float(CLAUDE)),
            "gpt-4o-mini": 0,
        }
        if sampler is ALWAYS_ON:
            version = f"genai-prices {genai_prices.__version__}"
            assert [tuple(row.values()) for row in shop.rows()] == [
                ("claude-opus-4-6", CLAUDE, version),
                ("gpt-4o", GPT_4O, version),
                ("gpt-4o-mini", Decimal(0), version),
                ("of-my-own", None, ""),
            ]
    finally:
        shop.close()
