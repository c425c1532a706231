"""Importing a log of llm's again: what is new, what came late, and what was cut off."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.kept_stores import copy_schema
from support.llm_logs import Call, LlmLog
from support.llm_samples import import_llm, rows_of, sample
from support.representatives import few
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing.import_run import position_of

pytestmark = pytest.mark.parametrize("store_kind", ["embedded"])
GENERATIONS = pytest.mark.parametrize("generation", few(["tools", "turns"], ["tools"]))
MOMENTS = int(os.environ.get("TURNSPAN_KILL_MOMENTS", "1"))
"""How often the import that is killed is; more by hand."""


def call(number: int, talk: int, **values: Any) -> Call:
    """A call of a conversation."""
    return Call(
        f"r{number:05}",
        "small",
        f"ask {number}",
        f"answer {number}",
        datetime_utc=f"2026-01-{1 + number % 28:02}T10:{number % 60:02}:00.000000+00:00",
        conversation=f"talk {talk}",
        **values,
    )


def sessions(store: Store) -> list[tuple[Any, ...]]:
    return [
        tuple(row)
        for row in store.query(
            "SELECT session_id, count(), max(length(input_messages)) FROM llm_call FINAL"
            " GROUP BY 1 ORDER BY 1"
        ).rows
    ]


@GENERATIONS
def test_only_what_is_new_is_imported(store: Store, tmp_path: Path, generation: str) -> None:
    """A conversation that went on is imported again, whole, with the history that it has now; the
    others are not read."""
    log = LlmLog(tmp_path / "logs.db", generation)
    log.log(*[call(number, number // 3) for number in range(30)])
    assert import_llm(store, log.path).rows["llm_call"] == 30
    log.log(call(30, 4), call(31, 99))
    more = import_llm(store, log.path)

    assert more.resumed
    assert more.rows["llm_call"] == 5
    grows = 2 if generation == "turns" else 0  # the maker's turns have no history
    assert ("talk 4", 4, 7 - 3 * grows) in sessions(store)
    assert ("talk 99", 1, 1) in sessions(store)
    table = "turns" if generation == "turns" else "responses"
    assert more.seen[table, "imported before"] == 27
    at_once = rows_of(store)
    import_llm(store, log.path, project="at once")
    again = {
        table: [tuple("llm" if v == "at once" else v for v in row) for row in rows]
        for table, rows in rows_of(store, "at once").items()
    }
    assert again == at_once


def test_what_is_written_beside_an_imported_response_is_taken(store: Store, tmp_path: Path) -> None:
    """Older versions of llm write a response first and what belongs to it after that, each in a
    transaction of its own."""
    path = sample("0.31", tmp_path)
    whole = rows_of_import(store, path, "whole")
    db = sqlite3.connect(path)
    beside: dict[str, list[tuple[Any, ...]]] = {}
    for table in ("tool_results", "prompt_fragments", "prompt_attachments"):
        beside[table] = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"DELETE FROM {table}")
    db.commit()
    import_llm(store, path)
    assert store.query("SELECT count() FROM tool_call FINAL WHERE project = 'llm'").rows == [(0,)]
    for table, rows in beside.items():
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    db.commit()
    late = import_llm(store, path)

    assert late.rows["llm_call"] == 5  # of the conversations that they belong to
    tables = rows_of(store)
    for table in ("llm_call", "turn_summary", "tool_call"):
        assert tables[table] == whole[table]


def rows_of_import(store: Store, path: Path, project: str) -> dict[str, list[tuple[Any, ...]]]:
    """What an import of its own comes to, as if it were of the usual project."""
    import_llm(store, path, project=project)
    return {
        table: [tuple("llm" if value == project else value for value in row) for row in rows]
        for table, rows in rows_of(store, project).items()
    }


@GENERATIONS
def test_a_log_whose_rows_have_moved_is_read_from_the_beginning(
    store: Store, tmp_path: Path, generation: str
) -> None:
    """Rows may have other numbers once a table was made anew; that some were removed is no reason
    to read the others again."""
    log = LlmLog(tmp_path / "logs.db", generation)
    log.log(*[call(number, number) for number in range(20)])
    import_llm(store, log.path)
    table = "turns" if generation == "turns" else "responses"
    log.db.execute(f"DELETE FROM {table} WHERE id < 'r00005'")
    log.log(call(20, 20))
    assert import_llm(store, log.path).seen[table, "model calls"] == 1
    log.db.execute(f"UPDATE {table} SET rowid = rowid - 5")
    log.log(call(21, 21))
    more = import_llm(store, log.path)

    assert more.seen[table, "model calls"] == 17
    # What is in the store stays, whatever is removed from the source.
    assert store.query("SELECT count() FROM llm_call FINAL").rows == [(22,)]


@GENERATIONS
def test_a_log_that_is_written_to_during_the_import_loses_nothing(
    store: Store, tmp_path: Path, generation: str
) -> None:
    """Nor does it disturb the writer; rows with earlier ids may be committed later."""
    log = LlmLog(tmp_path / "logs.db", generation)
    log.log(*[call(number, number // 4) for number in range(1_000, 1_100)])
    stop = threading.Event()
    written: list[int] = []
    longest = 0.0

    def write() -> None:
        nonlocal longest
        other = LlmLog.__new__(LlmLog)
        other.generation = generation
        other.db = sqlite3.connect(log.path, isolation_level=None, timeout=10)
        for number in range(200, 0, -1):
            began = time.perf_counter()
            other.log(call(number, random.Random(number).randrange(240, 290)))
            longest = max(longest, time.perf_counter() - began)
            written.append(number)
            if stop.wait(0.005):
                break
        other.db.close()

    writer = threading.Thread(target=write)
    writer.start()
    while len(written) < 5:
        time.sleep(0.01)
    for _ in range(2):
        import_llm(store, log.path)
    stop.set()
    writer.join()
    import_llm(store, log.path)

    assert store.query("SELECT count(), uniqExact(span_id) FROM llm_call FINAL").rows == [
        (100 + len(written), 100 + len(written))
    ]
    assert longest < 10
    while_written = rows_of(store)
    at_once = rows_of_import(store, log.path, "at once")
    assert while_written == at_once


def test_a_log_in_wal_mode_is_read_beside_its_writer(store: Store, tmp_path: Path) -> None:
    log = LlmLog(tmp_path / "logs.db")
    log.db.execute("PRAGMA journal_mode = wal")
    log.log(*[call(number, number) for number in range(10)])
    log.db.execute("BEGIN IMMEDIATE")  # somebody is writing
    assert import_llm(store, log.path).rows["llm_call"] == 10
    log.db.execute("ROLLBACK")


_CHILD = """
import os, signal, sys
from pathlib import Path
from support.llm_samples import import_llm
from turnspan_clickhouse.spool import spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.importing import import_run

