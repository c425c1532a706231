"""What a store holds: rows and bytes of every record table, and of the engine's own logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.errors import MAY_NOT, QueryError
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table's size on disk; rows are counted before deduplication."""

    table: str
    rows: int
    bytes: int
    parts: int


def table_sizes(store: Store) -> list[TableSize]:
    """The record tables in their usual order, empty ones included; none where the user may not see
    their sizes.

    Raises ``StoreError`` as ``Store.query``.
    """
    rows = _parts(
        store,
        "SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts"
        " WHERE active AND database = currentDatabase() GROUP BY table",
    )
    if rows is None:
        return []
    held = {
        str(table).removesuffix("_local"): TableSize(
            str(table).removesuffix("_local"), int(rows), int(size), int(parts)
        )
        for table, rows, size, parts in rows
    }
    names = [record.table for record in RECORDS]
    names += sorted(set(held) - set(names))
    return [held.get(name, TableSize(name, 0, 0, 0)) for name in names]


def system_log_bytes(store: Store) -> int | None:
    """Bytes of the engine's own ``system.*_log`` tables; ``None`` where the user may not see it."""
    rows = _parts(
        store,
        "SELECT sum(bytes_on_disk) FROM system.parts"
        " WHERE active AND database = 'system' AND table LIKE '%\\_log%'",
    )
    return None if rows is None else int(rows[0][0])


def _parts(store: Store, sql: str) -> Sequence[Sequence[Any]] | None:
    try:
        return store.query(sql).rows
    except QueryError as error:
        if error.code not in MAY_NOT:
            raise
        return None
