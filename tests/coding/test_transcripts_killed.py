"""Imports of transcripts, killed at any moment and begun again; and what a long one takes.

TURNSPAN_KILLS=50 takes as many moments.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from support.coding_transcripts import imported
from support.generated_sessions import claude_lines
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.release

KILLS = int(os.environ.get("TURNSPAN_KILLS", "3"))
PROGRAM = """
import sys
from pathlib import Path
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.coding.transcripts import coding_log
from turnspan_records.coding.transcripts.tools import coding_log as log_of
from turnspan_records.importing import import_run

dsn = Dsn(scheme="chdb", path=Path(sys.argv[1]))
import_run._ROWS_TOGETHER, import_run._WRITES_TOGETHER = 100, 2  # so that there are many moments
coding_log._POSITION_EVERY = 20_000
print("ready", flush=True)
import_run.import_log(
    lambda: open_store(dsn), Spool(dsn.spool), log_of("coding", [Path(sys.argv[2])])
)
print("done", flush=True)
"""
OTHER = {"message": "first_seen, written_at"}


def run(store: Path, folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(store), str(folder)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def tables(path: Path) -> dict[str, Any]:
    dsn = Dsn(scheme="chdb", path=path)
    ship(dsn, deadline=time.monotonic() + 30)
    with open_store(dsn) as store:
        return {
            table: store.query(
                f"SELECT * EXCEPT ({OTHER.get(table, 'writer, written_at')}) FROM {table} FINAL"
                " ORDER BY ALL"
            ).rows
            for table in ("llm_call", "turn_summary", "tool_call", "span", "message")
        }


def sessions(folder: Path, number: int, turns: int) -> Path:
    """A folder with sessions, the last of which goes on with the first."""
    folder.mkdir()
    for each in range(number):
        lines = list(claude_lines(f"s{each}", turns, words=40))
        (folder / f"s{each}.jsonl").write_bytes(b"".join(orjson.dumps(x) + b"\n" for x in lines))
    first = [{**line, "sessionId": "fork"} for line in claude_lines("s0", turns, words=40)]
    more = list(claude_lines("fork", 2, words=40))
    (folder / "zfork.jsonl").write_bytes(b"".join(orjson.dumps(x) + b"\n" for x in first + more))
    return folder


def test_a_killed_import_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    """Within a session, between two, and in a fork."""
    folder = sessions(tmp_path / "sessions", 4, 12)
    stores = tmp_path / "whole", tmp_path / "killed"
    for store in stores:
        with open_store(Dsn(scheme="chdb", path=store)) as opened:
            migrate(opened)
    began = time.monotonic()
    run(stores[0], folder).communicate(timeout=300)
    seconds = time.monotonic() - began
    expected = tables(stores[0])
    assert len(expected["turn_summary"]) == 4 * 12 + 2
    chance = random.Random(11)
    for _ in range(KILLS):
        process = run(stores[1], folder)
        time.sleep(chance.uniform(0, seconds))
        process.kill()
        process.communicate()
    rest, _ = run(stores[1], folder).communicate(timeout=300)
    assert rest.strip() == b"done"
    assert tables(stores[1]) == expected


def test_a_killed_import_of_a_late_parent_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    """The fork was imported without it: what it had recorded of the parent is withdrawn once."""
    whole, late = sessions(tmp_path / "whole", 2, 10), tmp_path / "late"
    late.mkdir()
    stores = tmp_path / "once", tmp_path / "killed"
    for store in stores:
        with open_store(Dsn(scheme="chdb", path=store)) as opened:
            migrate(opened)
    run(stores[0], whole).communicate(timeout=300)
    shutil.copy(whole / "zfork.jsonl", late)
    run(stores[1], late).communicate(timeout=300)
    shutil.copytree(whole, late, dirs_exist_ok=True)
    chance = random.Random(3)
    for _ in range(KILLS):
        process = run(stores[1], late)
        time.sleep(chance.uniform(0, 1.5))
        process.kill()
        process.communicate()
    assert run(stores[1], late).communicate(timeout=300)[0].strip() == b"done"
    assert tables(stores[1]) == tables(stores[0])


def test_a_long_session_takes_time_by_its_lines(tmp_path: Path) -> None:
    taken: list[float] = []
    for turns in (60, 240):
        path = tmp_path / f"{turns}.jsonl"
        path.write_bytes(b"".join(orjson.dumps(x) + b"\n" for x in claude_lines("s", turns)))
        began = time.process_time()
        imported("claude-code", [path])
        taken.append(time.process_time() - began)
    assert taken[1] < 8 * taken[0]


def test_forks_of_one_session_take_time_by_their_number(tmp_path: Path) -> None:
    """What each repeats of the others is found by reading each of them once."""
    taken: list[float] = []
    for forks in (8, 32):
        folder = tmp_path / str(forks)
        folder.mkdir()
        for number in range(forks):
            lines = [{**x, "sessionId": f"f{number}"} for x in claude_lines("s", 20, words=20)]
            path = folder / f"f{number:02}.jsonl"
            path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
        began = time.process_time()
        made = imported("claude-code", [folder])
        taken.append(time.process_time() - began)
        assert {turn.session_id for turn in made.turns} == {"f0"}
    assert taken[1] < 8 * taken[0]
