"""Opens a log so that whoever writes it is never disturbed, and says clearly what cannot be read.

Locks are held for the milliseconds of one batch (``responses``), nothing is created beside the file
unless SQLite needs it for a log in WAL mode, and nothing is ever repaired or migrated.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Final

from turnspan_records.importing.sources import SourceLogError


class LogsError(SourceLogError):
    """A log database cannot be used; the message is one sentence with the remedy."""


_MEANINGS: Final = (
    # SQLite's words, which are the same since version 3.7: error codes came with Python 3.11
    ("file is not a database", "is not an SQLite database, or it is encrypted: decrypt it first"),
    ("malformed", "is damaged or cut off: copy it whole, or run `sqlite3 FILE .recover` on it"),
    ("disk i/o error", "could not be read or written: the disk reports an error"),
    ("locked", "is locked by another program for too long: try again when it has ended"),
    ("busy", "is in use by another program for too long: try again when it has ended"),
    ("disk is full", "could not be written: the disk is full"),
    (
        "readonly",
        "cannot be written, or needs a repair that only a writer can make: see to its "
        "permissions, or open it once with `llm logs`",
    ),
    ("unable to open", "cannot be opened: see to the permissions of the file and of its folder"),
    ("no such table", "has lost a table while it was read: try again"),
    ("no such column", "has lost a column while it was read: try again"),
)


@contextlib.contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn SQLite's errors about a database into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise LogsError(f"{path} {meaning(error)}.") from error


def meaning(error: sqlite3.Error) -> str:
    """What an error of SQLite means to whoever gave the file, as the rest of a sentence."""
    said = str(error)
    low = said.lower()
    for words, means in _MEANINGS:
        if words in low:
            return f"{means} ({said})"
    return f"cannot be used ({said})"


SECONDS: Final = 30.0
"""How long a writer is waited for."""
_MAGIC: Final = b"SQLite format 3\0"
_WAL: Final = 2
"""The file format version of a database in WAL mode, bytes 18 and 19 of the header."""


@contextlib.contextmanager
def opened(path: Path | str, seconds: float = SECONDS) -> Generator[sqlite3.Connection]:
    """A connection that only reads.

    Raises:
        LogsError: it is no SQLite database, or it cannot be read.
    """
    path = Path(path)
    header = _header(path)
    state = _state(path)
    immutable = _only_as_it_stands(path, header)
    with explained(path):
        connection = _connection(path, seconds, immutable)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield connection
        finally:
            connection.close()
    if immutable and _state(path) != state:
        raise LogsError(f"{path} was written to while it was read: copy it and read the copy.")


def _connection(path: Path, seconds: float, immutable: bool) -> sqlite3.Connection:
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    # Another encoding in one old row must not make the whole log unreadable.
    connection.text_factory = _text
    connection.execute("PRAGMA query_only = 1")
    # A file that lies to us: no function or view of its schema may do harm.
    connection.execute("PRAGMA trusted_schema = 0")
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _header(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # opening a pipe waits for who writes it
            raise LogsError(f"{path} is not a file: `llm logs path` prints where llm's log is.")
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        raise LogsError(
            f"There is no file {path}: `llm logs path` prints where llm's log is."
        ) from None
    except OSError as error:
        raise LogsError(f"{path} cannot be read: {error.strerror}.") from None
    if not header:
        raise LogsError(f"{path} is empty: `llm logs path` prints where llm's log is.")
    if not header.startswith(_MAGIC):
        raise LogsError(f"{path} is not an SQLite database, or it is encrypted: decrypt it first.")
    if len(header) < 100:
        raise LogsError(f"{path} is cut off: copy it whole.")
    return header


def _only_as_it_stands(path: Path, header: bytes) -> bool:
    """Whether the log has to be read without locks.

    In WAL mode SQLite needs its two files beside the log, even to read. Where neither is there and
    none can be made, nobody has the log open, and it is read as it stands; that nobody came
    meanwhile is checked at the end.
    """
    if header[18] != _WAL:
        return False
    beside = [path.with_name(path.name + end) for end in ("-wal", "-shm")]
    return not (os.access(path.absolute().parent, os.W_OK) or any(file.exists() for file in beside))


def _state(path: Path) -> tuple[object, ...]:
    told = path.stat()
    wal = path.with_name(path.name + "-wal")
    return told.st_size, told.st_mtime_ns, told.st_ino, wal.exists()
