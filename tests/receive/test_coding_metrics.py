"""Metrics of coding agents: what only they say is counted once, and everything else is named."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timezone
from typing import Any

import pytest
from click.testing import CliRunner
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)

from receive.otlp import T0, Count, as_json, metrics
from receive.serving import JSON, PROTOBUF, Answer, Served, serving
from receive.test_order import ask
from support.landing import insert
from support.rows import PROJECT, turn
from turnspan_clickhouse.receive.receiver_stats import MAX_NAMES, read_receiver_stats
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_records.access import open_dsn
from turnspan_records.coding.week import week_report
from turnspan_records.screens.outline import outline

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

PATH = "/v1/metrics"
ACTIVE, LINES = "claude_code.active_time.total", "claude_code.lines_of_code.count"
EDITS, GEMINI = "claude_code.code_edit_tool.decision", "gemini_cli.lines.changed"


def of(session: str, **attributes: Any) -> dict[str, Any]:
    return {"session.id": session, **attributes}


FIRST = (
    Count(ACTIVE, 1.5, of("a", type="cli")),
    Count(ACTIVE, 30.25, of("a", type="user")),
    Count(LINES, 7, of("a", type="added", model="x")),
    Count(LINES, 2, of("a", type="added", model="y")),
    Count(LINES, 1, of("a", type="removed")),
    Count(LINES, 40, of("b", type="added")),  # another session, in the same export
    Count("claude_code.commit.count", 1, of("a")),
    Count("claude_code.pull_request.count", 1, of("a")),
    Count(EDITS, 3, of("a", decision="accept", source="config")),
    Count(EDITS, 1, of("a", decision="reject", source="user_reject")),
    Count(GEMINI, 10, of("g", type="added"), delta=False, service="gemini"),
)
SECOND = (
    Count(LINES, 7, of("a", type="added", model="x"), start=60, at=120),
    Count(GEMINI, 25, of("g", type="added"), at=120, delta=False, service="gemini"),
    Count(GEMINI, 4, of("g", type="added"), start=200, at=260, delta=False, service="gemini"),
)
"""What was added since; what was counted in all, and after the agent's restart."""
LEFT_OUT = (
    Count("claude_code.token.usage", 5, of("a", type="input")),
    Count("codex.tool.call", 5),
    Count("http.server.requests", 5),
    Count("claude_code.commit.count", 1),  # of no session
    Count(LINES, -1.0, of("a", type="added")),
    Count(LINES, float("nan"), of("a", type="added")),
    Count(LINES, 1, of("a", type="moved")),
)


def sent(served: Served, kind: str, *counts: Count) -> Answer:
    """An export, in protobuf or (with gzip) in JSON."""
    made = metrics(counts)
    if kind == "protobuf":
        return served.post(made.SerializeToString(), PROTOBUF, PATH)
    return served.post(gzip.compress(as_json(made)), {**JSON, "content-encoding": "gzip"}, PATH)


def summed(dsn: Dsn) -> dict[tuple[str, str], float]:
    """What the week's report says of each agent."""
    with open_dsn(dsn) as store:
        answer = week_report(store, week(), limit=100)
    [part] = [one for one in answer.parts if one.question.name == "week_counted"]
    return {(row["agent"], row["counted"]): row["amount"] for row in part.result.dicts()}


def week() -> str:
    year, number, _ = datetime.fromtimestamp(T0 / 1e9, timezone.utc).isocalendar()
    return f"{year}-W{number:02}"


@pytest.mark.parametrize("kind", ["protobuf", "json"])
def test_each_count_is_counted_once(embedded_dsn: Dsn, kind: str) -> None:
    """Deltas and cumulative values, sent again, in another order, over a restart of the agent and
    of the receiver, of several sessions; a session's agent and repository are its turns'."""
    with serving(embedded_dsn) as served:
        assert sent(served, kind, *FIRST).status == 200
        assert sent(served, kind, *SECOND, *FIRST).status == 200
    with serving(embedded_dsn) as served:
        answer = sent(served, kind, *FIRST)
        assert answer.body == (b"{}" if kind == "json" else b"")
    with open_dsn(embedded_dsn) as store:
        for session, agent in (("a", "claude-code"), ("b", "claude-code"), ("g", "gemini-cli")):
            told: dict[str, Any] = {"session_id": session, "agent_name": agent, "start_time": T0}
            insert(store, turn(f"t-{session}", **told))
    claude = {
        "user seconds": 30.2,
        "agent seconds": 1.5,
        "lines added": 7 + 2 + 40 + 7,
        "lines removed": 1,
        "commits": 1,
        "pull requests": 1,
        "edits accepted": 3,
        "edits rejected": 1,
    }
    expected = {("claude-code", what): amount for what, amount in claude.items()}
    assert summed(embedded_dsn) == {**expected, ("gemini-cli", "lines added"): 25 + 4}
    with open_dsn(embedded_dsn) as store:
        seen = outline(store, PROJECT, "a").counted
    assert {one.what: one.value for one in seen} == {
        **{name.replace(" ", "_"): value for name, value in claude.items()},
        "user_seconds": 30.25,
        "lines_added": 7 + 2 + 7,
    }
    assert ask(embedded_dsn, "SELECT count() AS calls FROM llm_call") == [{"calls": 0}]


@pytest.mark.parametrize("kind", ["protobuf", "json"])
def test_what_is_left_out_is_named(embedded_dsn: Dsn, kind: str) -> None:
    """In the answer with its reason, in the receiver's figures with its number; a thousand names
    are not kept."""
    many = [Count(f"m{number}" * 99, 1) for number in range(MAX_NAMES + 20)]
    with serving(embedded_dsn) as served:
        answer = sent(served, kind, *LEFT_OUT, FIRST[0])
        assert sent(served, kind, *many).status == 200
        assert served.receiver.counts["spans"] == 1
        assert served.receiver.counts["refused"] == 0, "what is not kept is no failure"
        spool = served.receiver.spool.folder
    if kind == "json":
        told: dict[str, Any] = json.loads(answer.body)["partialSuccess"]
        number, message = int(told["rejectedDataPoints"]), told["errorMessage"]
    else:
        partial = ExportMetricsServiceResponse.FromString(answer.body).partial_success
        number, message = partial.rejected_data_points, partial.error_message
    assert number == len(LEFT_OUT)
    for name, reason in (
        ("claude_code.token.usage", "calls, tools and sessions say it"),
        ("codex.tool.call", "calls, tools and sessions say it"),
        ("http.server.requests", "of metrics only those of coding agents"),
        ("claude_code.commit.count", "it names no session"),
        (LINES, "it is no sum"),
    ):
        assert f"{name}: {reason}" in message
    [stats] = read_receiver_stats(spool)
    assert stats.left_out[LINES] == 3 and stats.left_out["others"] > 20
    assert len(stats.left_out) == MAX_NAMES + 1 and max(map(len, stats.left_out)) <= 100
    shown = CliRunner().invoke(turnspan, ["--store", str(embedded_dsn), "status"])
    assert f"left out: 1 claude_code.commit.count, 3 {LINES}" in shown.output
