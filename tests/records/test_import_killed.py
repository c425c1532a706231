"""Imports of files, killed at any moment and begun again: the tables are the same.

One moment; TURNSPAN_KILLS=50 takes as many.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from support.kept_stores import migrated
from support.shared import trajectories
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.importing.files.file_log import FileLog
from turnspan_records.importing.import_run import import_log
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

KILLS = int(os.environ.get("TURNSPAN_KILLS", "1"))
PROGRAM = """
import sys
from pathlib import Path
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.importing import import_run
from turnspan_records.importing.files.file_log import FileLog
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

store, file = sys.argv[1:]
dsn = Dsn(scheme="chdb", path=Path(store))
import_run._ROWS_TOGETHER, import_run._WRITES_TOGETHER = 200, 2  # so that there are many moments
log = FileLog(Transcripts(OPENAI), [Path(file)])
print("ready", flush=True)
import_run.import_log(lambda: open_store(dsn), Spool(dsn.spool), log)
print("done", flush=True)
"""
_OTHER: dict[str, str] = dict.fromkeys(("message", "definition"), "first_seen, written_at")
TABLES = ("llm_call", "turn_summary", "tool_call", "span", "message", "definition")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls of several conversations at once, whose lines are mixed."""
    (source,) = trajectories("tau-bench__gpt-4o-airline")
    lines: list[str] = []
    with source.open(encoding="utf-8") as runs:
        for run, _ in zip(runs, range(10), strict=False):
            talk = json.loads(run)["record"]["traj"]
            for place, message in enumerate(talk):
                if message["role"] == "assistant":
                    call = {"request": {"messages": talk[:place], "model": "gpt-4o"}}
                    answer = {"choices": [{"index": 0, "message": message}]}
                    lines.append(json.dumps({**call, "response": answer}))
    random.Random(3).shuffle(lines)
    path = tmp_path_factory.mktemp("log") / "calls.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def tables(dsn: Dsn) -> dict[str, Any]:
    ship(dsn, deadline=time.monotonic() + 30)
    with open_store(dsn) as store:
        return {
            table: store.query(
                f"SELECT * EXCEPT ({_OTHER.get(table, 'writer, written_at')}) FROM {table} FINAL"
                " ORDER BY ALL"
            ).rows
            for table in TABLES
        }


@pytest.mark.release
def test_a_killed_import_goes_on_to_the_same_tables(log: Path, tmp_path: Path) -> None:
    whole = Dsn(scheme="chdb", path=tmp_path / "whole")
    began = time.monotonic()
    with migrated(whole) as store:
        source = FileLog(Transcripts(OPENAI), [log])
        import_log(lambda: nullcontext(store), Spool(whole.spool), source)
        source.close()
    seconds = time.monotonic() - began
    expected = tables(whole)
    assert expected["llm_call"]

    killed = Dsn(scheme="chdb", path=tmp_path / "killed")
    with open_store(killed) as store:
        migrate(store)
    chance = random.Random(11)
    for _ in range(KILLS):
        process = _begun(killed, log)
        time.sleep(chance.uniform(0, 1.5 * seconds))
        process.kill()
        process.communicate()
    process = _begun(killed, log)
    rest, _ = process.communicate(timeout=300)

    assert rest.strip() == b"done"
    assert tables(killed) == expected


def _begun(dsn: Dsn, log: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(dsn.path), str(log)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process
