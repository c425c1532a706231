"""A small store that every test of the command reads, and ways to run the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result
from support.landing import insert
from support.rows import PROJECT, T0, answered, asked, call, message, said, tool, turn

from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.migrate import migrate
from turnspan_clickhouse.records import Definition, Record, SpanRow
from turnspan_clickhouse.stores import open_store
from turnspan_console.cli import turnspan

Invoke: TypeAlias = Callable[..., Result]
Spawn: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

TRACE = "0af7651916cd43dd8448eb211c80319c"
TURN, CALL, TOOL = "a1" * 8, "b2" * 8, "c3" * 8
LONG = "\n".join(f"rule {number}" for number in range(1, 41))
ENTRY = "import sys; from turnspan_console import main; sys.exit(main())"


def story() -> list[Record]:
    """A session of two turns: one looks up the stock with a failing tool, one is cut short."""
    system = message("system", said(LONG), scope="thread-7")
    hello = message("user", said("Hello, \x1b[31msize\x1b[0m 42?"), scope="thread-7")
    asking = message("assistant", asked("k1", "stock", size=42), scope="thread-7")
    stock = message("tool", answered("k1", "Error: closed"), scope="thread-7")
    reply = message("assistant", said("Come back tomorrow."), scope="thread-7")
    ids = {"session_id": "thread-7", "trace_id": TRACE}
    return [
        *(system, hello, asking, stock, reply),
        Definition(project=PROJECT, hash=b"t" * 16, kind="tool_definitions", body="[]"),
        turn(TURN, 0, **ids, user_message="Hello, size 42?", tool_error_count=1,
             cost_usd=Decimal("0.0125"), duration=3.5, tool_call_count=1, rounds=2),
        call(CALL, 1, **ids, turn_id=TURN, round=1, input_messages=[system.hash, hello.hash],
             output_messages=[asking.hash], input_tokens=1200, output_tokens=7, duration=1.5,
             tool_definitions=b"t" * 16, cost_usd=Decimal("0.01")),
        tool(TOOL, 2, **ids, turn_id=TURN, round=1, name="stock", call_id="k1", failed=True,
             arguments='{"size":42}', result="Error: closed", error_type="OSError"),
        call("d4" * 8, 3, **ids, turn_id=TURN, round=2, output_messages=[reply.hash],
             input_messages=[system.hash, hello.hash, asking.hash, stock.hash]),
        turn("e5" * 8, 60, **ids, user_message="Why?", stop_reason="max_tokens", rounds=1),
        SpanRow(project=PROJECT, **ids, turn_id=TURN, span_id=TURN, name="invoke_agent",
                start_time=T0, duration=3.5, written_at=T0),
        SpanRow(project=PROJECT, **ids, turn_id=TURN, span_id=TOOL, parent_span_id=TURN,
                name="execute_tool stock", start_time=T0 + 2, duration=0.5, written_at=T0,
                status_code="ERROR", status_message="closed"),
    ]  # fmt: skip


def fill(dsn: Dsn) -> None:
    """Migrate a store and tell it the story."""
    with open_store(dsn) as store:
        migrate(store)
        insert(store, *story())


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The DSN of an embedded store that holds the story; tests only read it."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("filled") / "store")
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
