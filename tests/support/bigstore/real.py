"""Real agent runs, played through the real SDK, recorded by Turnspan and landed on a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.clickhouse_server import ClickHouseServer, start_server
from support.landing import insert
from support.shared import trajectories
from turnspan_clickhouse.rows.tables import Annotation, Record
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_demo.trajectories import iterate

ROOT = Path(__file__).resolve().parents[3]
OUTCOMES = ("rejected", "used")
JUDGED = 1_790_000_000 * 10**9
REAL = "real"
"""The database of the runs as they were recorded."""


@contextmanager
def server(home: Path, *, memory: str = "") -> Generator[ClickHouseServer]:
    """A server over ``home``; ``memory`` is the most bytes it may use."""
    home.mkdir(parents=True, exist_ok=True)
    limit = f"<max_server_memory_usage>{memory}</max_server_memory_usage>" if memory else ""
    running = start_server(home, extra_config=limit)
    try:
        yield running
    finally:
        running.stop()


def record(folder: Path) -> Path:
    """Play every run of ``shared/data/trajectories`` once; the spool with its segments.

    Raises:
        CalledProcessError: a run could not be played or recorded.
    """
    spool = folder / "spool"
    if not spool.exists():
        files = list(map(str, trajectories()))
        program = ROOT / "tests" / "demo" / "record_runs.py"
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OTEL_", "TURNSPAN_"))
        }
        environment["PYTHONPATH"] = str(ROOT / "examples")
        command = [sys.executable, str(program), f"chdb://{folder}", "bench", "openai", *files]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return spool


def land(spool: Path, server: ClickHouseServer) -> None:
    """Ship a spool's segments into a fresh database REAL and merge it."""
    dsn = server.dsn(REAL)
    server.run(f"DROP DATABASE IF EXISTS {REAL} SYNC")
    with open_store(dsn) as store:
        migrate(store)
    copy = spool.parent / "copy"
    shutil.copytree(spool, copy)
    os.environ["TURNSPAN_SPOOL"] = str(copy)
    try:
        shipped = ship(dsn)
    finally:
        shutil.rmtree(copy)
    if not shipped.ok:
        raise RuntimeError(str(shipped))
    with open_store(dsn) as store:
        merge(store)


def rewards(store: Store, files: Sequence[Path], project: str, stamp: str) -> int:
    """Judge the sessions of played runs as their benchmark did: the reward as a score, and as an
    outcome (1 and more was used, less was rejected). Returns how many runs have one."""
    judged: list[Record] = []
    for file in files:
        for run in iterate(file):
            found = re.match(r"reward (-?[\d.]+)", run.outcome)
            if found is None:
                continue
            score = float(found[1])
            said: dict[str, dict[str, Any]] = {
                "score": {"score": score},
                "outcome": {"outcome": OUTCOMES[score >= 1]},
            }
            judged += [
                Annotation(
                    project=project, subject_kind="session", kind=kind, annotation_id=kind,
                    subject_id=f"{run.id}-openai-{stamp}", author="benchmark", source="reward",
                    created_at=JUDGED, written_at=JUDGED, **values,
                )
                for kind, values in said.items()
            ]  # fmt: skip
    insert(store, *judged)
    return len(judged) // 2


def merge(store: Store) -> None:
    """Merge every table of the store's database into one part a partition."""
    names = store.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%Tree'"
    )
    for (name,) in names.rows:
        store.command(f"OPTIMIZE TABLE {name} FINAL")
