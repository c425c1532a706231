"""Whether everything lands, and what the store holds: the doctor's findings about both."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan import __version__
from turnspan_clickhouse.store.client import Store
from turnspan_console.checks.check import Check, guarded
from turnspan_console.checks.receivers import receiver_checks
from turnspan_console.checks.spool import spool_checks
from turnspan_console.checks.store import open_store_checks
from turnspan_console.web.endpoints import Endpoint
from turnspan_records.screens.inventory import TableSize, table_sizes


@dataclass(frozen=True, slots=True)
class SettingsQuery:
    """Nothing more to say."""


@dataclass(frozen=True, slots=True)
class SettingsAnswer:
    """What is looked after."""

    version: str
    checks: list[Check]
    tables: list[TableSize]
    """Those with rows; rows are counted before deduplication."""


def _settings(store: Store, _query: SettingsQuery) -> SettingsAnswer:
    spool = store.dsn.spool
    found = [
        *guarded("store", "checks", lambda: open_store_checks(store)),
        *guarded("spool", "checks", lambda: spool_checks(store.dsn)),
        *guarded("receiver", "checks", lambda: receiver_checks(spool)),
    ]
    tables = [one for one in table_sizes(store) if one.rows]
    return SettingsAnswer(__version__, found, tables)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/settings", SettingsQuery, SettingsAnswer, _settings, "Whether all is well."
    ),
)