import_run._ROWS_TOGETHER, import_run._WRITES_TOGETHER = 60, 2
left = int(sys.argv[3])
def count(frame, event, argument):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
with open_store(Dsn(scheme="chdb", path=Path(sys.argv[1]))) as store:
    migrate(store)
    if left:
        sys.setprofile(count)
    import_llm(store, Path(sys.argv[2]))
"""


def _run(store: Path, log: Path, moment: int) -> int:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
        "TURNSPAN_SPOOL": str(store.parent / "spool"),
    }
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, str(store), str(log), str(moment)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert child.returncode in (0, -9), child.stderr
    return child.returncode


@pytest.mark.release
def test_an_import_that_is_killed_and_resumed_comes_to_the_same(
    store: Store, tmp_path: Path
) -> None:
    """At any moment: while rows are made, written, shipped, or their position is noted."""
    log = LlmLog(tmp_path / "logs.db", "tools")
    log.log(*[call(number, number % 49, system=f"be {number % 3}") for number in range(100)])
    chosen = random.Random(os.environ.get("TURNSPAN_KILL_SEED", "1"))
    killed = 0
    copy_schema(tmp_path / "killed")
    for _ in range(MOMENTS):
        if (
            _run(
                tmp_path / "killed",
                log.path,
                chosen.randrange(2_000, 20_000 if MOMENTS == 1 else 60_000),
            )
            == 0
        ):
            log.log(*[call(number, number % 50) for number in _next(log)])  # it was done
        else:
            killed += 1
    assert _run(tmp_path / "killed", log.path, 0) == 0
    assert killed
    import_llm(store, log.path)
    expected = rows_of(store)
    position = position_of(store, "llm", str(log.path), "llm")
    store.close()

    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_clickhouse.store.opening import open_store

    with open_store(Dsn(scheme="chdb", path=tmp_path / "killed")) as resumed:
        assert rows_of(resumed) == expected
        found = position_of(resumed, "llm", str(log.path), "llm")
        assert found is not None
        assert position is not None
        assert found[0] == position[0]


def _next(log: LlmLog) -> range:
    last = log.db.execute("SELECT max(id) FROM responses").fetchone()[0]
    return range(int(last[1:]) + 1, int(last[1:]) + 101)
