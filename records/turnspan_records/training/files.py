"""The files of a set: written aside, under their own names only when all of them are whole."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from turnspan_records.access.whole_folders import new_file

_TYPES: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
}


@dataclass(frozen=True, slots=True)
class File:
    """One file of a set."""

    name: str
    split: str
    lines: int
    bytes: int
    sha256: str


class LinesFile:
    """A file of JSON Lines, hashed while it is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._file: IO[bytes] = new_file(path)
        self._bytes = 0
        self.lines = 0

    def write(self, line: bytes) -> None:
        """One line, with its end."""
        self._file.write(line)
        self._digest.update(line)
        self._bytes += len(line)
        self.lines += 1

    def whole(self, split: str) -> File:
        """All lines are there: have them on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return File(self._path.name, split, self.lines, self._bytes, self._digest.hexdigest())

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class Images:
    """Images as files: kept beside the work, and put into the set once a line names them."""

    def __init__(self, work: Path, made: Path) -> None:
        self._work = work / "images"
        self._made = made / "images"
        self._placed: set[str] = set()

    def keep(self, content: bytes, mime_type: str) -> str:
        """Keep an image; returns the path under which lines name it."""
        name = f"{hashlib.sha256(content).hexdigest()}.{_TYPES.get(mime_type.lower(), 'bin')}"
        self._work.mkdir(mode=0o700, exist_ok=True)
        path = self._work / name
        if not path.exists():
            with new_file(path) as file:
                file.write(content)
        return f"images/{name}"

    def place(self, path: str) -> None:
        """A line names this path."""
        name = path.removeprefix("images/")
        if not path.startswith("images/") or name in self._placed:
            return
        source = self._work / name
        if source.exists():
            self._made.mkdir(mode=0o700, exist_ok=True)
            os.replace(source, self._made / name)
            self._placed.add(name)


def write_text(path: Path, text: str) -> None:
    """A small file, on the disk when it returns."""
    with new_file(path) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
