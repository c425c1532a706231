"""A lock file whose waiters are served in the order in which they came.

Who has to wait leaves a mark, a file in a folder beside the lock, and holds the kernel's lock on
it: the mark of a process that died, however it died, counts no more. Whoever holds the lock can
look whether it is wanted.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import Holder, holder, host_and_pid, stopped

_POLL_SECONDS = 0.01
_TOLD_AFTER_SECONDS = 2.0
_number = itertools.count()


class LockQueue:
    """The lock at ``path``, and who waits for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._marks = path.with_name(f"{path.name}.waiting")

    def wanted(self) -> bool:
        """Whether a process waits for the lock that could take it."""
        return next(self._waiting(), None) is not None

    def take(
        self, wait: float, waiting: Callable[[Holder], None] = lambda _: None
    ) -> FileLock | None:
        """Take the lock when it is our turn; None where one process before us, or its holder,
        keeps us waiting for longer than ``wait`` seconds. ``waiting`` is told once who holds it,
        when that takes long.

        Raises:
            OSError: the lock's file cannot be opened.
        """
        if not self.wanted():
            lock = FileLock.take(self.path)
            if lock is not None or wait <= 0:
                return lock
        mark = self._mark()
        try:
            return self._await(mark, wait, waiting)
        finally:
            if mark is not None:
                _remove(mark)

    def _await(
        self, mark: FileLock | None, wait: float, waiting: Callable[[Holder], None]
    ) -> FileLock | None:
        told_at = time.monotonic() + _TOLD_AFTER_SECONDS
        deadline, ahead = 0.0, sys.maxsize
        while True:
            now_ahead = self._ahead(mark)
            if now_ahead < ahead:  # the line moves: nobody hangs
                ahead, deadline = now_ahead, time.monotonic() + wait
            if not now_ahead:
                lock = FileLock.take(self.path)
                if lock is not None:
                    return lock
            now = time.monotonic()
            if now >= deadline:
                return None
            if now >= told_at:
                told_at = float("inf")
                found = holder(self.path)
                if found is not None:
                    waiting(found)
            time.sleep(_POLL_SECONDS)

    def _mark(self) -> FileLock | None:
        """A mark of our own; None where none can be left, as on a full disk: we wait all the
        same, without a place in the line."""
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                self._marks.mkdir(mode=0o700)
            while True:
                name = f"{time.time_ns():020d}-{host_and_pid(os.getpid())}-{next(_number)}"
                mark = FileLock.take(self._marks / name)
                if mark is None:  # just looked at by another process
                    continue
                if mark.on_disk():
                    return mark
                mark.release()  # taken for a dead one's between its making and its locking
        return None

    def _ahead(self, mark: FileLock | None) -> int:
        """How many wait that came before; all that wait where we have no mark."""
        own = mark.path.name if mark is not None else None
        return sum(1 for name in self._waiting() if own is None or name < own)

    def _waiting(self) -> Iterator[str]:
        """The marks of running processes, the oldest first; those of dead ones are removed. One
        that is stopped has its place again when it goes on: everybody would wait for it else."""
        try:
            names = sorted(os.listdir(self._marks))
        except OSError:
            return
        for name in names:
            try:
                dead = FileLock.take(self._marks / name, create=False)
            except OSError:  # it is gone, or another user's
                continue
            if dead is not None:
                _remove(dead)
            elif not stopped(name.partition("-")[2].rpartition("-")[0]):
                yield name


def _remove(mark: FileLock) -> None:
    # Before the lock is given up, or a new one that has this name would go; on Windows after, where
    # a file that somebody has open cannot be removed anyway.
    if sys.platform == "win32":
        mark.release()
    with contextlib.suppress(OSError):
        mark.path.unlink()
    mark.release()
