"""Spans a second into one ClickHouse server: Turnspan beside BatchSpanProcessor, OTLP and rotel.

    make bench-throughput          [ARGS='--seconds 60 --rate 20000 --spans 200000']

Every variant runs in a process of its own against the same real server, and what landed is counted
there by SQL. Two questions:

- *sustained*: how many spans a second land when the application waits whenever the queue is half
  full, so that nothing is dropped; and the CPU of application, collector and server for a span.
- *offered*: a fixed rate that waits for nobody. What is landed, what is dropped, how much memory
  the process takes at most, and what ending a span costs the thread that offers it.

A span is one of an HTTP client, with ten attributes and ids of its own, started and ended through
the SDK. Both pipelines have the same queue bound, and BatchSpanProcessor batches of 4,096 instead
of 512, with which it is faster. rotel inserts synchronously: the server under test has no async
inserts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from opentelemetry.sdk.resources import Resource  # noqa: E402
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: E402
from opentelemetry.trace import SpanKind, Tracer  # noqa: E402
from opentelemetry.util.types import AttributeValue  # noqa: E402

from support.clickhouse_server import ClickHouseServer, start_server  # noqa: E402
from turnspan_clickhouse.migrate import migrate  # noqa: E402
from turnspan_clickhouse.stores import open_store  # noqa: E402

QUEUE = 65_536
BATCH = 4_096
VARIANTS = ("turnspan", "otlp")
_TICK = 0.005
_SPAN: dict[str, AttributeValue] = {
    "http.request.method": "POST",
    "url.full": "https://api.openai.com/v1/chat/completions",
    "server.address": "api.openai.com",
    "server.port": 443,
    "http.response.status_code": 200,
    "network.protocol.version": "1.1",
    "user_agent.original": "OpenAI/Python 3.1.0",
    "http.response.body.size": 2_113,
    "app.region": "eu-central-1",
}
_OTEL_TRACES = """CREATE TABLE {0}.otel_traces (
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
class Pipeline:
    """A provider under test: how full its queue is, and how to empty it."""

    provider: TracerProvider
    queued: Callable[[], int]
    finish: Callable[[], dict[str, int]]
    """Land everything and end; returns what was dropped, by reason."""


# -- the offering process --------------------------------------------------------------------------


def _turnspan(store: str) -> Pipeline:
    import turnspan
    from turnspan.lifecycle import processor

    provider = TracerProvider(resource=Resource.create({"service.name": "bench"}))
    turnspan.configure(store=store, tracer_provider=provider, queue_size=QUEUE, batch_size=BATCH)
    records = processor()
    assert records is not None

    def finish() -> dict[str, int]:
        return dict(turnspan.shutdown(timeout=120).dropped)

    return Pipeline(provider, records.queued, finish)


def _otlp(endpoint: str) -> Pipeline:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider = TracerProvider(resource=Resource.create({"service.name": "bench"}))
    batch = BatchSpanProcessor(
        OTLPSpanExporter(f"{endpoint}/v1/traces"),
        max_queue_size=QUEUE,
        max_export_batch_size=BATCH,
    )
    provider.add_span_processor(batch)
    inner: Any = batch._batch_processor  # pyright: ignore[reportPrivateUsage]

    def finish() -> dict[str, int]:
        batch.force_flush(120_000)
        provider.shutdown()
        return {}  # BatchSpanProcessor does not say; the parent counts what is missing

    return Pipeline(provider, lambda: len(inner._queue), finish)


def _bare(_: str) -> Pipeline:
    provider = TracerProvider(resource=Resource.create({"service.name": "bench"}))
    provider.add_span_processor(SpanProcessor())
    return Pipeline(provider, lambda: 0, dict)


_PIPELINES: dict[str, Callable[[str], Pipeline]] = {
    "turnspan": _turnspan,
    "otlp": _otlp,
    "bare": _bare,
}


def _end_one(tracer: Tracer, number: int) -> None:
    attributes: dict[str, AttributeValue] = {**_SPAN, "app.request": f"r-{number}"}
    tracer.start_span("POST", kind=SpanKind.CLIENT, attributes=attributes).end()


def sustained(pipeline: Pipeline, spans: int) -> dict[str, Any]:
    """End this many spans, waiting where the queue is half full."""
    tracer = pipeline.provider.get_tracer("opentelemetry.instrumentation.httpx", "0.60b0")
    for number in range(spans):
        _end_one(tracer, number)
        if not number % 256:
            while pipeline.queued() > QUEUE // 2:
                time.sleep(_TICK)
    return {"offered": spans}


def offered(pipeline: Pipeline, rate: int, seconds: float) -> dict[str, Any]:
    """End ``rate`` spans a second for some seconds, whatever becomes of them."""
    tracer = pipeline.provider.get_tracer("opentelemetry.instrumentation.httpx", "0.60b0")
    number, start = 0, time.perf_counter()
    cpu = time.thread_time()
    while True:
        passed = time.perf_counter() - start
        due = int(min(passed, seconds) * rate)
        while number < due:
            _end_one(tracer, number)
            number += 1
        if passed >= seconds:
            break
        time.sleep(_TICK)
    took = time.perf_counter() - start
    return {
        "offered": number,
        "offering_seconds": took,
        "thread_us": (time.thread_time() - cpu) / number * 1e6,
    }


def _child(options: argparse.Namespace) -> None:
    pipeline = _PIPELINES[options.child](options.target)
    pipeline.provider.get_tracer("warm").start_span("warm").end()
    before, start = _own_cpu(), time.perf_counter()
    if options.rate:
        found = offered(pipeline, options.rate, options.seconds)
    else:
        found = sustained(pipeline, options.spans)
    found["dropped"] = pipeline.finish()
    found["seconds"] = time.perf_counter() - start
    found["cpu"] = _own_cpu() - before
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found), flush=True)


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# -- the parent ------------------------------------------------------------------------------------


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _collector(server: ClickHouseServer, database: str) -> Generator[tuple[str, int]]:
    """A rotel that writes into the database; its endpoint and process id."""
    installed = REPOSITORY / ".venv-throughput"
    found = sorted(installed.glob("lib/python*/site-packages/rotel/rotel-agent"))
    if not found:
        sys.exit("rotel is not installed: run `make bench-throughput`")
    http, grpc = _free_port(), _free_port()
    command = [str(found[0]), "start", "--otlp-http-endpoint", f"127.0.0.1:{http}"]
    command += ["--otlp-grpc-endpoint", f"127.0.0.1:{grpc}", "--exporter", "clickhouse"]
    command += ["--clickhouse-exporter-endpoint", f"http://127.0.0.1:{server.http_port}"]
    command += ["--clickhouse-exporter-database", database]
    command += ["--clickhouse-exporter-async-insert", "false"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", http)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{http}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def _landed(count: Callable[[], int], wanted: int) -> tuple[int, float]:
    """What has landed once it no longer grows, and the seconds that it grew."""
    start = last = time.perf_counter()
    known = count()
    while known < wanted and time.perf_counter() - last < 3:
        time.sleep(0.05)
        now = count()
        if now != known:
            known, last = now, time.perf_counter()
    return known, last - start


def _run(server: ClickHouseServer, variant: str, number: int, arguments: list[str]) -> Any:
    """One variant in a process of its own; what it said, and what landed."""
    database = f"bench_{variant}_{number}"
    engine = server._engine  # pyright: ignore[reportPrivateUsage]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "HOME": folder}
        command = [sys.executable, __file__, "--child", variant, *arguments]

        def child(target: str) -> Any:
            run = subprocess.run(
                [*command, "--target", target], check=True, env=environment, stdout=subprocess.PIPE
            )
            return json.loads(run.stdout)

        before, collector = _cpu_of(engine), 0.0
        if variant == "turnspan":
            with open_store(server.dsn(database)) as store:
                migrate(store)
            found = child(server.url(database))
            table, name = f"{database}.span", "name"
            landed, more = _landed(lambda: _rows(server, table, name), found["offered"])
        elif variant == "otlp":
            server.run(f"CREATE DATABASE {database}")
            server.run(_OTEL_TRACES.format(database))
            with _collector(server, database) as (endpoint, pid):
                start = _cpu_of(pid)
                found = child(endpoint)
                table, name = f"{database}.otel_traces", "SpanName"
                landed, more = _landed(lambda: _rows(server, table, name), found["offered"])
                collector = _cpu_of(pid) - start
        else:
            return child("")
        found["landed"] = landed
        found["seconds"] += more
        found["cpu_collector"] = collector
        found["cpu_server"] = _cpu_of(engine) - before
    return found


def _rows(server: ClickHouseServer, table: str, name: str) -> int:
    return int(server.run(f"SELECT count() FROM {table} WHERE {name} = 'POST'").strip() or 0)


def main() -> None:
    """Run both questions and print their tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--spans", type=int, default=200_000)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("sustained", "offered"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--target", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(options)
        return
    with tempfile.TemporaryDirectory() as home:
        server = start_server(Path(home))
        try:
            if options.only != "offered":
                _print_sustained(server, options)
            if options.only != "sustained":
                _print_offered(server, options)
        finally:
            server.stop()


def _print_sustained(server: ClickHouseServer, options: argparse.Namespace) -> None:
    print(f"{options.spans:,} spans, sustained: best of {options.repeats} interleaved runs")
    print("                 spans/s   us of CPU a span: application  collector     server   landed")
    best: dict[str, Any] = {}
    for number in range(options.repeats):
        for variant in VARIANTS:
            found = _run(server, variant, number, ["--rate", "0", "--spans", str(options.spans)])
            if variant not in best or found["seconds"] < best[variant]["seconds"]:
                best[variant] = found
    for variant, found in best.items():
        n = max(1, found["landed"])
        print(
            f"  {variant:12} {found['landed'] / found['seconds']:10,.0f}"
            f" {found['cpu'] / n * 1e6:31.1f} {found['cpu_collector'] / n * 1e6:10.1f}"
            f" {found['cpu_server'] / n * 1e6:10.1f} {found['landed']:8,}"
        )


def _print_offered(server: ClickHouseServer, options: argparse.Namespace) -> None:
    print(f"{options.rate:,} spans/s offered for {options.seconds:.0f} s, queue {QUEUE:,}")
    print("                 offered   a second     landed    dropped   peak MB   thread us/span")
    for variant in ("bare", *VARIANTS):
        arguments = ["--rate", str(options.rate), "--seconds", str(options.seconds)]
        found = _run(server, variant, 99, arguments)
        landed = found.get("landed", 0)
        lost = found["offered"] - landed if variant != "bare" else 0
        print(
            f"  {variant:12} {found['offered']:10,}"
            f" {found['offered'] / found['offering_seconds']:10,.0f} {landed:10,} {lost:10,}"
            f" {found['peak_mb']:9.0f} {found['thread_us']:16.1f}"
            f"   {found['dropped'] or ''}"
        )


if __name__ == "__main__":
    main()
