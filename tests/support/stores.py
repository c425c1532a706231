"""Fixtures: a fresh store of each kind for every test that asks for one.

The embedded engine serves one folder at a time in a process, and another one after its store was
closed (reopening takes about 40 ms), so each test gets a folder of its own; a store that a failing
test leaves open is closed here.
"""

from __future__ import annotations

import gc
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer, start_server
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.embedded import EmbeddedStore
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """One server for the whole test run; a test that stops or kills it starts its own."""
    server = start_server(tmp_path_factory.mktemp("clickhouse"))
    yield server
    server.kill()  # nobody wants its data; an orderly end takes seconds


@pytest.fixture
def embedded_dsn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dsn]:
    """A fresh embedded store in a temporary folder."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    yield Dsn(scheme="chdb", path=tmp_path / "store")
    for found in gc.get_objects():
        if type(found) is EmbeddedStore:
            found.close()


@pytest.fixture
def server_dsn(
    clickhouse_server: ClickHouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Dsn]:
    """A fresh database on the test server; its spool is in the test's temporary folder."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    dsn = clickhouse_server.dsn(f"t_{uuid.uuid4().hex[:12]}")
    yield dsn
    if clickhouse_server.running:
        clickhouse_server.run(f"DROP DATABASE IF EXISTS {dsn.database} SYNC")


@pytest.fixture(params=["embedded", "server"])
def store_dsn(request: pytest.FixtureRequest) -> Dsn:
    """A fresh store, once embedded and once on a server; nothing is migrated yet."""
    dsn: Dsn = request.getfixturevalue(f"{request.param}_dsn")
    return dsn


@pytest.fixture
def store(store_dsn: Dsn) -> Iterator[Store]:
    """A fresh, migrated, open store of each kind."""
    with open_store(store_dsn) as opened:
        migrate(opened)
        yield opened
