"""A session's transcript and its telemetry are one record of each thing, in either order."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from receive.otlp import SECOND, T0, Said, logs
from receive.serving import PROTOBUF, Served, serving
from support.claude_sessions import ClaudeSession
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.receive.settings import FOLLOWING, NEWS, follows_transcripts
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_records.access import open_dsn
from turnspan_records.screens.outline import outline

pytestmark = pytest.mark.with_schema

BEGAN = datetime.fromtimestamp(T0 / SECOND, timezone.utc)
CLAUDE, CODEX, GEMINI = (f"0c00000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))
CALLS = (
    "SELECT session_id, round(duration, 3), time_to_first_chunk, tries, cost_usd, price_version,"
    " response_text, input_tokens FROM llm_call ORDER BY session_id, start_time"
)
TOOLS = (
    "SELECT session_id, name, round(duration, 3), attributes['turnspan.coding.decision'],"
    " attributes['turnspan.coding.decision.source'] FROM tool_call ORDER BY 1"
)
TURNS = (
    "SELECT session_id, agent_name, user_message, llm_call_count, tool_call_count, cost_usd,"
    " project FROM turn_summary ORDER BY session_id"
)


def ask(dsn: Dsn, sql: str) -> list[tuple[Any, ...]]:
    with open_dsn(dsn) as store:
        return [tuple(row) for row in store.query(sql).rows]


def at(second: float) -> str:
    return (BEGAN + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def write_transcripts(folder: Path) -> None:
    """Each: a prompt, a call that asks for a tool, its result, and an answer."""
    claude = ClaudeSession(folder / "claude" / f"{CLAUDE}.jsonl", began=BEGAN)
    claude.ask("Fix it")
    claude.use("req_1", "toolu_1", "Bash", command="ls")
    claude.result("toolu_1", "a.py")
    claude.answer("req_2", "Done")

    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 10}
    lines: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": CODEX, "timestamp": at(0), "cwd": "/work/shop", "source": "cli"}),
        ("turn_context", {"cwd": "/work/shop", "model": "gpt-5.1"}),
        ("event_msg", {"type": "user_message", "message": "Fix it"}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}"}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": usage}}),
        ("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "a.py"}),
        ("response_item", {"type": "message", "role": "assistant"}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": usage}}),
    ]
    lines[3][1]["call_id"] = "call_1"
    lines[6][1]["content"] = [{"type": "output_text", "text": "Done"}]
    for number, (_, payload) in enumerate(lines):
        if payload.get("type") == "token_count":
            payload["info"]["total_token_usage"] = {**usage, "input_tokens": 100 * number}
    (folder / "codex").mkdir()
    path = folder / "codex" / f"rollout-2026-11-20T10-00-00-{CODEX}.jsonl"
    path.write_text(
        "".join(
            json.dumps({"timestamp": at(second), "type": kind, "payload": payload}) + "\n"
            for second, (kind, payload) in enumerate(lines)
        )
    )

    tokens = {"input": 50, "output": 7, "cached": 0, "thoughts": 3, "tool": 0, "total": 60}
    tool: dict[str, Any] = {"id": "g-1", "name": "list_directory", "args": {}, "status": "success"}
    tool |= {"timestamp": at(3), "result": [{"functionResponse": {"response": {"output": "a"}}}]}
    call: dict[str, Any] = {"type": "gemini", "model": "gemini-3-pro", "tokens": tokens}
    document: dict[str, Any] = {
        "sessionId": GEMINI,
        "projectHash": "5" * 64,
        "startTime": at(0),
        "lastUpdated": at(9),
        "messages": [
            {"id": "1", "timestamp": at(0), "type": "user", "content": "Fix it"},
            {"id": "2", "timestamp": at(2), "content": "", "toolCalls": [tool], **call},
            {"id": "3", "timestamp": at(6), "content": "Done", **call},
        ],
    }
    (folder / "gemini" / "chats").mkdir(parents=True)
    path = folder / "gemini" / "chats" / f"session-2026-11-20T10-00-{GEMINI[:8]}.json"
    path.write_text(json.dumps(document))


def said(name: str, at: float, session: str, **attributes: Any) -> Said:
    """An event; only Codex names it in an attribute alone."""
    key = "conversation.id" if session == CODEX else "session.id"
    whole = {key: session, "event.name": name, **attributes}
    return Said("event src/lib.rs:1" if session == CODEX else "", "", whole, at=at)


def telemetry() -> list[Said]:
    def claude(name: str, at: float, **attributes: Any) -> Said:
        return Said("", "", {"session.id": CLAUDE, **attributes}, body=f"claude_code.{name}", at=at)

    done = {"event.kind": "response.completed", "input_token_count": "100", "ttft_ms": 250}
    done |= {"output_token_count": "10", "cached_token_count": 40, "model": "gpt-5.1"}
    counts: dict[str, Any] = {
        "input_token_count": 50,
        "output_token_count": 7,
        "thoughts_token_count": 3,
    }
    counts |= {"model": "gemini-3-pro", "prompt_id": f"{GEMINI}########0"}
    approved = {"decision": "approved_for_session", "source": "User"}
    listed = {"function_name": "list_directory", "duration_ms": 40, "decision": "auto_accept"}
    priced = {"query_source": "sdk", "cost_usd": "0.5", "attempt": 2, "ttft_ms": 450}
    return [
        claude("api_request", 2, request_id="req_1", duration_ms=900, **priced),
        claude("api_error", 3, duration_ms=5, status_code=529, error="busy"),
        claude("tool_decision", 3.5, tool_use_id="toolu_1", decision="accept", source="config"),
        claude("tool_result", 4, tool_use_id="toolu_1", tool_name="Bash", duration_ms=150),
        claude("api_request", 5, request_id="req_2", duration_ms="800", **priced),
        said("codex.user_prompt", 2, CODEX, prompt="[REDACTED]"),
        said("codex.api_request", 2.5, CODEX, duration_ms="500", attempt=1),
        said("codex.sse_event", 3, CODEX, **{"event.kind": "response.created"}),
        said("codex.sse_event", 4, CODEX, **done),
        said("codex.tool_decision", 4.5, CODEX, call_id="call_1", **approved),
        said("codex.tool_result", 5, CODEX, tool_name="shell", call_id="call_1", duration_ms="70"),
        said("codex.api_request", 6.5, CODEX, duration_ms="250", attempt=0),
        said("codex.sse_event", 7, CODEX, **done),
        said("gemini_cli.user_prompt", 0, GEMINI, prompt="Fix it", prompt_id=f"{GEMINI}########0"),
        said("gemini_cli.api_response", 2, GEMINI, duration_ms=1500, **counts),
        said("gemini_cli.tool_call", 3, GEMINI, **listed),
        said("gemini_cli.api_response", 6, GEMINI, duration_ms=2500, **counts),
    ]


def send(served: Served, records: list[Said]) -> None:
    made = logs("coding", records, service="agents")
    assert served.post(made.SerializeToString(), PROTOBUF, "/v1/logs").status == 200


def import_transcripts(dsn: Dsn, folder: Path, *words: str) -> None:
    words = ("--store", str(dsn), "import", "coding", str(folder), *words)
    run = CliRunner().invoke(turnspan, words)
    assert run.exit_code == 0, run.output


@pytest.mark.parametrize(
    "first", ["transcripts", pytest.param("telemetry", marks=pytest.mark.release)]
)
def test_each_thing_is_one_record(server_dsn: Dsn, tmp_path: Path, first: str) -> None:
    """Content and tokens are the transcript's; durations, time to the first token, tries and the
    stated cost the telemetry's. Both may come again."""
    folder = tmp_path / "transcripts"
    folder.mkdir()
    write_transcripts(folder)
    private_folder(server_dsn.spool / FOLLOWING)  # as a follower or a hook leaves it
    for order in (first, "telemetry", "transcripts"):
        if order == "telemetry":
            with serving(server_dsn) as served:
                send(served, telemetry())
            assert (server_dsn.spool / FOLLOWING / NEWS / "received").exists(), "no follower wakes"
        else:
            import_transcripts(server_dsn, folder, "--again")
    stated = (Decimal("0.5"), "provider")
    calls = ask(server_dsn, CALLS)
    assert [call[:6] for call in calls[:2]] == [
        (CLAUDE, 0.9, 0.45, 2, *stated),
        (CLAUDE, 0.8, 0.45, 2, *stated),
    ]
    assert [call[:4] for call in calls[2:]] == [
        (CODEX, 2.0, 0.25, 2),
        (CODEX, 0.75, 0.25, 1),
        (GEMINI, 1.5, None, 1),
        (GEMINI, 2.5, None, 1),
    ]
    assert [call[6] for call in calls] == ["", "Done"] * 3
    assert [call[7] for call in calls] == [103] * 2 + [100] * 2 + [50] * 2
    tools = ask(server_dsn, TOOLS)
    assert [tool[1:] for tool in tools] == [
        ("Bash", 0.15, "accept", "config"),
        ("shell", 0.07, "accept", "user"),
        ("list_directory", 0.04, "accept", "auto"),
    ]
    with open_dsn(server_dsn) as store:
        [seen] = outline(store, "shop", CLAUDE).tools
    assert (seen.decision, seen.decided_by) == ("accept", "config")
    turns = ask(server_dsn, TURNS)
    assert [turn[1:5] for turn in turns] == [
        (kind, "Fix it", 2, 1) for kind in ("claude-code", "codex", "gemini-cli")
    ]
    assert turns[0][5] == Decimal("1") and {turn[6] for turn in turns} != {"story"}
    rest = "SELECT count() FROM turn_summary WHERE scope_name NOT LIKE 'turnspan.import.%'"
    assert ask(server_dsn, rest) == [(0,)]
    import_transcripts(server_dsn, folder)
    assert ask(server_dsn, CALLS) == calls and ask(server_dsn, TURNS) == turns


