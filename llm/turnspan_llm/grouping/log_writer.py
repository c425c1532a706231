"""Writes what was found into the log itself: a copy first, then one transaction, or nothing.

Nothing that is assigned already is overwritten, so a second run changes nothing. The copy is made
and checked before the log is locked; if somebody wrote meanwhile, it is made again.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from turnspan_clickhouse.files.atomic_files import sync_all, sync_folder
from turnspan_llm.grouping.model import Grouping, RowAt, RowPlace
from turnspan_llm.logs.connection import SECONDS, LogsError, explained, opened
from turnspan_llm.logs.generations import tables

COLUMNS: Final = {"consortium_id": "TEXT", "is_arbiter_response": "INTEGER"}
_ROUNDS: Final = 3
"""So often the copy is made again because somebody wrote; then it is made with the log locked."""


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What became of a log."""

    rows: int
    """How many got a run; 0 where there was nothing left to write, and nothing was touched."""
    backup: Path | None
    tables: tuple[str, ...] = ()
    """Those that were written."""
    gone: int = 0
    """Rows that were changed or deleted since they were read, and left alone."""


_Assignment = tuple[RowAt, RowPlace]


def write(
    path: Path | str,
    grouping: Grouping,
    *,
    database: int = 0,
    backup_dir: Path | str | None = None,
    seconds: float = SECONDS,
) -> WrittenRows:
    """Write the runs and roles of a log's rows into it.

    Args:
        path: the log that was grouped.
        grouping: what was found in it.
        database: 0 for the log, 1 where the path is llm-consortium's own file.
        backup_dir: where the copy goes; beside the log if not given.
        seconds: how long another writer is waited for.

    Raises:
        LogsError: it cannot be written, or not copied first; then it is as it was.
    """
    path = Path(path)
    wanted = _assignments(grouping, database)
    if not wanted or not _missing(path, wanted):
        return WrittenRows(0, None)
    folder = path.absolute().parent if backup_dir is None else Path(backup_dir)
    for what in (path, path.absolute().parent, folder):
        if not os.access(what, os.W_OK):
            raise LogsError(f"{what} cannot be written: see to its permissions; nothing was done.")
    with explained(path), _writer(path, seconds) as writer:
        backup = _copied_and_locked(writer, path, folder)
        try:
            written = _written(writer, wanted, backup)
            writer.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                writer.execute("ROLLBACK")
            backup.unlink(missing_ok=True)
            raise
    return written


def _assignments(grouping: Grouping, database: int) -> dict[str, list[_Assignment]]:
    wanted: dict[str, list[_Assignment]] = {}
    for run in grouping.runs:
        for each in run.rows():
            place = grouping.places[each.row.id]
            if each.row.database == database:
                wanted.setdefault(each.row.table, []).append((each.row, place))
    return wanted


def _missing(path: Path, wanted: Mapping[str, list[_Assignment]]) -> bool:
    """Whether a row has not yet what it is to have."""
    with opened(path) as connection:
        columns = tables(connection)
        for table, assignments in wanted.items():
            if not COLUMNS.keys() <= set(columns.get(table, ())):
                return True
            sql = (
                f'SELECT 1 FROM "{table}" WHERE rowid = ? AND CAST(id AS TEXT) IS ? '
                "AND (consortium_id IS NULL "
                "OR (consortium_id IS ? AND is_arbiter_response IS NULL))"
            )
            for row, place in assignments:
                of = (row.position, row.id, place.consortium_id)
                if connection.execute(sql, of).fetchone():
                    return True
    return False


@contextlib.contextmanager
def _writer(path: Path, seconds: float) -> Generator[sqlite3.Connection]:
    # mode=rw: where the file is gone, none is created.
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        yield connection
    finally:
        connection.close()


def _copied_and_locked(writer: sqlite3.Connection, path: Path, folder: Path) -> Path:
    """A checked copy of the log as it is, which is locked now."""
    for _ in range(_ROUNDS):
        version = _version(writer)
        backup = _copy(path, folder)
        try:
            writer.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            backup.unlink(missing_ok=True)
            raise
        if _version(writer) == version:
            return backup
        writer.execute("ROLLBACK")
        backup.unlink(missing_ok=True)
    writer.execute("BEGIN IMMEDIATE")
    try:
        return _copy(path, folder)
    except BaseException:
        writer.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    """A number that is another one after somebody else has written."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _copy(path: Path, folder: Path) -> Path:
    now = datetime.datetime.now(datetime.timezone.utc)
    name = f"{path.name}.{now:%Y-%m-%dT%H-%M-%S.%fZ}.backup"
    whole, partial = folder / name, folder / f"{name}.partial"
    try:
        with opened(path) as source:
            found = _copied(source, partial)
        if found != ["ok"]:
            raise LogsError(
                f"{path} is damaged ({'; '.join(found)}): nothing was written, run "
                "`sqlite3 FILE .recover` on it."
            )
        sync_all([partial])
        partial.rename(whole)
        sync_folder(folder)
    except OSError as error:
        raise LogsError(
            f"No copy of {path} can be made in {folder} ({error.strerror or error}): nothing was "
            "written, name another folder with --backup-dir."
        ) from error
    finally:
        for left in folder.glob(f"{name}.partial*"):
            left.unlink(missing_ok=True)
    return whole


def _copied(source: sqlite3.Connection, to: Path) -> list[str]:
    """Copy a database; what SQLite finds wrong with the copy, ``ok`` if nothing."""
    try:
        with contextlib.closing(sqlite3.connect(to)) as copy:
            source.backup(copy)
            return [str(row[0]) for row in copy.execute("PRAGMA integrity_check(5)")]
    except sqlite3.DatabaseError as error:
        if "malformed" in str(error):
            return [str(error)]
        raise OSError(0, str(error)) from error


def _written(
    writer: sqlite3.Connection, wanted: Mapping[str, Iterable[_Assignment]], backup: Path
) -> WrittenRows:
    rows = gone = 0
    there = tables(writer)
    for table, assignments in wanted.items():
        for column, type_ in COLUMNS.items():
            if column not in there.get(table, ()):
                writer.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {type_}')
        update = (
            f'UPDATE "{table}" SET consortium_id = ?1, '
            "is_arbiter_response = coalesce(is_arbiter_response, ?2) "
            "WHERE rowid = ?3 AND CAST(id AS TEXT) IS ?4 AND (consortium_id IS NULL "
            "OR (consortium_id = ?1 AND is_arbiter_response IS NULL))"
        )
        same = f'SELECT 1 FROM "{table}" WHERE rowid = ? AND CAST(id AS TEXT) IS ?'
        for row, place in assignments:
            done = writer.execute(
                update, (place.consortium_id, place.role, row.position, row.id)
            ).rowcount
            rows += done
            if not done and writer.execute(same, (row.position, row.id)).fetchone() is None:
                gone += 1
    return WrittenRows(rows, backup, tuple(wanted), gone)
