"""Rows of a store as lines, some at a time, so that no more of them are in memory than that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.server_answers import translated_errors
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.lines import LINE_SETTINGS, selected

GROUP_BYTES: Final = 8 * 2**20
GROUP_LINES: Final = 20_000
"""Of lines that are given at once, at most; a longer line is given alone."""
_PIECE_BYTES: Final = 16 * 2**20
"""Of rows, as columns, that the engine in this process answers with at once, about."""
_PIECE_ROWS: Final = (1_000, 50_000)
"""At least and at most."""
_READ: Final = 2**20


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
    found = store.query(
        "SELECT sum(data_uncompressed_bytes), sum(rows) FROM system.parts"
        " WHERE active AND database = {database:String} AND table = {table:String}",
        {"database": store.database, "table": record.table},
    ).rows
    size, rows = found[0]
    each = int(size) / max(1, int(rows))
    return max(_PIECE_ROWS[0], min(_PIECE_ROWS[1], int(_PIECE_BYTES / max(1.0, each))))


def _answer(store: Store, sql: str, parameters: Mapping[str, Any]) -> Iterator[bytes]:
    settings = {**store.read_settings, "final": 0, **LINE_SETTINGS}
    # With settings the engine in this process answers at once, with all: it may be lent while the
    # answer is read.
    with store.held() as client, translated_errors(store.dsn):
        answer = client.raw_stream(
            sql, parameters=dict(parameters), settings=settings, fmt="JSONEachRow"
        )
    try:
        while True:
            with translated_errors(store.dsn):
                piece: bytes = answer.read(_READ)
            if not piece:
                return
            yield piece
    finally:
        answer.close()
