"""Agents behind servers that fork their workers: the real gunicorn and the real Celery."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from land.spooling import ask
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.with_schema

HERE = Path(__file__).parent
FLUSH_INTERVAL = 0.5
TURNS = """
SELECT status, stop_reason, count() FROM turn_summary
WHERE status != 'running'
   OR turn_id NOT IN (SELECT turn_id FROM turn_summary WHERE status != 'running')
GROUP BY ALL"""
"""How turns ended. A row that says that one runs is no more than a row beside the one of its end,
and is written or not as the time falls."""


def environment(dsn: Dsn, **more: str) -> dict[str, str]:
    """For a process that records to a store."""
    return {**os.environ, "TURNSPAN_STORE": str(dsn), "TURNSPAN_SPOOL": str(dsn.spool), **more}


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for half a minute at most."""
    give_up = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < give_up, "timed out"
        time.sleep(0.05)


class Web:
    """gunicorn with the agent behind it; each request has a name of its own."""

    def __init__(self, dsn: Dsn, *options: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        command = [sys.executable, "-W", "ignore", "-m", "gunicorn", "--no-control-socket"]
        command += ["--bind", f"127.0.0.1:{self.port}", "--chdir", str(HERE), "--log-level"]
        command += ["warning", *options, "web_agent:application"]
        self.process = subprocess.Popen(
            command, env=environment(dsn), stderr=subprocess.PIPE, text=True
        )
        self.answered: list[str] = []
        wait_until(self.is_up)

    def is_up(self) -> bool:
        """Whether it listens."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def get(self, name: str) -> int:
        """Ask one question; the process that answered."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", f"/{name}")
        reply = connection.getresponse()
        assert reply.status == 200
        self.answered.append(f"/{name}")
        pid = int(reply.read())
        connection.close()
        return pid

    def get_all(self, name: str, count: int) -> set[int]:
        """Ask many at once; the processes that answered."""
        with ThreadPoolExecutor(8) as pool:
            return set(pool.map(self.get, [f"{name}-{number}" for number in range(count)]))

    def stop(self) -> str:
        """SIGTERM to the master; what was logged."""
        self.process.terminate()
        logged = self.process.communicate(timeout=90)[1]
        assert self.process.returncode == 0, logged
        return logged


@pytest.mark.parametrize(
    ("store_kind", "kind"),
    [("embedded", "sync"), pytest.param("server", "gthread", marks=pytest.mark.release)],
    indirect=["store_kind"],
)
def test_gunicorn(store_dsn: Dsn, kind: str) -> None:
    """With ``--preload`` and four workers: one is killed, or they leave after 25 requests each; the
    master replaces them; then all end in the middle of requests. Each request that was answered
    has landed."""
    with open_store(store_dsn) as store:
        migrate(store)
    options = ["--preload", "--workers", "4", "--worker-class", kind]
    options += ["--threads", "2", "--max-requests", "25"] if kind == "gthread" else []
    web = Web(store_dsn, *options)
    try:
        pids = web.get_all("a", 40)
        if kind == "sync":
            time.sleep(2 * FLUSH_INTERVAL)  # what kill -9 may cost
            os.kill(min(pids), signal.SIGKILL)
            time.sleep(0.2)
        while not web.get_all("b-" + str(len(web.answered)), 20) - pids:
            pass
        with ThreadPoolExecutor(4) as pool:
            slow = [pool.submit(web.get, f"slow-{number}") for number in range(4)]
            time.sleep(0.15)
            logged = web.stop()
            assert all(future.result() for future in slow)
    finally:
        web.process.kill()
        web.process.communicate()
    assert ship(store_dsn).ok
    landed = ask(store_dsn, "SELECT arguments FROM tool_call")
    turns = ask(store_dsn, TURNS)
    assert sorted(row[0] for row in landed) == sorted(
        f'{{"question":"{name}"}}' for name in web.answered
    )
    assert turns == [("final", "completed", len(web.answered))]
    assert "Traceback" not in logged, logged


@pytest.mark.parametrize(
    ("store_kind", "limit"),
    [("embedded", "3"), ("server", "1000")],
    indirect=["store_kind"],
)
@pytest.mark.release
def test_celery(store_dsn: Dsn, tmp_path: Path, limit: str) -> None:
    """Prefork workers that are replaced after three tasks, and such that are ended right after
    their last one."""
    with open_store(store_dsn) as store:
        migrate(store)
    log = tmp_path / "tasks.log"
    command = [sys.executable, "-W", "ignore", "-m", "celery", "--app", "task_agent", "worker"]
    command += ["--pool", "prefork", "--concurrency", "2", "--max-tasks-per-child", limit]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker = subprocess.Popen(
        command,
        env=environment(store_dsn, LOG=str(log)),
        cwd=HERE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: log.exists() and len(log.read_text().splitlines()) == 20)
        worker.terminate()
        logged = worker.communicate(timeout=60)[1]
    finally:
        worker.kill()
    assert worker.returncode == 0, logged
    done = [line.split() for line in log.read_text().splitlines()]
    assert len({pid for _, pid in done}) >= (6 if limit == "3" else 1)
    assert ship(store_dsn).ok
    landed = ask(store_dsn, "SELECT call_id FROM tool_call")
    assert sorted(row[0] for row in landed) == sorted(name for name, _ in done)
    turns = ask(store_dsn, TURNS)
    assert turns == [("final", "completed", 20)]
