"""The definitions of an embedded store's tables and views, on a disk that was full.

There the engine answers that it made or altered one, and leaves its file empty or cut: with such a
file it never opens again, and the rows of a table are found by nothing but the id that stood in it.
So each whole definition is copied beside the engine, and what is lost comes back from there. (No
links: what cuts the file in its place would cut the copy.)
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from turnspan.runtime.guard import logger
from turnspan.runtime.later import later
from turnspan_clickhouse.errors import StoreError, StoreUnavailableError
from turnspan_clickhouse.files.atomic_files import private_folder, write_whole
from turnspan_clickhouse.store.dsn import Dsn

ROOM: Final = 4 * 2**20
"""Bytes that the disk must have free before a table or a view is made or altered."""
_FILES_FREE: Final = 256
_UUID = later(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COLUMN = later(
    r"^    (?:ADD COLUMN IF NOT EXISTS )?(?!INDEX\b|ADD\b|MATERIALIZE\b)(\w+) (?!.* ALIAS )", re.M
)
_PART_COLUMN = later(r"^`(.+)` ", re.M)
_ADDING = later(r"ADD (?:COLUMN )?|IF NOT EXISTS |,\n    MATERIALIZE (?:INDEX|COLUMN) \w+")
_CREATE = later(r"\A.*?CREATE TABLE IF NOT EXISTS \S+ *\n(?=\()", re.S)


def require_room(path: Path) -> None:
    """Refuse to make tables on a full disk, where the engine would say that it did.

    Raises:
        StoreUnavailableError: it has less than ``ROOM`` free.
    """
    free, files = shutil.disk_usage(path).free, sys.maxsize
    if sys.platform != "win32" and (disk := os.statvfs(path)).f_files:  # some count none
        files = disk.f_favail
    if free < ROOM or files < _FILES_FREE:
        left = f"{free / 2**20:.1f} MiB" if free < ROOM else f"{files} files"
        raise StoreUnavailableError(
            f"The disk of {path} is full ({left} free): creating and mending tables needs "
            f"{ROOM // 2**20} MiB; records wait in the spool. Free some space, "
            "then run this again."
        )


def require_whole(path: Path) -> None:
    """Copy the definitions that have changed.

    Raises:
        StoreUnavailableError: one of them is cut.
        OSError: the folder cannot be used.
    """
    for file in _keep(path):
        raise StoreUnavailableError(
            f"The disk of {path} was full while {file.stem} was created: free some space, then "
            "run this again; the store is mended at its next opening."
        )


def mended(dsn: Dsn) -> dict[str, tuple[str, bool]]:
    """By the names of what was lost in a store's folder: when, and how it was mended; whether
    ``migrate`` or, where it is not ours, its owner has to make it again."""
    try:
        return json.loads((dsn.path / "definitions/mended").read_bytes()) if dsn.path else {}
    except FileNotFoundError:
        return {}


def made_again(dsn: Dsn) -> None:
    """``migrate`` has run: what was lost is up to date where it is there."""
    notes = mended(dsn)
    if dsn.path and any(again for _, again in notes.values()):
        there = {_name(dsn, file) for file in _files(dsn.path)}
        _note(dsn.path, {name: (how, name not in there) for name, (how, _) in notes.items()})


def recover(dsn: Dsn, path: Path) -> None:
    """Before the engine opens a folder: bring back what a full disk has cut in it.

    Raises:
        StoreUnavailableError: the disk is still full.
        StoreError: the rows of a table cannot be told for certain.
        OSError: the folder cannot be used.
    """
    broken = _keep(path)
    formats = path.glob("engine/store/*/*/format_version.txt")
    unnumbered = [file for file in formats if not file.stat().st_size]
    if broken or unnumbered:
        require_room(path)
    for file in unnumbered:
        write_whole(file, b"1", sync=True)
    kinds = _kinds(dsn) if broken else {}
    # A copy says which rows are its own, and a schema what they look like: the rest comes last.
    order = {one: (not _copied(path, one), _name(dsn, one) not in kinds) for one in broken}
    for file in sorted(order, key=order.__getitem__):
        content, how, again = _Lost(dsn, path, file, broken).state(kinds)
        name, when = _name(dsn, file), time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        # First: where it is killed after this, all of it is done again.
        _note(path, {**mended(dsn), name: (f"{when} UTC: {how}", again)})
        logger.warning("The definition of %s in %s was lost on a full disk: %s.", name, dsn, how)
        if content:
            write_whole(file, content.encode(), sync=True)
        else:
            file.unlink()
        broken.remove(file)


class _Lost:
    """A definition that is not whole, among the others of its store."""

    def __init__(self, dsn: Dsn, path: Path, file: Path, broken: list[Path]) -> None:
        self._dsn, self._path, self._file = dsn, path, file
        self._store = path / "engine/store"
        self._own = _ids(file)
        there = {*_files(path), *path.glob("engine/metadata_dropped/*")}
        self._known = {one for other in there.difference(broken) for one in _ids(other)}
        self._cut = {one for other in broken for one in _ids(other)}

    def state(self, kinds: dict[str, bool]) -> tuple[str, str, bool]:
        """What it was, empty for nothing; how that is mended; whether it is to be made again."""
        name = _name(self._dsn, self._file)
        ours, view = name in kinds, kinds.get(name, name.startswith("_tmp_replace_"))
        copy = _copied(self._path, self._file)
        if copy and self._known.isdisjoint(_UUID.findall(copy)[:1]):  # or it has another name now
            return copy, "it is back as it was", ours
        linked = self._file.with_suffix("")
        if linked.is_symlink():
            text = f"ATTACH DATABASE _ UUID '{Path(os.readlink(linked)).name}'\nENGINE = Atomic\n"
            return text, "it is back", False
        rows = {} if view else self._orphans()
        if ours and rows:
            text, base, full = _by_schema(self._dsn, name)
            rows = {uuid: has for uuid, has in rows.items() if base <= has}
            if len(rows) == 1 and all(has <= full for has in rows.values()):
                return text.format(uuid=next(iter(rows))), "it is the schema's again", True
        if rows:
            raise StoreError(
                f"The definition of {name} was lost on a full disk, and its rows may be those of "
                f"{', '.join(sorted(rows))} in {self._store}: put {self._file} back from a backup, "
                "or delete it to have the table made by `turnspan migrate`, without them."
            )
        return "", "it had no rows, and is made again" if ours else "make it again", True

    def _orphans(self) -> dict[str, set[str]]:
        """The columns by folder, of those with rows that no definition names; of a cut definition,
        which still says it, its own. Of another engine's rows the columns are not known."""
        free = {one.name for one in self._store.glob("*/*-*-*-*-*")} - self._cut - self._known
        rows: dict[str, set[str]] = {}
        for uuid in self._own or free:
            for one in self._store.glob(f"{uuid[:3]}/{uuid}/*"):
                part = one / "columns.txt"
                if part.exists() and not one.name.startswith(("tmp_", "delete_tmp_")):
                    names = _PART_COLUMN.findall(part.read_text("utf-8"))
                    rows.setdefault(uuid, set()).update(names)
                elif one.is_file() and one.suffix != ".sql" and one.stat().st_size > 1:
                    rows.setdefault(uuid, set())  # format_version.txt has one byte
        return rows


