"""Making the bytes of deleted rows go: a delete hides them, only files that are removed are gone.

``Work.delete`` writes parts anew without the deleted rows. The old parts then lie for eight minutes
(``old_parts_lifetime``), and until somebody looks. Here they are let go at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import Final

from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_records.keeping.keys import Tables
from turnspan_records.sql import statement

WAIT_SECONDS: Final = 60.0
"""How long is waited for others to stop reading old parts; of replicas, as their own cleaning takes
half a minute, three times as long."""
_NO_PARTITION: Final = "19700106"
"""No week begins on this day (a Tuesday). Dropping a partition has the engine remove old parts on
the spot, of the whole table."""
_LIFETIME: Final = re.compile(r"\bold_parts_lifetime = ([1-9]\d*)")


def free(store: Store, records: Collection[type[Record]]) -> int:
    """Remove the old parts of these tables; returns how many of them are left, since somebody reads
    them still.

    Raises:
        StoreError: as ``Store.command``.
    """
    tables = Tables(store)
    deadline = time.monotonic() + WAIT_SECONDS * (3 if tables.replicated else 1)
    left = 0
    replaced = old_parts(store, records)
    names = {record: tables.changed(record).rpartition(".")[2] for record in replaced}
    given = {"database": store.database, "tables": [*names.values()]}
    known = store.query(statement("keeping/definitions_of_tables"), given, {"final": 0}).rows
    definitions = {str(name): str(definition) for name, definition in known}
    for record in replaced:
        table = f"{tables.changed(record)}{tables.on_cluster}"
        match = _LIFETIME.search(definitions.get(names[record], ""))
        before = int(match[1]) if match else 0  # an operator's; 0 where it is the server's own
        store.command(f"ALTER TABLE {table} MODIFY SETTING old_parts_lifetime = 0")
        try:
            left += _wait(store, tables, record, deadline)
        finally:
            again = f"MODIFY SETTING old_parts_lifetime = {before}" if before else ""
            reset = again or "RESET SETTING old_parts_lifetime"
            store.command(f"ALTER TABLE {table} {reset}")
    return left


def _wait(store: Store, tables: Tables, record: type[Record], deadline: float) -> int:
    pause = 0.02
    while True:
        if not tables.replicated:  # there nothing but their own cleaning removes them
            table = tables.changed(record)
            store.command(f"ALTER TABLE {table} DROP PARTITION ID '{_NO_PARTITION}'")
        left = old_parts(store, [record]).get(record, 0)
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(pause)
        pause = min(1.0, pause * 1.5)


def old_parts(
    store: Store, records: Collection[type[Record]], where: str = "NOT active"
) -> dict[type[Record], int]:
    """How many parts of these tables were replaced by others and are there still, of each table
    that has such; or those that fulfil a condition of ours."""
    tables = Tables(store)
    parts = "system.parts"
    if tables.replicated:
        parts = f"clusterAllReplicas({quoted(store.dsn.cluster)}, system.parts)"
    names = {tables.changed(record).rpartition(".")[2]: record for record in records}
    given = {"database": store.database, "tables": list(names)}
    found = store.query(statement("keeping/parts", parts=parts, where=where), given, {"final": 0})
    return {names[str(table)]: int(number) for table, number in found.rows}


def finish_masks(store: Store, records: Collection[type[Record]]) -> None:
    """Write parts anew that have hidden rows: of a forgetting that was cut short."""
    tables = Tables(store)
    for record in old_parts(store, records, "active AND has_lightweight_delete"):
        table = f"{tables.changed(record)}{tables.on_cluster}"
        store.command(f"ALTER TABLE {table} APPLY DELETED MASK", None, {"mutations_sync": 2})
