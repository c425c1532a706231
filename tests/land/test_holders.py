"""A process that holds a lock and does not go on is named to everybody who waits for it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from land.spooling import calls, spooled
from support.kept_stores import migrated
from turnspan_clickhouse.files import lock_holders
from turnspan_clickhouse.files.lock_holders import ALIVE, GONE, STOPPED, Holder, holder
from turnspan_clickhouse.ship import shipper
from turnspan_clickhouse.ship.background import BackgroundShipper
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.cli import turnspan as cli

pytestmark = pytest.mark.with_schema

_SHIPS = """
import sys, time
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.ship.shipper import Shipper
from turnspan_clickhouse.spool.spool import Spool

def opener():
    print("holds", flush=True)
    time.sleep(600)

Shipper(opener, Spool(parse(sys.argv[1]).spool)).run()
"""
_READS = """
import sys, time
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store

with open_store(parse(sys.argv[1])):
    print("holds", flush=True)
    time.sleep(600)
"""
_FORKS = """
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(fd, fcntl.LOCK_EX)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
time.sleep(600)
"""
_TAKES_TURNS = """
import os, sys
from pathlib import Path
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import signed
print("begins", flush=True)
for _ in range(150):
    if os.fork() == 0:
        lock = None
        while lock is None:  # somebody looks
            lock = FileLock.take(Path(sys.argv[1]))
        lock.write(signed())
        os._exit(0)
    os.wait()
"""
_SECRET = "postgres://admin:hunter2hunter2@db/x\x1b[31m"


@contextmanager
def process(script: str, *arguments: object) -> Generator[subprocess.Popen[str]]:
    """One that has said that it holds its lock."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".py"))
        file.write(script)
        file.flush()
        command = [sys.executable, file.name, *map(str, arguments)]
        made = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert made.stdout is not None
        assert made.stdout.readline()
        try:
            yield made
        finally:
            made.kill()


def stop(one: subprocess.Popen[str]) -> None:
    """SIGSTOP, as Ctrl-Z, a debugger or a frozen container do."""
    os.kill(one.pid, signal.SIGSTOP)
    patience = time.monotonic() + 60
    while _letter(one.pid) != "T":
        assert time.monotonic() < patience
        time.sleep(0.01)


