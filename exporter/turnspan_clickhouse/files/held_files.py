"""What a lock on a file is, and how a held file is written: by system.

The kernel gives a lock up when its process dies, however it dies.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt

    BINARY = os.O_BINARY
    OPENED_TO_LOOK = os.O_RDWR | os.O_BINARY
    _FAR = 1 << 30
    """Locked bytes cannot be read by others: so one far behind the content is."""

    def lock(fd: int) -> bool:
        """Take the lock on a file; False while another process holds it."""
        os.lseek(fd, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Give the lock up."""
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def is_held(fd: int) -> bool:
        """Whether another process holds the lock on a file."""
        if not lock(fd):
            return True
        unlock(fd)
        return False

    def write_from_start(fd: int, content: bytes) -> int:
        """Write over the file's beginning; returns how many bytes were."""
        os.lseek(fd, 0, os.SEEK_SET)
        return os.write(fd, content)

    def read_from_start(fd: int, size: int) -> bytes:
        """The file's beginning."""
        os.lseek(fd, 0, os.SEEK_SET)
        return os.read(fd, size)

else:
    import fcntl

    BINARY = 0
    OPENED_TO_LOOK = os.O_RDONLY

    def lock(fd: int) -> bool:
        """Take the lock on a file; False while another process holds it."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Give the lock up."""
        fcntl.flock(fd, fcntl.LOCK_UN)

    def is_held(fd: int) -> bool:
        """Whether another process holds the lock on a file."""
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(fd, fcntl.LOCK_UN)
        return False

    def write_from_start(fd: int, content: bytes) -> int:
        """Write over the file's beginning; returns how many bytes were."""
        return os.pwrite(fd, content, 0)

    def read_from_start(fd: int, size: int) -> bytes:
        """The file's beginning."""
        return os.pread(fd, size, 0)
