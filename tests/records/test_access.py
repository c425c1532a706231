"""A reader opens a store that is migrated and has what waited in the spool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import turnspan_records
from support.clickhouse_server import (
    ANALYST_PASSWORD,
    READER_PASSWORD,
    WRITER_PASSWORD,
    ClickHouseServer,
)
from support.kept_stores import migrated
from support.landing import insert
from support.rows import call, turn
from turnspan_clickhouse.errors import NoStoreError, StoreError, StoreUnavailableError
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, Record
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, current_version, migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import open_dsn, open_records
from turnspan_records.access.spooled import Writers, refused, restore_refused, writers

pytestmark = [pytest.mark.with_schema, pytest.mark.both_kinds]


def spool_rows(dsn: Dsn, *rows: Record) -> SpoolWriter:
    writer = SpoolWriter(Spool(dsn.spool))
    for row in rows:
        writer.write(row.table, SCHEMA_VERSION, encode_block(type(row), [row]))
    return writer


def count(dsn: Dsn, table: str = "llm_call") -> int:
    with open_dsn(dsn) as store:
        return int(store.query(f"SELECT count() FROM {table}").rows[0][0])


def analyst(server: ClickHouseServer, dsn: Dsn) -> Dsn:
    """The same database for a user with readonly=2."""
    return server.dsn(dsn.database, user="analyst", password=ANALYST_PASSWORD)


@pytest.mark.with_schema(False)
def test_a_fresh_store_is_migrated_and_what_waits_lands(store_dsn: Dsn) -> None:
    writer = spool_rows(store_dsn, call("a1"), call("a2"))
    assert count(store_dsn) == 2
    assert Spool(store_dsn.spool).segments() == []
    spool_rows(store_dsn, call("a3")).close()
    assert count(store_dsn) == 3
    writer.close()


def test_a_turn_whose_process_died_is_interrupted_by_the_next_reader(store_dsn: Dsn) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        "from turnspan_clickhouse.rows.native_encoder import encode_block\n"
        "from turnspan_clickhouse.store.migrations import SCHEMA_VERSION\n"
        "from turnspan_clickhouse.rows.tables import TurnSummary\n"
        "from turnspan_clickhouse.spool.spool import Spool, SpoolWriter\n"
        "w = SpoolWriter(Spool(Path(sys.argv[1])))\n"
        "row = TurnSummary(project='p', turn_id='t', span_id='t', start_time=10**18,"
        " status='running', writer=w.token, written_at=1)\n"
        "w.write('turn_summary', SCHEMA_VERSION, encode_block(TurnSummary, [row]))\n"
        "os._exit(9)\n"
    )
    died = subprocess.run([sys.executable, "-c", script, str(store_dsn.spool)], check=False)
    assert died.returncode == 9
    spool = Spool(store_dsn.spool)
    assert writers(spool) == Writers(alive=0, dead=1)
    with open_dsn(store_dsn) as store:
        found = store.query("SELECT status FROM turn_summary").rows
    assert [tuple(row) for row in found] == [("interrupted",)]
    assert writers(spool) == Writers(alive=0, dead=0)


def test_a_refused_segment_is_told_and_can_be_tried_again(store_dsn: Dsn) -> None:
    writer = SpoolWriter(Spool(store_dsn.spool))
    good = encode_block(LlmCall, [call("b1")])
    path = writer.write("llm_call", SCHEMA_VERSION, good[: len(good) // 2])
    notes: list[str] = []
    open_dsn(store_dsn, note=notes.append).close()
    assert len(notes) == 1 and "refused 1 segments" in notes[0]
    spool = Spool(store_dsn.spool)
    (segment,) = refused(spool)
    assert segment.name == path.name and segment.table == "llm_call" and segment.reason
    (spool.rejected_folder / path.name).write_bytes(good)
    assert restore_refused(spool) == 1 and refused(spool) == []
    assert not list(spool.rejected_folder.iterdir())
    assert count(store_dsn) == 1
    writer.close()


def test_a_store_that_is_newer_is_refused_with_what_to_do(store_dsn: Dsn) -> None:
    with migrated(store_dsn) as store:
        store.command(
            "INSERT INTO schema_migration (version, name, checksum) VALUES"
            f" ({SCHEMA_VERSION + 1}, 'later', 'x')"
        )
    with pytest.raises(StoreError, match="upgrade it"):
        open_dsn(store_dsn)


@pytest.mark.with_schema(False)
def test_a_reader_who_may_not_migrate_is_told_who_may(
    server_dsn: Dsn, clickhouse_server: ClickHouseServer
) -> None:
    clickhouse_server.run(f"CREATE DATABASE {server_dsn.database}")
    reader = analyst(clickhouse_server, server_dsn)
    with pytest.raises(StoreError, match="`turnspan migrate` as a user who may") as caught:
        open_dsn(reader)
    assert ANALYST_PASSWORD not in str(caught.value)


def test_a_readonly_1_profile_is_told_what_it_needs(
    server_dsn: Dsn, clickhouse_server: ClickHouseServer
) -> None:
    reader = clickhouse_server.dsn(server_dsn.database, user="reader", password=READER_PASSWORD)
    with pytest.raises(StoreError, match="readonly=2 instead of readonly=1"):
        open_dsn(reader)


def test_a_reader_reads_although_it_may_not_ship_what_waits(
    server_dsn: Dsn, clickhouse_server: ClickHouseServer
) -> None:
    with migrated(server_dsn) as store:
        insert(store, turn("t1"))
    spool_rows(server_dsn, call("c1")).close()
    reader = analyst(clickhouse_server, server_dsn)
    notes: list[str] = []
    with open_dsn(reader, note=notes.append) as store:
        assert len(store.query("SELECT turn_id FROM turn_summary").rows) == 1
    assert len(notes) == 1
    assert len(Spool(server_dsn.spool).segments()) == 1


@pytest.mark.with_schema(False)
def test_a_store_is_opened_by_its_address_from_python(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = str(store_dsn).replace("default@", "default:@")
    with pytest.raises(NoStoreError, match="There is no store"):
        turnspan_records.open(text)
    with turnspan_records.open(text, create=True) as store:
        insert(store, turn("t1"), turn("t2", 1, stop_reason="error"))
        assert current_version(store) == SCHEMA_VERSION
    rows = turnspan_records.query(
        "SELECT stop_reason FROM turn_summary WHERE turn_id = {id:String}", {"id": "t2"}, store=text
    )
    assert rows.dicts() == [{"stop_reason": "error"}]
    monkeypatch.setenv("TURNSPAN_STORE", text)
    assert len(turnspan_records.query("SELECT 1 FROM turn_summary").rows) == 2


def test_an_unreachable_server_is_said_at_once() -> None:
    with pytest.raises(StoreUnavailableError, match="check that it runs"):
        open_records("http://127.0.0.1:9/x")


def test_a_writer_with_a_wrong_password_is_told_where_it_comes_from(
    clickhouse_server: ClickHouseServer,
) -> None:
    dsn = clickhouse_server.dsn("x", user="writer", password=WRITER_PASSWORD[::-1])
    with pytest.raises(StoreError, match="TURNSPAN_STORE_PASSWORD"):
        open_dsn(dsn)


def test_python_asks_through_the_sandbox(embedded_dsn: Dsn, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret\n")
    with open_store(embedded_dsn) as store:
        migrate(store)
    text = str(embedded_dsn)
    assert turnspan_records.query("SELECT 1 AS n", store=text).dicts() == [{"n": 1}]
    reading = f"SELECT file('{tmp_path / 'secret.txt'}') AS s"
    with pytest.raises(turnspan_records.RefusedError, match="refused: it reaches files"):
        turnspan_records.query(reading, store=text)
    (row,) = turnspan_records.query(reading, store=text, files=True).dicts()
    assert row["s"] == "a secret\n"
