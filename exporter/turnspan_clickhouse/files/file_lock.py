"""Locks that the kernel gives up when their process dies, however it dies.

A flock belongs to the open file, which a forked child shares: a child that kept it would hold a
dead parent's lock. So every lock held here is closed in a forked child (closing a copy does not
unlock it), and a release unlocks before it closes.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from turnspan.runtime.forks import in_child
from turnspan_clickhouse.files.held_files import (
    BINARY,
    lock,
    read_from_start,
    unlock,
    write_from_start,
)

_held: set[FileLock] = set()


class FileLock:
    """An exclusive lock on a file, held from ``take`` to ``release`` or to the process's end."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd
        _held.add(self)

    @classmethod
    def take(cls, path: Path, *, create: bool = True) -> FileLock | None:
        """Take the lock; None while another holds it.

        Raises:
            OSError: the file cannot be opened; FileNotFoundError without ``create``.
        """
        try:
            fd = os.open(path, os.O_RDWR | BINARY | (os.O_CREAT if create else 0), 0o600)
        except OSError as error:
            if create or error.errno != errno.EROFS:
                raise
            fd = os.open(path, os.O_RDONLY)  # enough to see who lives
        try:
            taken = lock(fd)
        except BaseException:
            os.close(fd)
            raise
        if not taken:
            os.close(fd)
            return None
        return cls(path, fd)

    def write(self, content: bytes) -> None:
        """Put this into the locked file, instead of what it said.

        Raises:
            OSError: it could not be written.
        """
        if write_from_start(self._fd, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(self._fd, len(content))

    def content(self) -> bytes:
        """What the locked file says.

        Raises:
            OSError: it cannot be read.
        """
        return read_from_start(self._fd, 65_536)

    def move(self, path: Path) -> None:
        """Give the locked file another name; the lock goes with it."""
        if sys.platform == "win32":  # where an open file keeps its name: others may get in between
            unlock(self._fd)
            os.close(self._fd)
            os.replace(self.path, path)
            self._fd = os.open(path, os.O_RDWR | BINARY)
            if not lock(self._fd):
                raise BlockingIOError(errno.EAGAIN, "the lock is held by another process")
        else:
            os.replace(self.path, path)
        self.path = path

    def on_disk(self) -> bool:
        """Whether this process holds the lock and the file is still the one under its name."""
        if self._fd < 0:
            return False
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        mine = os.fstat(self._fd)
        return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)

    def release(self) -> None:
        """Give the lock up; again does nothing."""
        fd, self._fd = self._fd, -1
        _held.discard(self)
        if fd >= 0:
            unlock(fd)
            os.close(fd)

    def drop_in_child(self) -> None:
        """In a forked child: let go of the parent's lock without unlocking it."""
        fd, self._fd = self._fd, -1
        _held.discard(self)
        if fd >= 0:
            os.close(fd)


def _drop_all_in_child() -> None:
    for one in list(_held):
        one.drop_in_child()


in_child(_drop_all_in_child)
