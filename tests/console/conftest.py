"""A small store that every test of the command reads, and ways to run the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.clickhouse_server import ClickHouseServer
from support.story import ENTRY, Invoke, Spawn, fill
from turnspan_console.cli import turnspan


@pytest.fixture(scope="session")
def filled(clickhouse_server: ClickHouseServer) -> str:
    """The address of a store that holds the story; tests only read it. It is on a server: each
    command opens it at once, and an embedded one in 0.1 s."""
    dsn = clickhouse_server.dsn("story")
    fill(dsn)
    return str(dsn)


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the machine, and a home of its own, for every test."""
    for name in list(os.environ):
        if name.startswith(("TURNSPAN_", "OTEL_")) and not name.startswith("TURNSPAN_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def invoke() -> Invoke:
    """Run the command in this process; standard output and error are told apart."""

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(turnspan, arguments, input=stdin)

    return run


@pytest.fixture
def spawn() -> Spawn:
    """Run the command as a process of its own."""

    def run(
        *arguments: str, stdin: str = "", entry: str = ENTRY
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", entry, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
