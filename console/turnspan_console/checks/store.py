"""Checks of the store: reachable, allowed, current, in time, not drowned by the engine's logs."""

from __future__ import annotations

import time
from collections.abc import Iterator

from turnspan_clickhouse.errors import (
    MAY_NOT,
    OTHER_COLUMNS,
    InsertTooLargeError,
    QueryError,
    StoreBusyError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.files.lock_holders import GONE, STOPPED, holder
from turnspan_clickhouse.rows.native_encoder import NOTHING
from turnspan_clickhouse.rows.tables import RECORDS, columns
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.definitions import mended
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, current_version, pending
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.checks.check import FAIL, OK, WARN, Check
from turnspan_console.failures import refusal
from turnspan_console.remedies import remedy
from turnspan_console.values import seconds, size
from turnspan_records.screens.inventory import system_log_bytes, table_sizes

_AREA = "store"
_SKEW_WARN, _SKEW_FAIL = 2.0, 60.0
_MANY_PARTS = 1_000
_LOGS_WARN, _LOGS_FAIL = 256 * 2**20, 4 * 2**30
_LOGS_RATIO = 10
_UNKNOWN_TABLE = 60
_NOT_THERE = frozenset({60, 81})


def store_checks(dsn: Dsn) -> Iterator[Check]:
    """Every check of a store, as far as it can be reached. Nothing is created or changed."""
    if dsn.path is not None and not (dsn.path / "engine").exists():
        yield Check(_AREA, "reachable", OK, f"{dsn} does not exist yet: nothing was recorded in it")
        return
    try:
        store = open_store(dsn, wait=2.0)
    except StoreBusyError as error:
        found = None if dsn.path is None else holder(dsn.path / "lock")
        stuck = found is not None and found.state in (STOPPED, GONE)
        finding = f"{found or 'another process'} keeps the store"
        yield Check(_AREA, "lock", FAIL if stuck else WARN, finding, str(error))
        return
    except StoreError as error:
        yield _failed("reachable", f"{dsn} cannot be used", error)
        return
    with store:
        yield from open_store_checks(store)


def open_store_checks(store: Store) -> Iterator[Check]:
    """The checks of a store that is open."""
    yield Check(_AREA, "reachable", OK, f"{store.dsn}, ClickHouse {store.server_version()}")
    if store.dsn.embedded:
        yield Check(_AREA, "lock", OK, "no other process keeps the store from us")
        for name, (how, again) in mended(store.dsn).items():
            finding = f"that of {name} was lost on a full disk ({how})"
            advice = "Run `turnspan migrate`; what is not Turnspan's, make again." * again
            yield Check(_AREA, "definitions", WARN if again else OK, finding, advice)
    schema = _schema(store)
    yield schema
    if schema.level == OK:
        writes = _writes(store)
        yield _reads(store, writes)
        yield writes
        yield _parts(store)
    yield _clock(store)
    if not store.dsn.embedded:
        yield _logs(store)


def _schema(store: Store) -> Check:
    try:
        waiting, version = pending(store), current_version(store)
    except QueryError as error:
        return _failed("schema", "its version cannot be read", error)
    except StoreError as error:
        return _failed("schema", "the store and this Turnspan do not fit", error)
    if not waiting:
        return Check(_AREA, "schema", OK, f"version {version}, current")
    level = WARN if store.dsn.embedded else FAIL
    finding = f"version {version}, this Turnspan writes {SCHEMA_VERSION}"
    return Check(_AREA, "schema", level, finding, "Run `turnspan migrate`.")


def _failed(name: str, what: str, error: StoreError) -> Check:
    if isinstance(error, QueryError):
        return Check(_AREA, name, FAIL, f"{what}: {refusal(error)}", remedy(error))
    return Check(_AREA, name, FAIL, what, str(error))


def _reads(store: Store, writes: Check) -> Check:
    try:
        for record in RECORDS:
            names = ", ".join(name for name, _ in columns(record))
            store.query(f"SELECT {names} FROM {record.table} WHERE 0")
    except QueryError as error:
        if error.code in (*OTHER_COLUMNS, _UNKNOWN_TABLE):
            finding = f"something of them is gone or was changed: {refusal(error)}"
            advice = (
                "Run `turnspan migrate`, which makes again the tables and views that are gone; "
                "where a column is, restore a backup or move the store away."
            )
            return Check(_AREA, "tables", FAIL, finding, advice)
        if error.code in MAY_NOT and writes.level == OK:  # no right is missing: it would be a leak
            finding = f"user {store.dsn.user!r} records and may not read, as an application"
            return Check(_AREA, "select", OK, finding)
        return _failed("select", f"user {store.dsn.user!r} cannot read the records", error)
    return Check(_AREA, "select", OK, "the records can be read")


def _writes(store: Store) -> Check:
    """By an insert of no rows, on the very way that the records take."""
    record = RECORDS[0]
    try:
        store.insert_native(record.table, NOTHING, "turnspan doctor")
    except QueryError as error:
        if error.code not in MAY_NOT:
            return _failed("insert", "an insert is refused", error)
        finding = f"user {store.dsn.user!r} may not insert"
        advice = (
            "Fine for who reads (turnspan_reader) or judges (turnspan_reviewer); an application "
            f"needs GRANT INSERT ON {quoted(store.database)}.* and no readonly profile."
        )
        return Check(_AREA, "insert", FAIL, finding, advice)
    except (StoreUnavailableError, InsertTooLargeError) as error:
        return _failed("insert", "an insert does not come through", error)
    return Check(_AREA, "insert", OK, "records can be inserted")


def _parts(store: Store) -> Check:
    sizes = table_sizes(store)
    if not sizes:
        return Check(_AREA, "size", OK, "not visible to this user")
    most = max(sizes, key=lambda one: one.parts)
    rows, total = sum(one.rows for one in sizes), sum(one.bytes for one in sizes)
    finding = f"{rows:,} rows, {size(total)}, {most.parts:,} parts in {most.table}"
    if most.parts < _MANY_PARTS:
        return Check(_AREA, "size", OK, finding)
    advice = (
        "Merges do not keep up with inserts: raise TURNSPAN_FLUSH_INTERVAL in the applications."
    )
    return Check(_AREA, "size", WARN, finding, advice)


def _clock(store: Store) -> Check:
    before = time.time()
    result = store.query("SELECT toUnixTimestamp64Micro(now64(6)) AS now")
    after = time.time()
    there = int(result.rows[0][0]) / 1e6
    skew = max(0.0, before - there, there - after)
    if skew < _SKEW_WARN:
        return Check(_AREA, "clock", OK, "agrees with this machine's")
    finding = f"{seconds(skew)} apart from this machine's"
    advice = (
        "Synchronise the clocks (NTP): the newest write of a record wins, by the writer's clock."
    )
    return Check(_AREA, "clock", FAIL if skew >= _SKEW_FAIL else WARN, finding, advice)


def _logs(store: Store) -> Check:
    logs = system_log_bytes(store)
    if logs is None:
        return Check(_AREA, "system logs", OK, "not visible to this user")
    try:
        own = sum(one.bytes for one in table_sizes(store))
    except QueryError as error:
        if error.code not in _NOT_THERE:
            raise
        own = 0
    finding = f"system.*_log {size(logs)}, records {size(own)}"
    if logs < _LOGS_WARN or logs < own:
        return Check(_AREA, "system logs", OK, finding)
    advice = (
        "Give the system.*_log tables a TTL or remove them in the server's configuration, as the "
        "shipped deploy/ configuration does."
    )
    return Check(
        _AREA,
        "system logs",
        FAIL if logs >= _LOGS_FAIL and logs > own * _LOGS_RATIO else WARN,
        finding,
        advice,
    )
