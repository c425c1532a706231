"""How long an embedded store takes to change hands, and what each opening leaves in a process.

    python benchmarks/sharing.py

A second process has the store open: it does nothing, or asks all the time. Medians of twenty, wall
clock and CPU time of the process that wants it; run it on a machine that does nothing else.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.neighbour import Neighbour
from turnspan_clickhouse.store import embedded
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

TIMES = 20
ASKED = "SELECT count() FROM turn_summary"


def main() -> None:
    """Print every figure."""
    with tempfile.TemporaryDirectory() as folder:
        dsn = Dsn("chdb", path=Path(folder) / "store")
        with open_store(dsn) as store:
            migrate(store)
        tell("opening and one question, nobody else", dsn, lambda: None)
        with Neighbour(dsn) as other:
            tell("the same, beside a process that has it open", dsn, lambda: other.query(ASKED))
        with Neighbour(dsn) as other:
            other.query(ASKED)
            other.tell("repeat", ASKED)
            tell("the same, beside a process that asks all the time", dsn, lambda: time.sleep(0.3))
        growth(dsn)


def tell(what: str, dsn: Dsn, before: Callable[[], object]) -> None:
    """Open the store and ask it something; how long that takes."""
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(TIMES):
        before()
        wall, cpu = time.perf_counter(), time.process_time()
        with open_store(dsn) as store:
            store.query(ASKED)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
    print(f"{what}: {median(walls) * 1e3:.0f} ms, {median(cpus) * 1e3:.0f} ms of CPU")


def growth(dsn: Dsn) -> None:
    """What one store that changes hands again and again leaves here, with and without children."""
    with Neighbour(dsn) as other, open_store(dsn) as store:
        for openings, name in ((sys.maxsize, "in this process"), (0, "in processes of their own")):
            embedded.OPENINGS = openings
            threads, memory = size()
            for _ in range(TIMES):
                other.query(ASKED)
                store.query(ASKED)
            more, grown = size()
            print(
                f"each opening {name} leaves {(more - threads) / TIMES:.1f} threads, "
                f"{(grown - memory) / TIMES:.2f} MB"
            )


def size() -> tuple[int, float]:
    """Threads and resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(os.listdir("/proc/self/task")), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
