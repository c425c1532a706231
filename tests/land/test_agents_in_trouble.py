"""Whole agent processes that are killed, or whose ClickHouse is away: what lands afterwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import turnspan
from land.spooling import largest_file
from support.clickhouse_server import start_server
from support.representatives import first_on
from support.shared import REPOSITORY
from turnspan_clickhouse.ship import unwritten
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.with_schema

HERE = Path(__file__).parent
FLUSH_INTERVAL = 0.1
SLACK = 0.5
"""A loaded machine wakes the worker late; what counts is that nothing older is missing."""


def turnspan_command(store: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    command = [sys.executable, "-m", "turnspan_console", *arguments]
    return subprocess.run(
        command,
        env={**os.environ, "TURNSPAN_STORE": store},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def wait_for(path: Path) -> None:
    """Wait until the agent has written something."""
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)


@first_on("server")
def test_killed_agent_loses_at_most_one_interval(store_dsn: Dsn, tmp_path: Path) -> None:
    """kill -9 in the middle of a turn: after the next command every span that had ended one flush
    interval before is there exactly once, and the turn is interrupted with its children."""
    store, log = str(store_dsn), tmp_path / "ended.log"
    turnspan_command(store, "migrate")
    agent = subprocess.Popen(
        [sys.executable, str(HERE / "crashing_agent.py"), str(log)],
        env={**os.environ, "TURNSPAN_STORE": store},
    )
    wait_for(log)
    time.sleep(1.5)
    killed = time.time()
    agent.send_signal(signal.SIGKILL)
    agent.wait()

    shipped = turnspan_command(store, "ship")
    assert shipped.returncode == 0, shipped.stderr
    with open_store(store_dsn) as opened:
        rows = opened.query("SELECT call_id, count() FROM tool_call GROUP BY call_id", None).rows
        raw = opened.query("SELECT count() FROM tool_call", None, {"final": 0}).rows[0][0]
        turns = opened.query(
            "SELECT agent_name, status, stop_reason, tool_call_count FROM turn_summary"
        ).rows
    landed = {str(call): int(count) for call, count in rows}
    lines = [line.split() for line in log.read_text().splitlines()]
    due = {call for call, ended in lines if float(ended) < killed - FLUSH_INTERVAL - SLACK}

    assert len(due) > 100
    assert due - set(landed) == set()
    assert set(landed.values()) == {1}
    assert raw == len(landed)
    assert sorted(tuple(turn) for turn in turns) == [
        ("endless", "interrupted", "interrupted", len(landed) - 5),
        ("whole", "final", "completed", 5),
    ]


@pytest.mark.release
def test_agents_killed_at_random_moments() -> None:
    """Ten of the two hundred kills of benchmarks/kill9.py: nothing older than an interval is lost,
    nothing lands twice, no turn of a dead agent is called running."""
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / "kill9.py"), "--kills", "10"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kills=10" in done.stdout


def test_outage_changes_nothing_for_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ClickHouse away results and exceptions are identical; after it is back `turnspan ship`
    lands everything once."""
    server = start_server(tmp_path / "server")
    port = server.http_port
    server.stop()
    store = f"http://default@127.0.0.1:{port}/outage"
    spool = tmp_path / "spool"
    environment = {**os.environ, "TURNSPAN_STORE": store, "TURNSPAN_SPOOL": str(spool)}

    bare, traced = (
        subprocess.run(
            [sys.executable, str(HERE / "outage_agent.py"), mode],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        for mode in ("bare", "traced")
    )

    assert traced.stdout == bare.stdout
    assert "flush False True" in traced.stderr
    assert len(list(spool.glob("*.native"))) > 0

    server.start()
    monkeypatch.setenv("TURNSPAN_SPOOL", str(spool))
    try:
        first = turnspan_command(store, "ship")
        again = turnspan_command(store, "ship")
        with open_store(Dsn("http", host="127.0.0.1", port=port, database="outage")) as opened:
            turns = opened.query(
                "SELECT stop_reason, count() FROM turn_summary GROUP BY 1 ORDER BY 1"
            ).rows
    finally:
        server.stop()

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert [tuple(turn) for turn in turns] == [("completed", 10), ("error", 10)]
    assert list(spool.glob("*.native")) == []


_LOCAL = """
import os, signal, time, turnspan
turnspan.configure(service_name="frozen", flush_interval=3600)
with turnspan.agent("frozen"):
    pass
started = time.monotonic()
result = turnspan.flush(local=True)
print(result.ok, result.remaining, time.monotonic() - started < 5, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_local_flush_waits_for_no_store(server_dsn: Dsn) -> None:
    """T-09: the store accepts connections and never answers; the turn is on the disk all the same
    when the flush returns, and lands though the process is killed the next moment."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = subprocess.run(
            [sys.executable, "-c", _LOCAL],
            env={
                **os.environ,
                "TURNSPAN_STORE": f"http://127.0.0.1:{silent.getsockname()[1]}/x",
                "TURNSPAN_SPOOL": str(server_dsn.spool),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout.split()) == (-signal.SIGKILL, ["True", "0", "True"])
    assert turnspan_command(str(server_dsn), "ship").returncode == 0
    with open_store(server_dsn) as store:
        turns = store.query("SELECT agent_name, status FROM turn_summary").rows
    assert [tuple(turn) for turn in turns] == [("frozen", "final")]


def test_a_local_flush_says_when_the_disk_does_not_take_it(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be written is no success, whether it waits for the disk or is lost."""
    turnspan.configure(service_name="s", store=str(embedded_dsn), flush_interval=3600)
    try:
        with turnspan.tool("kept"):
            pass
        assert turnspan.flush(local=True).ok
        with largest_file(100):
            with turnspan.tool("waits"):
                pass
            result = turnspan.flush(local=True)
            assert (result.ok, result.remaining, dict(result.dropped)) == (False, 2, {})
        assert turnspan.flush(local=True).ok
        monkeypatch.setattr(unwritten, "ROOM_BYTES", 0)
        with largest_file(100):
            with turnspan.tool("lost"):
                pass
            result = turnspan.flush(local=True)
        assert (result.ok, result.accounts.dropped) == (
            False,
            {"spool_failed:tool_call": 1, "spool_failed:span": 1},
        )
    finally:
        turnspan.shutdown()