def _letter(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def run(dsn: Dsn, *arguments: str) -> Result:
    """The command, as people run it."""
    return CliRunner().invoke(cli, [*arguments, "--store", str(dsn)])


def check(dsn: Dsn, area: str, name: str) -> dict[str, Any]:
    """One finding of the doctor's."""
    found: list[dict[str, Any]] = json.loads(run(dsn, "doctor", "--format", "json").stdout)
    (one,) = [c for c in found if (c["area"], c["name"]) == (area, name)]
    return one


@pytest.fixture
def waiting(server_dsn: Dsn) -> Iterator[Dsn]:
    """A migrated store, and records that wait for it."""
    with open_store(server_dsn) as store:
        migrate(store)
    writer = spooled(Spool(server_dsn.spool), *calls(0, 3))
    yield server_dsn
    writer.close()


def test_a_stopped_process_that_ships_is_named(
    waiting: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By doctor, status and ship, with what to do; then everything lands."""
    monkeypatch.setattr(shipper, "_LOOK_SECONDS", 0.1)
    with process(_SHIPS.replace("[1]", "[2]"), _SECRET, waiting) as other:
        alive = check(waiting, "spool", "shipping")
        assert (alive["level"], f"process {other.pid} (" in alive["finding"]) == ("ok", True)
        assert "which is alive, since 20" in alive["finding"]

        stop(other)
        one = check(waiting, "spool", "shipping")
        assert one["level"] == "fail"
        assert f"process {other.pid} (" in one["finding"]
        assert "which is stopped, since 20" in one["finding"]
        assert f"kill -CONT {other.pid}" in one["remedy"]

        told = json.loads(run(waiting, "status", "--format", "json").stdout)["spool"]["shipping"]
        assert (told["pid"], told["state"], told["stuck"]) == (other.pid, STOPPED, True)
        assert abs(told["since"] - time.time()) < 60
        shown = run(waiting, "status").stdout
        assert f"process {other.pid}" in shown.replace("\n", " ")

        begun = time.monotonic()
        done = run(waiting, "ship")
        assert time.monotonic() - begun < 10
        assert done.exit_code == 3
        assert f"process {other.pid}" in done.stderr
        assert f"kill -CONT {other.pid}" in done.stderr
        for said in (one["finding"], shown, done.stderr):
            assert "postgres" in said
            assert "hunter2" not in said
            assert "\x1b[31m" not in said
    assert holder(waiting.spool / "ship.lock") is None
    assert check(waiting, "spool", "shipping")["finding"] == "no process holds ship.lock"
    assert run(waiting, "ship").exit_code == 0
    assert Spool(waiting.spool).segments() == []


def test_a_process_that_ships_is_waited_for_and_named(
    waiting: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be at work; one that takes very long is a finding."""
    monkeypatch.setattr(shipper, "_LOOK_SECONDS", 0.1)
    with process(_SHIPS, waiting) as other:
        done = run(waiting, "ship", "--timeout", "1.5")
        assert done.exit_code == 3
        assert done.stderr.count(f"waiting for process {other.pid} (") == 1
        assert f"`kill {other.pid}`" in done.stderr
        monkeypatch.setattr(lock_holders, "LONG_SECONDS", 0.0)
        assert check(waiting, "spool", "shipping")["level"] == "warn"


def test_an_application_says_once_who_keeps_it_from_shipping(
    waiting: Dsn, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its flush does not wait for what does not go on."""
    monkeypatch.setattr(shipper, "_LOOK_SECONDS", 0.1)
    with process(_SHIPS, waiting) as other:
        stop(other)
        background = BackgroundShipper(waiting, Spool(waiting.spool), spacing=0.05)
        background.start()
        for _ in range(3):
            background.wake()
            begun = time.monotonic()
            assert not background.flush(timeout=30)
            assert time.monotonic() - begun < 15
        lines = [m for m in caplog.messages if f"process {other.pid}" in m]
        assert len(lines) == 1
        assert f"kill -CONT {other.pid}" in lines[0]
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert background.flush(timeout=30)
        assert background.stop(timeout=10)


def test_a_stopped_reader_of_the_embedded_store_is_named(embedded_dsn: Dsn) -> None:
    """By whoever wants to open it, and by the doctor."""
    with migrated(embedded_dsn):
        pass
    with process(_READS, embedded_dsn) as other:
        stop(other)
        one = check(embedded_dsn, "store", "lock")
    assert one["level"] == "fail"
    assert f"process {other.pid} (" in one["finding"]
    assert "which is stopped" in one["finding"]
    assert f"kill -CONT {other.pid}" in one["remedy"]


_WAITS = """
import sys
from pathlib import Path
from turnspan_clickhouse.files.lock_queue import LockQueue
print("there", flush=True)
LockQueue(Path(sys.argv[1])).take(600)
"""


def test_the_doctor_answers_beside_a_shipper_that_is_stopped_in_the_line(embedded_dsn: Dsn) -> None:
    """It has not got the store, so it keeps it from nobody."""
    with migrated(embedded_dsn) as store:
        assert embedded_dsn.path is not None
        with store.held(), process(_WAITS, embedded_dsn.path / "lock") as other:
            while not [*embedded_dsn.path.glob("lock.waiting/*")]:
                time.sleep(0.01)
            stop(other)
            store.close()
            begun = time.monotonic()
            done = run(embedded_dsn, "doctor", "--format", "json")
            assert time.monotonic() - begun < 20
            levels = {c["name"]: c["level"] for c in json.loads(done.stdout)}
            assert (levels["lock"], levels["schema"], levels["select"]) == ("ok", "ok", "ok")


def test_a_lock_that_outlived_its_process(tmp_path: Path) -> None:
    """A child that was forked without Python's knowledge has it; it is what to end."""
    path = tmp_path / "ship.lock"
    with process(_FORKS, path) as parent:
        parent.wait()
        found = holder(path)
        assert found is not None
        assert (found.state, found.pid, found.stuck) == (GONE, parent.pid, True)
        (child,) = found.forked
        assert f"kill {child}" in found.remedy
        os.kill(child, signal.SIGKILL)
        patience = time.monotonic() + 60
        while holder(path) is not None:
            assert time.monotonic() < patience
            time.sleep(0.01)


def test_a_lock_that_outlives_its_process_for_a_moment_is_nobodys(tmp_path: Path) -> None:
    """Until what was forked calls exec or ends; nobody is told to kill anything."""
    path = tmp_path / "ship.lock"
    with process(_FORKS.replace("sleep(600)", "sleep(0.1)"), path) as parent:
        parent.wait()
        assert holder(path) is None


def test_holders_that_end_while_somebody_looks_are_not_gone(tmp_path: Path) -> None:
    """One after the other takes the lock, gives it its name and ends without giving it up."""
    path = tmp_path / "ship.lock"
    with process(_TAKES_TURNS, path) as parent:
        found: list[Holder | None] = []
        while parent.poll() is None:
            found.append(holder(path))
    assert {one.state for one in found if one is not None} <= {ALIVE}
    assert holder(path) is None


def test_a_lock_whose_file_names_somebody_else(tmp_path: Path) -> None:
    """A disk that was full when the lock was taken: the kernel knows better."""
    path = tmp_path / "ship.lock"
    path.write_bytes(b'{"holder": "elsewhere-7", "since": 1.0}')
    script = _FORKS.replace("child = os.fork()", "child = os.getpid()").replace(
        "os._exit(0)", "time.sleep(600)"
    )
    with process(script, path) as other:
        found = holder(path)
        assert found is not None
        assert (found.pid, found.state, found.since) == (other.pid, ALIVE, 0.0)
        path.write_bytes(b"\xff not ours")
        again = holder(path)
        assert again is not None
        assert again.pid == other.pid
    assert holder(path) is None
    assert holder(tmp_path / "nothing") is None
