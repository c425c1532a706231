"""Shipping: everything that was spooled lands, once, whatever dies or goes away in between."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from land import agent_run as run
from land.processes import writer_process
from land.spooling import ask, calls, spooled
from support.representatives import first_on
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, Record, SpanRow
from turnspan_clickhouse.ship.shipper import Shipper, ShipResult, ship
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, current_version
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


@pytest.mark.with_schema(False)
def test_what_waits_lands_in_every_table_and_the_spool_is_empty(store_dsn: Dsn) -> None:
    """A fresh store is migrated on the way."""
    spool = Spool(store_dsn.spool)
    writer = spooled(spool, *run.EVERYTHING)
    result = ship(store_dsn)
    assert result.ok
    assert (result.shipped_segments, result.remaining) == (6, 0)
    assert result.shipped_rows == len(run.EVERYTHING)
    assert spool.segments() == []
    assert ask(store_dsn, "SELECT count() FROM llm_call") == [(len(run.CALLS),)]
    assert ask(store_dsn, "SELECT count() FROM agent_telemetry") == [(8,)]
    writer.close()


def test_nothing_to_ship_opens_no_store(tmp_path: Path) -> None:
    """Nor does it create anything."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    assert ship(dsn).ok
    assert not (tmp_path / "store").exists()


def test_shipping_the_same_segments_again_adds_nothing(store_dsn: Dsn, tmp_path: Path) -> None:
    """A crash after the insert and before the delete: neither tables nor views change."""
    spool = Spool(store_dsn.spool)
    spooled(spool, *run.EVERYTHING)
    shutil.copytree(spool.folder, tmp_path / "copy")
    figures = (
        "SELECT (SELECT count() FROM llm_call), (SELECT sum(cost_usd) FROM llm_call),"
        " (SELECT count() FROM message), (SELECT count() FROM turn_full),"
        " (SELECT sum(total_tokens) FROM agent_telemetry)"
    )
    assert ship(store_dsn).ok
    before = ask(store_dsn, figures)
    shutil.rmtree(spool.folder)
    shutil.copytree(tmp_path / "copy", spool.folder)
    again = ship(store_dsn)
    assert again.ok
    assert again.shipped_segments == 6
    assert ask(store_dsn, figures) == before


