"""A store that is there and does not take the rows: they wait, and land when it does, once."""

from __future__ import annotations

import dataclasses
import random

import pytest

from land.spooling import spooled
from land.trial import ROWS, Trial
from support.kept_stores import migrated
from support.representatives import first_on
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, render
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.spooled import refused, restore_refused

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]
SEGMENTS = 20


def on_store(dsn: Dsn, *statements: str) -> None:
    """Run statements on a migrated store."""
    with migrated(dsn) as store:
        for sql in statements:
            store.command(sql)


def waits(trial: Trial, said: str) -> None:
    """Two passes land nothing and refuse nothing, and say why; more is written in between."""
    for _ in range(2):
        trial.emit(1)
        result = trial.ship()
        assert (result.shipped_segments, result.rejected) == (0, 0)
        assert said in result.errors[0]
    assert trial.spool.rejected() == []


@pytest.mark.with_schema(False)
def test_a_store_that_was_never_migrated(store_dsn: Dsn) -> None:
    """The application may not migrate; whoever runs the command does."""
    trial = Trial(store_dsn)
    trial.emit(SEGMENTS)
    waits(trial, "run `turnspan migrate`")
    on_store(store_dsn)
    assert trial.ship().ok
    trial.accounted("schema older than the code, or none")


def test_a_wrong_database(server_dsn: Dsn) -> None:
    """A typing error in TURNSPAN_STORE."""
    on_store(server_dsn)
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, database="nowhere"))
    trial.emit(SEGMENTS)
    waits(trial, "or missing: run `turnspan migrate`")
    trial.way = server_dsn
    assert trial.ship().ok
    trial.accounted("wrong database")


def test_a_table_that_is_missing(store_dsn: Dsn) -> None:
    """Dropped by somebody; the other tables take theirs meanwhile."""
    on_store(store_dsn, "DROP TABLE llm_call SYNC")
    trial = Trial(store_dsn)
    trial.emit(SEGMENTS)
    spooled(trial.spool, SpanRow(project="p", trace_id="x", span_id="y"))
    trial.emit(1)
    result = trial.ship()
    assert (result.shipped_rows, result.remaining, result.rejected) == (1, SEGMENTS + 1, 0)
    waits(trial, "or missing")
    create = dict(render(store_dsn))["0001_llm_call"]
    on_store(store_dsn, create)
    assert trial.ship().ok
    trial.accounted("table missing")


def test_a_store_newer_than_the_code(store_dsn: Dsn) -> None:
    """Another process has migrated it further: what this one writes lands, the new column has its
    default."""
    on_store(
        store_dsn,
        "ALTER TABLE llm_call ADD COLUMN mood String DEFAULT 'calm'",
        "INSERT INTO schema_migration (version, name, checksum, client_version)"
        f" VALUES ({SCHEMA_VERSION + 1}, 'mood', 'x', '9.9')",
    )
    trial = Trial(store_dsn)
    trial.emit(SEGMENTS)
    assert trial.ship().ok
    with open_store(store_dsn) as store:
        assert store.query("SELECT DISTINCT mood FROM llm_call").rows == [("calm",)]
    trial.accounted("schema newer than the code")


def test_too_many_parts(store_dsn: Dsn) -> None:
    """TOO_MANY_PARTS: merges stand still and the table is at its limit."""
    on_store(
        store_dsn,
        "SYSTEM STOP MERGES llm_call",
        "ALTER TABLE llm_call MODIFY SETTING parts_to_delay_insert = 0, parts_to_throw_insert = 1",
    )
    trial = Trial(store_dsn)
    trial.emit(1)
    assert trial.ship().ok
    trial.emit(SEGMENTS)
    waits(trial, "Too many parts")
    on_store(
        store_dsn,
        "ALTER TABLE llm_call RESET SETTING parts_to_delay_insert, parts_to_throw_insert",
        "SYSTEM START MERGES llm_call",
    )
    assert trial.ship().ok
    trial.accounted("TOO_MANY_PARTS")


