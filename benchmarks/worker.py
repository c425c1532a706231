"""What a finished span costs the worker: CPU from ``span.end()`` to the row in ClickHouse.

    make bench ARGS=worker        (or: python benchmarks/worker.py [--repeats 15] [--json])

The load is recorded agents, played once through the real SDKs and decorators. Every repeat gives it
anew to a fresh exporter's parts, in batches, and adds up the thread's CPU time by stage:
*normalise* (convert, redact, hash, price, find what is new) by kind of span, *encode* and *spool*
by table, *ship* by the shipper against a real ClickHouse server (its CPU here, not the server's).
Every span has its row in ``span`` too, which is counted with it. Beside it the OTLP encoding of the
same spans, without and with their content as attributes.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "examples")]

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans  # noqa: E402
from opentelemetry.sdk.trace import ReadableSpan  # noqa: E402

from support.clickhouse_server import ClickHouseServer, start_server  # noqa: E402
from support.recorded import (  # noqa: E402
    Ended,
    Recorded,
    hand_over,
    plain_spans,
    record,
    with_content,
)
from turnspan import semconv  # noqa: E402
from turnspan.tracing.content_store import Content, ContentStore, InferenceContent  # noqa: E402
from turnspan.turn.turn import TokenUsage  # noqa: E402
from turnspan_clickhouse.normalise.normaliser import Normaliser  # noqa: E402
from turnspan_clickhouse.pricing.prices import price_of_call  # noqa: E402
from turnspan_clickhouse.rows.batch import Batch, Clock  # noqa: E402
from turnspan_clickhouse.rows.native_encoder import encode_rows  # noqa: E402
from turnspan_clickhouse.rows.tables import RECORDS  # noqa: E402
from turnspan_clickhouse.ship.shipper import Shipper  # noqa: E402
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter  # noqa: E402
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate  # noqa: E402
from turnspan_clickhouse.store.opening import open_store  # noqa: E402

BATCH = 4_096
CALL, TOOL, TURN, PLAIN, MIX = "model call", "tool call", "turn", "plain span", "mix"
_KINDS = {
    semconv.OP_CHAT: CALL,
    semconv.OP_EXECUTE_TOOL: TOOL,
    semconv.OP_INVOKE_AGENT: TURN,
}
clock = time.thread_time

Load = Sequence[tuple[Sequence[Ended], Sequence[Content | None]]]


@dataclass(slots=True)
class Pass:
    """One pass over a load: CPU seconds by stage, and how many of what."""

    normalise: Counter[str] = field(default_factory=Counter[str])
    """ns by kind of span."""
    spans: Counter[str] = field(default_factory=Counter[str])
    encode: Counter[str] = field(default_factory=Counter[str])
    """ns by table."""
    rows: Counter[str] = field(default_factory=Counter[str])
    spool: int = 0
    ship: int = 0

    def figures(self) -> dict[str, float]:
        """Microseconds of one span (normalise) and of one row (the rest)."""
        every = sum(self.rows.values())
        found = {f"normalise {k}": t / self.spans[k] / 1e3 for k, t in self.normalise.items()}
        found |= {f"encode {k}": t / self.rows[k] / 1e3 for k, t in self.encode.items()}
        found["spool"], found["ship"] = self.spool / every / 1e3, self.ship / every / 1e3
        return found


def kind_of(span: ReadableSpan) -> str:
    """What a span is of."""
    return _KINDS.get(str((span.attributes or {}).get(semconv.OPERATION_NAME)), PLAIN)


class Worker:
    """The exporter's parts, with a stopwatch between them."""

    def __init__(self, folder: Path, server: ClickHouseServer, *, whole: bool = False) -> None:
        self._whole = whole
        self._ledger = ContentStore()
        self._ledger.attach()
        self._normaliser = Normaliser(self._ledger)
        self._spool = Spool(folder)
        self._writer = SpoolWriter(self._spool)
        self._clock = Clock()
        self._dsn = server.dsn("worker")

    def run(self, load: Load) -> Pass:
        """All stages of a load."""
        found = Pass()
        for ended, contents in load:
            hand_over(ended, contents, self._ledger)
            self._ledger.take_facts()
            batch = Batch(self._writer.token, self._clock.now())
            self._normalise(ended, batch, found)
            self._write(batch, found)
        with open_store(self._dsn) as store:
            before = clock()
            result = Shipper(lambda: nullcontext(store), self._spool).run()
            found.ship = _since(before)
            assert result.ok, result
        return found

    def _normalise(self, ended: Sequence[Ended], batch: Batch, found: Pass) -> None:
        """As the exporter does it: whole batches, or runs of one kind, so that each has its time
        (what a batch gains by doing one step for many spans is lost then)."""

        def kind_by(each: Ended) -> str:
            return MIX if self._whole else kind_of(each.span)

        for kind, group in groupby(ended, key=kind_by):
            spans = [each.span for each in group]
            before = clock()
            failed = self._normaliser.spans(spans, batch)
            found.normalise[kind] += _since(before)
            found.spans[kind] += len(spans)
            assert not failed, failed
        self._normaliser.finish(batch)

    def _write(self, batch: Batch, found: Pass) -> None:
        for record_class in RECORDS:
            rows, table = batch.rows.get(record_class), record_class.table
            if not rows:
                continue
            before = clock()
            block, rejected = encode_rows(record_class, rows)
            found.encode[table] += _since(before)
            found.rows[table] += len(rows)
            assert not rejected, rejected
            before = clock()
            self._writer.write(table, SCHEMA_VERSION, block)
            found.spool += _since(before)


