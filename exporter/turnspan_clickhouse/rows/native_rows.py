"""Rows of a Native block, one by one: some columns' values, and the block without some of its rows.

Every other way of a block passes its bytes on as they are; this is for the rare one that has to
look at what is in it.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise

from turnspan_clickhouse.rows.native_reader import (
    MalformedBlockError,
    NativeReader,
    UnknownTypeError,
    inner_types,
    width_of,
)
from turnspan_clickhouse.rows.native_types import read_varint, varint


class NativeColumn:
    """A column's cells, encoded as they stand in the block, by where each ends in its bytes."""

    def __init__(self, data: bytes, ends: Sequence[int]) -> None:
        self._data = data
        self._ends = ends

    def start(self, row: int) -> int:
        """Where a row's cell begins, which is where the one before it ends."""
        return self._ends[row - 1] if row else 0

    def cell(self, row: int) -> bytes:
        """A row's cell."""
        return self._data[self.start(row) : self._ends[row]]

    @property
    def cells(self) -> list[bytes]:
        """All cells."""
        return [self.cell(row) for row in range(len(self._ends))]

    def take(self, rows: Sequence[int]) -> bytes:
        """The column with these rows only."""
        if isinstance(rows, range):  # neighbours: one piece
            return self._data[self.start(rows.start) : self.start(rows.stop)]
        return b"".join([self.cell(row) for row in rows])


class NullableColumn(NativeColumn):
    """Cells, and which of them are none."""

    def __init__(self, nulls: bytes, inner: NativeColumn) -> None:
        super().__init__(inner._data, inner._ends)
        self._nulls = nulls
        self._inner = inner

    def take(self, rows: Sequence[int]) -> bytes:
        """The column with these rows only."""
        return bytes(self._nulls[row] for row in rows) + self._inner.take(rows)

    def known(self) -> list[bytes | None]:
        """Its cells, nothing in the place of those that are none."""
        return [None if null else cell for null, cell in zip(self._nulls, self.cells, strict=True)]


class NestedColumn(NativeColumn):
    """Arrays, or maps: where each row's end, and the columns that hold what is in them."""

    def __init__(self, ends: Sequence[int], inner: Sequence[NativeColumn]) -> None:
        super().__init__(b"", ends)
        self._inner = inner

    def inside(self, row: int) -> range:
        """The rows of the inner columns that a row has."""
        return range(self.start(row), self._ends[row])

    def take(self, rows: Sequence[int]) -> bytes:
        """The column with these rows only."""
        ends = list(accumulate(len(self.inside(row)) for row in rows))
        inside: Sequence[int] = [at for row in rows for at in self.inside(row)]
        if isinstance(rows, range):
            inside = range(self.start(rows.start), self.start(rows.stop))
        packed = struct.pack(f"<{len(ends)}Q", *ends)
        return packed + b"".join(column.take(inside) for column in self._inner)

    def array(self, row: int) -> list[bytes]:
        """A row's cells of the first inner column."""
        return [self._inner[0].cell(at) for at in self.inside(row)]

    def texts_of(self, key: str) -> list[str]:
        """Of maps of texts, what each has for a key; nothing where it has not."""
        keys, values = (text_column(column) for column in self._inner)
        return [
            next((values[at] for at in self.inside(row) if keys[at] == key), "")
            for row in range(len(self._ends))
        ]


class NativeBlock:
    """A block of a segment, taken apart.

    Raises:
        MalformedError: the bytes are no block.
        UnknownTypeError: it has a type that is not known here.
    """

    def __init__(self, data: bytes) -> None:
        reader = NativeReader(data)
        count, self.rows = reader.number(), reader.number()
        if count * self.rows > len(data):
            raise MalformedBlockError
        self._headers: list[bytes] = []
        self.columns: dict[str, NativeColumn] = {}
        for _ in range(count):
            start = reader.at
            name, kind = reader.text(), reader.text()
            self._headers.append(data[start : reader.at])
            self.columns[name] = _column(reader, kind, self.rows)
        if reader.at != len(data):
            raise MalformedBlockError

    def texts(self, name: str) -> list[str]:
        """A column of texts; empty ones where the block has no such column."""
        column = self.columns.get(name)
        return [""] * self.rows if column is None else text_column(column)

    def numbers(self, name: str) -> list[int]:
        """A column of 64-bit integers or times; zeros where the block has no such column."""
        column = self.columns.get(name)
        if column is None:
            return [0] * self.rows
        return [int.from_bytes(cell, "little", signed=True) for cell in column.cells]

    def optional(self, name: str) -> list[bytes | None]:
        """A nullable column's cells as they stand in the block; nothing where there is none."""
        column = self.columns.get(name)
        return column.known() if isinstance(column, NullableColumn) else [None] * self.rows

    def without(self, dropped: set[int]) -> bytes:
        """The block without these rows; nothing where none is left."""
        return self.of([row for row in range(self.rows) if row not in dropped])

    def of(self, rows: Sequence[int]) -> bytes:
        """A block of these rows; nothing where there are none."""
        if not rows:
            return b""
        body = [varint(len(self._headers)), varint(len(rows))]
        for header, column in zip(self._headers, self.columns.values(), strict=True):
            body += (header, column.take(rows))
        return b"".join(body)


def check(data: bytes) -> None:
    """Walk through all blocks of a stream.

    Raises:
        MalformedError: it is not whole, or ends elsewhere than it says.
        UnknownTypeError: there is a type that is not known here, and no fault up to it.
    """
    reader = NativeReader(data)
    while True:
        columns, rows = reader.number(), reader.number()
        if columns * rows > len(data):
            raise MalformedBlockError
        for _ in range(columns):
            reader.text()
            _column(reader, reader.text(), rows)
        if reader.at == len(data):
            return


def halves(data: bytes) -> tuple[bytes, bytes] | None:
    """The block's rows as two blocks; ``None`` where it is of one row, or cannot be taken apart."""
    try:
        block = NativeBlock(data)
    except (MalformedBlockError, UnknownTypeError):
        return None
    middle = block.rows // 2
    return (block.of(range(middle)), block.of(range(middle, block.rows))) if middle else None


def _column(reader: NativeReader, kind: str, rows: int) -> NativeColumn:
    if rows > len(reader.data) - reader.at:  # each takes a byte at least
        raise MalformedBlockError
    outer, inner = inner_types(kind)
    if outer == "String":
        return _strings(reader, rows)
    if outer == "Nullable":
        return NullableColumn(reader.take(rows), _column(reader, inner[0], rows))
    if outer in ("Array", "Map"):
        ends = struct.unpack(f"<{rows}Q", reader.take(8 * rows))
        if any(later < earlier for earlier, later in pairwise(ends)):
            raise MalformedBlockError
        total = ends[-1] if rows else 0
        return NestedColumn(ends, [_column(reader, one, total) for one in inner])
    width = width_of(kind)
    return NativeColumn(reader.take(width * rows), range(width, width * rows + 1, width or 1))


def _strings(reader: NativeReader, count: int) -> NativeColumn:
    data, at, start = reader.data, reader.at, reader.at
    ends = array("Q")
    for _ in range(count):
        size = data[at] if at < len(data) else 0
        if size < 128:
            at += 1 + size
        else:
            reader.at = at
            at = reader.number() + reader.at
        if at > len(data):
            raise MalformedBlockError
        ends.append(at - start)
    reader.at = at
    return NativeColumn(data[start:at], ends)


def text_column(column: NativeColumn) -> list[str]:
    """Cells that are texts, each with its length before it."""
    return [cell[read_varint(cell, 0)[1] :].decode("utf-8", "replace") for cell in column.cells]
