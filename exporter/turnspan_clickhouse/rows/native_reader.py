"""ClickHouse's Native format, read as far as it takes to tell what is in a block.

A block: how many columns, how many rows, then each column with its name, its type and its values.
Known are the types that records have; of others nothing can be said.
"""

from __future__ import annotations

import re

from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.rows.native_types import read_varint

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
