"""``turnspan watch coding``: sessions land as they grow, once, whatever happens meanwhile."""

from __future__ import annotations

import os
import plistlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.claude_sessions import ClaudeSession
from turnspan_clickhouse.errors import StoreUnavailableError
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_records.access import open_dsn
from turnspan_records.coding import folder_changes, follower
from turnspan_records.coding.folder_changes import FolderChanges
from turnspan_records.coding.follower import TranscriptFollower
from turnspan_records.coding.transcripts.tools import coding_log
from turnspan_records.importing.sources import ImportReport

pytestmark = pytest.mark.with_schema

TURNS = "SELECT user_message, status, llm_call_count, tool_call_count FROM turn_summary ORDER BY 1"
COUNTS = (
    "SELECT (SELECT count() FROM turn_summary), (SELECT count() FROM llm_call),"
    " (SELECT count() FROM tool_call), (SELECT count() FROM message)"
)
FIRST, SECOND, THIRD = (f"0c00000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))


def ask(dsn: Dsn, sql: str) -> list[tuple[Any, ...]]:
    with open_dsn(dsn) as store:
        return [tuple(row) for row in store.query(sql).rows]


def command(dsn: Dsn, *words: str) -> Result:
    return CliRunner().invoke(turnspan, ["--store", str(dsn), *words])


class Following:
    """A follower of a folder, whose store may be away."""

    def __init__(self, dsn: Dsn, folder: Path) -> None:
        self.dsn = dsn
        self.away = False
        self.landed: list[ImportReport] = []
        self.notes: list[str] = []
        self.ended = threading.Event()
        self.follower = TranscriptFollower(
            self._open,
            Spool(dsn.spool),
            lambda: coding_log("coding", [folder], live=True),
            "",
            self.ended,
            self.landed.append,
            self.notes.append,
        )

    def _open(self) -> Store:
        if self.away:
            raise StoreUnavailableError("the store is away")
        return open_dsn(self.dsn, create=True)


@pytest.fixture
def session(tmp_path: Path) -> ClaudeSession:
    return ClaudeSession(tmp_path / "projects" / "-work-shop" / f"{FIRST}.jsonl")


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


@pytest.mark.usefixtures("kept_engine")
def test_a_turn_runs_then_ends_and_lands_once(
    embedded_dsn: Dsn, session: ClaudeSession, tmp_path: Path
) -> None:
    """Beside other imports, a store that is away, files that are cut, written anew and deleted, and
    a session that was forgotten though its file lies there."""
    following = Following(embedded_dsn, tmp_path / "projects")
    follower = following.follower
    session.ask("Fix it")
    session.use("req_1", "toolu_1", "Bash", command="ls")
    with session.path.open("a") as file:
        file.write('{"type": "assistant", "cut')  # still being written
    assert follower.land() and ask(embedded_dsn, TURNS) == [("Fix it", "running", 1, 0)]

    text = session.path.read_text()
    session.path.write_text(text.rpartition("{")[0].rstrip("\n") + "\n")
    following.away = True
    session.result("toolu_1", "a.py")
    session.answer("req_2", "Done")
    assert not follower.land() and not follower.land()
    assert [note.partition(":")[0] for note in following.notes] == ["it waits in the spool"]
    session.path.unlink()  # the tool deletes it before the store is back
    following.away = False
    other = ClaudeSession(session.path.with_name(f"{SECOND}.jsonl"))
    other.ask("And this")
    assert follower.land()
    whole = [("And this", "running", 0, 0), ("Fix it", "final", 2, 1)]
    assert ask(embedded_dsn, TURNS) == whole

    other.answer("req_3", "Yes")
    words = ("watch", "coding", "--once", str(tmp_path / "projects"))
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    assert command(embedded_dsn, *words).exit_code == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    whole[0] = ("And this", "final", 1, 0)
    counts = ask(embedded_dsn, COUNTS)
    assert follower.land() and ask(embedded_dsn, TURNS) == whole
    assert ask(embedded_dsn, COUNTS) == counts

    told = command(embedded_dsn, "forget", "--session", other.id, "--yes")
    assert told.exit_code == 0, told.output
    assert command(embedded_dsn, "import", "coding", "--again", str(other.path)).exit_code == 0
    os.utime(other.path)
    left = ClaudeSession(other.path.with_name(f"{THIRD}.jsonl"))
    left.ask("Left")  # of an agent that was killed long ago
    long_ago = time.time() - 7_200
    os.utime(left.path, (long_ago, long_ago))
    assert follower.land()
    assert ask(embedded_dsn, TURNS) == [*whole[1:], ("Left", "interrupted", 0, 0)]
    follower.close()


@pytest.mark.release  # the first test has such a session
def test_a_turn_of_a_killed_agent_ends_by_rest(
    embedded_dsn: Dsn, session: ClaudeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file tells of the kill: that so long no line was written does, and that is found like a
    change. Lines that come later make the turn run again."""
    following = Following(embedded_dsn, tmp_path / "projects")
    session.ask("Fix it")
    session.use("req_1", "toolu_1", "Bash", command="sleep 9")
    notes = list[str]()
    changes = iter(
        FolderChanges(lambda: [tmp_path / "projects"], following.ended, notes.append, sweep=0.1)
    )
    next(changes)
    for _ in range(2):
        assert following.follower.land()
        assert ask(embedded_dsn, TURNS) == [("Fix it", "running", 1, 0)]
    with monkeypatch.context() as patched:
        for module in (follower, folder_changes):
            patched.setattr(module, "LIVE_SECONDS", 0)
        next(changes)
        assert following.follower.land()
        assert ask(embedded_dsn, TURNS) == [("Fix it", "interrupted", 1, 0)]
    session.result("toolu_1", "")
    next(changes)
    assert following.follower.land()
    assert ask(embedded_dsn, TURNS) == [("Fix it", "running", 1, 1)]
    following.ended.set()
    following.follower.close()


def test_a_process_follows_until_it_is_killed_or_ended(
    server_dsn: Dsn, session: ClaudeSession, tmp_path: Path
) -> None:
    """Killed, it goes on where it was; SIGTERM ends it cleanly. A second one is refused by name."""
    folder = tmp_path / "projects"
    words = [sys.executable, "-m", "turnspan_console", "--store", str(server_dsn)]

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*words, "watch", "coding", str(folder)], stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        assert f"following {folder}" in process.stderr.readline()
        return process

    def landed(process: subprocess.Popen[str]) -> str:
        assert process.stderr is not None
        return process.stderr.readline()

    session.ask("Fix it")
    process = start()
    assert "1 turn_summary" in landed(process)
    refused = command(server_dsn, "watch", "coding", str(folder))
    assert refused.exit_code == 3 and f"process {process.pid}" in refused.stderr
    process.kill()
    process.communicate(timeout=60)
    session.answer("req_1", "Done")
    process = start()
    assert "1 lines read" in landed(process)
    began = time.monotonic()
    session.ask("More")
    session.answer("req_2", "Done")
    assert "lines read" in landed(process)
    assert time.monotonic() - began < 15
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0 and "ended: what was read has landed" in said
    assert ask(server_dsn, TURNS) == [("Fix it", "final", 1, 0), ("More", "final", 1, 0)]


@pytest.fixture(params=["notices", "looks"])
def changes(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Callable[[], int], Path]]:
    """How often changes were found in a folder that is not there at first, and the folder."""
    if request.param == "looks":
        monkeypatch.setitem(sys.modules, "watchfiles", None)
        monkeypatch.setattr(folder_changes, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(folder_changes, "_TICK", 200)
    ended, notes, found = threading.Event(), list[str](), list[None]()
    folder = tmp_path / "later"
    each = FolderChanges(lambda: [folder], ended, notes.append, sweep=0.2)
    thread = threading.Thread(target=lambda: found.extend(each))
    thread.start()
    yield lambda: len(found), folder
    ended.set()
    thread.join(10)
    assert not thread.is_alive() and len(notes) == (request.param == "looks")


def test_folders_may_come_later_and_go(changes: tuple[Callable[[], int], Path]) -> None:
    """Nothing is told while nothing changes."""
    count, folder = changes
    time.sleep(0.5)
    assert count() == 0
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.jsonl").write_text("1")
    until(lambda: count() == 1)
    time.sleep(0.7)
    assert count() == 1
    (folder / "deep" / "a.jsonl").write_text("22")
    until(lambda: count() == 2)
    (folder / "deep" / "a.jsonl").unlink()
    (folder / "deep").rmdir()
    folder.rmdir()
    until(lambda: count() >= 3)
    folder.mkdir()
    (folder / "b.jsonl").write_text("3")
    until(lambda: count() >= 4)


def test_a_service_names_the_command_whole(tmp_path: Path) -> None:
    """As systemd and launchd read it: an absolute path, and odd characters."""
    run = partial(CliRunner().invoke, turnspan)
    folder = tmp_path / 'a "b" $c %d'
    unit = run(["watch", "coding", str(folder), "--service", "systemd"]).stdout
    line = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert line.endswith('/a \\"b\\" $$c %%d"') and '/turnspan" "watch" "coding"' in line
    said = plistlib.loads(
        run(["watch", "coding", str(folder), "--project", "p", "--service", "launchd"]).stdout_bytes
    )
    assert said["ProgramArguments"][1:] == ["watch", "coding", str(folder), "--project", "p"]
    assert os.access(said["ProgramArguments"][0], os.X_OK)


@pytest.mark.release
def test_killed_at_random_moments_the_rows_are_the_same(tmp_path: Path) -> None:
    """While two agents write; compared with one import of what they wrote."""
    dice = random.Random(7)
    folder = tmp_path / "projects"
    sessions = [ClaudeSession(folder / f"{n}" / f"{n}" / f"{n}.jsonl") for n in (FIRST, SECOND)]
    killed, whole = (Dsn(scheme="chdb", path=tmp_path / name) for name in ("killed", "whole"))
    words = [sys.executable, "-m", "turnspan_console", "--store", str(killed)]
    for number in range(12):
        process = subprocess.Popen(
            [*words, "watch", "coding", str(folder)], stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + dice.uniform(0.3, 4.0)
        step = 0
        while time.monotonic() < end:
            session = dice.choice(sessions)
            step += 1
            session.ask(f"prompt {number} {step}")
            session.use(f"req_{number}_{step}", f"toolu_{number}_{step}", "Bash", command="ls")
            session.result(f"toolu_{number}_{step}", "a.py")
            session.answer(f"end_{number}_{step}", "Done")
            time.sleep(dice.uniform(0.0, 0.3))
        process.kill()
        process.wait()
    assert command(killed, "watch", "coding", "--once", str(folder)).exit_code == 0
    assert command(whole, "import", "coding", str(folder)).exit_code == 0
    rows = (
        "SELECT turn_id, start_time, status, llm_call_count FROM turn_summary ORDER BY ALL",
        "SELECT span_id, start_time, input_messages, cost_usd FROM llm_call ORDER BY ALL",
        "SELECT span_id, start_time, result FROM tool_call ORDER BY ALL",
        "SELECT scope, hash FROM message ORDER BY ALL",
    )
    assert ask(killed, COUNTS)[0][0] > 20
    for sql in rows:
        assert ask(killed, sql) == ask(whole, sql)
