"""Small files that are whole or not there, for their owner's eyes only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from turnspan_clickhouse.held import BINARY

_TO_SYNC = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY


def private_folder(folder: Path) -> Path:
    """The folder, made with its parents if need be, 0700."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    return folder


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
        _sync_folder(path.parent)


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
        _sync_folder(folder)


def remove(path: Path) -> None:
    """Delete a file, whatever its mode.

    Raises:
        OSError: it is not there, or cannot be.
    """
    if sys.platform == "win32":  # where what may only be read cannot be deleted
        path.chmod(0o600)
    path.unlink()


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # which has no way to
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
