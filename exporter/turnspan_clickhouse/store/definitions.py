"""The definitions of an embedded store's tables and views, on a disk that was full.

There the engine answers that it made or altered one, and leaves its file empty or cut: with such a
file it never opens again, and the rows of a table are found by nothing but the id that stood in it.
So each whole definition is copied beside the engine, and what is lost comes back from there. (No
links: what cuts the file in its place would cut the copy.)
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timezone
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
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_UUID = later(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COLUMN = later(r"^    (?:ADD COLUMN IF NOT EXISTS )?(?!INDEX\b|ADD\b)(\w+) (?!.* ALIAS )", re.M)
_PART_COLUMN = later(r"^`(.+)` ", re.M)
_CREATE = later(r"\A.*?CREATE TABLE IF NOT EXISTS \S+ *\n(?=\()", re.S)


@dataclass(frozen=True, slots=True)
class Mended:
    """A definition that was lost, by its file below ``metadata``; ``again`` until ``migrate`` or,
    where it is not ours, its owner has made it again."""

    file: str
    when: str
    how: str
    again: bool

    @property
    def name(self) -> str:
        """What it defines, as SQL names it."""
        return ".".join(map(unquote, Path(self.file).with_suffix("").parts))


def require_room(path: Path) -> None:
    """Refuse to make tables on a full disk, where the engine would say that it did.

    Raises:
        StoreUnavailableError: it has less than ``ROOM`` free.
    """
    free = shutil.disk_usage(path).free
    files = sys.maxsize
    if sys.platform != "win32":
        disk = os.statvfs(path)
        files = disk.f_favail if disk.f_files else files  # some count none
    if free < ROOM or files < _FILES_FREE:
        left = f"{free / 2**20:.1f} MiB" if free < ROOM else f"{files} files"
        raise StoreUnavailableError(
            f"The disk of {path} is full ({left} free): tables are made and mended with "
            f"{ROOM // 2**20} MiB free, and what is recorded waits in the spool; free some space, "
            "then run this again."
        )


def require_whole(path: Path) -> None:
    """Copy the definitions that have changed.

    Raises:
        StoreUnavailableError: one of them is cut.
        OSError: the folder cannot be used.
    """
    broken = _keep(path)
    if broken:
        raise StoreUnavailableError(
            f"The disk of {path} was full while {broken[0].stem} was made: free some space, then "
            "run this again; the store is mended when it is opened next."
        )


def mended(path: Path | None) -> list[Mended]:
    """What was lost so far in a store's folder."""
    if path is None:
        return []
    try:
        return [Mended(*one) for one in json.loads((path / "definitions/mended").read_bytes())]
    except FileNotFoundError:
        return []


def made_again(path: Path | None) -> None:
    """``migrate`` has run: what was lost is up to date where it is there."""
    notes = mended(path)
    if path is not None and any(one.again for one in notes):
        files = path / "engine/metadata"
        _note(path, [replace(one, again=not (files / one.file).exists()) for one in notes])


def recover(dsn: Dsn, path: Path) -> None:
    """Before the engine opens a folder: bring back what a full disk has cut in it.

    Raises:
        StoreUnavailableError: the disk is still full.
        StoreError: the rows of a table cannot be told for certain.
        OSError: the folder cannot be used.
    """
    engine, copies = path / "engine", path / "definitions"
    broken = _keep(path)
    metadata = engine / "metadata"
    gone = [
        metadata / copy.relative_to(copies)
        for copy in copies.glob("*/*.sql")
        if not (metadata / copy.relative_to(copies)).exists()
    ]
    unnumbered = [f for f in engine.glob("store/*/*/format_version.txt") if not f.stat().st_size]
    if broken or gone or unnumbered:
        if broken or unnumbered:
            require_room(path)
        for file in unnumbered:
            write_whole(file, b"1", sync=True)
        _Recovery(dsn, path, broken).run(gone)


