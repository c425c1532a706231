"""Bytes on disk and over the wire for the same real runs, beside ``otel_traces``.

    python benchmarks/generate.py FOLDER
    python benchmarks/size.py FOLDER

On disk: every table merged, both with ZSTD. What ``otel_traces`` needs depends on how many sessions
run at the same time, because it lies in the order of time: calls of one session that lie close
together compress against each other, those of many sessions do not. So the same spans are laid out
as if the runs had begun within 4 hours, an hour and a minute; ours lie by session and stay as they
are. Over the wire: the bodies of our inserts (Native, compressed as the shipper compresses them)
and of OTLP (protobuf, gzip, 512 spans a request, as BatchSpanProcessor sends them).
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.zstd import compressed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore.real import REAL, merge, server

SPREADS = ((14_400, "4 hours"), (3_600, "an hour"), (60, "a minute"))
STRETCH = 300
BATCH = 512


def on_disk(store: Store) -> dict[str, int]:
    """Bytes of every table, indexes included."""
    rows = store.query(
        "SELECT table, sum(bytes_on_disk) FROM system.parts"
        " WHERE active AND database = currentDatabase() GROUP BY table"
    )
    return {str(table): int(size) for table, size in rows.rows}


def spread(store: Store, seconds: int) -> int:
    """Bytes of ``otel_traces`` if the sessions had begun within so many seconds."""
    session = "SpanAttributes['gen_ai.conversation.id']"
    store.command("DROP TABLE IF EXISTS otel_spread SYNC")
    store.command("CREATE TABLE otel_spread AS otel_traces")
    store.command(
        "INSERT INTO otel_spread SELECT * EXCEPT (began) REPLACE ("
        "toDateTime64('2026-10-05 10:00:00', 9, 'UTC')"
        f" + toIntervalNanosecond(sipHash64({session}) % {seconds * 10**9}"
        f" + {STRETCH} * (toUnixTimestamp64Nano(Timestamp) - toUnixTimestamp64Nano(began)))"
        " AS Timestamp)"
        f" FROM (SELECT *, min(Timestamp) OVER (PARTITION BY {session}) AS began FROM otel_traces)"
    )
    store.command("OPTIMIZE TABLE otel_spread FINAL")
    size = on_disk(store)["otel_spread"]
    store.command("DROP TABLE otel_spread SYNC")
    return size


def segments(spool: Path) -> int:
    """Bytes of the inserts that shipped the recorded runs."""
    return sum(len(compressed(path.read_bytes())[0]) for path in spool.rglob("*.native"))


def otlp(store: Store) -> int:
    """Bytes of the same spans as gzipped OTLP requests, in the order they ended."""
    rows = store.query(
        "SELECT * FROM otel_traces ORDER BY Timestamp + toIntervalNanosecond(Duration)",
        settings={"final": 0},
    ).dicts()
    return sum(len(gzip.compress(request, 6)) for request in _requests(rows))


def _requests(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    for at in range(0, len(rows), BATCH):
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        resource.resource.attributes.extend(_pairs(rows[at]["ResourceAttributes"]))
        scoped = resource.scope_spans.add()
        for row in rows[at : at + BATCH]:
            begin = int(row["Timestamp"].timestamp() * 1e9)
            scoped.spans.add(
                trace_id=bytes.fromhex(row["TraceId"]),
                span_id=bytes.fromhex(row["SpanId"]),
                parent_span_id=bytes.fromhex(row["ParentSpanId"]),
                name=row["SpanName"],
                start_time_unix_nano=begin,
                end_time_unix_nano=begin + row["Duration"],
                attributes=_pairs(row["SpanAttributes"]),
            )
        yield request.SerializeToString()


def _pairs(attributes: dict[str, str]) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path, nargs="?", default=Path(".tools/bench"))
    home: Path = parser.parse_args().home
    with server(home / "server") as running, open_store(running.dsn(REAL)) as store:
        merge(store)
        measure(store, home / "recorded" / "spool")


def measure(store: Store, spool: Path) -> None:
    """Measure a merged store of real runs and the spool it came from."""
    sizes = on_disk(store)
    ours = sum(sizes.get(record.table, 0) for record in RECORDS)
    for record in RECORDS:
        print(f"{record.table:14} {sizes.get(record.table, 0):12,}")
    print(f"{'all records':14} {ours:12,}")
    print(f"otel_traces, as played: {sizes['otel_traces']:,} ({sizes['otel_traces'] / ours:.1f}x)")
    for seconds, name in SPREADS:
        theirs = spread(store, seconds)
        print(f"otel_traces, begun within {name}: {theirs:,} ({theirs / ours:.1f}x)")
    sent, otlp_bytes = segments(spool), otlp(store)
    print(f"wire: {sent:,} against {otlp_bytes:,} OTLP ({otlp_bytes / sent:.1f}x)")


if __name__ == "__main__":
    main()
