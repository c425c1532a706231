"""Read: diagnose, replay, judge, curate.

import turnspan_records

with turnspan_records.open() as store:
    for row in store.query("SELECT stop_reason, count() AS n FROM turn_summary GROUP BY 1").dicts():
        print(row)
    conversation = turnspan_records.replay(store, "my-project", "thread-7")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnspan_clickhouse.stores import Result, Store
from turnspan_records.access import Note
from turnspan_records.access import open_records as open
from turnspan_records.detail import Detail, detail
from turnspan_records.diagnostics import Diagnostic, diagnostics
from turnspan_records.lookup import Found, find
from turnspan_records.messages import exact_messages
from turnspan_records.replay import replay
from turnspan_records.sessions import sessions, turns
from turnspan_records.window import Window, window

__all__ = [
    "Detail",
    "Diagnostic",
    "Found",
    "Note",
    "Result",
    "Store",
    "Window",
    "detail",
    "diagnostics",
    "exact_messages",
    "find",
    "open",
    "query",
    "replay",
    "sessions",
    "turns",
    "window",
]


def query(
    sql: str, parameters: Mapping[str, Any] | None = None, *, store: str | None = None
) -> Result:
    """Open a store, ask it one question and close it again; every record is there once.

    ``store`` is a DSN (else TURNSPAN_STORE, else the default). Raises ``StoreError``.
    """
    with open(store) as opened:
        return opened.query(sql, parameters)
