"""What a store holds: rows and bytes of every record table, and of the engine's own logs."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store

_ACCESS_DENIED = 497


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table's size on disk; rows are counted before deduplication."""

    table: str
    rows: int
    bytes: int
    parts: int


def table_sizes(store: Store) -> list[TableSize]:
    """The record tables in their usual order, empty ones included.

    Raises ``StoreError`` as ``Store.query``.
    """
    result = store.query(
        "SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts"
        " WHERE active AND database = {database:String} GROUP BY table",
        {"database": store.database},
    )
    held = {
        str(table).removesuffix("_local"): TableSize(
            str(table).removesuffix("_local"), int(rows), int(size), int(parts)
        )
        for table, rows, size, parts in result.rows
    }
    names = [record.table for record in RECORDS]
    names += sorted(set(held) - set(names))
    return [held.get(name, TableSize(name, 0, 0, 0)) for name in names]


def system_log_bytes(store: Store) -> int | None:
    """Bytes of the engine's own ``system.*_log`` tables; ``None`` where the user may not see it."""
    try:
        result = store.query(
            "SELECT sum(bytes_on_disk) FROM system.parts"
            " WHERE active AND database = 'system' AND table LIKE '%\\_log%'"
        )
    except QueryError as error:
        if error.code == _ACCESS_DENIED:
            return None
        raise
    return int(result.rows[0][0])
