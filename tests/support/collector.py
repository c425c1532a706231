"""The competitor's way into ClickHouse: the collector rotel, and the table that it fills."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from support.clickhouse_server import ClickHouseServer, free_ports
from support.shared import REPOSITORY

OTEL_TRACES = """CREATE TABLE {0}.otel_traces (
  Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)), TraceId String CODEC(ZSTD(1)),
  SpanId String CODEC(ZSTD(1)), ParentSpanId String CODEC(ZSTD(1)),
  TraceState String CODEC(ZSTD(1)), SpanName LowCardinality(String) CODEC(ZSTD(1)),
  SpanKind LowCardinality(String) CODEC(ZSTD(1)),
  ServiceName LowCardinality(String) CODEC(ZSTD(1)),
  ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  ScopeName String CODEC(ZSTD(1)), ScopeVersion String CODEC(ZSTD(1)),
  SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  Duration Int64 CODEC(ZSTD(1)), StatusCode LowCardinality(String) CODEC(ZSTD(1)),
  StatusMessage String CODEC(ZSTD(1)),
  Events Nested (Timestamp DateTime64(9), Name LowCardinality(String),
    Attributes Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
  Links Nested (TraceId String, SpanId String, TraceState String,
    Attributes Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
  INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX idx_res_attr_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_span_attr_value mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_duration Duration TYPE minmax GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))"""
"""The table that the OpenTelemetry collector's ClickHouse exporter makes, and rotel fills."""


@dataclass(frozen=True, slots=True)
class Collector:
    """A running rotel: where it takes OTLP over HTTP, and its process."""

    endpoint: str
    pid: int


@contextmanager
def collector(server: ClickHouseServer, database: str) -> Generator[Collector]:
    """A rotel that writes into the database; it ends with the block, having sent all it has.

    It inserts synchronously: the server under test has no async inserts.
    """
    installed = REPOSITORY / ".venv-throughput"
    found = sorted(installed.glob("lib/python*/site-packages/rotel/rotel-agent"))
    if not found:
        sys.exit("rotel is not installed: run `make bench-throughput`")
    http, grpc = free_ports(2)
    command = [str(found[0]), "start", "--otlp-http-endpoint", f"127.0.0.1:{http}"]
    command += ["--otlp-grpc-endpoint", f"127.0.0.1:{grpc}", "--exporter", "clickhouse"]
    command += ["--clickhouse-exporter-endpoint", f"http://127.0.0.1:{server.http_port}"]
    command += ["--clickhouse-exporter-database", database]
    command += ["--clickhouse-exporter-async-insert", "false"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        endpoint = f"http://127.0.0.1:{http}"
        _wait_for(endpoint)
        yield Collector(endpoint, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(endpoint: str) -> None:
    for _ in range(200):
        try:
            urlopen(endpoint, timeout=1).close()
        except HTTPError:  # it answers
            return
        except (URLError, OSError):
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("rotel does not answer")
