"""What the tools of ``turnspan mcp`` ask of a store, and what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.client import Client

from support.assembled import FULL
from support.consortium_rows import JURY
from support.rows import PROJECT
from support.snapshots import Asked, Recorder, compare, kept
from support.story import CALL, TOOL, TURN
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.mcp_server.store_questions import StoreQuestions
from turnspan_console.mcp_server.tools import server_of

TOPIC = "tools"
TIME = {"project": PROJECT, "since": "2026-09-01", "until": "2026-10-01"}

CALLED: dict[str, tuple[str, dict[str, Any]]] = {
    "sessions": ("sessions", {}),
    "sessions-page": ("sessions", {**TIME, "limit": 1}),
    "turns": ("turns", {}),
    "turns-session": ("turns", {"session": "thread-7", **TIME, "limit": 1}),
    "diagnose": ("diagnose", {}),
    "diagnose-one": ("diagnose", {"name": "early_stops", **TIME}),
    "consortium": ("consortium", {}),
    "consortium-run": ("consortium", {"run": JURY}),
    "find": ("find", {"text": "size"}),
    "find-id": ("find", {"text": TURN[:8]}),
    "sql": ("sql", {"query": "SELECT name FROM tool_call ORDER BY span_id"}),
    "sql-refused": ("sql", {"query": "DROP TABLE tool_call"}),
    "why": ("why", {"id": TURN}),
    "why-session": ("why", {"id": "thread-7"}),
    "why-loop": ("why", {"id": "7a" * 8}),
    "replay": ("replay", {"id": "thread-7"}),
    "replay-messages": ("replay", {"id": "thread-7", "level": "messages"}),
    "replay-full": ("replay", {"id": TURN, "level": "full"}),
    "show-turn": ("show", {"id": TURN}),
    "show-call": ("show", {"id": CALL}),
    "show-tool": ("show", {"id": TOOL}),
    "show-session": ("show", {"id": "thread-7"}),
    "show-nothing": ("show", {"id": "0123456789abcdef"}),
    "diff": ("diff", {"before": CALL, "after": "d4" * 8}),
    "context": ("context", {"id": FULL}),
    "context-call": ("context", {"id": CALL}),
    "judge": ("judge", {"id": TURN, "score": 4, "comment": "short"}),
}
"""The name of the snapshot, the tool and its arguments; the last one writes."""


@pytest.fixture(scope="module")
def asked(recorder: Recorder, copied_dsn: Dsn) -> Mapping[str, Asked]:
    """Every question, in this order, of one server."""
    asking = StoreQuestions(copied_dsn)
    server = server_of(asking, judgments=True, author="ada")

    async def answers() -> dict[str, Asked]:
        found: dict[str, Asked] = {}
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            found["tools"] = recorder.noted([one.model_dump(mode="json") for one in tools])
            for name, (tool, arguments) in CALLED.items():
                result = await client.call_tool(tool, arguments)
                (content,) = result.content
                lines = str(getattr(content, "text", "")).splitlines()
                found[name] = recorder.noted({"is_error": result.is_error, "text": lines})
        return found

    return asyncio.run(answers())


@pytest.mark.parametrize("name", ["tools", *CALLED])
def test_a_tool_asks_and_answers_as_before(
    name: str, asked: Mapping[str, Asked], sql: Mapping[str, str]
) -> None:
    """The SQL and the answer's lines are those of the snapshot."""
    compare(TOPIC, asked, name, sql)


def test_every_tool_has_a_snapshot(asked: Mapping[str, Asked]) -> None:
    """A new one is named here, and no file is left of one that is gone."""
    assert {tool for tool, _ in CALLED.values()} == {one["name"] for one in asked["tools"].answer}
    assert kept(TOPIC) == {"tools", *CALLED}
