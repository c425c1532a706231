"""Stores: one small interface over the embedded engine and a ClickHouse server.

A store is opened by whoever reads or ships, never by the application that records (which only
writes spool segments): chDB allows one process per folder and hangs after a fork.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.errors import (
    QueryError,
    StoreBusyError,
    StoreError,
    StoreUnavailableError,
)

READ_SETTINGS: Mapping[str, Any] = {
    # Every record once, in its newest state, before any merge: nobody has to write FINAL.
    "final": 1,
    "do_not_merge_across_partitions_select_final": 1,
}


@dataclass(frozen=True, slots=True)
class Result:
    """A query's answer: ``rows[i][j]`` is the value of ``names[j]`` in row i."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries by column name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]


class Store:
    """An open store. Values always travel as parameters: ``{name:Type}`` in the SQL."""

    def __init__(self, dsn: Dsn, client: Any) -> None:
        self.dsn = dsn
        self._client = client

    @property
    def database(self) -> str:
        """The database that holds the records."""
        return self.dsn.database

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Result:
        """Run a reading statement, deduplicated (see READ_SETTINGS).

        Raises:
            QueryError: the engine refused it.
            StoreUnavailableError: the server did not answer.
        """
        merged = {**READ_SETTINGS, **(settings or {})}
        with translated_errors(self.dsn):
            result = self._client.query(sql, parameters=dict(parameters or {}), settings=merged)
        types = tuple(t.name for t in result.column_types)
        return Result(tuple(result.column_names), types, result.result_rows)

    def command(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Run a statement that returns nothing (DDL, INSERT ... SELECT). Raises as ``query``."""
        with translated_errors(self.dsn):
            self._client.command(
                sql, parameters=dict(parameters or {}), settings=dict(settings or {})
            )

    def insert_native(self, table: str, block: bytes, token: str) -> None:
        """Insert a ClickHouse Native stream; a second call with the same token adds nothing."""
        settings = {
            "insert_deduplication_token": token,
            "insert_deduplicate": 1,
            "async_insert": 0,
            "input_format_skip_unknown_fields": 1,
        }
        with translated_errors(self.dsn):
            self._client.raw_insert(
                f"{self.database}.{table}", insert_block=block, fmt="Native", settings=settings
            )

    def server_version(self) -> str:
        """The engine's version."""
        return str(self._client.server_version)

    def close(self) -> None:
        """Release the store."""
        self._client.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EmbeddedStore(Store):
    """The in-process engine, guarded by a lock file: one process at a time."""

    def __init__(self, dsn: Dsn, client: Any, lock: int) -> None:
        super().__init__(dsn, client)
        self._lock = lock

    def close(self) -> None:
        super().close()
        os.close(self._lock)


def open_store(dsn: Dsn, *, wait: float = 10.0) -> Store:
    """Open the store a DSN names; creates the embedded folder and the database when missing.

    ``wait`` is how many seconds to wait for another process to release the embedded store.

    Raises:
        StoreBusyError: another process kept the embedded store.
        StoreUnavailableError: the server does not answer.
        StoreError: chdb is not installed, or the server refused the user.
    """
    return _open_embedded(dsn, wait) if dsn.embedded else _open_server(dsn)


def _open_embedded(dsn: Dsn, wait: float) -> Store:
    import importlib.util

    if importlib.util.find_spec("chdb") is None:
        raise StoreError(
            "The embedded store needs ClickHouse's engine: pip install 'turnspan[embedded]', "
            "or name a server in TURNSPAN_STORE."
        )
    import clickhouse_connect

    assert dsn.path is not None
    engine = dsn.path / "engine"
    try:
        engine.mkdir(parents=True, exist_ok=True)
        lock = _take_lock(dsn, wait)
    except OSError as error:
        raise StoreError(f"The store's folder {dsn.path} cannot be used: {error}.") from None
    try:
        with translated_errors(dsn):
            client = clickhouse_connect.get_client(interface="chdb", path=str(engine))
            client.command(f"CREATE DATABASE IF NOT EXISTS {dsn.database}")
            client.database = dsn.database
            client.command(f"USE {dsn.database}")
    except BaseException:
        os.close(lock)
        raise
    return EmbeddedStore(dsn, client, lock)


def _take_lock(dsn: Dsn, wait: float) -> int:
    assert dsn.path is not None
    path = dsn.path / "lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            holder = path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
            os.close(lock)
            raise StoreBusyError(
                f"The store {dsn} is in use by process {holder}: wait for it to finish, or use a "
                "ClickHouse server (TURNSPAN_STORE=http://...) for several readers at once."
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        return lock


def _open_server(dsn: Dsn) -> Store:
    import clickhouse_connect

    with translated_errors(dsn):
        client = clickhouse_connect.get_client(
            host=dsn.host,
            port=dsn.port,
            username=dsn.user,
            password=dsn.password,
            secure=dsn.secure,
            connect_timeout=5,
            send_receive_timeout=60,
            autogenerate_session_id=False,
            client_name="turnspan",
        )
    client.database = dsn.database
    return Store(dsn, client)


@contextlib.contextmanager
def translated_errors(dsn: Dsn) -> Iterator[None]:
    """Turn the client library's errors into ours, without the password and in one sentence."""
    from clickhouse_connect.driver import exceptions

    try:
        yield
    except exceptions.DatabaseError as error:
        code = getattr(error, "code", None) or 0
        if code in (193, 194, 516):
            raise StoreError(
                f"The server at {dsn.host}:{dsn.port} refused user {dsn.user!r}: check the user "
                "and password in TURNSPAN_STORE or TURNSPAN_STORE_PASSWORD."
            ) from None
        raise QueryError(str(error).strip(), int(code)) from None
    except (exceptions.OperationalError, OSError) as error:
        raise StoreUnavailableError(
            f"The ClickHouse server at {dsn.host}:{dsn.port} does not answer ({_short(error)}): "
            "check that it runs and that TURNSPAN_STORE names it; records wait in the spool."
        ) from None
    except exceptions.Error as error:
        raise QueryError(_short(error)) from None


def _short(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:300] if text else type(error).__name__
