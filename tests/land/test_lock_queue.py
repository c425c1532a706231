"""Who waits for a lock: served in order, told whom they wait for, and not counted once dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.files.lock_queue import LockQueue

WAITER = """
import sys
from pathlib import Path
from turnspan_clickhouse.files.lock_queue import LockQueue
print("there", flush=True)
LockQueue(Path(sys.argv[1])).take(60)
"""


def eventually(said: bool, *, of: LockQueue) -> None:
    """Waits until ``wanted`` says so."""
    until = time.monotonic() + 60
    while of.wanted() is not said:
        assert time.monotonic() < until
        time.sleep(0.01)


def held(queue: LockQueue) -> FileLock:
    """The lock, which must be free."""
    lock = queue.take(0)
    assert lock is not None
    return lock


def test_the_first_that_waits_is_the_first_served(tmp_path: Path) -> None:
    """Whatever the moment at which each of them looks; the holder that comes again is the last."""
    in_line = threading.Semaphore(0)

    class Watched(LockQueue):
        def _await(self, mark: Any, wait: float, waiting: Any) -> FileLock | None:
            in_line.release()  # with a mark that nobody takes for dead
            return super()._await(mark, wait, waiting)

    queue = Watched(tmp_path / "lock")
    lock, served = held(queue), list[int]()

    def wait(number: int) -> None:
        mine = queue.take(60)
        assert mine is not None
        served.append(number)
        time.sleep(0.03)
        mine.release()

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
        assert in_line.acquire(timeout=60)
    lock.release()
    wait(5)
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2, 3, 4, 5]
    assert not queue.wanted()
    assert os.listdir(tmp_path / "lock.waiting") == []


def test_a_waiter_that_was_killed_counts_no_more(tmp_path: Path) -> None:
    """Nobody lets go for it, and nobody waits behind it."""
    queue = LockQueue(tmp_path / "lock")
    lock = held(queue)
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, tmp_path / "lock"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        eventually(True, of=queue)
        process.kill()
    eventually(False, of=queue)
    lock.release()
    held(queue).release()
    assert os.listdir(tmp_path / "lock.waiting") == []


def test_a_waiter_that_is_stopped_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Neither who holds the lock nor who comes after it; it has its place again when it goes on."""
    queue = LockQueue(tmp_path / "lock")
    lock = held(queue)
    waiter = subprocess.Popen([sys.executable, "-c", WAITER, queue.path], stdout=subprocess.PIPE)
    try:
        eventually(True, of=queue)
        waiter.send_signal(signal.SIGSTOP)
        eventually(False, of=queue)
        lock.release()
        again = queue.take(0)
        assert again is not None
        waiter.send_signal(signal.SIGCONT)
        eventually(True, of=queue)
        again.release()
        assert waiter.wait(60) == 0
    finally:
        waiter.kill()
        waiter.communicate()


def test_a_holder_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    """The kernel gives its lock up: whoever is next has it."""
    queue = LockQueue(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", f"{WAITER}print('has it', flush=True)\ninput()", tmp_path / "lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["there\n", "has it\n"]
        told: list[Holder] = []
        assert queue.take(2.5, told.append) is None
        assert [one.pid for one in told] == [process.pid]
        assert not queue.wanted()
        process.kill()
    held(queue).release()


def test_a_line_that_moves_is_waited_in(tmp_path: Path) -> None:
    """The seconds count for each that is before us, not for all of them together."""
    queue = LockQueue(tmp_path / "lock")
    lock = held(queue)

    def wait() -> None:
        mine = queue.take(60)
        assert mine is not None
        time.sleep(0.3)
        mine.release()

    threads = [threading.Thread(target=wait) for _ in range(12)]
    for number, thread in enumerate(threads):
        thread.start()
        while len([*tmp_path.glob("lock.waiting/*")]) <= number:
            time.sleep(0.002)
    lock.release()
    mine = queue.take(3)
    assert mine is not None
    mine.release()
    for thread in threads:
        thread.join()


def test_where_no_mark_can_be_left(tmp_path: Path) -> None:
    """As on a full disk: the lock is waited for all the same."""
    (tmp_path / "lock.waiting").write_text("no folder")
    queue = LockQueue(tmp_path / "lock")
    lock = held(queue)
    threading.Timer(0.1, lock.release).start()
    mine = queue.take(10)
    assert mine is not None
    mine.release()


def test_marks_are_for_their_owner_alone(tmp_path: Path) -> None:
    """As everything beside a store is."""
    queue = LockQueue(tmp_path / "lock")
    lock = held(queue)
    thread = threading.Thread(target=lambda: queue.take(0.5))
    thread.start()
    eventually(True, of=queue)
    folder = tmp_path / "lock.waiting"
    assert [one.stat().st_mode & 0o777 for one in (folder, *folder.iterdir())] == [0o700, 0o600]
    thread.join()
    lock.release()
