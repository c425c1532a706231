"""How long ``turnspan import llm`` takes, grouping included, and what it holds in memory.

    python benchmarks/importing.py [FOLDER] [--rows 20778] [--rows 207780] [--kind turns]

Logs of these sizes are made in FOLDER as ``grouping.py`` makes them, and imported into an embedded
store. Then ten rows are added, and it is imported again, and once more with a run. Each import is a
process of its own, with the engine in it: CPU time is that of both, and the peak of memory is that
of the process.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.consortium_runs import START, Maker, Shape, made_log
from support.llm_logs import Call, LlmLog
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_llm.importing.log import LlmLog as Log
from turnspan_records.access import open_dsn
from turnspan_records.importing.import_run import import_log

ROWS_A_RUN = 7.6
SIZES = (20_778, 207_780)


def one(path: Path, store: Path) -> None:
    """Import a log, and print what it took as JSON."""
    dsn = Dsn(scheme="chdb", path=store)

    def opened() -> Store:
        return open_dsn(dsn, note=lambda _: None, create=True)

    began, wall = time.process_time(), time.monotonic()
    report = import_log(opened, Spool(dsn.spool), Log(path), project="llm")
    told = {
        "cpu": time.process_time() - began,
        "wall": time.monotonic() - wall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "calls": report.rows["llm_call"],
        "runs": report.rows["consortium"],
        "waiting": report.waiting,
    }
    print(json.dumps(told))


def measured(folder: Path, rows: int, kind: str) -> None:
    """Make a log of about so many rows, import it, and again with some rows more."""
    path, store = folder / f"{kind}-{rows}.db", folder / "store"
    path.unlink(missing_ok=True)
    shutil.rmtree(store, ignore_errors=True)
    shape = Shape(
        *(round(rows / ROWS_A_RUN), 4, 0.3, 0.3, 0.1, 0.05, 0.05), standalone=0.2, text=300
    )
    made_log(path, 1, shape, kind)
    print(f"{kind}, {path.stat().st_size / 2**20:.0f} MB")
    show("all", path, store)
    log = LlmLog.opened(path, kind)
    chosen = random.Random(1)
    log.log(
        *[
            Call(f"new {number}", "m/a", "one more", f"answer {chosen.random()}")
            for number in range(10)
        ]
    )
    show("ten more", path, store)
    log.log(*run_at_the_end(log, kind))
    show("one run more", path, store)
    log.db.close()


def run_at_the_end(log: LlmLog, kind: str) -> list[Call]:
    """The calls of a run that begins when the log ends: its neighbours are grouped again."""
    table = "turns" if kind == "turns" else "responses"
    (last,) = log.db.execute(f"SELECT max(datetime_utc) FROM {table}").fetchone()
    maker = Maker(2, Shape(runs=1, text=300))
    maker.now = round((datetime.datetime.fromisoformat(last) - START).total_seconds() * 1e6)
    return [call for _, call in maker.run("one run more")]


def show(name: str, path: Path, store: Path) -> None:
    """Import in a process of its own and print what it says."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(path), str(store)],
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout)
    print(
        f"  {name:12} {told['cpu']:7.1f} s of CPU {told['wall']:7.1f} s {told['peak']:7.0f} MB"
        f" {told['calls']:8,} calls {told['runs']:7,} runs {told['waiting']}",
        flush=True,
    )


def main() -> None:
    """Measure, or be one of the processes that are measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--kind", choices=("responses", "tools", "turns"), default="tools")
    parser.add_argument("--one", type=Path, nargs=2)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    with tempfile.TemporaryDirectory() as made:
        for rows in given.rows or SIZES:
            measured(given.folder or Path(made), rows, given.kind)


if __name__ == "__main__":
    main()
