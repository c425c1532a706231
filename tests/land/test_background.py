"""Shipping to a server beside an application: outages, threads, forked workers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from land.processes import run_python
from land.spooling import ask, calls, spooled
from support.clickhouse_server import start_server
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship.background import BackgroundShipper
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION


def test_a_server_away_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is away everything waits and the error is one sentence; afterwards all lands once.
    Here it is killed, so that it comes back as it would from a crash."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    server = start_server(tmp_path / "server")
    try:
        dsn = server.dsn("away")
        spool = Spool(dsn.spool)
        writer = spooled(spool, *calls(0, 2))
        assert ship(dsn).ok
        server.kill()
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(2, 2)))
        result = ship(dsn, deadline=time.monotonic() + 5)
        assert (result.shipped_segments, result.remaining, result.rejected) == (0, 1, 0)
        assert "does not answer" in result.errors[0]
        assert "\n" not in result.errors[0]
        server.start()
        assert ship(dsn).ok
        assert ask(dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(4, 4)]
    finally:
        server.kill()


@pytest.mark.with_schema
def test_the_background_shipper_ships_by_itself(server_dsn: Dsn) -> None:
    """Woken, it lands what was written at once; stopped, it ships what is left."""
    spool = Spool(server_dsn.spool)
    background = BackgroundShipper(server_dsn, spool, interval=60.0)
    background.start()
    writer = spooled(spool, *calls(0, 2))
    background.wake()
    give_up = time.monotonic() + 30  # half of the interval
    while spool.segments():
        assert time.monotonic() < give_up
        time.sleep(0.01)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(2, 2)))
    assert background.flush(timeout=60)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(4, 2)))
    assert background.stop(timeout=60)
    assert ask(server_dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(6, 6)]


@pytest.mark.release
def test_the_background_shipper_survives_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """flush and stop say honestly that nothing landed; back again, it goes on without being asked;
    the application's log gets one line for the outage and one for its end."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    server = start_server(tmp_path / "server")
    dsn = server.dsn("away")
    spool = Spool(dsn.spool)
    background = BackgroundShipper(dsn, spool)
    try:
        spooled(spool, *calls(0, 2))
        assert ship(dsn).ok
        server.kill()
        spooled(spool, *calls(2, 2))
        background.start()
        assert not background.flush(timeout=10)
        assert not background.flush(timeout=10)
        server.start()
        give_up = time.monotonic() + 60
        while spool.segments() and time.monotonic() < give_up:
            time.sleep(0.05)
        assert background.flush(timeout=60)
        assert ask(dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(4, 4)]
        server.kill()
        spooled(spool, *calls(4, 2))
        assert not background.stop(timeout=10)
    finally:
        server.kill()
    ours = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [record.name for record in ours] == ["turnspan", "turnspan", "turnspan"]
    assert "does not answer" in ours[0].getMessage()
    assert "again" in ours[1].getMessage()


_PREFORK = """
import os, sys, time
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship.background import BackgroundShipper
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter

dsn = parse(sys.argv[1])
spool = Spool(dsn.spool)
writer, background = SpoolWriter(spool), BackgroundShipper(dsn, spool)
background.start()

def write(span_id):
    row = LlmCall(project="p", span_id=span_id)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, [row]))
    background.wake()

write("parent")
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        writer.after_fork()
        write(f"child-{number}")
        os._exit(0 if background.stop(timeout=20) else 1)
    children.append(child)
ends = [os.waitpid(child, 0)[1] for child in children]
assert ends == [0, 0, 0, 0], ends
assert background.stop(timeout=20)
"""


@pytest.mark.with_schema
def test_forked_workers_ship_with_threads_of_their_own(server_dsn: Dsn) -> None:
    """As a preforking server does it; nothing hangs, everything lands once."""
    run_python(_PREFORK, f"http://127.0.0.1:{server_dsn.port}/{server_dsn.database}")
    assert ask(server_dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(5, 5)]


def test_the_recording_side_loads_no_database_library() -> None:
    """An application pays for the driver when it ships to a server, and never for the engine."""
    loaded = run_python(
        "import sys, turnspan_clickhouse.ship, turnspan_clickhouse.rows.native_encoder;"
        "print([m for m in ('clickhouse_connect', 'chdb', 'numpy') if m in sys.modules])"
    )
    assert loaded.strip() == "[]"
