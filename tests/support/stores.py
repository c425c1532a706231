"""Fixtures: a fresh store of each kind for every test that asks for one.

The embedded engine serves one folder at a time in a process, and another one after its store let
go of it, so each test gets a folder of its own; a store that a failing test leaves open lets go
here.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.clickhouse_server import ClickHouseServer, start_server
from support.kept_stores import KeptStores, copy_schema, engine_kept, migrated
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.shared_engine import step_aside

_KEPT: pytest.StashKey[KeptStores] = pytest.StashKey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The stores that tests get one after the other are open for no other test."""
    kept = item.config.stash.get(_KEPT, None)
    if kept is not None and "kept_stores" not in getattr(item, "fixturenames", ()):
        kept.close()


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """One server for the whole test run; a test that stops or kills it starts its own."""
    server = start_server(tmp_path_factory.mktemp("clickhouse"))
    yield server
    server.kill()  # nobody wants its data; an orderly end takes seconds


@pytest.fixture(scope="session", autouse=True)
def engine_settings() -> Iterator[None]:
    """The driver reads the 1,500 settings of the engine at each connection, in 0.015 s of a
    processor: those of the embedded engine, and of a user of a server, are read once."""
    client: Any = importlib.import_module("clickhouse_connect.driver.client").Client
    steps: Any = importlib.import_module("clickhouse_connect.driver._backend.orchestration")
    execute, understand = client._execute_operation, steps._setting_definitions
    known: dict[tuple[str, ...], Any] = {}

    def executed(self: Any, operation: Any) -> Any:
        if "FROM system.settings" not in operation.text:
            return execute(self, operation)
        whose = (self.uri, getattr(self, "headers", {}).get("Authorization", ""))
        if whose not in known:
            known[whose] = understand(execute(self, operation))
        return known[whose]

    def as_it_is(settings: Any) -> Any:
        return settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_execute_operation", executed)
        patch.setattr(steps, "_setting_definitions", as_it_is)
        yield


@pytest.fixture
def kept_engine() -> Iterator[None]:
    """The engine of an embedded store stays loaded between a test's openings of it; for tests whose
    stores no other process opens."""
    with engine_kept():
        yield


@pytest.fixture
def embedded_dsn(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Dsn]:
    """A fresh embedded store in a temporary folder."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    if _has_schema(request):
        copy_schema(tmp_path / "store")
    yield Dsn(scheme="chdb", path=tmp_path / "store")
    step_aside()


def _has_schema(request: pytest.FixtureRequest) -> bool:
    """Whether the test's marker ``with_schema`` says so; the closest counts."""
    marker = request.node.get_closest_marker("with_schema")
    return marker is not None and marker.args != (False,)


@pytest.fixture
def server_dsn(
    request: pytest.FixtureRequest,
    clickhouse_server: ClickHouseServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Dsn]:
    """A fresh database on the test server; its spool is in the test's temporary folder."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    if _has_schema(request):
        kept: KeptStores = request.getfixturevalue("kept_stores")
        with kept.lend_address() as address:
            yield address
        return
    dsn = clickhouse_server.dsn(f"t_{uuid.uuid4().hex[:12]}")
    yield dsn
    if clickhouse_server.running:
        clickhouse_server.run(f"DROP DATABASE IF EXISTS {dsn.database} SYNC")


@pytest.fixture(params=["embedded", "server"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """Where a test's store is: it runs once with each."""
    kind: str = request.param
    return kind


@pytest.fixture
def store_dsn(request: pytest.FixtureRequest, store_kind: str) -> Dsn:
    """A fresh store, once embedded and once on a server; nothing is migrated yet."""
    dsn: Dsn = request.getfixturevalue(f"{store_kind}_dsn")
    return dsn


@pytest.fixture(scope="module", params=["embedded", "server"])
def module_store(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Store]:
    """A migrated store of each kind, open for all tests of a module; empty when these begin."""
    if request.param == "embedded":
        with migrated(Dsn("chdb", path=tmp_path_factory.mktemp("module") / "store")) as opened:
            yield opened
        return
    kept: KeptStores = request.getfixturevalue("kept_stores")
    with kept.lend_address("module") as dsn, open_store(dsn) as opened:
        yield opened


@pytest.fixture(scope="session")
def kept_stores(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    clickhouse_server: ClickHouseServer,
) -> Iterator[KeptStores]:
    """Migrated stores for tests that want an empty one."""
    kept = KeptStores(tmp_path_factory.mktemp("kept"), clickhouse_server)
    request.config.stash[_KEPT] = kept
    yield kept
    kept.close()


@pytest.fixture
def store(
    request: pytest.FixtureRequest, store_kind: str, kept_stores: KeptStores
) -> Iterator[Store]:
    """An empty, migrated, open store of each kind: that of ``store_dsn`` where a test asks for it
    as well, else one that tests get one after the other."""
    if "store_dsn" in request.fixturenames:
        with migrated(request.getfixturevalue("store_dsn")) as opened:
            yield opened
        return
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    if store_kind == "server":
        monkeypatch.setenv("TURNSPAN_SPOOL", str(request.getfixturevalue("tmp_path") / "spool"))
    with kept_stores.lend(store_kind) as opened:
        yield opened
