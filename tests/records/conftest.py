"""A store of each kind for queries that people write, and what they must not reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kept_stores import KeptStores
from support.landing import insert
from support.story import story
from turnspan_clickhouse.store.client import Store
from turnspan_records.sandbox import Sandbox

SECRET = "canary-of-the-sandbox"


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that an export registers are those of its test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def opened(module_store: Store) -> Iterator[Store]:
    """A store of each kind with a turn in it, and beside it a database that is not ours."""
    insert(module_store, *story())
    for statement in (
        "CREATE DATABASE IF NOT EXISTS elsewhere",
        "CREATE TABLE IF NOT EXISTS elsewhere.secrets (s String) ENGINE = Memory",
        f"INSERT INTO elsewhere.secrets VALUES ('{SECRET}')",
        "CREATE FUNCTION IF NOT EXISTS peep AS (x) -> file(x)",
    ):
        module_store.command(statement)
    yield module_store
    for gone in ("DATABASE elsewhere", "FUNCTION peep"):
        module_store.command(f"DROP {gone}")


@pytest.fixture(scope="module")
def sandbox(opened: Store) -> Iterator[Sandbox]:
    with Sandbox(opened) as made:
        yield made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a secret, in which nothing may appear."""
    (tmp_path / "secret.txt").write_text(f"{SECRET}\n")
    return tmp_path


@pytest.fixture
def embedded(kept_stores: KeptStores, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty embedded store, for what does not depend on the kind of store."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    with kept_stores.lend("embedded") as made:
        yield made
