"""No thread of ours imports anything once ``configure`` has returned.

An application that imports the same module at that moment finds it half loaded (openai 2 looks at
``sys.modules["httpx2"]`` with every client that it makes), a child that is forked at that moment
finds the import system's locks held for ever.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer, free_ports
from support.kept_stores import migrated
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

AGENT = Path(__file__).with_name("watched_agent.py")
TESTS = Path(__file__).parents[1]


def watched(case: str, store: str, folder: Path, **environ: str) -> int:
    """Run a case in a process of its own; how it ended. Fails if a thread of ours imported."""
    seen = folder / "seen"
    seen.touch()
    environment = {
        **os.environ,
        "PYTHONPATH": str(TESTS),
        "TURNSPAN_STORE": store,
        "TURNSPAN_SPOOL": str(folder / "spool"),
        **environ,
    }
    command = [sys.executable, str(AGENT), case, str(seen)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert seen.read_text() == "", ended.stderr
    assert ended.returncode <= 0, ended.stderr
    return ended.returncode


def url_of(dsn: Dsn) -> str:
    """A server's DSN with its password."""
    return f"http://{dsn.user}:{dsn.password}@{dsn.host}:{dsn.port}/{dsn.database}"


@pytest.mark.parametrize(
    ("case", "status"),
    [
        pytest.param("demo", 0, marks=pytest.mark.release),
        ("everything_on", 0),
        pytest.param("without_configure", 0, marks=pytest.mark.release),
        pytest.param("in_children", 0, marks=pytest.mark.release),
        pytest.param("terminated", -signal.SIGTERM, marks=pytest.mark.release),
    ],
)
def test_with_an_embedded_store(case: str, status: int, tmp_path: Path) -> None:
    """Whatever is switched on, and however the process ends."""
    ended = watched(
        case,
        f"chdb://{tmp_path / 'store'}",
        tmp_path,
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://localhost:{free_ports(1)[0]}",
    )

    assert ended == status
    assert any((tmp_path / "spool").glob("*.native"))


@pytest.mark.release
@pytest.mark.with_schema
@pytest.mark.parametrize("case", ["demo", "without_configure", "in_children"])
def test_with_a_server(case: str, server_dsn: Dsn, tmp_path: Path) -> None:
    """The driver, its compression and what it needs for an insert are there before."""
    with open_store(server_dsn) as store:
        migrate(store)

        assert watched(case, url_of(server_dsn), tmp_path) == 0
        assert store.query("SELECT count() FROM llm_call").rows[0][0] > 10


@pytest.mark.release
def test_a_writer_that_was_killed(server_dsn: Dsn, tmp_path: Path) -> None:
    """The next one's shipper asks the server for its turns and interrupts them."""
    with migrated(server_dsn) as store:
        interrupted = "SELECT count() FROM turn_summary WHERE stop_reason = 'interrupted'"

        assert watched("killed", url_of(server_dsn), tmp_path) == -signal.SIGKILL
        assert watched("demo", url_of(server_dsn), tmp_path) == 0
        assert store.query(interrupted).rows[0][0] == 1


@pytest.mark.release
@pytest.mark.parametrize(
    "place",
    ["no schema", "no server", "no host", "no TLS", "wrong password"],
)
def test_a_server_that_takes_nothing(
    place: str, clickhouse_server: ClickHouseServer, server_dsn: Dsn, tmp_path: Path
) -> None:
    """The ways to fail are loaded as well."""
    port = free_ports(1)[0]
    store = {
        "no schema": url_of(server_dsn),
        "no server": f"http://localhost:{port}/none",
        "no host": "http://nowhere.invalid/none",
        "no TLS": f"https://localhost:{clickhouse_server.http_port}/none",
        "wrong password": f"http://writer:wrong@127.0.0.1:{clickhouse_server.http_port}/none",
    }[place]

    assert watched("demo", store, tmp_path) == 0
    assert any((tmp_path / "spool").glob("*.native"))
