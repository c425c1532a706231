"""A record as one line of JSON, exactly: read out of a store by SQL, some at a time, and made a
record again.

Times are nanoseconds, hashes hex, decimals text. Maps are JSON text, as in the training sets:
Parquet would give a column of its own to every key there ever was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from typing import Any, Final

import orjson

from turnspan_clickhouse.rows.tables import RECORDS, Record, columns
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.server_answers import translated_errors
from turnspan_records.keeping.errors import ArchiveError
from turnspan_records.keeping.keys import row_key
from turnspan_records.sql import statement

BY_TABLE: Final[Mapping[str, type[Record]]] = {record.table: record for record in RECORDS}

_HASHES = "Array(FixedString(16))"
_READ: Final[Mapping[str, str]] = {
    "FixedString(16)": "lower(hex({}))",
    _HASHES: "arrayMap(one -> lower(hex(one)), {})",
    "DateTime64(9, 'UTC')": "toUnixTimestamp64Nano({})",
    "Nullable(Decimal(18, 12))": "toString({})",
    "Map(String, String)": "toJSONString({})",
}
"""How a column's value becomes JSON, where it is not JSON already."""
_SETTINGS: Final[Mapping[str, Any]] = {
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 1,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_named_tuples_as_objects": 1,
}
_MODULUS: Final = 2**128
GROUP_BYTES: Final = 8 * 2**20
GROUP_LINES: Final = 20_000
"""Of lines that are given at once, at most; a longer line is given alone."""
_PIECE_BYTES: Final = 16 * 2**20
"""Of rows, as columns, that the engine in this process answers with at once, about."""
_PIECE_ROWS: Final = (1_000, 50_000)
"""At least and at most."""
_ANSWER_BYTES: Final = 2**20


def selected(record: type[Record]) -> str:
    """The columns of a table for ``SELECT ... FORMAT JSONEachRow``; the table's alias is ``r``."""
    return ", ".join(
        f"{_READ.get(kind, '{}').format(f'r.{quoted(name)}')} AS {quoted(name)}"
        for name, kind in columns(record)
    )


def lines_of(
    store: Store,
    record: type[Record],
    source: str,
    where: str,
    parameters: Mapping[str, Any],
    rows: int = 0,
) -> Iterator[list[bytes]]:
    """The rows of ``source`` that fulfil a condition of ours, as lines. ``rows``: about how many
    there are.

    A server's answer is read as it comes. The engine in this process holds a whole answer in
    memory, so it is asked for pieces, by the rows' keys.

    Raises:
        StoreError: as ``Store.query``.
    """
    number = 1 + rows // _rows_at_once(store, record) if store.dsn.embedded else 1
    for place in range(number):
        part = f"modulo(reinterpretAsUInt32({row_key(record)}), {number}) = {place}"
        # A subquery: the columns' new values have the names of the columns in the conditions.
        rows_of = f"SELECT * FROM {source} WHERE {where} AND {part}"
        sql = f"SELECT {selected(record)} FROM ({rows_of}) AS r"
        yield from _groups(_answer(store, sql, parameters))


def _groups(pieces: Iterator[bytes]) -> Iterator[list[bytes]]:
    """The lines of an answer, some at a time."""
    rest = b""
    lines: list[bytes] = []
    size = 0
    for piece in pieces:
        found = (rest + piece).split(b"\n")
        rest = found.pop()
        for line in found:
            if lines and (size + len(line) > GROUP_BYTES or len(lines) == GROUP_LINES):
                yield lines
                lines, size = [], 0
            lines.append(line)
            size += len(line)
    if rest:
        lines.append(rest)
    if lines:
        yield lines


def _rows_at_once(store: Store, record: type[Record]) -> int:
    """How many rows of a table make a piece, by what they take on average."""
    given = {"database": store.database, "table": record.table}
    size, rows = store.query(statement("keeping/table_size"), given).rows[0]
    each = int(size) / max(1, int(rows))
    return max(_PIECE_ROWS[0], min(_PIECE_ROWS[1], int(_PIECE_BYTES / max(1.0, each))))


