"""Rows of a Native block, one by one: some columns' values, and the block without some of its rows.

Every other way of a block passes its bytes on as they are; this is for the rare one that has to
look at what is in it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise

from turnspan_clickhouse.rows.native_reader import (
    MalformedBlockError,
    NativeReader,
    inner_types,
    width_of,
)
from turnspan_clickhouse.rows.native_types import read_varint, varint


class NativeColumn:
    """A column's cells, encoded as they stand in the block."""

    def __init__(self, cells: Sequence[bytes]) -> None:
        self.cells = cells

    def take(self, rows: Sequence[int]) -> bytes:
        """The column with these rows only."""
        cells = self.cells
        return b"".join([cells[row] for row in rows])


class NullableColumn(NativeColumn):
    """Cells, and which of them are none."""

    def __init__(self, nulls: bytes, inner: NativeColumn) -> None:
        super().__init__(inner.cells)
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
        super().__init__(())
        self.starts = (0, *ends[:-1])
        self.ends = ends
        self.inner = inner

    def take(self, rows: Sequence[int]) -> bytes:
        """The column with these rows only."""
        ranges = [range(self.starts[row], self.ends[row]) for row in rows]
        ends = list(accumulate(len(one) for one in ranges))
        inside = [at for one in ranges for at in one]
        packed = struct.pack(f"<{len(ends)}Q", *ends)
        return packed + b"".join(column.take(inside) for column in self.inner)

    def array(self, row: int) -> Sequence[bytes]:
        """A row's cells of the first inner column."""
        return self.inner[0].cells[self.starts[row] : self.ends[row]]

    def texts_of(self, key: str) -> list[str]:
        """Of maps of texts, what each has for a key; nothing where it has not."""
        keys, values = (text_column(column) for column in self.inner)
        found: list[str] = []
        for start, end in zip(self.starts, self.ends, strict=True):
            at = next((at for at in range(start, end) if keys[at] == key), None)
            found.append("" if at is None else values[at])
        return found


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
        rows = [row for row in range(self.rows) if row not in dropped]
        if not rows:
            return b""
        body = [varint(len(self._headers)), varint(len(rows))]
        for header, column in zip(self._headers, self.columns.values(), strict=True):
            body += (header, column.take(rows))
        return b"".join(body)


def _column(reader: NativeReader, kind: str, rows: int) -> NativeColumn:
    if rows > len(reader.data) - reader.at:  # each takes a byte at least
        raise MalformedBlockError
    outer, inner = inner_types(kind)
    if outer == "String":
        return NativeColumn(_strings(reader, rows))
    if outer == "Nullable":
        return NullableColumn(reader.take(rows), _column(reader, inner[0], rows))
    if outer in ("Array", "Map"):
        ends = struct.unpack(f"<{rows}Q", reader.take(8 * rows))
        if any(later < earlier for earlier, later in pairwise(ends)):
            raise MalformedBlockError
        total = ends[-1] if rows else 0
        return NestedColumn(ends, [_column(reader, one, total) for one in inner])
    width = width_of(kind)
    data = reader.take(width * rows)
    return NativeColumn([data[at : at + width] for at in range(0, width * rows, width)])


def _strings(reader: NativeReader, count: int) -> list[bytes]:
    cells: list[bytes] = []
    for _ in range(count):
        start = reader.at
        reader.take(reader.number())
        cells.append(reader.data[start : reader.at])
    return cells


def text_column(column: NativeColumn) -> list[str]:
    """Cells that are texts, each with its length before it."""
    return [cell[read_varint(cell, 0)[1] :].decode("utf-8", "replace") for cell in column.cells]
