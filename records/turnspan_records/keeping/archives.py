"""Archives: folders of records taken out of a store, each table as zstd JSON Lines and as Parquet.

::

    manifest.json       what is in it: versions, why it was made, rows and hashes; written last
    <table>.jsonl.zst   a record a line (lines.py), in no order that means anything
    <table>.parquet     the same records

An archive is written aside and has its name only when all of it was read back from the disk: the
lines have the hash that the store's rows had, and the Parquet file has the lines' values. It is
never changed, only replaced whole (``rewrite``).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan._version import __version__
from turnspan_clickhouse.files.atomic_files import private_folder, sync_folder, write_whole
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_records.access.whole_folders import ExportError, aside, hashed
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.lines import BY_TABLE, Content, record_of, row_of
from turnspan_records.keeping.table_files import TableFiles, read_lines, same_in_parquet
from turnspan_records.keeping.work import Progress, silent

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class TableManifest:
    """What the manifest says of a table: its rows, the hash of their contents, and of its files."""

    rows: int
    content: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself. ``about`` is for people: the policy, the store, the time."""

    format: int
    turnspan: str
    schema: int
    about: Mapping[str, Any]
    tables: Mapping[str, TableManifest]

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(table.rows for table in self.tables.values())


class ArchiveWriter:
    """The tables of an archive that is being written; see ``writing``."""

    def __init__(self, folder: Path, about: Mapping[str, Any], schema: int) -> None:
        self.folder = folder
        self._about = about
        self._schema = schema
        self._tables: dict[str, TableFiles] = {}

    def add(self, table: str, lines: Sequence[bytes]) -> None:
        """Append records of a table, as lines without their ends."""
        if lines:
            if table not in self._tables:
                self._tables[table] = TableFiles(self.folder, BY_TABLE[table])
            self._tables[table].write(lines)

    def whole(self, progress: Progress) -> Manifest:
        """No more come: read everything back, and write the manifest.

        Raises:
            ArchiveError: what is on the disk is not what was written.
        """
        for files in self._tables.values():
            files.finish()
        tables = {
            name: TableManifest(files.content.rows, files.content.hash, files.hashes())
            for name, files in sorted(self._tables.items())
        }
        made = Manifest(FORMAT, __version__, self._schema, self._about, tables)
        _verify(self.folder, made, progress)
        text = orjson.dumps(made, option=orjson.OPT_INDENT_2) + b"\n"
        write_whole(self.folder / MANIFEST, text, sync=True)
        return made

    def close(self) -> None:
        """Let the files go."""
        for files in self._tables.values():
            files.close()


@contextlib.contextmanager
def writing(
    path: Path,
    about: Mapping[str, Any],
    *,
    schema: int = SCHEMA_VERSION,
    progress: Progress | None = None,
) -> Generator[ArchiveWriter]:
    """Write an archive: it is there under its name, verified and on the disk, when the block ends
    without an exception, and else not at all.

    Raises:
        ArchiveError: it is there already, is being written, or was not read back as written.
    """
    path = path.absolute()
    try:
        private_folder(path.parent)
        with aside(path) as made, contextlib.closing(ArchiveWriter(made, about, schema)) as writer:
            yield writer
            writer.whole(progress or silent)
        sync_folder(path.parent)
    except ExportError as error:
        raise ArchiveError(str(error)) from None


