"""Folders of files that others read: whole, or not there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import IO, Final

from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.files import held_files

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]+")


class ExportError(TurnspanError, ValueError):
    """The export cannot be made as asked; the message says what to do."""


@contextlib.contextmanager
def aside(folder: Path) -> Generator[Path]:
    """A folder beside ``folder`` that becomes it where nothing is raised, and else is gone; where
    it was removed meanwhile, there is neither.

    What an export that was killed has left there is removed first.

    Raises:
        ExportError: the folder is there and not empty, or another export is writing it.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportError(f"{folder} is there already: name a new folder, or remove it first.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder.parent / f".{folder.name}.partial"
    lock = folder.parent / f".{folder.name}.lock"
    held = os.open(lock, os.O_RDWR | os.O_CREAT | held_files.BINARY, 0o600)
    try:
        # Without a name any more it was the lock of an export that has just ended.
        if not held_files.lock(held) or not os.fstat(held).st_nlink:
            raise ExportError(f"Another export is writing {folder}: wait for it to finish.")
        try:
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir(mode=0o700)
            yield made
            if made.exists():
                with contextlib.suppress(FileNotFoundError):
                    folder.rmdir()  # it is empty: only some systems replace a folder by another
                os.replace(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
            with contextlib.suppress(OSError):
                lock.unlink()
    finally:
        os.close(held)


def new_file(path: Path) -> IO[bytes]:
    """A file that was not there, of this user's own."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | held_files.BINARY
    return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=2**20)


def hashed(path: Path) -> str:
    """The sha256 of a file."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):
            made.update(piece)
    return made.hexdigest()


def page_name(text: str) -> str:
    """A name for a file or a wiki's page: as it is where no other text can have the same one,
    whatever a system makes of letters' case, blanks and signs; else with a hash of it."""
    if _PLAIN.fullmatch(text) and not text.endswith("."):
        return text
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return f"{_UNSAFE.sub('-', text)[:80].strip('-.') or 'session'}-{digest}"
