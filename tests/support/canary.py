"""What an application with secrets everywhere has left behind, and where."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

AGENT = Path(__file__).with_name("canary_agent.py")


@dataclass(frozen=True)
class Left:
    """What one run of the application left behind."""

    dsn: Dsn
    stdout: str
    """What the console exporter wrote."""
    stderr: str
    """The log."""
    metrics: str
    otlp: list[bytes]

    def landed(self) -> Store:
        """The opened store, with everything in it."""
        with open_store(self.dsn) as store:
            migrate(store)
        ship(self.dsn, deadline=time.monotonic() + 60)
        return open_store(self.dsn)


Run = Callable[..., Left]


def every_row(store: Store) -> dict[str, str]:
    """Each table's rows as text, with every column of theirs."""
    tables = store.query(
        "SELECT name FROM system.tables WHERE database = {database:String}"
        " AND engine NOT LIKE '%View'",
        {"database": store.database},
    )
    texts: dict[str, str] = {}
    for (table,) in tables.rows:
        lines = "arrayStringConcat(groupArray(toJSONString(tuple(*))), '\\n')"
        # Hashes are no UTF-8, and the client would give the whole text as hexadecimal digits.
        found = store.query(f"SELECT toValidUTF8({lines}) FROM `{table}`")
        texts[table] = str(found.rows[0][0])
    return texts


def every_file(folder: Path) -> dict[str, bytes]:
    """Each file below a folder, by its path."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def reject_all(spool: Spool) -> None:
    """Set every waiting segment aside, as if the store had refused it."""
    for segment in spool.segments():
        spool.reject(segment, "refused")
