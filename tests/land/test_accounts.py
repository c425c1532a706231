"""One count of what became of the rows: flush, status, doctor, the log and the metrics agree."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from click.testing import CliRunner
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import turnspan
from land.spooling import calls, largest_file
from support.faulty_proxy import Fault, faulty_proxy
from turnspan import semconv
from turnspan.runtime.stats import PipelineStats
from turnspan.tracing.state import default
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship import unwritten
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_console.cli import turnspan as cli


@pytest.fixture
def reader() -> Iterator[InMemoryMetricReader]:
    """What an application's metrics exporter would read."""
    made = InMemoryMetricReader()
    default.metrics.use(MeterProvider([made]))
    yield made
    default.metrics.use(None)


def by_metrics(reader: InMemoryMetricReader) -> PipelineStats:
    """The figures as the metrics have them."""
    found: dict[str, int] = {}
    dropped: dict[str, int] = {}
    data = reader.get_metrics_data()
    assert data is not None
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            value = int(getattr(point, "value", 0))
            if metric.name == semconv.METRIC_DROPPED:
                dropped[str((point.attributes or {})[semconv.DROP_REASON])] = value
            else:
                found[metric.name] = value
    return PipelineStats(
        found[semconv.METRIC_QUEUED],
        found[semconv.METRIC_SPOOLED],
        found[semconv.METRIC_SHIPPED],
        found[semconv.METRIC_REJECTED],
        dropped,
    )


def by_status(dsn: Dsn) -> PipelineStats:
    """The figures as ``turnspan status`` has them, as figures and in its words."""
    done = CliRunner().invoke(cli, ["status", "--format", "json", "--store", str(dsn)])
    spool = json.loads(done.stdout)["spool"]
    told = PipelineStats(
        spool["queued_spans"],
        spool["spooled_rows"],
        sum(spool["shipped_rows"].values()),
        spool["rejected_rows"],
        spool["dropped_rows"],
    )
    assert spool["account"] == str(told)
    return told


def by_doctor(dsn: Dsn) -> str:
    """The figures in the words of ``turnspan doctor``."""
    done = CliRunner().invoke(cli, ["doctor", "--format", "json", "--store", str(dsn)])
    (check,) = [
        c for c in json.loads(done.stdout) if (c["area"], c["name"]) == ("spool", "account")
    ]
    return str(check["finding"])


@pytest.mark.with_schema
def test_everybody_says_the_same(
    server_dsn: Dsn,
    reader: InMemoryMetricReader,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some rows have landed, some wait, some were refused, some were dropped at the limit."""
    monkeypatch.setattr(unwritten, "ROOM_BYTES", 0)
    with faulty_proxy(server_dsn.port) as proxy:
        way = replace(server_dsn, port=proxy.port)
        turnspan.configure(service_name="s", store=str(way), flush_interval=0.05)
        try:
            with turnspan.agent("landed"), turnspan.tool("t"):
                pass
            assert turnspan.flush().ok
            landed = by_status(server_dsn)
            assert landed.shipped > 0
            assert turnspan.flush().accounts == by_metrics(reader) == landed

            cut = encode_block(LlmCall, calls(0, 3))[:-9]
            other = SpoolWriter(Spool(server_dsn.spool))
            other.write("llm_call", SCHEMA_VERSION, cut)
            other.close()
            turnspan.flush()
            with largest_file(100):
                with turnspan.tool("lost"):
                    pass
                assert not turnspan.flush().ok
            proxy.fault = Fault.STATUS_500
            with turnspan.agent("waits"), turnspan.tool("t"):
                pass
            flushed = turnspan.flush()
            assert not flushed.ok
            told = flushed.accounts
            assert (told.queued, told.shipped, told.rejected) == (0, landed.shipped, 3)
            assert told.spooled > 0
            assert dict(told.dropped) == {"spool_failed:tool_call": 1, "spool_failed:span": 1}
            assert by_metrics(reader) == told
            assert by_status(server_dsn) == told
            assert by_doctor(server_dsn) == str(told)
        finally:
            with caplog.at_level(logging.WARNING, "turnspan"):
                caplog.clear()
                turnspan.shutdown(timeout=1)
    (line,) = [
        r.getMessage() for r in caplog.records if "has not landed everything" in r.getMessage()
    ]
    assert line == f"Turnspan has not landed everything: {told}."
