"""The two files of a table in an archive: lines compressed with zstd, and a Parquet file.

Both are written some rows at a time, a row group each, so that they can be read back side by side.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from turnspan_clickhouse.rows.tables import Record
from turnspan_records.access.whole_folders import hashed, new_file
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.lines import Content, arrow_schema, numbers_of, row_of

_PIECE: Final = 8 * 2**20
"""Bytes of lines that are read at once, about."""
_LONGEST: Final = 2**31 - 2
"""What pyarrow reads as one block."""


class _Arrow(NamedTuple):
    arrow: Any
    json: Any
    parquet: Any


def _arrow() -> _Arrow:
    try:
        return _Arrow(
            *(importlib.import_module(f"pyarrow{one}") for one in ("", ".json", ".parquet"))
        )
    except ImportError:
        raise ArchiveError("To write and read archives: pip install 'turnspan[export]'.") from None


class TableFiles:
    """A table's files while they are written."""

    def __init__(self, folder: Path, record: type[Record]) -> None:
        """Raises ``ArchiveError`` where pyarrow is not installed."""
        self._with = _arrow()
        self._record = record
        self._paths = _paths(folder, record.table)
        self._file: IO[bytes] = new_file(self._paths[0])
        self._lines: Any = self._with.arrow.CompressedOutputStream(self._file, "zstd")
        _, kept = arrow_schema(self._with.arrow, record)
        self._groups: Any = self._with.parquet.ParquetWriter(
            self._paths[1], kept, compression="zstd", version="2.6"
        )
        self._paths[1].chmod(0o600)
        self.content = Content()
        self._open = True

    def write(self, lines: Sequence[bytes]) -> None:
        """Append records, as lines without their ends."""
        joined = b"\n".join(lines) + b"\n"
        made = _table(self._with, self._record, joined)
        if made.num_rows != len(lines):
            raise ArchiveError(f"Rows of {self._record.table} cannot be told apart as lines.")
        self._lines.write(joined)
        self._groups.write_table(made, row_group_size=len(lines))
        self.content.add(lines)

    def finish(self) -> None:
        """No more come: have both on the disk."""
        self._lines.close()
        self._groups.close()
        self._open = False
        for path in self._paths:
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        self._file.close()

    def hashes(self) -> Mapping[str, str]:
        """The sha256 of each file by its name."""
        return {path.name: hashed(path) for path in self._paths}

    def close(self) -> None:
        """Let the files go, whole or not."""
        if self._open:
            self._open = False
            self._lines.close()
            self._groups.close()
        self._file.close()


def read_lines(folder: Path, table: str) -> Iterator[list[bytes]]:
    """The lines of a table, some at a time. Raises ``ArchiveError`` where they cannot be read."""
    arrow = _arrow().arrow
    path = _paths(folder, table)[0]
    rest = b""
    try:
        with path.open("rb") as file, arrow.CompressedInputStream(file, "zstd") as stream:
            while piece := stream.read(_PIECE):
                lines = (rest + piece).split(b"\n")
                rest = lines.pop()
                if lines:
                    yield lines
    except (OSError, arrow.ArrowException) as error:
        raise _damaged(path, str(error)) from None
    if rest:
        raise _damaged(path, "its last line is cut")


def same_in_parquet(folder: Path, record: type[Record]) -> Iterator[list[bytes]]:
    """As ``read_lines``, of lines that the Parquet file has the values of; a row group at a time.

    Raises:
        ArchiveError: it has others.
    """
    given = _arrow()
    path = _paths(folder, record.table)[1]
    lines = chain.from_iterable(read_lines(folder, record.table))
    try:
        with given.parquet.ParquetFile(path) as groups:
            for number in range(groups.num_row_groups):
                group = groups.read_row_group(number)
                found = list(islice(lines, group.num_rows))
                wanted = _table(given, record, b"\n".join(found) + b"\n")
                # By value, a number that is none does not equal itself.
                if not (
                    wanted.equals(group) or repr(wanted.to_pylist()) == repr(group.to_pylist())
                ):
                    raise _damaged(path, "its rows are not those of the lines")
                yield found
    except (OSError, given.arrow.ArrowException) as error:
        raise _damaged(path, str(error)) from None
    if next(lines, None) is not None:
        raise _damaged(path, "it has fewer rows than there are lines")


def _table(given: _Arrow, record: type[Record], joined: bytes) -> Any:
    """Lines as columns."""
    read, kept = arrow_schema(given.arrow, record)
    json = given.json
    try:
        made = json.read_json(
            io.BytesIO(joined),
            json.ReadOptions(use_threads=False, block_size=min(len(joined) + 1, _LONGEST)),
            json.ParseOptions(explicit_schema=read, unexpected_field_behavior="error"),
        )
        return made.select(read.names).cast(kept)
    except given.arrow.ArrowInvalid:  # a number that is none ("nan"), say
        rows = [numbers_of(record, row_of(line)) for line in joined.split(b"\n") if line]
        return given.arrow.Table.from_pylist(rows, schema=kept)


def _damaged(path: Path, why: str) -> ArchiveError:
    return ArchiveError(f"The archive's file {path} is damaged: {why.splitlines()[0]}.")


def _paths(folder: Path, table: str) -> tuple[Path, Path]:
    return folder / f"{table}.jsonl.zst", folder / f"{table}.parquet"
