"""How long an export of 100,000 samples takes, and what it holds in memory.

    python benchmarks/exporting.py [FOLDER] [--copies 10]

Real runs (10,959 model calls) are landed in a ClickHouse server over FOLDER and copied there, ten
times for 108,000 calls. Every call is a sample, with all that it was given. Each export is a
process of its own, once of one copy's calls and once of all: the difference of their peaks is what
grows with the samples. The server's memory is not counted. Beside the clock stands how long the
exporting thread was ready to run and had no core (Linux): the clock without it is what a machine of
its own would show, but for the server.

    python benchmarks/exporting.py [FOLDER] --real

says instead what becomes of the real runs, with their rewards as scores: the counts of
docs/training-data.md.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.training import TrainingSet, export, rule
from turnspan_records.training.export_request import KINDS, UNITS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bigstore import grow
from support.bigstore.real import REAL, land, record, rewards, server
from support.shared import trajectories

_OTHER_TEXTS = (
    'ALTER TABLE message UPDATE parts = replaceOne(parts, \'"content":"\','
    " concat('\"content\":\"', substring(scope, 1, 8), ' ')) WHERE role = 'user'"
    " SETTINGS mutations_sync = 2"
)
"""Copies say something else each: equal ones would be one line."""
SIZES = {"few": 1, "many": 0}
"""How many copies; 0 for all of them."""


def made(home: Path, copies: int) -> None:
    """Build the stores and measure each kind of export."""
    spool = record(home / "recorded")
    with server(home / "server") as running:
        land(spool, running)
        for name, number in SIZES.items():
            running.run(f"DROP DATABASE IF EXISTS {name} SYNC")
            with open_store(running.dsn(name)) as store:
                migrate(store)
                grow.grow(store, REAL, number or copies)
                store.command(_OTHER_TEXTS)
                store.command(
                    "INSERT INTO annotation (project, subject_kind, subject_id, kind,"
                    " annotation_id, score, author, created_at, written_at)"
                    " SELECT DISTINCT project, 'session', session_id, 'score', 'bench',"
                    " sipHash64(session_id) % 10 + 1, 'bench', now64(9), now64(9) FROM llm_call"
                )
        print(
            f"{'export':32} {'samples':>8} {'lines':>8} {'MB':>7} {'s':>7} {'no core':>7}"
            f" {'CPU s':>7} {'MiB':>6} {'load':>6}"
        )
        for arguments in (
            ("sft", "openai", "call", ""),
            ("sft", "parquet", "call", ""),
            ("sft", "openai", "call", "near"),
            ("preference", "trl", "call", ""),
            ("sft", "openai", "turn", ""),
        ):
            for name in SIZES:
                _measured(running.url(name), home, name, *arguments)


def counted(home: Path) -> None:
    """Print what every kind of set has of the real runs."""
    spool = record(home / "recorded")
    with server(home / "server") as running:
        land(spool, running)
        with open_store(running.dsn(REAL)) as store:
            print(f"{rewards(store, trajectories(), 'acceptance', 'bench')} runs with a reward")
            for kind in KINDS:
                for unit in UNITS:
                    shutil.rmtree(home / "set", ignore_errors=True)
                    wanted = TrainingSet(kind, "trl", unit=unit, margin=0.5)
                    found = export(store, home / "set", wanted).manifest
                    _require_prompts_apart(store, home, wanted)
                    of = found["counts"]
                    splits = {name: tuple(one.values()) for name, one in found["splits"].items()}
                    print(
                        f"| `{kind}` | {unit} | {of['looked_at']:,} | {of['judged_otherwise']:,}"
                        f" | {of['lines']:,} | {splits} | {found['dropped']} |"
                    )


def _require_prompts_apart(store: Store, home: Path, wanted: TrainingSet) -> None:
    """No prompt is in two splits, and both answers of a pair have its prompt by themselves.

    Raises:
        AssertionError: it is not so.
    """
    prompts = {split: _sources(home / "set" / f"{split}.jsonl") for split in ("train", "test")}
    train, test = ({one["prompt_hash"] for one in found} for found in prompts.values())
    assert not train & test
    pairs = [one for found in prompts.values() for one in found if "chosen" in one]
    if not pairs:
        return
    shutil.rmtree(home / "each", ignore_errors=True)
    everything = replace(wanted, kind="sft", good=(rule("any"),), splits={"train": 1.0})
    export(store, home / "each", everything)
    of = {one["id"]: one["prompt_hash"] for one in _sources(home / "each" / "train.jsonl")}
    seen = [(one["prompt_hash"], of.get(one[s]["id"])) for one in pairs for s in _SIDES]
    assert all(known in (None, prompt) for prompt, known in seen)  # none: equal to one before it
    assert any(known for _, known in seen)
    shutil.rmtree(home / "each")


_SIDES = ("chosen", "rejected")


def _sources(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line)["source"] for line in path.read_text("utf-8").splitlines()]


def _measured(url: str, home: Path, name: str, *arguments: str) -> None:
    folder = home / "set"
    shutil.rmtree(folder, ignore_errors=True)
    program = [sys.executable, __file__, "--one", url, str(folder), *arguments]
    said = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    found = json.loads(said)
    print(
        f"{' '.join(filter(None, (name, *arguments))):32} {found['samples']:8,} {found['lines']:8,}"
        f" {found['bytes'] / 1e6:7.0f} {found['seconds']:7.1f} {found['waited']:7.1f}"
        f" {found['cpu']:7.1f} {found['peak'] / 1024:6.0f} {os.getloadavg()[0]:6.1f}",
        flush=True,
    )
    shutil.rmtree(folder, ignore_errors=True)


def one(url: str, folder: str, kind: str, form: str, unit: str, near: str) -> None:
    """One export, in this process."""
    wanted = TrainingSet(
        kind,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        form,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        unit,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        good=(rule("any"),),
        near=0.9 if near else None,
    )
    begun, used = time.monotonic(), time.process_time()
    with open_store(parse(url)) as store:
        found = export(store, folder, wanted)
    print(
        json.dumps(
            {
                "samples": found.counts.samples,
                "lines": found.lines,
                "bytes": sum(file.bytes for file in found.files),
                "seconds": time.monotonic() - begun,
                "cpu": time.process_time() - used,
                "waited": _without_a_core(),
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    )


def _without_a_core() -> float:
    """Seconds in which this thread could have run and did not."""
    known = Path("/proc/thread-self/schedstat")
    return int(known.read_text().split()[1]) / 1e9 if known.exists() else 0.0


def main() -> None:
    """Read the arguments."""
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:], *[""] * (8 - len(sys.argv)))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path, nargs="?", default=Path(".tools/bench-export"))
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--real", action="store_true")
    arguments = parser.parse_args()
    if arguments.real:
        counted(arguments.home)
    else:
        made(arguments.home, arguments.copies)


if __name__ == "__main__":
    main()