class Archive:
    """An archive that is there. Opening it reads the manifest only.

    Raises:
        ArchiveError: it is no archive, or one of a newer Turnspan.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        settle(self.path)
        self.manifest = _manifest(self.path)

    def verify(self, progress: Progress | None = None) -> None:
        """Read all of it.

        Raises:
            ArchiveError: a file is missing, or not as it was written.
        """
        for name, table in self.manifest.tables.items():
            for file, sha256 in table.files.items():
                if _hash(self.path / file) != sha256:
                    raise ArchiveError(
                        f"The archive {self.path} is damaged: {file} of the table {name} is not "
                        "as it was written. Take it from a copy."
                    )
        _verify(self.path, self.manifest, progress or silent)

    def lines(self, table: str) -> Iterator[list[bytes]]:
        """The lines of a table, some at a time. Raises ``ArchiveError``."""
        if table in self.manifest.tables:
            yield from read_lines(self.path, table)

    def records(self, table: str) -> Iterator[list[Record]]:
        """The records of a table, some at a time. Raises ``ArchiveError``."""
        kind = BY_TABLE[table]
        for lines in self.lines(table):
            yield [record_of(kind, row_of(line)) for line in lines]


def rewrite(path: Path, keep: Callable[[str, Mapping[str, Any]], bool]) -> dict[str, int]:
    """Replace an archive by one without the rows that ``keep(table, row)`` is false of; returns how
    many of each table went. One of which nothing is left is removed; where nothing goes, nothing is
    written. Killed at any moment it is the old or the new one, once it is opened again.

    Raises:
        ArchiveError: it is no archive, or is damaged.
    """
    old = Archive(path)
    old.verify()
    gone = rows_without(old, keep)
    if not gone:
        return {}
    if sum(gone.values()) == old.manifest.rows:
        _discard(old.path)
        return gone
    new = beside(old.path, "new")
    known = old.manifest
    with writing(new, known.about, schema=known.schema) as writer:
        for table in known.tables:
            for lines in old.lines(table):
                writer.add(table, [line for line in lines if keep(table, row_of(line))])
    settle(old.path)
    return gone


def settle(path: Path) -> None:
    """Finish replacing a folder that has a manifest where that was cut short; what is beside it
    without a manifest was not complete."""
    new, old = beside(path, "new"), beside(path, "old")
    if (new / MANIFEST).exists():
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
            os.replace(path, old)
        os.replace(new, path)
        sync_folder(path.parent)
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def rows_without(
    archive: Archive, keep: Callable[[str, Mapping[str, Any]], bool]
) -> dict[str, int]:
    """How many rows of each table of an archive are not to be kept."""
    gone: dict[str, int] = {}
    for table in archive.manifest.tables:
        for lines in archive.lines(table):
            number = sum(not keep(table, row_of(line)) for line in lines)
            if number:
                gone[table] = gone.get(table, 0) + number
    return gone


def _discard(path: Path) -> None:
    """Remove an archive: from here on it has no name, whatever is left of its files."""
    old = beside(path, "old")
    shutil.rmtree(old, ignore_errors=True)
    os.replace(path, old)
    sync_folder(path.parent)
    shutil.rmtree(old)


def beside(path: Path, what: str) -> Path:
    """Where a folder's replacement is made, or what it replaces lies."""
    return path.with_name(f".{path.name}.{what}")


def _verify(folder: Path, manifest: Manifest, progress: Progress) -> None:
    done, total = 0, manifest.rows
    for name, table in manifest.tables.items():
        content = Content()
        for lines in same_in_parquet(folder, BY_TABLE[name]):
            content.add(lines)
            progress("verifying", done + content.rows, total)
        if (content.rows, content.hash) != (table.rows, table.content):
            raise ArchiveError(
                f"The archive {folder} is damaged: the rows of {name} are not those that were "
                "written. Nothing is deleted for it, or restored from it."
            )
        done += content.rows


def _manifest(path: Path) -> Manifest:
    try:
        said = orjson.loads((path / MANIFEST).read_bytes())
        if said["format"] > FORMAT:
            raise ArchiveError(
                f"The archive {path} was made by a newer Turnspan ({said['turnspan']}): upgrade "
                "this one."
            )
        tables = {
            str(name): TableManifest(int(one["rows"]), str(one["content"]), dict(one["files"]))
            for name, one in said["tables"].items()
        }
        numbers = (int(said["format"]), str(said["turnspan"]), int(said["schema"]))
        found = Manifest(*numbers, dict(said["about"]), tables)
    except FileNotFoundError:
        raise ArchiveError(f"{path} is not an archive: it has no {MANIFEST}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArchiveError(f"The manifest of the archive {path} cannot be read: {error}.") from None
    unknown = sorted(set(tables) - set(BY_TABLE))
    if unknown:
        raise ArchiveError(
            f"The archive {path} has tables that this Turnspan does not know ({unknown[0]}): "
            "upgrade it."
        )
    return found


def _hash(path: Path) -> str:
    try:
        return hashed(path)
    except OSError:
        return ""
