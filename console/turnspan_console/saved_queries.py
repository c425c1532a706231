"""Statements that were saved under a name: this user's own, for the page and the command line."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.files.atomic_files import private_folder, write_whole
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.store.dsn import data_folder
from turnspan_console.control_characters import visible

FILE_NAME: Final = "saved-queries.json"
MOST: Final = 200
LONGEST, LONGEST_NAME = 20_000, 80
"""Characters of a statement, and of its name."""

_PATIENCE_SECONDS, _AGAIN_SECONDS = 2.0, 0.02


class SavedQueryError(Exception):
    """A statement cannot be saved, found or deleted; the message says what to do."""


def saved_queries() -> dict[str, str]:
    """The statements by name, in the order of the names.

    Raises:
        SavedQueryError: the file cannot be read, or is none of ours.
    """
    path = data_folder() / FILE_NAME
    try:
        said: Any = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SavedQueryError(f"{path} cannot be read ({error.strerror}).") from None
    except orjson.JSONDecodeError as error:
        raise SavedQueryError(f"{path} is no JSON ({error}): mend it, or remove it.") from None
    if not is_dict(said) or not all(isinstance(sql, str) for sql in said.values()):
        raise SavedQueryError(
            f"{path} must have a statement for each name, as text: mend it, or remove it."
        )
    return dict(sorted(said.items()))


def saved_query(name: str) -> str:
    """The statement of a name.

    Raises:
        SavedQueryError: there is none, or as of ``saved_queries``.
    """
    return _having(name)[name]


def save_query(name: str, sql: str) -> None:
    """Keep a statement under a name, instead of what that had; on the disk when this returns.

    Raises:
        SavedQueryError: the name or the statement is none that can be kept, there are too many, or
            the file cannot be read or written.
    """
    _check(name, sql)
    with _changing() as path:
        known = saved_queries()
        if name not in known and len(known) >= MOST:
            raise SavedQueryError(
                f"{MOST} statements are saved already: delete one with "
                "`turnspan sql --delete-saved NAME`."
            )
        _write(path, {**known, name: sql})


def delete_query(name: str) -> None:
    """Keep the statement of a name no longer.

    Raises:
        SavedQueryError: there is none, or the file cannot be read or written.
    """
    with _changing() as path:
        known = _having(name)
        del known[name]
        _write(path, known)


def _check(name: str, sql: str) -> None:
    seen = visible(name) == name and name.isprintable() and name == name.strip()
    if not name or not seen or name.startswith("-") or len(name) > LONGEST_NAME:
        raise SavedQueryError(
            f"A name has 1 to {LONGEST_NAME} visible characters, without a blank at its ends or "
            "a - at its beginning: choose another."
        )
    if not sql.strip():
        raise SavedQueryError("There is no statement to save: write one first.")
    if len(sql) > LONGEST:
        raise SavedQueryError(
            f"A statement that is saved has {LONGEST:,} characters at most: shorten it, or keep it "
            "in a file of your own."
        )


def _having(name: str) -> dict[str, str]:
    """The statements, of which one has this name."""
    known = saved_queries()
    if name not in known:
        names = ", ".join(known) or "none yet"
        raise SavedQueryError(f"No statement is saved as {name!r}; there are: {names}.")
    return known


@contextlib.contextmanager
def _changing() -> Generator[Path]:
    """The file's path, while no other process changes it."""
    try:
        path = private_folder(data_folder()) / FILE_NAME
        until = time.monotonic() + _PATIENCE_SECONDS
        while (lock := FileLock.take(path.with_name("saved-queries.lock"))) is None:
            if time.monotonic() > until:
                raise SavedQueryError(f"Another process keeps {path}: try again.")
            time.sleep(_AGAIN_SECONDS)
        try:
            yield path
        finally:
            lock.release()
    except OSError as error:
        raise SavedQueryError(
            f"The statement cannot be kept in {data_folder() / FILE_NAME} ({error.strerror}): make "
            "room, or let this user write there."
        ) from None


def _write(path: Path, queries: dict[str, str]) -> None:
    try:
        content = orjson.dumps(queries, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:  # half of a pair of surrogates
        raise SavedQueryError("The statement contains an invalid character: remove it.") from None
    write_whole(path, content, sync=True)
