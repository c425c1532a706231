"""What processes of one host tell each other: which session gave which answer.

A conversation's next request may be served by another process (a pool of workers, a restart). Each
process that writes a spool appends the keys of its answers to a file of its own in the spool's
``answers`` folder, and looks into the others' when a request has an answer in its history that no
call of its own gave. What is written are keyed hashes, 0600; the key is in the folder. A file is
forgotten after a day, or when it is too large.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from turnspan.runtime.guard import errors
from turnspan_clickhouse.files.atomic_files import private_folder

FOLDER: Final = "answers"
MAX_FILE_BYTES: Final = 8 * 2**20
MAX_AGE_SECONDS: Final = 86_400.0
MAX_KNOWN: Final = 200_000
"""Keys of other processes that are kept in memory."""
_LOOK_SECONDS: Final = 0.05
_SUFFIX: Final = ".answers"
_SALT: Final = "salt"


class KnownAnswer(NamedTuple):
    """A session that gave an answer, and after what."""

    session_id: str
    chain: int
    """The key of the history that was answered."""
    last: int
    """The key of its newest message that is not the model's."""
    system: int


class SharedAnswers:
    """The answers of the processes that write one spool."""

    def __init__(self, spool: Path) -> None:
        self._folder = spool / FOLDER
        self._waiting: list[bytes] = []
        self._known: dict[tuple[str, int], list[KnownAnswer]] = {}
        self._read: dict[str, int] = {}
        self._looked = float("-inf")
        self._name = ""
        self._written = 0
        self.salt = self._salted()

    def add(self, project: str, keys: list[int], known: KnownAnswer) -> None:
        """Tell the others of an answer, with the next ``write``."""
        if known.session_id:
            self._waiting.append(orjson.dumps([project, keys, *known]))

    def write(self) -> None:
        """Write what waits. What cannot be written costs the others' knowledge, no record."""
        if not self._waiting:
            return
        lines, self._waiting = b"\n".join(self._waiting) + b"\n", []
        try:
            path = self._path(len(lines))
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                self._written += os.write(fd, lines)
            finally:
                os.close(fd)
        except OSError as error:
            self._name = ""
            errors.record("answers.write", error)

    def find(self, project: str, keys: list[int]) -> list[KnownAnswer]:
        """The sessions of other processes that gave an answer with one of these keys."""
        now = time.monotonic()
        if now - self._looked > _LOOK_SECONDS:
            self._looked = now
            try:
                self._look()
            except OSError as error:
                errors.record("answers.read", error)
        found: list[KnownAnswer] = []
        for key in keys:
            found += self._known.get((project, key), [])
        return found

    def after_fork(self) -> None:
        """In a forked child: a file of its own; the parent's answers are another process's."""
        self._waiting = []
        self._name = ""
        self._read.clear()
        self._known.clear()
        self._looked = float("-inf")

    # -- files ------------------

    def _salted(self) -> bytes:
        """The key of the folder's hashes, made by whoever comes first."""
        path = self._folder / _SALT
        try:
            private_folder(self._folder)
            with contextlib.suppress(FileExistsError):
                made = path.with_name(f"{_SALT}.{secrets.token_hex(8)}")
                fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(fd, "wb") as file:
                    file.write(secrets.token_bytes(32))
                try:
                    os.link(made, path)  # whole from the first moment, and never another's
                finally:
                    made.unlink()
            return path.read_bytes()
        except OSError:  # the spool says so where it is written
            return secrets.token_bytes(32)

    def _path(self, more: int) -> Path:
        """The file to append to; a new one where the old is full, and old ones are removed."""
        if not self._name or self._written + more > MAX_FILE_BYTES:
            private_folder(self._folder)
            self._forget_old()
            self._name = f"{os.getpid()}-{secrets.token_hex(6)}{_SUFFIX}"
            self._written = 0
        return self._folder / self._name

    def _forget_old(self) -> None:
        limit = time.time() - MAX_AGE_SECONDS
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX):
                    with contextlib.suppress(FileNotFoundError):
                        if entry.stat().st_mtime < limit:
                            os.unlink(entry.path)

    def _look(self) -> None:
        """Read what the others have written since the last look."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                if not entry.name.endswith(_SUFFIX) or entry.name == self._name:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    size, done = entry.stat().st_size, self._read.get(entry.name, 0)
                    if size > done:
                        self._read[entry.name] = done + self._take(entry.path, done)

    def _take(self, path: str, offset: int) -> int:
        """Read the whole lines from here on; returns how many bytes they are."""
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(MAX_FILE_BYTES * 2)
        end = data.rfind(b"\n") + 1
        for line in data[:end].splitlines():
            try:
                said: Any = orjson.loads(line)
                project, keys, *rest = said
                known = KnownAnswer(*rest)
                for key in keys:
                    self._keep((project, key), known)
            except (ValueError, TypeError) as error:
                errors.record("answers.line", error)
        return end

    def _keep(self, key: tuple[str, int], known: KnownAnswer) -> None:
        alike = self._known.setdefault(key, [])
        alike.append(known)
        del alike[:-8]
        if len(self._known) > MAX_KNOWN:
            for old in list(self._known)[: MAX_KNOWN // 8]:
                del self._known[old]
