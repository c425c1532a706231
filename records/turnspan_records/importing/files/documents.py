"""What is not lines of JSON, as such lines: documents, CSV and Parquet, a piece at a time."""

from __future__ import annotations

import codecs
import csv
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import orjson

from turnspan_records.importing.files.compression import CutError
from turnspan_records.importing.files.limits import ReadLimits, weight
from turnspan_records.importing.sources import SourceLogError

_COLUMNS: Final = 10_000
_PIECE: Final = 2**20
_SHOWN: Final = 200
"""Characters that are shown of what cannot be read."""
_PARQUET: Final = b"PAR1"
_BLANKS: Final = bytes.maketrans(b"\r\n", b"  ")
_ENGINE: Final = """
import sys, chdb
source = sys.argv[1].replace("\\\\", "\\\\\\\\").replace("'", "\\\\'")
chdb.query(
    f"SELECT * FROM file('{source}', 'Parquet')"
    " INTO OUTFILE '/dev/stdout' TRUNCATE FORMAT JSONEachRow SETTINGS max_threads = 1,"
    f" max_memory_usage = {sys.argv[2]},"
    " date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,"
    " output_format_json_skip_null_value_in_named_tuples = 1,"
    " output_format_parallel_formatting = 0"
)
"""
"""In a process of its own: this one may have the engine of a store. An ``INSERT`` would take
columns with the same part before their dot for one nested table. A null in an object is what pandas
writes where other rows' objects have more."""


def is_csv(file: IO[bytes]) -> bool:
    """Whether a file that is not lines of JSON is a table of texts."""
    return not _head(file).startswith((b"[", b"{", _PARQUET))


def as_lines(
    path: Path, file: IO[bytes], packed: bool, cut: bool, limits: ReadLimits
) -> Iterator[bytes]:
    """A document's elements, or a table's rows, a line of JSON each; ``cut``: its end is missing.

    Raises:
        SourceLogError: it is none of these.
        CutError: there is more behind what was given, which cannot be read.
    """
    head = _head(file)
    if head.startswith(b"["):
        return _elements(file, limits)
    if head.startswith(b"{"):
        return iter([file.read().removeprefix(b"\xef\xbb\xbf").translate(_BLANKS), b"\n"])
    if head.startswith(_PARQUET):
        if packed:
            raise SourceLogError(f"Unpack {path} first: Parquet is packed in itself.")
        return _parquet(path, limits)
    return _csv(path, file, cut, limits)


def _head(file: IO[bytes]) -> bytes:
    file.seek(0)
    head = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return head


def _elements(file: IO[bytes], limits: ReadLimits) -> Iterator[bytes]:
    """The elements of an array."""
    decode = json.JSONDecoder().raw_decode
    reader = codecs.getincrementaldecoder("utf-8-sig")("replace")
    held = reader.decode(file.read(_PIECE))
    at, wanted, over = held.find("[") + 1, _PIECE, False
    while True:
        if at > _PIECE:
            held, at = held[at:], 0
        while at < len(held) and held[at] in " \t\r\n,":  # to the next element
            at += 1
        if at < len(held) and held[at] == "]":
            if (held[at + 1 :] + reader.decode(file.read(_PIECE))).strip():
                raise CutError("more stands behind the array's end")
            return
        end, why = at, ""
        try:
            end = decode(held, at)[1]
        except RecursionError:
            why = "an element is nested too deep"
        except ValueError:
            why = "the array has no end, or no JSON in it"
            if not over:
                data = file.read(wanted)
                wanted, over = wanted * 2, not data
                held, at = held[at:] + reader.decode(data, final=over), 0
                if weight(held.encode()) <= limits.memory:
                    continue
                why = f"an element is too large, {limits.too_much}"
        if why:
            raise CutError(f"{why}: {held[at : at + _SHOWN]}")
        yield held[at:end].encode().translate(_BLANKS) + b"\n"
        at, wanted = end, _PIECE


def _csv(path: Path, file: IO[bytes], cut: bool, limits: ReadLimits) -> Iterator[bytes]:
    """The rows of a table, by the names in its first line."""
    csv.field_size_limit(2**31 - 1)
    text = io.TextIOWrapper(file, "utf-8-sig", "replace", newline="")
    room = limits.memory

    def bounded() -> Iterator[str]:
        nonlocal room
        while line := text.readline(room // 6 + 1):
            room -= 6 * len(line) + 70 * line.count(",")
            if room < 0:
                raise SourceLogError(f"A row of {path} is too large: {limits.too_much}.")
            yield line

    try:
        reader = csv.DictReader(bounded(), restkey="")
        if not 2 <= len(reader.fieldnames or ()) <= _COLUMNS:
            raise SourceLogError(f"The file {path} is neither JSON, CSV nor Parquet.")
        last: dict[str, str | None] | None = None
        for row in reader:
            room = limits.memory
            if last is not None:
                yield orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE)
            last = row
        if last is not None:
            if cut or None in last.values():
                raise CutError(f"the last row is cut: {str(last)[:_SHOWN]}")
            yield orjson.dumps(last, option=orjson.OPT_APPEND_NEWLINE)
    except csv.Error as error:
        raise SourceLogError(f"The file {path} is not CSV: {error}.") from None
    finally:
        if not file.closed:
            text.detach()


def _parquet(path: Path, limits: ReadLimits) -> Iterator[bytes]:
    if importlib.util.find_spec("chdb") is None:
        raise SourceLogError("To read Parquet: pip install 'turnspan[embedded]'.")
    source = str(path.resolve())
    if any(each in source for each in "*?{}"):
        raise SourceLogError(f"Rename {path} first: the engine takes *, ? and braces for patterns.")
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(
            [sys.executable, "-c", _ENGINE, source, str(limits.memory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
        ) as engine,
    ):
        assert engine.stdout is not None
        try:
            while piece := engine.stdout.read(_PIECE):
                yield piece
        except BaseException:
            engine.kill()
            raise
        if engine.wait():
            told.seek(0)
            why = told.read().decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            if "MEMORY_LIMIT_EXCEEDED" in why[-1]:
                raise SourceLogError(f"The file {path} is too large: {limits.too_much}.")
            raise SourceLogError(f"The file {path} is not Parquet that can be read: {why[-1]}")