def test_a_killed_writer_s_records_land_exactly_once(store_dsn: Dsn) -> None:
    """kill -9 in mid-write: all it had written, and its turn is interrupted with its children."""
    spool = Spool(store_dsn.spool)
    with writer_process(spool.folder) as writer:
        writer.wait_for(8)
        written = writer.kill()
    result = ship(store_dsn)
    assert result.ok
    assert result.interrupted == 1
    ((count, distinct),) = ask(store_dsn, "SELECT count(), uniqExact(span_id) FROM llm_call")
    assert count == distinct
    assert written * 3 <= count <= written * 3 + 3
    ((status, reason, calls_made, rounds, tokens, duration),) = ask(
        store_dsn,
        "SELECT status, stop_reason, llm_call_count, rounds, input_tokens, duration"
        " FROM turn_summary FINAL",
    )
    assert (status, reason) == ("interrupted", "interrupted")
    assert (calls_made, rounds, tokens) == (count, count // 3, count * 10)
    assert duration == pytest.approx(1.0, abs=0.001)
    assert list((spool.folder / "writers").iterdir()) == []
    assert ship(store_dsn).interrupted == 0


@first_on("server")
def test_a_living_writer_s_turns_keep_running(store_dsn: Dsn) -> None:
    """Its records land all the same."""
    with writer_process(Spool(store_dsn.spool).folder, limit=2) as writer:
        writer.wait_for(2)
        result = ship(store_dsn)
        assert (result.shipped_segments, result.interrupted) == (3, 0)
        assert ask(store_dsn, "SELECT status FROM turn_summary FINAL") == [("running",)]
        writer.kill()
        assert ship(store_dsn).interrupted == 1


@first_on("server")
def test_an_interrupted_turn_counts_what_its_children_did(store_dsn: Dsn) -> None:
    """Rounds, calls and tools are its own, tokens and models take its sub-agents in; a turn that
    had ended stays as it was."""
    spool = Spool(store_dsn.spool)
    writer = SpoolWriter(spool)
    mine: dict[str, Any] = {"writer": writer.token}
    unfinished: dict[str, Any] = {**mine, "status": "running", "stop_reason": "running"}
    rows: list[Record] = [
        run.turn("t1", 0, 0.0, user_message="Find shoes", chat_mode="vibe", **unfinished),
        run.turn("t1a", 5, 0.0, parent_turn_id="t1", **unfinished),
        run.turn("t2", 20, 2.0, **mine),
        *run.CALLS,
        *run.TOOL_CALLS,
    ]
    for record in dict.fromkeys(type(row) for row in rows):
        block = encode_block(record, [row for row in rows if type(row) is record])
        writer.write(record.table, SCHEMA_VERSION, block)
    writer.close()
    assert ship(store_dsn).interrupted == 2
    with open_store(store_dsn) as store:
        found = {row["turn_id"]: row for row in store.query("SELECT * FROM turn_summary").dicts()}
    root = found["t1"]
    assert (root["status"], root["stop_reason"]) == ("interrupted", "interrupted")
    assert (root["user_message"], root["chat_mode"]) == ("Find shoes", "vibe")
    assert (root["rounds"], root["llm_call_count"]) == (2, 2)
    assert (root["tool_call_count"], root["tool_error_count"]) == (2, 1)
    assert (root["input_tokens"], root["output_tokens"]) == (300, 30)
    assert float(root["cost_usd"]) == pytest.approx(0.03)
    assert (root["models"], root["response_text"]) == (["gpt-5-2026"], "Three pairs.")
    assert root["duration"] == 8.0
    nested = found["t1a"]
    assert (nested["status"], nested["rounds"], nested["tool_call_count"]) == ("interrupted", 1, 0)
    assert nested["duration"] == 1.0
    assert (found["t2"]["status"], found["t2"]["duration"]) == ("final", 2.0)


@first_on("server")
def test_a_turn_without_children_is_interrupted_too(store_dsn: Dsn) -> None:
    """Zero calls, unknown tokens, no time."""
    writer = SpoolWriter(Spool(store_dsn.spool))
    row = run.turn("t", 0, 0.0, status="running", stop_reason="running", writer=writer.token)
    writer.write("turn_summary", SCHEMA_VERSION, encode_block(type(row), [row]))
    writer.close()
    assert ship(store_dsn).interrupted == 1
    assert ask(
        store_dsn,
        "SELECT status, duration, llm_call_count, tool_call_count, input_tokens, cost_usd"
        " FROM turn_summary FINAL",
    ) == [("interrupted", 0.0, 0, 0, None, None)]


DAMAGED = {
    "cut": encode_block(LlmCall, calls(0, 3))[:-20],
    "foreign": b"this is not a block at all, whatever its name says" * 3,
    "zeros": bytes(500),
    "empty": b"",
}


def test_what_the_store_refuses_for_good_is_set_aside(store_dsn: Dsn) -> None:
    """With the reason beside it; everything else lands, and the refused is not tried again."""
    spool = Spool(store_dsn.spool)
    writer = spooled(spool, *calls(0, 2))
    for block in DAMAGED.values():
        writer.write("llm_call", SCHEMA_VERSION, block)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(2, 2)))
    result = ship(store_dsn)
    assert (result.rejected, result.remaining, result.errors) == (len(DAMAGED), 0, [])
    assert not result.ok
    assert ask(store_dsn, "SELECT count() FROM llm_call") == [(4,)]
    rejected = spool.rejected()
    assert len(rejected) == len(DAMAGED)
    for segment in rejected:
        assert (spool.rejected_folder / f"{segment.name}.error").read_text()
    assert ship(store_dsn).rejected == 0