class _Recovery:
    def __init__(self, dsn: Dsn, path: Path, broken: list[Path]) -> None:
        self._dsn = dsn
        self._path = path
        self._engine = path / "engine"
        self._broken = broken
        dropped = "".join(file.name for file in self._engine.glob("metadata_dropped/*"))
        whole = [_head(file) for file in _files(self._engine) if file not in broken]
        self._known = {one for text in (dropped, *whole) for one in _UUID.findall(text)}

    def run(self, gone: list[Path]) -> None:
        for file in gone:
            copy = self._copy(file)
            if file.parent.is_dir() and self._free(copy) and self._parts(_UUID.findall(copy)[0]):
                self._broken.append(file)  # as somebody deleted it who could not open the store
            elif file.parent.is_dir():
                (self._path / "definitions" / file.parent.name / file.name).unlink()
        # What has a copy says which rows are its own.
        for file in sorted(self._broken, key=lambda one: not self._copy(one)):
            content, how, ours = self._found(file)
            name = str(file.relative_to(self._engine / "metadata"))
            now = datetime.now(timezone.utc).isoformat(" ", "seconds")
            one = Mended(name, now, how, ours or not content)
            notes = [note for note in mended(self._path) if note.file != name]
            _note(self._path, [*notes, one])  # first: killed after it, all of this is done again
            logger.warning("The definition of %s in %s was lost: %s.", one.name, self._dsn, how)
            if content:
                write_whole(file, content.encode(), sync=True)
                self._known.update(_UUID.findall(content)[:1])
            else:
                file.unlink()

    def _found(self, file: Path) -> tuple[str, str, bool]:
        """What a definition was, empty for nothing; how it is mended, and whether it is ours."""
        from turnspan_clickhouse.store.migrations import migrations  # which asks what was mended

        name = unquote(file.stem)
        views = {subject: one.view for one in migrations() for subject in one.subjects(self._dsn)}
        if file.parent.name == "metadata":
            ours, view = False, False
        else:
            ours = unquote(file.parent.name) == self._dsn.database and name in views
            view = (ours and views[name]) or name.startswith("_tmp_replace_")
        copy = self._copy(file)
        if self._free(copy):
            return copy, "it is back as it was", ours
        if file.parent.name == "metadata":
            linked = file.with_suffix("")
            if linked.is_symlink():
                uuid = Path(os.readlink(linked)).name
                return f"ATTACH DATABASE _ UUID '{uuid}'\nENGINE = Atomic\n", "it is back", False
            found = {str(one.parent) for one in self._engine.glob("store/*/*/*.sql")}
        else:
            rows = {} if view else self._orphans(_UUID.findall(_head(file))[:1])
            if ours and rows:
                made, base, full = _by_schema(self._dsn, name)
                rows = {uuid: has for uuid, has in rows.items() if base <= has}
                if len(rows) == 1 and all(has <= full for has in rows.values()):
                    return made.format(uuid=next(iter(rows))), "it is the schema's again", True
            found = {str(self._folder(uuid)) for uuid in rows}
        if found:
            raise StoreError(
                f"The definition of {name} was lost while the disk was full, and its rows may be "
                f"those in {', '.join(sorted(found))}: put {file} back from a backup, or delete it "
                "to have the table made again by `turnspan migrate`, without them."
            )
        return "", "it had no rows, and is made again" if ours else "make it again", ours

    def _copy(self, file: Path) -> str:
        copy = self._path / "definitions" / file.relative_to(self._engine / "metadata")
        content = copy.read_text("utf-8") if copy.exists() else ""
        return content if content.endswith("\n") else ""

    def _free(self, copy: str) -> bool:
        """Whether a copy is of what nothing else is now, as after a change of names."""
        return bool(copy) and self._known.isdisjoint(_UUID.findall(copy)[:1])

    def _folder(self, uuid: str) -> Path:
        return self._engine / "store" / uuid[:3] / uuid

    def _parts(self, uuid: str) -> set[str]:
        """The columns of a table's rows, by its folder; none where there is no row."""
        found = self._folder(uuid).glob("[!td]*_*_*_*/columns.txt")
        return {one for file in found for one in _PART_COLUMN.findall(file.read_text("utf-8"))}

    def _orphans(self, own: list[str]) -> dict[str, set[str]]:
        """Columns by folder, of those with rows that no definition names; of a cut definition,
        which still says it, its own."""
        cut = {one for file in self._broken for one in _UUID.findall(_head(file))[:1]}
        found = own or [one.name for one in self._engine.glob("store/*/*-*-*-*-*")]
        free = (one for one in found if one not in self._known and (own or one not in cut))
        return {one: has for one in free if (has := self._parts(one))}


def _by_schema(dsn: Dsn, name: str) -> tuple[str, set[str], set[str]]:
    """The definition of a table of ours, with ``{uuid}`` in it, by its schema files; the columns
    that rows of it have, and those that they may have."""
    from turnspan_clickhouse.store.migrations import migrations, statements

    files = [one for one in migrations() if not one.view and name in one.subjects(dsn)]
    made, *more = [statements(one, dsn)[0].replace("{", "{{").replace("}", "}}") for one in files]
    table = made[: made.index("\n)\n")]
    added = [sql[sql.index("    ADD ") :] for sql in more]
    base = set(_COLUMN.findall(table))
    full = base.union(*(_COLUMN.findall(sql) for sql in added))
    body = ",\n".join([table, *(re.sub(r"ADD (?:COLUMN )?|IF NOT EXISTS ", "", a) for a in added)])
    head = _CREATE.sub("ATTACH TABLE _ UUID '{uuid}'\n", body)
    return f"{head}{made[len(table) :]}\n", base, full


def _files(engine: Path) -> Iterator[Path]:
    yield from engine.glob("metadata/*.sql")
    yield from engine.glob("metadata/*/*.sql")  # through a link each


def _head(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(4096).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _keep(path: Path) -> list[Path]:
    """Copy the definitions that are whole and have changed; returns those that are not whole."""
    broken: list[Path] = []
    for file in _files(path / "engine"):
        copy = path / "definitions" / file.relative_to(path / "engine/metadata")
        now = file.stat()
        kept = copy.stat() if copy.exists() else None
        if kept and (kept.st_size, kept.st_mtime_ns) == (now.st_size, now.st_mtime_ns):
            continue
        content = file.read_bytes()
        if not content.endswith(b"\n"):
            broken.append(file)
            continue
        try:
            private_folder(copy.parent)
            write_whole(copy, content)  # not synced: one that a power cut spoils is made again
            os.utime(copy, ns=(now.st_atime_ns, now.st_mtime_ns))
        except OSError as error:  # on a full disk: the next opening does it
            if error.errno not in _FULL:
                raise
    return broken


def _note(path: Path, notes: list[Mended]) -> None:
    file = private_folder(path / "definitions") / "mended"
    write_whole(file, json.dumps([astuple(one) for one in notes]).encode(), sync=True)