def _answer(store: Store, sql: str, parameters: Mapping[str, Any]) -> Iterator[bytes]:
    settings = {**store.read_settings, "final": 0, **_SETTINGS}
    # With settings the engine in this process answers at once, with all: it may be lent while the
    # answer is read.
    with store.held() as client, translated_errors(store.dsn):
        answer = client.raw_stream(
            sql, parameters=dict(parameters), settings=settings, fmt="JSONEachRow"
        )
    with closing(answer):
        while True:
            with translated_errors(store.dsn):
                piece: bytes = answer.read(_ANSWER_BYTES)
            if not piece:
                return
            yield piece


def row_of(line: bytes) -> dict[str, Any]:
    """The values of a line, by column. Raises ``ArchiveError`` where it is none."""
    try:
        return dict(orjson.loads(line))
    except (orjson.JSONDecodeError, TypeError, ValueError) as error:
        raise ArchiveError(f"A line of the archive is no record: {error}.") from None


def record_of(record: type[Record], row: Mapping[str, Any]) -> Record:
    """The record of a line's values.

    Raises:
        ArchiveError: it has columns that this version does not know, or other values in them.
    """
    known = _decoders(record.table)
    try:
        return record(**{name: known[name](value) for name, value in row.items()})
    except KeyError as error:
        raise ArchiveError(
            f"The archive has a column {error} of {record.table} that this Turnspan does not know: "
            "upgrade it (pip install --upgrade turnspan)."
        ) from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ArchiveError(f"A row of {record.table} cannot be read: {error}.") from None


@cache
def _decoders(table: str) -> dict[str, Callable[[Any], Any]]:
    return {name: _DECODE.get(kind, lambda value: value) for name, kind in columns(BY_TABLE[table])}


def _float(value: Any) -> float | None:
    return None if value is None else float(value)  # "nan" and "inf" are texts


_DECODE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "FixedString(16)": bytes.fromhex,
    _HASHES: lambda value: [bytes.fromhex(one) for one in value],
    "Nullable(Decimal(18, 12))": lambda value: None if value is None else Decimal(value),
    "Map(String, String)": lambda value: dict(orjson.loads(value)),
    "Float64": _float,
    "Nullable(Float64)": _float,
    "Array(Float64)": lambda value: [float(one) for one in value],
}
_FLOATS = ("Float64", "Nullable(Float64)", "Array(Float64)")


def numbers_of(record: type[Record], row: Mapping[str, Any]) -> dict[str, Any]:
    """A line's values with numbers where a line has a text for want of a number ("nan")."""
    kinds = dict(columns(record))
    return {
        name: _DECODE[kind](value) if (kind := kinds.get(name, "")) in _FLOATS else value
        for name, value in row.items()
    }


class Content:
    """What tells two sets of lines apart, whatever order they are in."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, lines: Iterable[bytes]) -> None:
        """Count lines in, each without its end."""
        for line in lines:
            self._sum += int.from_bytes(blake2b(line, digest_size=16).digest(), "big")
            self.rows += 1

    @property
    def hash(self) -> str:
        """The sum of the lines' hashes, as hex."""
        return f"{self._sum % _MODULUS:032x}"


def arrow_schema(arrow: Any, record: type[Record]) -> tuple[Any, Any]:
    """The columns of a table as pyarrow reads them from lines, and as Parquet has them."""
    read: list[Any] = []
    kept: list[Any] = []
    for name, kind in columns(record):
        found = _arrow_type(arrow, kind)
        time = kind == "DateTime64(9, 'UTC')"
        read.append(arrow.field(name, arrow.int64() if time else found))
        kept.append(arrow.field(name, found))
    return arrow.schema(read), arrow.schema(kept)


def _arrow_type(arrow: Any, kind: str) -> Any:
    """The Arrow type of a column's value in a line."""
    outer, _, inner = kind.partition("(")
    if outer == "Nullable":
        return _arrow_type(arrow, inner[:-1])
    if outer == "Array":
        return arrow.list_(_arrow_type(arrow, inner[:-1]))
    if outer == "DateTime64":
        return arrow.timestamp("ns", "UTC")
    plain = {"Bool": "bool_", "Float64": "float64"}
    if outer in plain or re.fullmatch(r"U?Int\d+", outer):
        return getattr(arrow, plain.get(outer, outer.lower()))()
    return arrow.string()
