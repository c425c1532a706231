"""Spans a second into one ClickHouse server: Turnspan beside BatchSpanProcessor, OTLP and rotel.

    make bench-throughput          [ARGS='--only recorded --repeats 5']

Every variant runs in a process of its own against the same real server, and what landed is counted
there by SQL. Three questions:

- *recorded*: finished spans of recorded agents, with all that the models saw and said, handed to
  the span processor as fast as it takes them: how many a second land, the CPU of application,
  collector and server for one, and the bytes that travel. Every replay has ids of its own.
- *sustained*: the same of spans of an HTTP client with ten attributes, started and ended through
  the SDK, whose cost counts.
- *offered*: such spans at a fixed rate that waits for nobody. What is landed, what is dropped, how
  much memory the process takes at most, and what ending a span costs the thread that offers it.

The application waits where the queue is half full, except when it offers a rate. Both pipelines
have the same queue bound; BatchSpanProcessor has the batches with which it was fastest, 4,096 small
spans, 512 with content. rotel inserts synchronously: the server under test has no async inserts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "examples")]

from support import offering  # noqa: E402
from support.clickhouse_server import ClickHouseServer, start_server  # noqa: E402
from support.collector import OTEL_TRACES, collector  # noqa: E402
from support.recorded import EVERY, record  # noqa: E402
from turnspan_clickhouse.store.migrations import migrate  # noqa: E402
from turnspan_clickhouse.store.opening import open_store  # noqa: E402

VARIANTS = ("turnspan", "otlp")
BATCH, BATCH_RECORDED = 4_096, 512

Found = dict[str, Any]


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _received(server: ClickHouseServer) -> int:
    """Bytes that the server has read from its clients' connections."""
    sql = "SELECT sum(value) FROM system.events WHERE event = 'NetworkReceiveBytes'"
    return int(server.run(sql))


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


def _run(server: ClickHouseServer, variant: str, number: int, arguments: Sequence[str]) -> Found:
    """One variant in a process of its own; what it said, and what landed."""
    database = f"bench_{variant}_{number}"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "HOME": folder}

        def child(target: str) -> Found:
            command = [sys.executable, offering.__file__, variant, target, *arguments]
            run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
            return dict(json.loads(run.stdout))

        def counted(target: str, table: str, name: str) -> Found:
            sql = f"SELECT count() FROM {database}.{table} WHERE {name} != 'warm'"
            before, read = _cpu_of(server.engine), _received(server)
            found = child(target)
            found["landed"], more = _landed(lambda: int(server.run(sql)), found["offered"])
            found["seconds"] += more
            found["cpu_server"] = _cpu_of(server.engine) - before
            found["received"] = _received(server) - read
            return found

        if variant == "turnspan":
            with open_store(server.dsn(database)) as store:
                migrate(store)
            found = counted(server.url(database), "span", "name")
            return {**found, "cpu_collector": 0.0, "sent": found["received"]}
        if variant == "otlp":
            server.run(f"CREATE DATABASE {database}")
            server.run(OTEL_TRACES.format(database))
            with collector(server, database) as rotel:
                found = counted(rotel.endpoint, "otel_traces", "SpanName")
                return {**found, "cpu_collector": _cpu_of(rotel.pid)}
        return child("")


def _clean(server: ClickHouseServer, variant: str, number: int) -> None:
    """What one run has left behind is not for the next one's server to merge."""
    server.run(f"DROP DATABASE IF EXISTS bench_{variant}_{number} SYNC")


def _print_rates(server: ClickHouseServer, repeats: int, arguments: Sequence[str]) -> None:
    print(f"medians of {repeats} interleaved runs")
    print("                 spans/s   us of CPU a span: application  collector     server", end="")
    print("   bytes a span: sent  received   landed of offered")
    found: dict[str, list[Found]] = {variant: [] for variant in VARIANTS}
    for number in range(repeats):
        for variant in VARIANTS:
            found[variant].append(_run(server, variant, number, arguments))
            _clean(server, variant, number)
    for variant, runs in found.items():
        rate = statistics.median(run["landed"] / run["seconds"] for run in runs)
        landed = sum(run["landed"] for run in runs)
        print(
            f"  {variant:12} {rate:10,.0f} {_a_span(runs, 'cpu', 1e6):31.1f}"
            f" {_a_span(runs, 'cpu_collector', 1e6):10.1f} {_a_span(runs, 'cpu_server', 1e6):10.1f}"
            f" {_a_span(runs, 'sent', 1):20,.0f} {_a_span(runs, 'received', 1):9,.0f}"
            f"   {landed:,} of {sum(run['offered'] for run in runs):,}"
        )


def _a_span(runs: Sequence[Found], name: str, unit: float) -> float:
    """The median of a figure for one span that landed."""
    return float(statistics.median(run[name] * unit / max(run["landed"], 1) for run in runs))


def _print_offered(server: ClickHouseServer, options: argparse.Namespace) -> None:
    print(f"{options.rate:,} spans/s offered for {options.seconds:.0f} s", end="")
    print(f", queue {offering.QUEUE:,}")
    print("                 offered   a second     landed    dropped   peak MB   thread us/span")
    for variant in ("bare", *VARIANTS):
        arguments = ["--rate", str(options.rate), "--seconds", str(options.seconds)]
        found = _run(server, variant, 99, [*arguments, "--batch", str(BATCH)])
        _clean(server, variant, 99)
        landed = found.get("landed", 0)
        lost = found["offered"] - landed if variant != "bare" else 0
        print(
            f"  {variant:12} {found['offered']:10,}"
            f" {found['offered'] / found['offering_seconds']:10,.0f} {landed:10,} {lost:10,}"
            f" {found['peak_mb']:9.0f} {found['thread_us']:16.1f}"
            f"   {found['dropped'] or ''}"
        )


def _print_recorded(server: ClickHouseServer, options: argparse.Namespace, file: Path) -> None:
    if not file.exists():
        recorded, name = record(options.runs, EVERY)
        recorded.save(file)
        print(
            f"{name}: {len(recorded.ended):,} spans of at most {options.runs} runs a file and SDK"
        )
    arguments = ["--recorded", str(file), "--replays", str(options.replays)]
    print(f"recorded agents, replayed {options.replays} times: ", end="")
    _print_rates(server, options.repeats, [*arguments, "--batch", str(options.batch)])


def main() -> None:
    """Run the questions and print their tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=("recorded", "sustained", "offered"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10, help="recorded runs of a file and SDK")
    parser.add_argument("--replays", type=int, default=4, help="of the recorded runs")
    parser.add_argument("--load", type=Path, help="file that keeps the recorded spans")
    parser.add_argument("--batch", type=int, default=BATCH_RECORDED, help="of OTLP with content")
    parser.add_argument("--spans", type=int, default=200_000, help="of an HTTP client, sustained")
    parser.add_argument("--rate", type=int, default=20_000, help="offered, spans a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="of offering that rate")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = start_server(Path(home))
        try:
            if options.only in (None, "recorded"):
                _print_recorded(server, options, options.load or Path(home) / "recorded.pickle")
            if options.only in (None, "sustained"):
                print(f"{options.spans:,} spans of an HTTP client: ", end="")
                arguments = ["--spans", str(options.spans), "--batch", str(BATCH)]
                _print_rates(server, options.repeats, arguments)
            if options.only in (None, "offered"):
                _print_offered(server, options)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