def test_the_memory_limit(server_dsn: Dsn) -> None:
    """MEMORY_LIMIT_EXCEEDED, of the user or of the whole server."""
    on_store(server_dsn)
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, user="cramped"))
    trial.emit(3, text=random.Random(1).randbytes(1_000_000).hex())
    waits(trial, "memory limit")
    trial.way = server_dsn
    assert trial.ship().ok
    trial.accounted("memory limit")


def test_a_call_too_large_for_the_memory(server_dsn: Dsn) -> None:
    """It waits for more memory, each row of it by itself; what is smaller does not wait for it."""
    on_store(server_dsn)
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, user="narrow"))
    trial.emit(1, text=random.Random(1).randbytes(10_000_000).hex())
    trial.emit(SEGMENTS // 2)
    for _ in range(2):
        result = trial.ship()
        assert "memory limit" in result.errors[0]
        assert (result.shipped_segments, result.remaining) == (SEGMENTS // 2, ROWS)
        trial.emit(SEGMENTS // 2)
    trial.way = server_dsn
    assert trial.ship().ok
    trial.accounted("one call too large for the server's memory")


@pytest.mark.release
@first_on("server")
def test_rows_of_a_thousand_weeks(store_dsn: Dsn) -> None:
    """One code says "too many parts" for a table and for one insert's rows. The first time cures;
    of the second the rows are parted until they are few enough."""
    on_store(store_dsn)
    trial = Trial(store_dsn)
    trial.emit(SEGMENTS // 2)
    week = 7 * 86_400 * 10**9
    rows = [LlmCall(project="p", session_id="s", span_id=f"w{n}") for n in range(1_005)]
    for number, row in enumerate(rows):
        row.start_time = number * week
    trial.writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, rows))
    trial.emitted += len(rows)
    trial.emit(SEGMENTS // 2)
    result = trial.ship()
    assert (result.rejected, result.shipped_segments, result.errors) == (0, SEGMENTS + 2, [])
    trial.accounted("rows of a thousand weeks in one insert")


REFUSALS = {"a read-only user": "reader", "a user without rights": "stranger"}


@pytest.mark.parametrize("case", REFUSALS, ids=REFUSALS.values())
def test_a_user_who_may_not(case: str, server_dsn: Dsn) -> None:
    """READONLY and ACCESS_DENIED: rights are given sooner or later."""
    on_store(server_dsn)
    user = REFUSALS[case]
    password = "reader-secret" if user == "reader" else ""
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, user=user, password=password))
    trial.emit(SEGMENTS)
    waits(trial, "")
    trial.way = server_dsn
    assert trial.ship().ok
    trial.accounted(case)


def test_a_wrong_password(server_dsn: Dsn) -> None:
    """403 from ClickHouse itself."""
    on_store(server_dsn)
    trial = Trial(server_dsn, dataclasses.replace(server_dsn, user="writer", password="wrong"))
    trial.emit(SEGMENTS)
    waits(trial, "refused user 'writer'")
    trial.way = server_dsn
    assert trial.ship().ok
    trial.accounted("wrong password")


@first_on("server")
def test_one_damaged_segment_among_500(store: Store) -> None:
    """It alone is set aside, where it can be looked at; mended, it lands with the rest."""
    trial = Trial(store.dsn)
    store.close()
    trial.emit(250)
    good = encode_block(LlmCall, [LlmCall(project="p", session_id="s", span_id="odd")])
    damaged = trial.writer.write("llm_call", SCHEMA_VERSION, good[:-30])
    trial.emit(249)
    trial.emitted += 1
    result = trial.ship()
    assert (result.rejected, result.shipped_segments, result.errors) == (1, 499, [])
    (one,) = refused(trial.spool)
    assert (one.name, one.table) == (damaged.name, "llm_call")
    assert "Cannot read" in one.reason
    assert trial.figures().landed == 499 * ROWS
    (trial.spool.rejected_folder / one.name).chmod(0o600)
    (trial.spool.rejected_folder / one.name).write_bytes(good)
    assert restore_refused(trial.spool) == 1
    assert trial.ship().ok
    trial.accounted("one damaged segment among 500, mended")
