"""How long retention of half the rows of a million model calls takes, and what it holds in memory.

    python benchmarks/retaining.py [FOLDER] [--copies 92] [--good 0.025]

Real runs (10,959 model calls) are landed in a ClickHouse server over FOLDER and copied there, 92
times for a million calls of 60 days. The window is such that half of the calls are past it; a
share of the turns (``--good``) is flagged 1, and archived, and as many are flagged -1. A dry run,
the pass and the restoring of its archive are a process each. CPU seconds are this process's and
the server's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Policy, restore, retain
from turnspan_records.screens.inventory import table_sizes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore import grow
from support.bigstore.real import REAL, land, record, server

BIG = "retained"


def made(home: Path, copies: int, good: float) -> None:
    """Build the store and measure a dry run, a pass and a restore."""
    spool = record(home / "recorded")
    with server(home / "server") as running:
        land(spool, running)
        running.run(f"DROP DATABASE IF EXISTS {BIG} SYNC")
        with open_store(running.dsn(BIG)) as store:
            migrate(store)
            grow.grow(store, REAL, copies)
            flag(store, good)
            days = window(store)
            tell(store)
        shutil.rmtree(home / "archives", ignore_errors=True)
        for what in ("dry", "apply", "again", "restore"):
            _measured(running.url(BIG), home, what, days, running.engine)
        with open_store(running.dsn(BIG)) as store:
            tell(store)


def flag(store: Store, good: float) -> None:
    """Flag a share of the turns 1, and as many -1."""
    store.command(
        "INSERT INTO annotation (project, subject_kind, subject_id, kind, annotation_id,"
        " training_flag, author, created_at, written_at)"
        " WITH sipHash64(turn_id) / 18446744073709551615 AS drawn"
        " SELECT project, 'turn', turn_id, 'training_flag', turn_id, if(drawn < {good:Float64}, 1,"
        " -1), 'bench', now64(9), now64(9) FROM turn_summary WHERE drawn < 2 * {good:Float64}",
        {"good": good},
    )


def window(store: Store) -> float:
    """The age in days past which half of the calls are."""
    found = store.query(
        "SELECT dateDiff('second', quantile(0.5)(toUInt32(start_time))::DateTime('UTC'), now())"
        " / 86400 FROM llm_call",
        None,
        {"final": 0},
    )
    return float(found.rows[0][0])


def tell(store: Store) -> None:
    """Print what there is."""
    shown = [f"{one.table} {one.rows:,} ({one.bytes / 1e6:.0f} MB)" for one in table_sizes(store)
             if one.rows]  # fmt: skip
    print("; ".join(shown), flush=True)


def _measured(url: str, home: Path, what: str, days: float, engine: int) -> None:
    before = _cpu(engine)
    program = [sys.executable, __file__, "--one", url, str(home), what, str(days)]
    said = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(said)
    print(
        f"{what:8} {found['rows']:12,} rows {found['seconds']:7.1f} s  CPU {found['cpu']:6.1f} s"
        f" + server {_cpu(engine) - before:6.1f} s  peak {found['peak'] / 1024:5.0f} MiB",
        flush=True,
    )
    for stage, seconds in found["stages"].items():
        print(f"           {stage:12} {seconds:6.1f} s", flush=True)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one(url: str, home: str, what: str, days: str) -> None:
    """One of them, in this process."""
    begun, used = time.monotonic(), time.process_time()
    stages: dict[str, float] = {}
    last = [begun]

    def progress(stage: str, _done: int, _total: int) -> None:
        now = time.monotonic()
        stages[stage] = stages.get(stage, 0.0) + now - last[0]
        last[0] = now

    policy = Policy(window_days=float(days), content_days=0, archive=Path(home) / "archives")
    with open_store(parse(url)) as store:
        if what == "restore":
            (archive,) = policy.folder.iterdir()
            rows = sum(restore(store, archive, progress=progress).rows.values())
        else:
            rows = retain(store, policy, apply=what != "dry", progress=progress).rows
    print(
        json.dumps(
            {
                "rows": rows,
                "seconds": time.monotonic() - begun,
                "cpu": time.process_time() - used,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "stages": stages,
            }
        )
    )


def main() -> None:
    """Read the arguments."""
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path, nargs="?", default=Path(".tools/bench-retain"))
    parser.add_argument("--copies", type=int, default=92)
    parser.add_argument("--good", type=float, default=0.025)
    arguments = parser.parse_args()
    made(arguments.home, arguments.copies, arguments.good)


if __name__ == "__main__":
    main()
