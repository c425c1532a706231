"""Writing runs into a log of llm's: a copy first, then all of it or nothing."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from support.consortium_runs import Shape, made_log
from support.llm_logs import Call, LlmLog
from support.shared import REPOSITORY
from support.small_disk import small_disk
from turnspan_llm.grouping.log_writer import write
from turnspan_llm.grouping.runs import group
from turnspan_llm.logs.connection import LogsError

PROCESS = Path(__file__).with_name("grouping_process.py")
KILLS = int(os.environ.get("TURNSPAN_TEST_KILLS", "2"))
"""How many processes are killed; more by hand."""


def dump(path: Path) -> list[str]:
    """All that is in a database, after whatever recovery it needs."""
    with sqlite3.connect(path) as db:
        return list(db.iterdump())


def roles(path: Path, table: str = "responses") -> dict[str, tuple[str | None, int | None]]:
    with sqlite3.connect(path) as db:
        rows = db.execute(f"SELECT id, consortium_id, is_arbiter_response FROM {table}")
        return {id_: (run, role) for id_, run, role in rows}


@pytest.mark.parametrize(("kind", "table"), [("responses", "responses"), ("turns", "turns")])
def test_runs_and_roles_stand_in_the_log(kind: str, table: str, tmp_path: Path) -> None:
    """Members and outputs are 0, final arbiters 1, other arbiters 2; other rows stay empty."""
    path = tmp_path / "logs.db"
    made = made_log(path, 1, Shape(runs=10, failed_runs=0.3), kind)
    found = group(path)
    done = write(path, found)
    assert (done.rows, done.tables) == (len(made.rows), (table,))
    ids = {run.output.row.id: run.consortium_id for run in found.runs}
    assert {id_: told for id_, told in roles(path, table).items() if told != (None, None)} == {
        id_: (ids[output], role) for id_, (output, role) in made.rows.items()
    }


def test_the_copy_is_the_log_as_it_was(tmp_path: Path) -> None:
    """Beside it, named with the time; or in a folder of one's own."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=3))
    before, found = dump(path), group(path)
    done = write(path, found)
    assert done.backup is not None and done.backup.parent == tmp_path
    assert done.backup.name.startswith("logs.db.20") and done.backup.suffix == ".backup"
    assert dump(done.backup) == before != dump(path)
    path.write_bytes(done.backup.read_bytes())
    elsewhere = tmp_path / "copies"
    elsewhere.mkdir()
    again = write(path, found, backup_dir=elsewhere)
    assert [again.backup] == list(elsewhere.iterdir())


@pytest.mark.parametrize("kind", ["responses", "turns"])
def test_a_second_run_changes_nothing(kind: str, tmp_path: Path) -> None:
    """Not a byte, and it makes no copy; what comes later is written by the next one."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=3, standalone=0), kind)
    write(path, group(path))
    before, files = path.read_bytes(), set(tmp_path.iterdir())
    found = group(path)
    assert (write(path, found).rows, path.read_bytes()) == (0, before)
    assert set(tmp_path.iterdir()) == files
    assert found.runs == group(path).runs


def test_nothing_that_is_assigned_is_overwritten(tmp_path: Path) -> None:
    """Neither an id nor a role."""
    path = tmp_path / "logs.db"
    made = made_log(path, 1, Shape(runs=3, standalone=0))
    one, other, third = list(made.rows)[:3]
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE responses ADD COLUMN consortium_id TEXT")
        db.execute("ALTER TABLE responses ADD COLUMN is_arbiter_response INTEGER")
        db.execute("UPDATE responses SET consortium_id = 'mine' WHERE id = ?", (one,))
        db.execute("UPDATE responses SET is_arbiter_response = 7 WHERE id = ?", (other,))
    write(path, group(path))
    told = roles(path)
    assert told[one] == ("mine", made.rows[one][1])
    assert told[other] == (
        "mine" if made.rows[other][0] == made.rows[one][0] else told[other][0],
        7,
    )
    assert told[third][0] is not None


def test_the_search_of_the_log_still_works(tmp_path: Path) -> None:
    """llm's triggers keep its index; it is as whole as before."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=3))
    write(path, group(path))
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO responses_fts(responses_fts) VALUES ('integrity-check')")
        word = str(db.execute("SELECT response FROM responses").fetchone()[0]).split()[0]
        found = db.execute(
            "SELECT count(*) FROM responses_fts WHERE responses_fts MATCH ?", (word,)
        )
        assert found.fetchone()[0] > 0


