"""What the sandbox adds to a query: milliseconds, on the embedded store and on a server.

    python benchmarks/sandbox.py

The same statements with and without it, in turns; medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.clickhouse_server import start_server
from support.landing import insert
from support.story import story
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.control_characters import visible
from turnspan_records.access.window import EARLIEST, LATEST, as_parameter
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import Sandbox

ROUNDS = 100
STATEMENTS = {
    "small": "SELECT stop_reason, count() FROM turn_summary GROUP BY 1",
    "early_stops": diagnostics()["early_stops"].sql,
}
PARAMETERS = {
    "project": "", "since": as_parameter(EARLIEST), "until": as_parameter(LATEST), "limit": 5,
}  # fmt: skip


def timed(run: Callable[..., object], *arguments: object) -> float:
    """Milliseconds of one run."""
    begun = time.perf_counter()
    run(*arguments)
    return (time.perf_counter() - begun) * 1e3


def measure(name: str, dsn: Dsn) -> None:
    """Print a line for each statement, and what opening the sandbox takes."""
    with open_store(dsn) as store:
        migrate(store)
        insert(store, *story())
        opening = [timed(lambda: Sandbox(store).query("SELECT 1")) for _ in range(5)]
        with Sandbox(store) as sandbox:
            for what, sql in STATEMENTS.items():
                plain: list[float] = []
                guarded: list[float] = []
                for _ in range(ROUNDS):
                    plain.append(timed(store.query, sql, PARAMETERS))
                    guarded.append(timed(sandbox.query, sql, PARAMETERS))
                one, two = statistics.median(plain), statistics.median(guarded)
                print(f"{name:9} {what:16} {one:6.1f} ms plain {two:6.1f} ms in the sandbox")
        print(f"{name:9} {'the first query':16} {statistics.median(opening):6.1f} ms")


def marks() -> None:
    """Print how fast texts are looked through before they are printed."""
    for what, text in (("ASCII", "x = 1 " * 2**17), ("lines", "a line of text\n" * 2**16),
                       ("Greek", "\u03b1\u03b2\u03b3 " * 2**18)):  # fmt: skip
        took = statistics.median(timed(visible, text) for _ in range(5))
        print(f"marks     {what:16} {len(text) / took / 1e3:6.0f} million characters a second")


def main() -> None:
    """Run all of it."""
    with tempfile.TemporaryDirectory() as folder:
        measure("embedded", Dsn(scheme="chdb", path=Path(folder) / "store"))
        server = start_server(Path(folder))
        try:
            measure("server", server.dsn("sandbox"))
        finally:
            server.kill()
    marks()


if __name__ == "__main__":
    main()
