"""Many of everything: processes that died, turns that they left, writers at a spool's limit."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from land import agent_run as run
from land.spooling import ask, calls, spooled
from land.trial import Trial
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, Record
from turnspan_clickhouse.ship import interrupted_work
from turnspan_clickhouse.ship.shipper import Shipper, ship
from turnspan_clickhouse.spool import eviction
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.spool.totals import Totals
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.spooled import writers

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


@contextlib.contextmanager
def open_files(more: int) -> Generator[None]:
    """This process may have so many more files open than it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_dead_writers_than_files_may_be_open(store_dsn: Dsn) -> None:
    """A script that ran a thousand times since somebody looked: all of it lands, and each run's
    lock goes."""
    spool = Spool(store_dsn.spool)
    spooled(spool, *calls(0, 3)).close()
    for number in range(1_500):
        (spool.folder / "writers" / f"host-{number}-00000000.lock").touch()
    with open_files(200):
        assert writers(spool).dead == 1_501
        result = ship(store_dsn)
    assert (result.errors, result.shipped_rows) == ([], 3)
    assert list((spool.folder / "writers").iterdir()) == []


def test_more_running_turns_than_a_statement_can_name(server_dsn: Dsn) -> None:
    """A busy server process was killed: each of its turns is interrupted."""
    spool = Spool(server_dsn.spool)
    writer = SpoolWriter(spool)
    unfinished = {"status": "running", "stop_reason": "running", "writer": writer.token}
    turns = [run.turn(f"{n:032x}", n, 0.0, **unfinished) for n in range(10_000)]
    writer.write("turn_summary", SCHEMA_VERSION, encode_block(type(turns[0]), turns))
    writer.close()
    result = ship(server_dsn)
    assert (result.errors, result.interrupted) == ([], 10_000)
    states = "SELECT status, count() FROM turn_summary FINAL GROUP BY status"
    assert ask(server_dsn, states) == [("interrupted", 10_000)]


def test_turns_that_are_interrupted_in_parts_count_what_is_theirs(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn and those inside it are never parted; each counts its own."""
    monkeypatch.setattr(interrupted_work, "MAX_NAMED", 3)
    writer = SpoolWriter(Spool(store_dsn.spool))
    unfinished = {"status": "running", "stop_reason": "running", "writer": writer.token}
    rows: list[Record] = []
    for n in range(5):
        rows.append(run.turn(f"outer{n}", n, 0.0, **unfinished))
        rows.append(run.turn(f"inner{n}", n, 0.0, parent_turn_id=f"outer{n}", **unfinished))
        rows += calls(10 * n, n + 1, turn_id=f"inner{n}", trace_id="x")
    for record in dict.fromkeys(type(row) for row in rows):
        block = encode_block(record, [row for row in rows if type(row) is record])
        writer.write(record.table, SCHEMA_VERSION, block)
    writer.close()
    assert ship(store_dsn).interrupted == 10
    sql = "SELECT turn_id, llm_call_count, input_tokens FROM turn_summary FINAL ORDER BY turn_id"
    assert ask(store_dsn, sql) == [
        *((f"inner{n}", n + 1, n + 1) for n in range(5)),
        *((f"outer{n}", 0, n + 1) for n in range(5)),
    ]


def test_writers_at_the_limit_beside_a_shipper(server_dsn: Dsn) -> None:
    """What makes room gives up the oldest, which is what the shipper takes first: each row has
    landed or is counted, none both."""
    with open_store(server_dsn) as store:
        migrate(store)
    block = encode_block(LlmCall, calls(0, 1))
    written, refused, dropped = [0], [0], [0]
    stop = threading.Event()

    def writing(first: int) -> None:
        spool = Spool(server_dsn.spool, limit_bytes=60 * len(block))
        writer, number = SpoolWriter(spool), first
        while not stop.is_set():
            try:
                writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(number, 1)))
            except SpoolError:
                refused[0] += 1
            number += 1
        writer.close()
        written[0] += number - first
        dropped[0] += spool.dropped.total()

    def shipping() -> None:
        with open_store(server_dsn) as store:
            while not stop.is_set():
                shipper = Shipper(lambda: contextlib.nullcontext(store), Spool(server_dsn.spool))
                assert shipper.run().errors == []

    threads = [threading.Thread(target=writing, args=(n * 10**6,)) for n in range(3)]
    threads.append(threading.Thread(target=shipping))
    for thread in threads:
        thread.start()
    time.sleep(3)
    stop.set()
    for thread in threads:
        thread.join()
    trial = Trial(server_dsn)
    assert trial.ship().ok
    found = trial.figures()
    assert found.duplicated == 0
    assert dropped[0] == found.dropped > 0
    assert found.landed == written[0] - refused[0] - dropped[0] > 0


def test_a_spool_is_not_looked_through_for_each_segment_that_comes(store_dsn: Dsn) -> None:
    """A full one gives up a 64th of its limit at once, the least important and oldest first."""
    block = encode_block(LlmCall, calls(0, 1))
    spool = Spool(store_dsn.spool, limit_bytes=256 * len(block))
    writer = SpoolWriter(spool)
    paths = [writer.write("llm_call", SCHEMA_VERSION, block) for _ in range(257)]
    assert {segment.path for segment in spool.segments()} == set(paths[5:])
    assert spool.dropped == {"spool_full:llm_call": 5}


def test_a_process_that_died_while_it_made_room_drops_nothing(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was about to give up was not counted: it lands."""
    spool = Spool(store_dsn.spool)
    spooled(spool, *calls(0, 3))
    (segment,) = spool.segments()
    segment.path.rename(segment.path.with_name(segment.name + ".leaving"))
    spool.clean()
    assert spool.segments() == []  # somebody may be at it just now
    monkeypatch.setattr(eviction, "LEFT_SECONDS", 0.0)
    spool.clean()
    result = ship(store_dsn)
    assert (result.ok, result.shipped_rows) == (True, 3)


def test_an_insert_is_counted_once_whatever_came_between(tmp_path: Path) -> None:
    """Repeated after a crash, when others were counted in the meantime."""
    totals = Totals(private_folder(tmp_path))
    for token in ("a", "b", "c", "a", "b", "c"):
        totals.landed(token, "span", 5)
    assert totals.shipped == {"span": 15}
