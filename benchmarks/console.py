"""What the screens of a session cost: its outline, what changed between two calls, a request.

    python benchmarks/console.py

Sessions of 500, 1,250, 2,500 and 5,000 calls in an embedded store, each call with its whole history
and a tool. CPU time of the process, the engine's threads included: medians of five, in turns.
Beside it the bytes that travel, and how much memory an outline takes at its most.
"""

from __future__ import annotations

import gc
import gzip
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.landing import insert
from support.rows import PROJECT, answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.web.endpoints import written
from turnspan_records.replay import replay
from turnspan_records.screens.difference import diff
from turnspan_records.screens.outline import outline
from turnspan_records.screens.request import exact_request

TIMES = 5
SESSIONS = {
    "s500": (500, 1_500),
    "s1250": (1_250, 200),
    "s2500": (2_500, 200),
    "s5000": (5_000, 200),
}
"""Calls, and words of a tool's result: 5 MB of distinct text in the first."""
_WORDS = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8").split()
_BLOCK = 4_000


def main() -> None:
    """Print every figure."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(Dsn("chdb", path=Path(folder) / "store")) as store,
    ):
        migrate(store)
        for name, (calls, words) in SESSIONS.items():
            fill(store, name, calls, words)
        gc.collect()
        print("session      outline   replay  diff of two  request      bytes  gzipped   memory")
        for name, (calls, _) in SESSIONS.items():
            print(measured(store, name, calls), flush=True)


def fill(store: Store, name: str, calls: int, words: int) -> None:
    """Land a session in which every call sends all that was said before."""
    chosen = random.Random(1)
    rows: list[Record] = []
    talk: list[bytes] = []
    for at in range(calls):
        turn_id = f"{name}{at - at % 20:011x}"
        if at % 20 == 0:
            rows.append(turn(turn_id, at, session_id=name))
            new = message("user", said(_text(chosen, at, 40)), scope=name)
        else:
            result = answered(f"c{at - 1}", _text(chosen, at, words))
            new = message("tool", result, scope=name)
        asks = asked(f"c{at}", "search", q=chosen.choice(_WORDS))
        reply = message("assistant", said(_text(chosen, at, 20)), asks, scope=name)
        talk = [*talk, new.hash]
        here: dict[str, Any] = {"session_id": name, "turn_id": turn_id}
        rows += [new, reply]
        rows.append(call(span(name, at), at + 0.3, **here, input_messages=talk, input_tokens=100,
                         output_messages=[reply.hash], cost_usd=Decimal("0.001"),
                         request_parameters='{"model":"m"}'))  # fmt: skip
        rows.append(tool(f"{name}t{at:010x}", at + 0.6, **here, name="search", call_id=f"c{at}",
                         arguments='{"q":"x"}', result="r" * 200))  # fmt: skip
        talk = [*talk, reply.hash]
        if len(rows) >= _BLOCK:
            insert(store, *rows)
            rows = []
    insert(store, *rows)


def _text(chosen: random.Random, at: int, words: int) -> str:
    return f"{at} " + " ".join(chosen.choices(_WORDS, k=words))


def span(name: str, at: int) -> str:
    """The span of a session's call."""
    return f"{name}c{at:010x}"


def measured(store: Store, name: str, calls: int) -> str:
    """A line of the table."""
    last, before = span(name, calls - 1), span(name, calls - 20)
    asked_of: tuple[Callable[[], object], ...] = (
        lambda: outline(store, PROJECT, name),
        lambda: replay(store, PROJECT, name),
        lambda: diff(store, PROJECT, before, last),
        lambda: exact_request(store, PROJECT, last),
    )
    times: list[list[float]] = [[] for _ in asked_of]
    for _ in range(TIMES):
        for taken, ask in zip(times, asked_of, strict=True):
            begun = time.process_time()
            ask()
            taken.append(time.process_time() - begun)
    tracemalloc.start()
    wire = written(outline(store, PROJECT, name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cpu = "  ".join(f"{median(taken) * 1e3:7.0f} ms" for taken in times)
    packed = len(gzip.compress(wire, 6))
    return f"{calls:>5} calls {cpu}  {len(wire):>9,}  {packed:>7,}  {peak / 2**20:4.0f} MiB"


if __name__ == "__main__":
    main()
