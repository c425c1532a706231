"""The tables and views of a store, for whoever writes SQL of their own."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store

_COLUMNS = """
SELECT table, name, type, comment
FROM system.columns
WHERE database = {database:String} AND NOT endsWith(table, '_local')
ORDER BY table, position
"""


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table or a view."""

    name: str
    columns: list[ColumnOf]


def schema(store: Store) -> list[TableOf]:
    """Every table and view of the store, by name. Raises ``StoreError`` as ``Store.query``."""
    found: dict[str, list[ColumnOf]] = {}
    rows = store.query(_COLUMNS, {"database": store.database}, {"final": 0}).rows
    for table, name, kind, comment in rows:
        found.setdefault(str(table), []).append(ColumnOf(str(name), str(kind), str(comment)))
    return [TableOf(name, columns) for name, columns in found.items()]
