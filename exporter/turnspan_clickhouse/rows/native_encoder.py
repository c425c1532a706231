"""Rows to ClickHouse's Native format: one uncompressed block a batch, column after column.

This is the whole cost of leaving the process, so every column has a fast way that trusts the
record class, and only where that fails a slow one that makes each value fit: lone surrogates are
replaced, integers clamped, ``None`` becomes the default, anything else goes through ``str``. What
still fails (an object whose ``__str__`` raises) is a poison row: ``encode_rows`` sets it aside.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal, InvalidOperation
from itertools import accumulate, chain
from typing import Any

from turnspan.runtime.throttle import give_way
from turnspan_clickhouse.rows.columns import columns_of
from turnspan_clickhouse.rows.native_types import (
    EMPTY_MAP,
    EncodedMap,
    clean_text,
    encode_string,
    varint,
)
from turnspan_clickhouse.rows.tables import Record, columns

Encoder = Callable[[Sequence[Any]], bytes]
"""A column's values, at least one, to the bytes of its body."""

_LENGTHS = [chr(length) for length in range(128)]
"""A short string's length prefix: one byte, which as text is one ASCII character."""

NOTHING = bytes(2)
"""A block of no columns and no rows: what asks whether an insert is taken."""


def encode_block(record_class: type[Record], rows: Sequence[Record]) -> bytes:
    """One Native block with every column of the class; no bytes for no rows.

    Raises:
        Exception: a row is of another class, or holds an object that cannot even be shown as text.
    """
    if not rows:
        return b""
    layout = _layout(record_class)
    body = [layout.start, varint(len(rows))]
    # Column by column: a tuple a row would be as many containers more for the garbage collector.
    for values, (header, encoder) in zip(
        columns_of(record_class, rows), layout.columns, strict=True
    ):
        give_way()
        body.append(header)
        body.append(encoder(values))
    return b"".join(body)


def encode_rows(
    record_class: type[Record], rows: Sequence[Record]
) -> tuple[bytes, list[tuple[Record, Exception]]]:
    """As ``encode_block``, but a row that cannot be encoded costs only itself.

    Returns the block of the good rows and each rejected row with its reason.
    """
    try:
        return encode_block(record_class, rows), []
    except Exception:  # noqa: BLE001 - whatever a value's own methods raise
        pass
    good: list[Record] = []
    rejected: list[tuple[Record, Exception]] = []
    for row in rows:
        try:
            encode_block(record_class, (row,))
        except Exception as error:  # noqa: BLE001 - as above
            rejected.append((row, error))
        else:
            good.append(row)
    return encode_block(record_class, good), rejected


@dataclass(frozen=True, slots=True)
class _Layout:
    start: bytes
    columns: tuple[tuple[bytes, Encoder], ...]


_layouts: dict[type[Record], _Layout] = {}


def _layout(record_class: type[Record]) -> _Layout:
    found = _layouts.get(record_class)
    if found is None:
        names = columns(record_class)
        found = _Layout(
            varint(len(names)),
            tuple(
                (encode_string(name) + encode_string(kind), _encoder(kind)) for name, kind in names
            ),
        )
        _layouts[record_class] = found
    return found


def _encoder(kind: str) -> Encoder:
    """The encoder of a ClickHouse type as tables.py spells it."""
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?", kind)
    assert match is not None, kind
    outer, inner = match[1], match[2] or ""
    if inner.startswith("Decimal"):
        return _nullable_decimals
    if outer == "Nullable":
        return _nullable(_encoder(inner), bytes(_WIDTH[inner.partition("(")[0]]))
    if outer == "Array":
        return _fixed_arrays if inner.startswith("FixedString") else _arrays(_encoder(inner))
    return _SIMPLE[outer]


# -- strings -------------------------------------------------------------------------------------


def _strings(values: Sequence[Any]) -> bytes:
    first = values[0]
    try:
        # Project, service, model: one value a batch. Mostly the last one says that it is not so.
        if values[-1] == first and values.count(first) == len(values):
            return encode_string(first) * len(values)
        short = "".join([_LENGTHS[len(value)] + value for value in values])
        if short.isascii():
            return short.encode()
    except (IndexError, TypeError, AttributeError, UnicodeEncodeError):
        pass  # a long or odd value: byte by byte
    return b"".join([encode_string(value) for value in values])


def _fixed(values: Sequence[Any]) -> bytes:
    """FixedString(16)."""
    try:
        if set(map(len, values)) == {16}:
            return b"".join(values)
    except TypeError:
        pass
    return b"".join(map(_clean_fixed, values))


def _clean_fixed(value: Any) -> bytes:
    if value is None:
        return bytes(16)
    if isinstance(value, str) and re.fullmatch(r"[0-9a-fA-F]{32}", value):
        return bytes.fromhex(value)
    raw = bytes(value) if isinstance(value, (bytes, bytearray)) else clean_text(value)
    return raw[:16].ljust(16, b"\0")


# -- numbers -------------------------------------------------------------------------------------


