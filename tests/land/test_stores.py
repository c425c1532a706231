"""Stores: every failure is one sentence with the remedy, and never shows the password."""

from __future__ import annotations

import dataclasses
import gc
import socket
from pathlib import Path

import pytest

from support.landing import insert
from support.rows import call
from turnspan_clickhouse.errors import (
    QueryError,
    StoreBusyError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store


def free_port() -> int:
    """A port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    """Unavailable: trying again later is right. The driver's own log lines are kept back."""
    dsn = Dsn(scheme="http", host="127.0.0.1", port=free_port(), password="hunter2")
    with pytest.raises(StoreUnavailableError) as failure:
        open_store(dsn)
    text = str(failure.value)
    assert "does not answer (Connection refused)" in text
    assert "hunter2" not in text + caplog.text
    assert "\n" not in text
    assert caplog.records == []


def test_a_wrong_password(server_dsn: Dsn) -> None:
    """The server's refusal names the user and where the password comes from."""
    with pytest.raises(StoreError, match=r"refused user 'writer': check the user and password"):
        open_store(dataclasses.replace(server_dsn, user="writer", password="wrong"))


def test_a_user_with_a_password(server_dsn: Dsn) -> None:
    """Another user than the default one."""
    with open_store(dataclasses.replace(server_dsn, user="writer", password="writer-secret")):
        pass


def test_a_refused_statement_has_the_engine_s_code(store: Store) -> None:
    """UNKNOWN_TABLE, in the engine's own words."""
    with pytest.raises(QueryError, match="nothing_of_that_name") as failure:
        store.query("SELECT * FROM nothing_of_that_name")
    assert failure.value.code == 60
    with pytest.raises(QueryError) as failure:
        store.command("CREATE TABEL x (y Int8)")
    assert failure.value.code == 62


def test_values_travel_as_parameters(store: Store) -> None:
    """A value that looks like SQL stays a value."""
    nasty = "'; DROP TABLE llm_call --\\"
    assert store.query("SELECT {v:String}", {"v": nasty}).rows[0][0] == nasty
    store.command("SELECT {v:String}", {"v": nasty})


def test_one_block_may_span_years(store: Store) -> None:
    """A backfill: as many weekly partitions in one insert as five years have, and more."""
    week = 7 * 86_400
    insert(store, *(call(f"{number:016x}", -week * number) for number in range(300)))
    assert store.query("SELECT count(), uniq(toMonday(start_time)) FROM llm_call").rows == [
        (300, 300)
    ]


def test_two_embedded_stores_of_one_process(embedded_dsn: Dsn, tmp_path: Path) -> None:
    """The engine serves one folder: it goes to the store that is asked, and a block that keeps it
    keeps it from the other."""
    with open_store(embedded_dsn) as store, open_store(Dsn("chdb", path=tmp_path / "b")) as other:
        for each in (store, other, store):
            assert each.query("SELECT 1").rows == [(1,)]
        with other.held(), pytest.raises(StoreBusyError, match="another embedded store in use"):
            store.query("SELECT 1")
        assert store.query("SELECT 1").rows == [(1,)]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """A file where the store should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        open_store(Dsn(scheme="chdb", path=tmp_path / "file" / "store"))


@pytest.mark.parametrize(
    ("name", "sql"), [("plain_1", "plain_1"), ("a-b", "`a-b`"), ("`", "`\\``"), ("1x", "`1x`")]
)
def test_identifiers_are_quoted_where_they_must_be(name: str, sql: str) -> None:
    """Bare words stay readable."""
    assert quoted(name) == sql


def test_an_engine_that_cannot_be_opened_keeps_no_other_from_being(tmp_path: Path) -> None:
    """Its connection, half made, is let go of at once, and not by the next garbage collection."""
    broken = tmp_path / "broken" / "engine"
    broken.mkdir(parents=True)
    (broken / "metadata").write_text("not a folder")
    gc.disable()
    try:
        for number in range(2):
            with open_store(Dsn("chdb", path=tmp_path / f"whole-{number}")) as store:
                assert store.query("SELECT 1").rows == [(1,)]
            with pytest.raises(StoreError):
                open_store(Dsn("chdb", path=tmp_path / "broken"))
    finally:
        gc.enable()