def test_without_transcripts_telemetry_makes_the_records(server_dsn: Dsn) -> None:
    """Codex's and Gemini CLI's events are calls, tools and turns, sent twice the same ones."""
    records = [one for one in telemetry() if one.body is None]
    assert not follows_transcripts(server_dsn.spool)
    with serving(server_dsn) as served:
        send(served, records)
        send(served, records)
        failed = said("codex.api_request", 9, CODEX, **{"http.response.status_code": 500})
        send(served, [failed])
    rows = ask(
        server_dsn,
        "SELECT session_id, provider, request_model, input_tokens, output_tokens, reasoning_tokens,"
        " round(duration, 3), tries, error_type FROM llm_call ORDER BY session_id, start_time",
    )
    assert rows == [
        (CODEX, "openai", "gpt-5.1", 100, 10, None, 2.0, 2, ""),
        (CODEX, "openai", "gpt-5.1", 100, 10, None, 0.75, 1, ""),
        (CODEX, "openai", "", None, None, None, 0.0, 1, "500"),
        (GEMINI, "gcp.gemini", "gemini-3-pro", 50, 10, 3, 1.5, 1, ""),
        (GEMINI, "gcp.gemini", "gemini-3-pro", 50, 10, 3, 2.5, 1, ""),
    ]
    tools = ask(server_dsn, TOOLS)
    assert tools == [
        (CODEX, "shell", 0.07, "accept", "user"),
        (GEMINI, "list_directory", 0.04, "accept", "auto"),
    ]
    turns = ask(server_dsn, TURNS)
    assert [turn[1:5] for turn in turns] == [("codex", "", 3, 1), ("gemini-cli", "Fix it", 2, 1)]
