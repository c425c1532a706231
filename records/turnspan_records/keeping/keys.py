"""What tells the rows of a table apart, versions of one record included; and where rows lie."""

from __future__ import annotations

from typing import Final

from turnspan_clickhouse.rows.tables import (
    KEYS,
    ContextAssemblyRow,
    ContextItemRow,
    LlmCall,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
)
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.dsn import Dsn

BY_WEEK: Final[frozenset[type[Record]]] = frozenset(
    {LlmCall, TurnSummary, ToolCall, SpanRow, ContextAssemblyRow, ContextItemRow}
)
"""The tables that are partitioned by the week in which a row's record began."""


def row_key(record: type[Record]) -> str:
    """A row's 16 bytes: two versions of a record have different ones. In SQL."""
    return f"sipHash128({', '.join(KEYS[record])}, written_at)"


def week(record: type[Record]) -> str:
    """The week of a row, 1970 for all rows of a table that has no partitions. In SQL."""
    return "toMonday(start_time)" if record in BY_WEEK else "toDate(0)"


class Tables:
    """The names of a store's tables as keeping uses them.

    On a cluster without Keeper each node is looked after alone: its own rows go, while what refers
    to them is looked for on all.
    """

    def __init__(self, store: Store | Dsn) -> None:
        dsn = store.dsn if isinstance(store, Store) else store
        self._suffix = "_local" if dsn.cluster else ""
        self.database = quoted(dsn.database)
        self.node_by_node = bool(dsn.cluster) and not dsn.replicated
        """Whether other nodes have rows that this one cannot delete."""
        self.replicated = bool(dsn.cluster) and not self.node_by_node
        """Whether replicas run each mutation for themselves."""
        self.on_cluster = f" ON CLUSTER {quoted(dsn.cluster)}" if self.replicated else ""
        """What a statement that changes a table needs to reach all nodes."""
        self.work = f"{self.database}.keeping_row"
        """The table that holds what was decided."""

    def everywhere(self, record: type[Record]) -> str:
        """The rows of all nodes."""
        return f"{self.database}.{record.table}"

    def held(self, record: type[Record]) -> str:
        """The rows that a pass may take."""
        return self.changed(record) if self.node_by_node else self.everywhere(record)

    def changed(self, record: type[Record]) -> str:
        """The table that statements which delete name."""
        return f"{self.database}.{record.table}{self._suffix}"

    def deletion(self, record: type[Record], condition: str) -> str:
        """The statement that deletes rows: it writes their parts anew."""
        table = f"{self.changed(record)}{self.on_cluster}"
        return f"ALTER TABLE {table} DELETE WHERE {condition}"
