"""What a store holds: rows and bytes of every record table, and of the engine's own logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.errors import MAY_NOT, QueryError
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask


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
    rows = _parts(store, "inventory/tables")
    if rows is None:
        return []
    sizes = [TableSize(str(table).removesuffix("_local"), *figures) for table, *figures in rows]
    held = {one.table: one for one in sizes}
    names = [record.table for record in RECORDS]
    names += sorted(set(held) - set(names))
    return [held.get(name, TableSize(name, 0, 0, 0)) for name in names]


def system_log_bytes(store: Store) -> int | None:
    """Bytes of the engine's own ``system.*_log`` tables; ``None`` where the user may not see it."""
    rows = _parts(store, "inventory/system_logs")
    return None if rows is None else int(rows[0][0])


def _parts(store: Store, name: str) -> Sequence[Sequence[Any]] | None:
    try:
        return ask(store, name).rows
    except QueryError as error:
        if error.code not in MAY_NOT:
            raise
        return None