def shipper(dsn: Dsn, spool: Spool) -> Shipper:
    """A shipper that may not migrate, as the one in an application."""
    return Shipper(lambda: open_store(dsn), spool)


@first_on("server")
@pytest.mark.with_schema(False)
def test_a_missing_schema_keeps_everything_and_says_the_remedy(store_dsn: Dsn) -> None:
    """Nothing is set aside; after the migration it all lands."""
    spool = Spool(store_dsn.spool)
    spooled(spool, *calls(0, 2))
    result = shipper(store_dsn, spool).run()
    assert (result.remaining, result.rejected) == (1, 0)
    assert "run `turnspan migrate`" in result.errors[0]
    assert ship(store_dsn).ok
    assert ask(store_dsn, "SELECT count() FROM llm_call") == [(2,)]


def test_records_of_a_newer_schema_wait_for_it(store: Store) -> None:
    """A column that the store lacks is not lost, and not taken for damage."""
    spool = Spool(store.dsn.spool)
    block = encode_block(LlmCall, calls(0, 1)).replace(b"\x07project\x06", b"\x07prxject\x06")
    SpoolWriter(spool).write("llm_call", SCHEMA_VERSION + 1, block)
    result = ship(store)
    assert (result.remaining, result.rejected) == (1, 0)
    assert "run `turnspan migrate`" in result.errors[0]
    assert current_version(store) == SCHEMA_VERSION


def test_an_open_store_is_shipped_into_as_it_is(store: Store) -> None:
    """A reader of the embedded engine ships before it asks; the store stays open."""
    spooled(Spool(store.dsn.spool), *calls(0, 3))
    assert ship(store).ok
    assert store.query("SELECT count() FROM llm_call").rows == [(3,)]


def test_a_deadline_is_kept(store: Store) -> None:
    """What has no time left waits."""
    spool = Spool(store.dsn.spool)
    spooled(spool, *calls(0, 3))
    result = ship(store, deadline=time.monotonic())
    assert (result.shipped_segments, result.remaining) == (0, 1)
    assert ship(store, deadline=time.monotonic() + 60).ok


def test_two_shippers_at_once_ship_each_segment_once(server_dsn: Dsn) -> None:
    """One waits for the other; together they shipped what there was."""
    spool = Spool(server_dsn.spool)
    writer = SpoolWriter(spool)
    for n in range(20):
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(n * 2, 2)))
    results: list[ShipResult] = []
    threads = [threading.Thread(target=lambda: results.append(ship(server_dsn))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.ok for result in results] == [True, True]
    assert sum(result.shipped_segments for result in results) == 20
    assert ask(server_dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(40, 40)]


def test_segments_of_other_hosts_are_shipped_too(store_dsn: Dsn) -> None:
    """A folder may be shared; their names are as good as ours."""
    spool = Spool(store_dsn.spool)
    spooled(spool, *calls(0, 2))
    (segment,) = spool.segments()
    segment.path.rename(spool.folder / segment.name.replace(segment.writer, "elsewhere-1"))
    assert ship(store_dsn).shipped_segments == 1


def test_a_full_spool_still_ships(store_dsn: Dsn) -> None:
    """At its limit it drops plain spans and keeps what matters; all that is left lands."""
    block = encode_block(LlmCall, calls(0, 3))
    spans = encode_block(SpanRow, [SpanRow(trace_id="x", span_id=str(n)) for n in range(4)])
    spool = Spool(store_dsn.spool, limit_bytes=2 * len(block) + len(spans))
    writer = SpoolWriter(spool)
    writer.write("span", SCHEMA_VERSION, spans)
    for first in (0, 3):
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(first, 3)))
    with pytest.raises(SpoolError, match="full"):
        writer.write("span", SCHEMA_VERSION, spans * 3)
    assert ship(store_dsn, spool=spool).ok
    assert ask(store_dsn, "SELECT count() FROM llm_call") == [(6,)]
