"""One file of a source as lines of JSON, whatever it is: lines, a document, CSV, Parquet, packed.

A file of lines is read where it is. Anything else is made into lines of a temporary file first, so
that a line can be read again by its place and no file has to be held in memory.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Final, cast

import orjson

from turnspan_records.importing.files.compression import CutError, check_text, packing_of, unpack
from turnspan_records.importing.files.documents import as_lines, is_csv
from turnspan_records.importing.files.limits import ReadLimits, weight
from turnspan_records.importing.sources import SourceLogError

_PIECE: Final = 2**20
_LONG: Final = 2**19
"""A line of so many bytes is no beginning of a document that is laid out for people."""
_LEADING: Final = 1_000
"""Blank lines before the first one."""
_BOM: Final = b"\xef\xbb\xbf"
_LOOSE: Final = re.compile(rb"\\u[dD]|NaN|Infinity")
"""What JavaScript and Python write that is not JSON: half a character, numbers that are none."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line: where it stands, and its bytes; of one that is too long the first of them."""

    file: SourceFile
    number: int
    """From 1."""
    offset: int
    raw: bytes
    size: int
    """Bytes of all of it."""
    whole: bool
    """Whether it is over: the last line of a file that is being written is not."""

    def __str__(self) -> str:
        return f"{self.file.name}:{self.number}"


class SourceFile:
    """A file that is imported.

    ``begins`` is a hash of its first line, which a file keeps that is moved, or grows; ``key`` is
    that, and what tells it from the others of its source.
    """

    def __init__(self, path: Path, limits: ReadLimits, *, tables: bool = False) -> None:
        """``tables``: it may be CSV or Parquet.

        Raises:
            SourceLogError: it cannot be read.
        """
        self.path = path
        self.name = path.name
        self.is_csv = False
        """Whether each value is a text, whatever it was in the source."""
        self.cut = ""
        """What is missing of it, where it ends before what it holds does."""
        self.made = 0
        """Bytes that were written to temporary files."""
        self._tables = tables
        self._limits = limits
        try:
            if path.exists() and not path.is_file():  # opening a pipe waits for who writes it
                raise SourceLogError(
                    f"{path} is not a file but a pipe, socket, device or folder, and an import"
                    " reads twice: write it to a file first."
                )
            self._bytes: IO[bytes] = path.open("rb")
        except OSError as error:
            raise unreadable(path, error) from None
        try:
            self.modified = os.fstat(self._bytes.fileno()).st_mtime_ns
            self._lined()
            self.begins = self.key = self._hashed()
        except OSError as error:
            self.close()
            raise unreadable(path, error) from None
        except BaseException:
            self.close()
            raise

    def _lined(self) -> None:
        """Have lines to read."""
        head = self._bytes.read(8)
        self._bytes.seek(0)
        packing = packing_of(head)
        if packing:
            self._replace(unpack(self.path, self._bytes, packing))
        check_text(self.path, self._bytes)
        if self._is_document():
            self.is_csv = is_csv(self._bytes)
            lines = as_lines(self.path, self._bytes, bool(packing), bool(self.cut), self._limits)
            self._replace(lines)
        if self.cut and not self.line_at(0, 1).whole:
            raise SourceLogError(f"Nothing in the file {self.path} can be read: {self.cut}.")

    def _replace(self, lines: Iterator[bytes]) -> None:
        made: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as this object
        try:
            for piece in lines:
                self.made += len(piece)
                if self.made > self._limits.disk:
                    raise SourceLogError(
                        f"Up to the file {self.path}, temporary files have more than"
                        f" {self._limits.disk:,} bytes: raise --max-disk-bytes, or import in parts."
                    )
                made.write(piece)
        except CutError as error:
            self.cut = self.cut or str(error)
        except BaseException:
            made.close()
            raise
        made.seek(0)
        self._bytes.close()
        self._bytes = made

    def _is_document(self) -> bool:
        """Whether it is anything but lines of JSON."""
        self._bytes.seek(0)
        first = self._next_line()
        second = self._next_line()
        self._bytes.seek(0)
        if first.startswith(b"["):
            return not (second.startswith(b"[") and _is_json(first))
        if first.startswith(b"{"):
            on_one_line = len(first) >= _LONG or _is_json(first)
            return not on_one_line and self._is_one_object(second)
        return self._tables and bool(first)

    def _next_line(self) -> bytes:
        """The next line that is not blank, or what it begins with."""
        for _ in range(_LEADING):
            if text := self._bytes.readline(_PIECE).removeprefix(_BOM).strip():
                return text
        return b""

    def _is_one_object(self, second: bytes) -> bool:
        fits = self.size <= self._limits.line
        self._bytes.seek(0)
        text = self._bytes.read(self._limits.line).removeprefix(_BOM)
        self._bytes.seek(0)
        if fits and weight(text) <= self._limits.memory:
            return _is_json(text)
        if _is_json(second):
            return False
        raise SourceLogError(f"The document {self.path} is too large: {self._limits.too_much}.")

    def _hashed(self) -> str:
        self._bytes.seek(0)
        return blake2b(self._bytes.readline(_PIECE).rstrip(b"\r\n"), digest_size=16).hexdigest()

    @property
    def size(self) -> int:
        """How many bytes of lines there are now."""
        return self._bytes.seek(0, os.SEEK_END)

    def lines(self) -> Iterator[SourceLine]:
        """Its lines, in order; blank ones are left out."""
        offset = number = 0
        while (line := self.line_at(offset, number + 1)).size:
            number += 1
            if not self._limits.fits(number, 0, 0):  # blank ones take time
                raise SourceLogError(f"{self.name} has too many lines: {self._limits.too_much}.")
            if line.raw.strip(b" \t\r\n\xef\xbb\xbf"):
                yield line
            offset += line.size

    def line_at(self, offset: int, number: int) -> SourceLine:
        """The line that begins at a place."""
        self._bytes.seek(offset)
        raw = end = self._bytes.readline(self._limits.line)
        size = len(raw)
        if size == self._limits.line:
            raw = raw[:_PIECE]
            while end and not end.endswith(b"\n"):
                end = self._bytes.readline(_PIECE)
                size += len(end)
        return SourceLine(self, number, offset, raw, size, end.endswith(b"\n"))

    def weight(self, line: SourceLine) -> int:
        """Bytes of memory that reading a line takes, about; more than is allowed if it is cut."""
        if line.size > len(line.raw):
            return self._limits.memory + 1
        found = weight(line.raw)
        again = found * 4 > self._limits.memory and _LOOSE.search(line.raw)
        return found * 4 if again else found  # it is read twice, as texts

    def close(self) -> None:
        """Let it go."""
        self._bytes.close()


def loaded(raw: bytes) -> object:
    """What a line says. Raises ``ValueError`` where it is not JSON."""
    text = raw.removeprefix(_BOM)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if not _LOOSE.search(text):
            raise
    try:
        said: object = json.loads(text)
        whole = json.dumps(said, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
        return cast("object", json.loads(whole.decode("utf-16-le", "replace")))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def unreadable(path: Path, error: Exception) -> SourceLogError:
    """That a file cannot be read, as a person is told."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SourceLogError(f"The file {path} cannot be read: {why}.")


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
