"""A big store out of real runs, for ``size.py`` and ``queries.py``.

    python benchmarks/generate.py [FOLDER] [--copies 457] [--every 10]

Plays every run of ``shared/data/trajectories`` through the OpenAI SDK, recorded by Turnspan (10,959
model calls), lands them in a ClickHouse server over FOLDER, fills ``otel_traces`` with the same
spans, and multiplies both there: 457 copies make 5 million model calls (2.5 GB), a
twentieth of the turns judged; ``otel_traces`` gets every tenth copy only (full prompts on every
span; ``--every 3`` makes it a third). Takes about twelve minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore import grow, otel
from support.bigstore.real import REAL, land, record, server

BIG = "big"
"""The database of the copies."""


def generate(home: Path, copies: int, every: int) -> None:
    """Fill a server's home with both databases; what is there already is replaced."""
    spool = record(home / "recorded")
    with server(home / "server") as running:
        land(spool, running)
        with open_store(running.dsn(REAL)) as store:
            otel.fill(store)
        running.run(f"DROP DATABASE IF EXISTS {BIG} SYNC")
        with open_store(running.dsn(BIG)) as store:
            migrate(store)
            grow.grow(store, REAL, copies)
            grow.judge(store)
            otel.grow(store, REAL, copies, range(0, copies, every))
            settle(store)


def settle(store: Store) -> None:
    """Merge what a server has merged by itself after a day: every week of the records but the
    newest, and every day of ``otel_traces``."""
    parts = store.query(
        "SELECT DISTINCT table, partition_id, table != 'otel_traces' AND partition_id ="
        " max(partition_id) OVER (PARTITION BY table) AS newest FROM system.parts"
        " WHERE active AND database = currentDatabase() AND partition != 'tuple()'"
    )
    for table, partition, newest in parts.rows:
        if not newest:
            store.command(f"OPTIMIZE TABLE {table} PARTITION ID '{partition}' FINAL")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path, nargs="?", default=Path(".tools/bench"))
    parser.add_argument("--copies", type=int, default=457)
    parser.add_argument("--every", type=int, default=10)
    arguments = parser.parse_args()
    generate(arguments.home, arguments.copies, arguments.every)


if __name__ == "__main__":
    main()
