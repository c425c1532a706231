"""Migrated stores without waiting for migrations, which take longer than most tests."""

from __future__ import annotations

import contextlib
import functools
import shutil
import tempfile
import time
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.clickhouse_server import ClickHouseServer
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store import embedded
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

_FILLED = (
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
    " AND endsWith(engine, 'MergeTree') AND name != 'schema_migration'"
)
_SHAPE = (
    "SELECT arraySort(groupArray((name, uuid, metadata_modification_time))) FROM system.tables"
    " WHERE database = currentDatabase()",
    "SELECT arraySort(groupArray(tuple(*))) FROM schema_migration",
)
_DEFINITIONS = (
    "SELECT arraySort(groupArray((name, uuid, create_table_query))) FROM system.tables"
    " WHERE database = currentDatabase()"
)
_SETTLED = (
    "SELECT max(metadata_modification_time) < now() - 1 FROM system.tables"
    " WHERE database = currentDatabase()"
)
_DATABASES = "SELECT arraySort(groupArray(name)) FROM system.databases"


@contextlib.contextmanager
def migrated(dsn: Dsn) -> Generator[Store]:
    """Open a store with today's schema; an embedded one that is not there is copied, and has the
    identity of every other copy."""
    if dsn.path is not None and not dsn.path.exists():
        copy_schema(dsn.path)
    with open_store(dsn) as store:
        migrate(store)
        yield store


@contextlib.contextmanager
def engine_kept() -> Generator[None]:
    """Keep the engine of the embedded store that was opened last loaded until another is opened,
    for stores that are opened many times: to load the tables takes 0.13 s of a processor each time.
    No other process can open the store meanwhile.
    """
    kept: list[tuple[str, Any]] = []
    connect = embedded.engine_client

    def connected(dsn: Dsn, engine: str) -> Any:
        if kept and kept[0][0] != engine:
            kept.pop()[1].close()
        client = connect(dsn, engine)
        if not kept:
            kept.append((engine, connect(dsn, engine)))
        return client

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "engine_client", connected)
        patch.setattr(embedded, "_DYING_SECONDS", 0.0)  # what has the engine is no dying process
        try:
            yield
        finally:
            if kept:
                kept.pop()[1].close()


def copy_schema(path: Path) -> None:
    """Make an embedded store with today's schema, as a copy of one."""
    shutil.copytree(Path(_template().name) / "store", path, symlinks=True)


@functools.cache
def _template() -> tempfile.TemporaryDirectory[str]:
    """An embedded store in it: to migrate one takes 0.4 s of a processor, to copy one 0.03."""
    folder = tempfile.TemporaryDirectory(prefix="turnspan-template-")
    with open_store(Dsn(scheme="chdb", path=Path(folder.name) / "store")) as store:
        migrate(store)
    return folder


class KeptStores:
    """A store of each kind, which tests get one after the other. One in which a test has changed
    more than rows is not used again."""

    def __init__(self, folder: Path, server: ClickHouseServer) -> None:
        self._folder = folder
        self._server = server
        self._kept: dict[str, tuple[Dsn, _Shape]] = {}
        self._open: dict[str, Store] = {}

    @contextlib.contextmanager
    def lend(self, kind: str) -> Generator[Store]:
        """An open store, embedded or on a server, without a row in it. It stays open for the next
        test: to open an embedded one takes 0.1 s."""
        if kind not in self._kept:
            self._kept[kind] = self._make(kind)
        dsn, shape = self._kept[kind]
        if kind not in self._open:
            self._open[kind] = open_store(dsn)
        store = self._open[kind]
        yield store
        if not _emptied(store, shape):
            del self._kept[kind], self._open[kind]
            store.close()
        if dsn.path is not None:
            for left in dsn.path.iterdir():
                if left.name not in ("engine", "definitions", "lock"):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()

    @contextlib.contextmanager
    def lend_address(self, whose: str = "test") -> Generator[Dsn]:
        """A migrated database on the server without a row in it, which nobody has open: to make one
        takes 0.7 s of a processor, to empty one 0.1. There is one of each ``whose``."""
        if whose not in self._kept:
            self._kept[whose] = self._make("server")
        dsn, shape = self._kept[whose]
        yield dsn
        if not self._server.running:
            return
        with open_store(dsn) as store:
            whole = _emptied(store, shape)
        if not whole:
            del self._kept[whose]
            self._server.run(f"DROP DATABASE IF EXISTS {dsn.database} SYNC")

    def close(self) -> None:
        """Close them until a test wants one again."""
        while self._open:
            self._open.popitem()[1].close()

    def _make(self, kind: str) -> tuple[Dsn, _Shape]:
        name = f"kept_{uuid.uuid4().hex[:12]}"
        embedded = Dsn(scheme="chdb", path=self._folder / name / "store")
        dsn = embedded if kind == "embedded" else self._server.dsn(name)
        with migrated(dsn) as store:
            time.sleep(1)  # the time of a change has seconds
            return dsn, _Shape(store)


def _emptied(store: Store, shape: _Shape) -> bool:
    """Take the rows out; whether it is then as it was made."""
    try:
        for (table,) in store.query(_FILLED).rows:
            store.command(f"TRUNCATE TABLE {table}")
        return shape.is_of(store)
    except StoreError:  # closed, or broken by the test
        return False


class _Shape:
    """What a store is beside its rows."""

    def __init__(self, store: Store) -> None:
        self._times = _times(store)
        self._definitions = _definitions(store)

    def is_of(self, store: Store) -> bool:
        """Whether a store is as it was. Forgetting and retention change settings and change them
        back; only where something was changed are the definitions read, which takes 0.06 s of a
        processor, and a store made anew takes 0.9."""
        times = _times(store)
        if times == self._times:
            return True
        if times[1:] != self._times[1:] or _definitions(store) != self._definitions:
            return False
        if store.query(_SETTLED).rows == [(True,)]:
            self._times = times  # else a change in the same second would not be seen
        return True


def _times(store: Store) -> list[Any]:
    shape: list[Any] = [store.query(question).rows for question in _SHAPE]
    if store.dsn.path is not None:
        # The engine's table of functions describes 1,800 of its own, in 0.03 s of a processor.
        functions = [*(store.dsn.path / "engine" / "user_defined").glob("*")]
        shape += [store.query(_DATABASES).rows, sorted(functions)]
    return shape


def _definitions(store: Store) -> list[Any]:
    return list(store.query(_DEFINITIONS).rows)
