"""Rows of a store as lines, some at a time, so that no more of them are in memory than that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.server_answers import translated_errors
from turnspan_records.keeping.keys import row_key
from turnspan_records.keeping.lines import LINE_SETTINGS, selected

PIECE_BYTES: Final = 32 * 2**20
"""Of rows at once, about."""
_ROWS: Final = (1_000, 200_000)
"""At least and at most."""


def lines_of(
    store: Store,
    record: type[Record],
    source: str,
    where: str,
    parameters: Mapping[str, Any],
    rows: int = 0,
) -> Iterator[list[bytes]]:
    """The rows of ``source`` that fulfil a condition of ours, as lines.
    ``rows``: about how many there are.

    The engine in this process holds a whole answer in memory, so they are asked for in pieces, by
    their keys.

    Raises:
        StoreError: as ``Store.query``.
    """
    number = 1 + rows // rows_at_once(store, record)
    for place in range(number):
        part = f"modulo(reinterpretAsUInt32({row_key(record)}), {number}) = {place}"
        # A subquery: the columns' new values have the names of the columns in the conditions.
        rows_of = f"SELECT * FROM {source} WHERE {where} AND {part}"
        answer = _asked(store, f"SELECT {selected(record)} FROM ({rows_of}) AS r", parameters)
        lines = answer.split(b"\n")
        if not lines[-1]:
            lines.pop()
        if lines:
            yield lines


def rows_at_once(store: Store, record: type[Record]) -> int:
    """How many rows of a table make a piece, by what they take on average."""
    found = store.query(
        "SELECT sum(data_uncompressed_bytes), sum(rows) FROM system.parts"
        " WHERE active AND database = {database:String}"
        " AND table IN ({table:String}, concat({table:String}, '_local'))",
        {"database": store.database, "table": record.table},
    ).rows
    size, rows = found[0]
    each = int(size) / max(1, int(rows))
    return max(_ROWS[0], min(_ROWS[1], int(PIECE_BYTES / max(1.0, each))))


def _asked(store: Store, sql: str, parameters: Mapping[str, Any]) -> bytes:
    settings = {**store.read_settings, "final": 0, **LINE_SETTINGS}
    with translated_errors(store.dsn):
        answer: bytes = store.client.raw_query(
            sql, parameters=dict(parameters), settings=settings, fmt="JSONEachRow"
        )
    return answer
