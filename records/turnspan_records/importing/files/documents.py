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

from turnspan_records.importing.sources import SourceLogError

LONGEST: Final = 256 * 2**20
"""Characters that one element of a document has at most."""
_PIECE: Final = 2**20
_PARQUET: Final = b"PAR1"
_ENGINE: Final = """
import sys, chdb
source, made = (path.replace("\\\\", "\\\\\\\\").replace("'", "\\\\'") for path in sys.argv[1:3])
chdb.query(
    f"INSERT INTO FUNCTION file('{made}', 'JSONEachRow') SELECT * FROM file('{source}', 'Parquet')"
    " SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,"
    " engine_file_truncate_on_insert = 1, max_threads = 1"
)
"""
"""In a process of its own: this one may have the engine of a store."""


def is_parquet(head: bytes) -> bool:
    """Whether a file that begins so is Parquet."""
    return head.startswith(_PARQUET)


def as_lines(path: Path, file: IO[bytes], packed: bool) -> Iterator[bytes]:
    """A document's elements, or a table's rows, a line of JSON each.

    Raises:
        SourceLogError: it is none of these.
    """
    head = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    if head.startswith(b"["):
        return _elements(file)
    if head.startswith(b"{"):
        return iter([orjson.dumps(orjson.loads(file.read().removeprefix(b"\xef\xbb\xbf"))), b"\n"])
    if is_parquet(head):
        if packed:
            raise SourceLogError(f"Unpack {path} first: Parquet is packed in itself.")
        return _parquet(path)
    return _csv(path, file)


def _elements(file: IO[bytes]) -> Iterator[bytes]:
    """The elements of an array. What cannot be read is a line that is not JSON: to be reported."""
    decode = json.JSONDecoder().raw_decode
    reader = codecs.getincrementaldecoder("utf-8-sig")("replace")
    held = reader.decode(file.read(_PIECE))
    at, wanted, over = held.find("[") + 1, _PIECE, False
    while True:
        if at > _PIECE:
            held, at = held[at:], 0
        at = _skip(held, at)
        if at < len(held) and held[at] == "]":
            return
        try:
            end = decode(held, at)[1]
        except ValueError:
            if over or len(held) - at > LONGEST:
                yield b"[cut " + _on_one_line(held[at : at + _PIECE])
                return
            data = file.read(wanted)
            wanted, over = min(wanted * 2, LONGEST), not data
            held += reader.decode(data, final=over)
            continue
        yield _on_one_line(held[at:end])
        at, wanted = end, _PIECE


def _skip(held: str, at: int) -> int:
    """The place of the next element: after blanks and a comma."""
    while at < len(held) and held[at] in " \t\r\n,":
        at += 1
    return at


def _on_one_line(element: str) -> bytes:
    return element.replace("\n", " ").replace("\r", " ").encode() + b"\n"


def _csv(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """The rows of a table, by the names in its first line."""
    csv.field_size_limit(2**31 - 1)
    text = io.TextIOWrapper(file, "utf-8-sig", "replace", newline="")
    try:
        reader = csv.DictReader(text, restkey="")
        if len(reader.fieldnames or ()) < 2:
            raise SourceLogError(f"The file {path} is neither JSON, CSV nor Parquet.")
        for row in reader:
            yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except csv.Error as error:
        raise SourceLogError(f"The file {path} is not CSV: {error}.") from None
    finally:
        text.detach()


def _parquet(path: Path) -> Iterator[bytes]:
    if importlib.util.find_spec("chdb") is None:
        raise SourceLogError("To read Parquet: pip install 'turnspan[embedded]'.")
    source = str(path.resolve())
    if any(each in source for each in "*?{}"):
        raise SourceLogError(f"Rename {path} first: the engine takes *, ? and braces for patterns.")
    with tempfile.TemporaryDirectory(prefix="turnspan-import-") as folder:
        made = Path(folder) / "rows.jsonl"
        done = subprocess.run(
            [sys.executable, "-c", _ENGINE, source, str(made)],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
                "no reason given"
            ]
            raise SourceLogError(f"The file {path} is not Parquet that can be read: {said[-1]}")
        with made.open("rb") as rows:
            while piece := rows.read(_PIECE):
                yield piece