def _since(before: float) -> int:
    return round((clock() - before) * 1e9)


def again(load: Load) -> Load:
    """The same calls once more; their histories and replies have landed."""
    return [(ended, [_anew(content) for content in contents]) for ended, contents in load]


def _anew(content: Content | None) -> Content | None:
    if isinstance(content, InferenceContent):
        return InferenceContent(content.dialect, content.request, content.response, content.turn)
    return content


def otlp(recorded: Recorded, plain: Recorded) -> dict[str, float]:
    """Microseconds to encode a span of each kind as OTLP, without and with its content."""
    by: dict[str, list[tuple[ReadableSpan, Content | None]]] = defaultdict(list)
    for each, content in zip(recorded.ended, recorded.contents(), strict=True):
        by[kind_of(each.span)].append((each.span, content))
    by[PLAIN] = [(each.span, None) for each in plain.ended]
    by[MIX] = [pair for kind, pairs in by.items() if kind != PLAIN for pair in pairs]
    found: dict[str, float] = {}
    for kind, pairs in by.items():
        found[f"otlp {kind}"] = _encoding([span for span, _ in pairs])
        full = [with_content(span, content) for span, content in pairs]
        found[f"otlp with content {kind}"] = _encoding(full)
    return found


def _encoding(spans: Sequence[ReadableSpan]) -> float:
    before = clock()
    for start in range(0, len(spans), 512):
        encode_spans(spans[start : start + 512]).SerializeToString()
    return (clock() - before) / len(spans) * 1e6


def measure(recorded: Recorded, plain: Recorded, server: ClickHouseServer) -> dict[str, float]:
    """One repeat: every figure by name."""
    gc.collect()
    gc.freeze()  # the load itself is the application's, not the worker's to scan
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(Path(folder), server)
        first = list(recorded.batches(BATCH))
        figures = worker.run(first).figures()
        known = worker.run(again(first)).figures()
        figures |= {f"landed {name}": value for name, value in known.items()}
        others = worker.run(list(plain.batches(BATCH))).figures()
        figures |= {f"plain {name}": value for name, value in others.items()}
    with tempfile.TemporaryDirectory() as folder:
        batches = list(recorded.batches(BATCH))
        mix = Worker(Path(folder), server, whole=True).run(batches)
        spans, rows = mix.spans[MIX], sum(mix.rows.values())
        figures |= {f"mix {name}": value for name, value in mix.figures().items()}
        figures["mix encode"] = sum(mix.encode.values()) / spans / 1e3
        figures["mix rows"] = rows / spans
    return figures | otlp(recorded, plain)


def table(figures: dict[str, float], messages: float) -> list[tuple[str, list[float]]]:
    """Normalise, encode, spool, ship, all of it, OTLP without and with content, by record."""

    def row(prefix: str, kind: str, tables: dict[str, float]) -> list[float]:
        rows = sum(tables.values())
        stages = [
            figures[f"{prefix}normalise {kind}"],
            sum(n * figures.get(f"{prefix}encode {t}", 0.0) for t, n in tables.items()),
            rows * figures[f"{prefix}spool"],
            rows * figures[f"{prefix}ship"],
        ]
        return [
            *stages,
            sum(stages),
            figures[f"otlp {kind}"],
            figures[f"otlp with content {kind}"],
        ]

    rows = figures["mix rows"]
    stages = [figures[f"mix normalise {MIX}"], figures["mix encode"]]
    stages += [rows * figures["mix spool"], rows * figures["mix ship"]]
    mix = [*stages, sum(stages), figures[f"otlp {MIX}"], figures[f"otlp with content {MIX}"]]
    call = {"llm_call": 1.0, "span": 1.0}
    new = f"model call with {messages:.1f} new messages"
    return [
        ("model call, its messages landed", row("landed ", CALL, call)),
        (new, row("", CALL, {**call, "message": messages})),
        ("tool call", row("", TOOL, {"tool_call": 1.0, "span": 1.0})),
        ("turn", row("", TURN, {"turn_summary": 1.0, "span": 1.0})),
        ("plain span", row("plain ", PLAIN, {"span": 1.0})),
        (f"a span of the mix, {rows:.1f} rows", mix),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--runs", type=int, default=60, help="recorded runs to play")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    recorded, name = record(options.runs)
    plain = Recorded([Ended(span, None) for span in plain_spans(2_000)])
    kinds = Counter(kind_of(each.span) for each in recorded.ended)
    asked = {semconv.PROVIDER_NAME: "openai", semconv.REQUEST_MODEL: "gpt-4o"}
    price_of_call(asked, TokenUsage(1, 1), time.time_ns())  # loads the price data, once
    with tempfile.TemporaryDirectory() as home:
        server = start_server(Path(home))
        try:
            with open_store(server.dsn("worker")) as store:
                migrate(store)
            repeats = [measure(recorded, plain, server) for _ in range(options.repeats)]
            messages = int(server.run("SELECT count() FROM worker.message FINAL"))
        finally:
            server.stop()
    figures = {key: statistics.median(r[key] for r in repeats) for key in repeats[0]}
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{name}: {dict(kinds)}; us of CPU, median of {options.repeats}")
    head = ("normalise", "encode", "spool", "ship", "all", "OTLP", "+ content")
    print(" " * 36 + "".join(f"{title:>10}" for title in head))
    for label, values in table(figures, messages / kinds[CALL]):
        print(f"{label:36}" + "".join(f"{value:10.1f}" for value in values))


if __name__ == "__main__":
    main()