def _kinds(dsn: Dsn) -> dict[str, bool]:
    """What is ours, by name: whether it is a view."""
    from turnspan_clickhouse.store.migrations import migrations  # which asks what was mended

    return {name: one.view for one in migrations() for name in one.subjects(dsn)}


def _by_schema(dsn: Dsn, name: str) -> tuple[str, set[str], set[str]]:
    """The definition of a table of ours, with ``{uuid}`` in it, by its schema files; the columns
    that rows of it have, and those that they may have."""
    from turnspan_clickhouse.store.migrations import migrations, statements  # as above

    files = [one for one in migrations() if not one.view and name in one.subjects(dsn)]
    made, *more = [statements(one, dsn)[0].replace("{", "{{").replace("}", "}}") for one in files]
    table = made[: made.index("\n)\n")]
    # What is no column and no index is a setting: `migrate` puts it back.
    added = [sql[sql.index("    ADD ") :] for sql in more if "    ADD " in sql]
    base = set(_COLUMN.findall(table))
    full = base.union(*(_COLUMN.findall(sql) for sql in added))
    body = ",\n".join([table, *(_ADDING.sub("", one) for one in added)])
    head = _CREATE.sub("ATTACH TABLE _ UUID '{uuid}'\n", body)
    return f"{head}{made[len(table) :]}\n", base, full


def _files(path: Path) -> list[Path]:
    """The databases' definitions, and their tables' and views', through a link each."""
    return [*path.glob("engine/metadata/*.sql"), *path.glob("engine/metadata/*/*.sql")]


def _name(dsn: Dsn, file: Path) -> str:
    """What a file defines: a database, or what is in ours, by its name alone."""
    folder, name = file.parent.name, unquote(file.stem)
    return name if folder in ("metadata", dsn.database) else f"{unquote(folder)}.{name}"


def _ids(file: Path) -> list[str]:
    """The id that a definition says, or the name of a dropped one."""
    with file.open("rb") as opened:
        return _UUID.findall(file.name + opened.read(4096).decode("utf-8", "replace"))[:1]


def _copy(path: Path, file: Path) -> Path:
    return path / "definitions" / file.relative_to(path / "engine/metadata")


def _copied(path: Path, file: Path) -> str:
    copy = _copy(path, file)
    content = copy.read_text("utf-8") if copy.exists() else ""
    return content if content.endswith("\n") else ""


def _keep(path: Path) -> list[Path]:
    """Copy the definitions that are whole and have changed; returns those that are not whole."""
    broken: list[Path] = []
    there, kept = _stamps(path / "engine/metadata"), _stamps(path / "definitions")
    for name, (size, changed) in there.items():
        if kept.get(name) == (size, changed):
            continue
        file = path / "engine/metadata" / name
        with contextlib.suppress(FileNotFoundError):  # another thread dropped it
            content = file.read_bytes()
            if not content.endswith(b"\n"):
                broken.append(file)
                continue
            copy = _copy(path, file)
            try:
                private_folder(copy.parent)
                write_whole(copy, content)  # not synced: one that a power cut spoils is made again
                os.utime(copy, ns=(changed, changed))
            except OSError as error:  # on a full disk: the next opening does it
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
    for name in kept.keys() - there.keys():
        if "/" in name:  # of what was dropped
            (path / "definitions" / name).unlink(missing_ok=True)
    return sorted(broken, key=lambda file: len(file.parts))  # databases first


def _stamps(folder: Path, below: str = "") -> dict[str, tuple[int, int]]:
    """Size and time of the definitions in a folder, and in those in it, by their paths: asked at
    each opening and of each statement that makes one."""
    found: dict[str, tuple[int, int]] = {}
    with contextlib.suppress(FileNotFoundError), os.scandir(folder / below) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another thread dropped it
                if entry.name.endswith(".sql"):
                    state = entry.stat()
                    found[below + entry.name] = (state.st_size, state.st_mtime_ns)
                elif not below and entry.is_dir():
                    found |= _stamps(folder, f"{entry.name}/")
    return found


def _note(path: Path, notes: dict[str, tuple[str, bool]]) -> None:
    file = private_folder(path / "definitions") / "mended"
    write_whole(file, json.dumps(notes).encode(), sync=True)
