"""Why a log cannot be read or written, in one sentence with the remedy."""

from __future__ import annotations

import contextlib
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
