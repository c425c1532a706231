"""ClickHouse's Native format, read as far as it takes to check a block and to cut it in two.

A block: how many columns, how many rows, then each column with its name, its type and its values.
Known are the types that records have; of others nothing can be said.
"""

from __future__ import annotations

import re
import sys
from array import array
from itertools import pairwise

from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.rows.native_types import read_varint, varint

_WIDTHS = {
    **dict.fromkeys(("Bool", "Int8", "UInt8"), 1),
    **dict.fromkeys(("Int16", "UInt16", "Date"), 2),
    **dict.fromkeys(("Int32", "UInt32", "Float32", "DateTime", "Date32"), 4),
    **dict.fromkeys(("Int64", "UInt64", "Float64", "DateTime64"), 8),
}
_TYPE = re.compile(r"([A-Z][A-Za-z0-9]+)(?:\((.*)\))?", re.DOTALL)


class MalformedBlockError(TurnspanError, ValueError):
    """The bytes are no Native block."""


class UnknownTypeError(TurnspanError, ValueError):
    """A column's type is none of those that are known here."""


class NativeReader:
    """What stands in a block, one thing after the other. All raises ``MalformedBlockError``."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self.at = self.at, self.at + size
        if size < 0 or self.at > len(self.data):
            raise MalformedBlockError
        return self.data[start : self.at]

    def number(self) -> int:
        """An unsigned LEB128 integer."""
        try:
            found, self.at = read_varint(self.data, self.at)
        except IndexError:
            raise MalformedBlockError from None
        return found

    def text(self) -> str:
        """A name or a type."""
        try:
            return self.take(self.number()).decode()
        except UnicodeDecodeError:
            raise MalformedBlockError from None

    def strings(self, count: int) -> bytes:
        """So many strings, with their lengths."""
        data, at, start = self.data, self.at, self.at
        for _ in range(count):
            size = data[at] if at < len(data) else 0
            if size < 128:
                at += 1 + size
            else:
                self.at = at
                at = self.number() + self.at
            if at > len(data):
                raise MalformedBlockError
        self.at = at
        return data[start:at]

    def cut(self, kind: str, rows: int, middle: int) -> tuple[bytes, bytes]:
        """The values of a column's first ``middle`` rows and of the others."""
        if rows > len(self.data) - self.at:  # each takes a byte at least
            raise MalformedBlockError
        outer, inner = inner_types(kind)
        if outer == "String":
            return self.strings(middle), self.strings(rows - middle)
        if outer == "Nullable":
            first, second = self.take(middle), self.take(rows - middle)
            one, other = self.cut(inner[0], rows, middle)
            return first + one, second + other
        if outer in ("Array", "Map"):
            return self._nested(inner, rows, middle)
        width = width_of(kind)
        return self.take(width * middle), self.take(width * (rows - middle))

    def _nested(self, kinds: tuple[str, ...], rows: int, middle: int) -> tuple[bytes, bytes]:
        ends = array("Q")
        ends.frombytes(self.take(8 * rows))
        ends = _swapped(ends)
        if any(later < earlier for earlier, later in pairwise(ends)):
            raise MalformedBlockError
        base, total = ends[middle - 1] if middle else 0, ends[-1] if rows else 0
        first = [_swapped(ends[:middle]).tobytes()]
        second = [_swapped(array("Q", [end - base for end in ends[middle:]])).tobytes()]
        for kind in kinds:
            one, other = self.cut(kind, total, base)
            first.append(one)
            second.append(other)
        return b"".join(first), b"".join(second)


def _swapped(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _pair(inner: str) -> tuple[str, str]:
    """A map's two types."""
    depth = 0
    for at, character in enumerate(inner):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            return inner[:at].strip(), inner[at + 1 :].strip()
    raise UnknownTypeError(inner)


def inner_types(kind: str) -> tuple[str, tuple[str, ...]]:
    """A type without its parentheses, and the types that are in them.

    Raises:
        MalformedError: it is no type's name, so that something before it is wrong.
        UnknownTypeError: it is a map of something that is not known here.
    """
    match = _TYPE.fullmatch(kind)
    if match is None:
        raise MalformedBlockError
    outer, inner = match[1], match[2] or ""
    return outer, _pair(inner) if outer == "Map" else (inner,)


def width_of(kind: str) -> int:
    """How many bytes a value of a type of fixed width takes.

    Raises:
        MalformedError: it is no type's name.
        UnknownTypeError: it is none that is known here.
    """
    outer, (inner, *_) = inner_types(kind)
    if outer == "FixedString" and inner.isdigit():
        return int(inner)
    if outer == "Decimal" and inner.partition(",")[0].isdigit():
        digits = int(inner.partition(",")[0])
        return 4 if digits <= 9 else 8 if digits <= 18 else 16 if digits <= 38 else 32
    found = _WIDTHS.get(outer)
    if found is None:
        raise UnknownTypeError(outer)
    return found


def shape(head: bytes) -> tuple[int, int]:
    """How many columns and rows a block says it has, from its first bytes. (Each value of a row
    takes a byte at least.)

    Raises:
        MalformedError: it does not say.
    """
    reader = NativeReader(head)
    return reader.number(), reader.number()


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
            reader.cut(reader.text(), rows, rows)
        if reader.at == len(data):
            return


def halves(block: bytes) -> tuple[bytes, bytes] | None:
    """The block's rows as two blocks; ``None`` where it is of one row, or cannot be taken apart."""
    try:
        reader = NativeReader(block)
        columns, rows = reader.number(), reader.number()
        middle = rows // 2
        if not middle or columns * rows > len(block):
            return None
        first, second = [varint(columns), varint(middle)], [varint(columns), varint(rows - middle)]
        for _ in range(columns):
            start = reader.at
            reader.text()
            kind = reader.text()
            header = block[start : reader.at]
            one, other = reader.cut(kind, rows, middle)
            first += (header, one)
            second += (header, other)
    except (MalformedBlockError, UnknownTypeError):
        return None
    return (b"".join(first), b"".join(second)) if reader.at == len(block) else None