def _little(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _integers(code: str, low: int, high: int) -> Encoder:
    """Integers of one width, by ``array``'s type code; out of range is clamped."""

    def clean(value: Any) -> int:
        if value is None:
            return 0
        try:
            return min(max(_as_int(value), low), high)
        except (TypeError, ValueError, OverflowError):
            return high if value == float("inf") else 0

    def encode(values: Sequence[Any]) -> bytes:
        try:
            return _little(array(code, values))
        except (TypeError, OverflowError, ValueError):
            return _little(array(code, map(clean, values)))

    return encode


def _as_int(value: Any) -> int:
    if isinstance(value, datetime):
        return int(value.timestamp()) * 1_000_000_000 + value.microsecond * 1_000
    return int(value)


def _booleans(values: Sequence[Any]) -> bytes:
    try:
        return bytes(values).translate(_TRUTH)
    except (TypeError, ValueError):
        return bytes([1 if value else 0 for value in values])


_TRUTH = bytes([0]) + bytes([1]) * 255


def _floats(values: Sequence[Any]) -> bytes:
    try:
        return _little(array("d", values))
    except (TypeError, OverflowError, ValueError):
        return _little(array("d", map(_clean_float, values)))


def _clean_float(value: Any) -> float:
    if value is None:
        return 0.0
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError):
        return 0.0


_times = Context(prec=40).multiply
_UNIT = Decimal(10**12)
_MOST_MONEY = 10**18 - 1


def _scaled(value: Any) -> int | None:
    """None for what is no amount: NaN, an infinity, a word."""
    if value is None:
        return None
    try:
        exact = value if type(value) is Decimal else Decimal(str(value))
        units = int(_times(exact, _UNIT))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return min(max(units, -_MOST_MONEY), _MOST_MONEY)


def _nullable_decimals(values: Sequence[Any]) -> bytes:
    """As ``_nullable``, but what is no amount is unknown, which NULL says and 0 would not."""
    if values.count(None) == len(values):
        return b"\1" * len(values) + bytes(8 * len(values))
    try:
        units = [None if v is None else int(_times(v, _UNIT)) for v in values]
        numbers = [value or 0 for value in units]
        if max(numbers) > _MOST_MONEY or min(numbers) < -_MOST_MONEY:
            raise OverflowError
    except (TypeError, ValueError, OverflowError, InvalidOperation):
        units = [_scaled(value) for value in values]
        numbers = [value or 0 for value in units]
    return bytes([value is None for value in units]) + _little(array("q", numbers))


def _nullable(inner: Encoder, zero: bytes) -> Encoder:
    def encode(values: Sequence[Any]) -> bytes:
        nulls = values.count(None)
        if nulls == len(values):
            return b"\1" * nulls + zero * nulls
        if not nulls:
            return bytes(len(values)) + inner(values)
        marks = bytes([value is None for value in values])
        return marks + inner([0 if value is None else value for value in values])

    return encode


def _arrays(inner: Encoder) -> Encoder:
    def encode(values: Sequence[Any]) -> bytes:
        if set(map(type, values)) != {list}:
            values = [_clean_list(value) for value in values]
        flat = list(chain.from_iterable(values))
        return _offsets(values) + (inner(flat) if flat else b"")

    return encode


def _fixed_arrays(values: Sequence[Any]) -> bytes:
    """Array(FixedString(16)), joined row by row: a wrong length cannot shift another row's."""
    if set(map(type, values)) != {list}:
        values = [_clean_list(value) for value in values]
    try:
        joined = list(map(b"".join, values))
    except TypeError:
        joined = [b"".join(map(_clean_fixed, value)) for value in values]
    sizes = [len(raw) for raw in joined]
    if sizes != [16 * len(value) for value in values]:
        joined = [b"".join(map(_clean_fixed, value)) for value in values]
    return _offsets(values) + b"".join(joined)


def _clean_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [value]


def _offsets(values: Sequence[Any]) -> bytes:
    return _little(array("Q", accumulate(map(len, values))))


def _maps(values: Sequence[Any]) -> bytes:
    pairs = [value if type(value) is EncodedMap else _pairs(value) for value in values]
    offsets = _little(array("Q", accumulate([each.count for each in pairs])))
    parts = [offsets, *[each.keys for each in pairs], *[each.values for each in pairs]]
    return b"".join(parts)


def _pairs(value: Any) -> EncodedMap:
    if value is None:
        return EMPTY_MAP
    return EncodedMap.of(dict(value) if hasattr(value, "items") else {"": value})


_SIMPLE: dict[str, Encoder] = {
    "String": _strings,
    "FixedString": _fixed,
    "Bool": _booleans,
    "Int8": _integers("b", -(2**7), 2**7 - 1),
    "UInt8": _integers("B", 0, 2**8 - 1),
    "UInt32": _integers("I", 0, 2**32 - 1),
    "UInt64": _integers("Q", 0, 2**64 - 1),
    "DateTime64": _integers("q", -(2**63), 2**63 - 1),
    "Float64": _floats,
    "Map": _maps,
}
_WIDTH = {"Int8": 1, "UInt8": 1, "UInt32": 4, "UInt64": 8, "Float64": 8}


MAX_BLOCK = 64 * 2**20
"""A segment's, and so an insert's, size at most, where it is of several rows."""


def blocks(
    kind: type[Record], rows: Sequence[Record], failed: Callable[[Exception], None]
) -> Iterator[tuple[int, bytes]]:
    """(rows, block) pairs of at most ``MAX_BLOCK`` bytes; a larger row is its own block.

    ``failed`` is told of each row that cannot be encoded.
    """
    block, rejected = encode_rows(kind, rows)
    if len(block) > MAX_BLOCK and len(rows) > 1:
        del block
        middle = len(rows) // 2
        yield from blocks(kind, rows[:middle], failed)
        yield from blocks(kind, rows[middle:], failed)
        return
    for _, error in rejected:
        failed(error)
    if block:
        yield len(rows) - len(rejected), block