def test_a_writer_is_waited_for_and_then_told_of(tmp_path: Path) -> None:
    """The log is as it was, and no copy is left."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=3))
    before, found = dump(path), group(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogsError, match="locked by another program"):
        write(path, found, seconds=0.2)
    assert os.listdir(tmp_path) == ["logs.db"]
    threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
    assert dump(path) == before
    assert write(path, found, seconds=20).rows > 0
    other.close()


def test_what_others_write_meanwhile_is_in_the_copy(tmp_path: Path) -> None:
    """A row that changed since it was read is left alone."""
    path = tmp_path / "logs.db"
    made = made_log(path, 1, Shape(runs=3, standalone=0))
    found = group(path)
    log = LlmLog.opened(path)
    log.log(Call("late", "m", "p", "r"))
    gone = next(iter(made.rows))
    log.db.execute("DELETE FROM responses WHERE id = ?", (gone,))
    done = write(path, found)
    assert (done.rows, done.gone) == (len(made.rows) - 1, 1)
    assert done.backup is not None and "late" in "".join(dump(done.backup))


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    """Where there is no room for the copy, and where there is none for the writing."""
    copies = tmp_path / "copies"
    copies.mkdir()
    with small_disk(tmp_path / "disk", 2**24) as disk:
        path = disk.folder / "logs.db"
        made_log(path, 1, Shape(runs=40, text=200))
        before, found = dump(path), group(path)
        disk.fill()
        with pytest.raises(LogsError, match="No copy of"):
            write(path, found)
        with pytest.raises(LogsError, match="the disk is full"):
            write(path, found, backup_dir=copies)
        disk.relieve()
        assert dump(path) == before
        assert os.listdir(disk.folder) == ["logs.db"]
        assert list(copies.iterdir()) == []
        assert write(path, found, backup_dir=copies).rows > 0


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    """It is said before anything is done."""
    with small_disk(tmp_path / "disk", 2**22) as disk:
        path = disk.folder / "logs.db"
        made_log(path, 1, Shape(runs=3))
        disk.read_only(True)
        with pytest.raises(LogsError, match="cannot be written"):
            write(path, group(path))
        assert os.listdir(disk.folder) == ["logs.db"]


def test_a_damaged_log_is_not_written(tmp_path: Path) -> None:
    """Its copy is checked."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=30, text=300))
    found = group(path)
    raw = bytearray(path.read_bytes())
    with sqlite3.connect(path) as db:
        page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'conversations'")
        at = (page.fetchone()[0] - 1) * db.execute("PRAGMA page_size").fetchone()[0]
    raw[at : at + 200] = os.urandom(200)
    path.write_bytes(raw)
    with pytest.raises(LogsError, match="damaged"):
        write(path, found)
    assert path.read_bytes() == raw and os.listdir(tmp_path) == ["logs.db"]


@pytest.mark.release
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """The log is as it was, or has all of it; and the next run does what is left."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=40, text=150))
    before, whole = path.read_bytes(), dump(path)
    write(path, group(path))
    done = dump(path)
    chosen = random.Random(13)
    for _ in range(KILLS):
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(before)
        process = subprocess.Popen(
            [sys.executable, str(PROCESS), str(path)], env=_environment(), stdout=subprocess.PIPE
        )
        assert process.stdout is not None and process.stdout.readline() == b"writing\n"
        time.sleep(chosen.random() * 0.06)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert dump(path) in (whole, done)
        write(path, group(path))
        assert dump(path) == done


def _environment() -> dict[str, str]:
    roots = [str(REPOSITORY / wing) for wing in ("llm", "records", "exporter", "instrument")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
