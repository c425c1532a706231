"""A small session for the tests of the command, and how to run the command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from click.testing import Result

from support.kept_stores import migrated
from support.landing import insert
from support.rows import PROJECT, T0, answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Definition, Record, SpanRow
from turnspan_clickhouse.store.dsn import Dsn

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
    ids: dict[str, Any] = {"session_id": "thread-7", "trace_id": TRACE}
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
    with migrated(dsn) as store:
        insert(store, *story())
