"""The commits of ``git log`` with the files they changed, and these files' hunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

FORMAT: Final = "--format=%x01%H%x00%at%x00%ct%x00%an"
"""How ``git log`` shows a commit to be read here."""
_HUNK = re.compile(rb"@@+ (?:-\d+(?:,\d+)? )+\+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; times are in seconds since the epoch."""

    id: str
    authored: int
    committed: int
    person: str


@dataclass(slots=True)
class FileEntry:
    """A file of a commit; a blob is empty where there is no file, or a link."""

    path: str
    former: str
    before: tuple[str, ...]
    """Its blob in each parent."""
    after: str


Row: TypeAlias = tuple[bytes, str]
"""A line of a hunk: a mark for each parent, and its text."""
Hunk: TypeAlias = tuple[int, list[Row]]
"""Where it begins in the new version, from 0, and its lines."""


def index_of(before: Sequence[str], after: str) -> str:
    """By which name the hunks of a file are found: its blobs, as ``git`` writes them."""
    return f"{','.join(before)}..{after}"


def file_changes(
    lines: Iterable[bytes],
) -> Iterator[tuple[Commit, list[FileEntry], dict[str, list[Hunk] | None]]]:
    """The commits of an answer of ``git log``, with their files and these files' hunks, by blobs;
    None instead of hunks where a file is not a text."""
    commit: Commit | None = None
    entries: list[FileEntry] = []
    hunks: dict[str, list[Hunk] | None] = {}
    index, parents = "", 1
    rows: list[Row] | None = None
    for line in lines:
        first = line[:1]
        if rows is not None and first in (b" ", b"+", b"-"):
            rows.append((line[:parents], line[parents:].decode("utf-8", "replace")))
        elif rows is not None and not line:
            # A commit's message ends here, or an empty line in the middle of a merge's hunk.
            rows = rows if parents > 1 else None
        elif first == b"\x01":
            if commit is not None:
                yield commit, entries, hunks
            id_, authored, committed, person = line[1:].split(b"\0", 3)
            name = person.decode("utf-8", "replace")
            commit = Commit(id_.decode(), int(authored), int(committed), name)
            entries, hunks, rows = [], {}, None
        elif first == b":":
            entries.append(_entry(line))
        elif line.startswith(b"index "):
            before, _, after = line.split(b" ")[1].decode().partition("..")
            index = index_of(list(map(_blob, before.split(","))), _blob(after))
            hunks[index] = []  # again, where two files change alike
            rows = None
        elif line.startswith(b"Binary files "):
            hunks[index] = None
        elif line.startswith(b"@@") and (head := _HUNK.match(line)) is not None:
            parents = line.index(b" ") - 1
            start, many = int(head[1]), int(head[2] or 1)
            rows = []
            found = hunks[index]
            if found is not None:
                found.append((start if parents == 1 and not many else start - 1, rows))
        elif line.startswith(b"diff "):
            rows = None
    if commit is not None:
        yield commit, entries, hunks


def _blob(id_: str) -> str:
    return id_.strip("0") and id_


def _entry(line: bytes) -> FileEntry:
    about, *paths = line.decode("utf-8", "surrogateescape").split("\t")
    parents = len(about) - len(about.lstrip(":"))
    told = about.lstrip(":").split(" ")
    modes, blobs = told[: parents + 1], told[parents + 1 : 2 * parents + 2]
    # A link's text, or which commit of a submodule, is no file's line.
    *before, after = (
        _blob(blob) if mode.startswith("100") else ""
        for blob, mode in zip(blobs, modes, strict=True)
    )
    return FileEntry(_unquoted(paths[-1]), _unquoted(paths[0]), tuple(before), after)


_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _unquoted(path: str) -> str:
    if not path.startswith('"'):
        return path
    return _ESCAPE.sub(
        lambda one: chr(int(one[1], 8)) if one[1].isdigit() else _LETTERS.get(one[1], one[1]),
        path[1:-1],
    )
