"""The folders of this machine that hold copies of records: archives and exported sets.

One file for all stores, a line a folder, only ever appended to. A line says by its id which store
the copy was made from, since another store's records have nothing to do with it; one without an id
is of a version that did not note it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.files import held_files
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.store.dsn import data_folder

FolderKind: TypeAlias = Literal["archive", "export"]

NAME: Final = "folders.jsonl"
_KINDS: Final[tuple[FolderKind, ...]] = ("archive", "export")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was registered; it may have been moved or removed since."""

    kind: FolderKind
    path: Path
    store: str = ""
    """The id of the store that it was made from; empty where nobody knows."""


def register(kind: FolderKind, path: Path, store: str) -> None:
    """Have a folder known as made from a store, on the disk when this returns; a second time
    changes nothing.

    To be called before records are written there: a folder that never came to be does no harm, one
    that nobody knows does.

    Raises:
        OSError: it could not be written.
    """
    path = path.absolute()
    if Folder(kind, path, store) in known():
        return
    line = orjson.dumps({"kind": kind, "path": os.fsdecode(path), "store": store}) + b"\n"
    place = private_folder(data_folder()) / NAME
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | held_files.BINARY
    fd = os.open(place, flags, 0o600)
    try:
        # A line that a crash cut in two must not swallow this one.
        size = os.fstat(fd).st_size
        if size and _last_byte(fd, size) != b"\n":
            line = b"\n" + line
        os.write(fd, line)
        os.fsync(fd)
    finally:
        os.close(fd)


def known(kind: FolderKind | None = None) -> list[Folder]:
    """Every folder that was registered, each once, in that order; what was said of a path last
    holds."""
    try:
        content = (data_folder() / NAME).read_bytes()
    except FileNotFoundError:
        return []
    found: dict[tuple[FolderKind, Path], Folder] = {}
    for line in content.splitlines():
        folder = _read(line)
        if folder is not None and kind in (None, folder.kind):
            found[folder.kind, folder.path] = folder
    return list(found.values())


def adoptable(path: Path, store: str) -> Folder | None:
    """The folder of this path, if it may be registered as made from this store: it is of this one,
    or nobody knows of which."""
    found = (one for one in known() if one.path == path.absolute() and one.store in ("", store))
    return next(found, None)


def _read(line: bytes) -> Folder | None:
    try:
        said: Any = orjson.loads(line)
    except orjson.JSONDecodeError:  # the end of a write that a crash cut
        return None
    if not is_dict(said) or said.get("kind") not in _KINDS or not isinstance(said.get("path"), str):
        return None
    return Folder(said["kind"], Path(said["path"]), str(said.get("store") or ""))


def _last_byte(fd: int, size: int) -> bytes:
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1)
