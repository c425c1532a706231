"""The items of a transcript's file, each with the place where it stands."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.importing.files.source_file import loaded, unreadable

_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 2**20
"""Bytes in which a file's first line is looked for."""
_TRIED: Final = 20


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a file, an item of a document, or a row of a database."""

    number: int
    """From 1."""
    end: int
    """The bytes of the file up to its end; 0 where it is no line."""
    value: Any
    problem: str = ""
    """Why it is not understood; then ``value`` is how it begins."""
    waits: bool = False
    """Whether its end is not written yet."""


def items_of(path: Path, tool: CodingTool | None = None) -> Iterator[Item]:
    """The items of a file, in order.

    Raises:
        SourceLogError: the file cannot be read.
    """
    try:
        rows = None if tool is None else tool.rows(path)
        if rows is not None:
            yield from (Item(number, 0, value) for number, value in enumerate(rows, 1))
        elif is_document(path):
            yield from _of_document(path, tool)
        else:
            yield from _lines(path)
    except OSError as error:
        raise unreadable(path, error) from None


def first_value(path: Path) -> Any:
    """The value of a file's first line that is JSON, or of all of it where that is one document;
    None where neither is. Raises ``OSError``."""
    if is_document(path):
        return _loaded(_read(path))
    with path.open("rb") as file:
        for _ in range(_TRIED):
            value = _loaded(file.readline(_HEAD))
            if value is not None:
                return value
    return None


def is_document(path: Path) -> bool:
    """Whether a file is one JSON value laid out over lines, and not a value a line. Raises
    ``OSError``."""
    with path.open("rb") as file:
        head = file.readline(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
        second = file.readline(_HEAD)
    if head[:2] == _GZIP:
        return True
    if path.suffix == ".jsonl":  # a document under that name, as Entire copies them
        return head.strip() in (b"{", b"[")
    if head[:1] not in (b"{", b"["):
        return False
    alone = head[:1] == b"[" or path.suffix == ".json"  # on one line, as some tools write it
    return _loaded(head) is None or (alone and not second.strip())


def is_rewritten(path: Path) -> bool:
    """Whether a file does not grow line by line: a document, or a database."""
    return path.suffix in (".db", ".sqlite", ".vscdb", ".md") or is_document(path)


def _read(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if raw[:2] == _GZIP else raw


def _loaded(raw: bytes) -> Any:
    try:
        return loaded(raw)
    except ValueError:
        return None


def _of_document(path: Path, tool: CodingTool | None) -> Iterator[Item]:
    raw = _read(path)
    try:
        value = loaded(raw)
    except ValueError as error:
        lines = raw.splitlines()
        if len(lines) > 1 and _loaded(lines[0]) is not None:  # lines that were packed
            yield from (_line(number, 0, line, True) for number, line in enumerate(lines, 1))
            return
        yield Item(1, 0, raw[:500], f"it is not JSON ({error})")
        return
    values = None if tool is None else tool.values(value)
    for number, each in enumerate([value] if values is None else values, 1):
        yield Item(number, 0, each)


def _lines(path: Path) -> Iterator[Item]:
    end = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            end += len(raw)
            if raw.strip(b" \t\r\n\xef\xbb\xbf"):
                yield _line(number, end, raw, raw.endswith(b"\n"))


def _line(number: int, end: int, raw: bytes, whole: bool) -> Item:
    try:
        return Item(number, end, loaded(raw))
    except ValueError as error:
        why = f"it is not JSON ({error})" if whole else "its end is not written"
        return Item(number, end, raw[:500], why, waits=not whole)
