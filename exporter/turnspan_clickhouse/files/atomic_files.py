"""Small files that are whole or not there, for their owner's eyes only."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from turnspan_clickhouse.files.held_files import BINARY

_TO_SYNC = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY
_MODES = sys.platform != "win32"
"""Whether folders and files have an owner's, a group's and others' rights."""
_OTHERS = 0o077
_OURS = re.compile(
    r"engine|definitions|spool|store|demo.*|lock.*|ship\.lock|writers|groups|rejected|receivers|answers"
    r"|totals\.json.*|.*\.native(\.tmp|\.error)?|archives|folders\.jsonl|retain.*|forgotten.*"
    r"|page-token.*|saved-queries\..*"
)
"""What stands in the folders that we make: one that holds anything else is somebody's."""


def private_folder(folder: Path) -> Path:
    """The folder, for its owner alone: made 0700, as are the parents that are missing.

    One that is there and open to others is closed to them with all in it, if it is this user's and
    holds nothing but ours. With the set-group-id bit, by which a folder is shared on purpose, its
    group stays; one with the sticky bit (``/tmp``) is left as it is.
    """
    try:
        found = folder.stat()
    except FileNotFoundError:
        if folder.parent != folder:
            _make_private(folder.parent)
        _make_private(folder)
        return folder
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    loose = _loose(found)
    if not loose or sys.platform == "win32":
        return folder
    ours = found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX
    if ours and all(_OURS.fullmatch(name) for name in os.listdir(folder)):
        folder.chmod(stat.S_IMODE(found.st_mode) & ~loose)
        if not found.st_mode & stat.S_ISGID:
            close_to_others(folder)
    return folder


def open_to_others(folder: Path) -> bool:
    """Whether others than its owner, or the group it is shared with, may use a folder."""
    try:
        return bool(_loose(folder.stat()))
    except OSError:  # it is not there
        return False


def _loose(found: os.stat_result) -> int:
    if not _MODES:
        return 0
    return found.st_mode & (0o007 if found.st_mode & stat.S_ISGID else _OTHERS)


def close_to_others(folder: Path) -> None:
    """Take from group and others what they may do with a folder of ours and all in it.

    What belongs to another user stays as it is, and links are not followed.
    """
    if sys.platform == "win32":  # which has no such modes
        return
    for path, _, names in os.walk(folder, topdown=True):
        for one in (path, *(os.path.join(path, name) for name in names)):
            with contextlib.suppress(FileNotFoundError):  # merged away in between
                found = os.lstat(one)
                mode = stat.S_IMODE(found.st_mode)
                ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
                if mode & _OTHERS and ours:
                    os.chmod(one, mode & ~_OTHERS)


def makes_loose_files() -> bool:
    """Whether what this process makes may be open to others: its umask says so, or is not told."""
    if not _MODES:
        return False
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("Umask:"):
                    return int(line.split()[1], 8) & _OTHERS != _OTHERS
    except OSError:
        pass
    return True


def _make_private(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_private(folder.parent)
    with contextlib.suppress(FileExistsError):  # made by another process in between
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)  # whatever the umask takes from its owner


def write_whole(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Write a file whole or not at all; with ``sync`` it survives a power cut.

    Raises:
        OSError: it could not be written; nothing of it is left.
    """
    temporary = path.with_name(path.name + ".tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o600)
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(fd, view) :]
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if sync:
        sync_folder(path.parent)


def sync_all(paths: Iterable[Path]) -> None:
    """Have these files, those that are there, and their folders written to the disk.

    Raises:
        OSError: it could not be.
    """
    folders: set[Path] = set()
    with contextlib.ExitStack() as open_files:
        files: list[int] = []
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                fd = os.open(path, _TO_SYNC)
                open_files.callback(os.close, fd)
                files.append(fd)
                folders.add(path.parent)
        if sys.platform == "linux":  # all begin to be written at once: one wait, not one for each
            for fd in files:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for fd in files:
            os.fsync(fd)
    for folder in folders:
        sync_folder(folder)


def remove(path: Path) -> None:
    """Delete a file, whatever its mode.

    Raises:
        OSError: it is not there, or cannot be.
    """
    if sys.platform == "win32":  # where what may only be read cannot be deleted
        path.chmod(0o600)
    path.unlink()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk.

    Raises:
        OSError: they could not be.
    """
    if sys.platform == "win32":  # which has no way to
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
