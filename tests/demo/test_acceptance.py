"""Real runs through the real SDKs land in ClickHouse exactly as their files say.

Tau-bench airline runs, once with the OpenAI SDK and once, converted, with the Anthropic SDK, are
recorded by one process and landed, before a release: 24 of them, and all 136, in a store of each
kind. Every count and every text is compared, run by run, with what the file says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.clickhouse_server import ClickHouseServer
from support.representatives import few
from support.shared import enough, trajectories
from support.tau_bench import TrueRun, truth
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn
from turnspan_records.messages import exact_messages

(FILE,) = trajectories("tau-bench__gpt-4o-airline")
FEW, ALL = 24, enough(136, 24)
STAMP = "acceptance"
PROVIDERS = ("openai", "anthropic")
Row = dict[str, Any]

pytestmark = [pytest.mark.slow, pytest.mark.release]


@dataclass(slots=True)
class Landed:
    """What a store holds, by session."""

    turns: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    tools: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    messages: dict[str, int] = field(default_factory=dict[str, int])
    requests: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    """The messages of each OpenAI session's last model call, rebuilt."""


def session(number: int, provider: str) -> str:
    """The session that a run is recorded as; runs are counted from 1."""
    return f"{FILE.stem}#{number}-{provider}-{STAMP}"


@pytest.fixture(scope="module", params=few(dict.fromkeys((FEW, ALL)), [FEW]))
def count(request: pytest.FixtureRequest) -> int:
    """How many runs are played."""
    number: int = request.param
    return number


@pytest.fixture(scope="module")
def file(count: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of that name with so many of the runs."""
    made = tmp_path_factory.mktemp("runs") / FILE.name
    lines = FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    made.write_text("".join(lines[:count]), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def runs(file: Path) -> list[TrueRun]:
    """What the file says."""
    return truth(file)


@pytest.fixture(scope="module")
def spool(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spool of a process that played every run with both SDKs, and has ended."""
    folder = tmp_path_factory.mktemp("recorded")
    program = Path(__file__).with_name("record_runs.py")
    providers = ",".join(PROVIDERS)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    ended = subprocess.run(
        [sys.executable, str(program), f"chdb://{folder}", STAMP, providers, str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {"ok": True, "left": 0, "dropped": {}}, ended.stderr
    assert ended.stderr == ""
    return folder / "spool"


@pytest.fixture(scope="module", params=few(["embedded", "server"], ["embedded"]))
def landed(
    request: pytest.FixtureRequest, spool: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Landed]:
    """The records in a store of each kind, shipped there from a copy of the one spool."""
    folder = tmp_path_factory.mktemp(f"landed-{request.param}")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TURNSPAN_SPOOL", raising=False)
        dsn = Dsn(scheme="chdb", path=folder)
        if request.param == "server":
            patch.setenv("TURNSPAN_SPOOL", str(folder / "spool"))
            server: ClickHouseServer = request.getfixturevalue("clickhouse_server")
            dsn = server.dsn(f"acceptance_{uuid.uuid4().hex[:8]}")
        shutil.copytree(spool, dsn.spool)
        shipped = ship(dsn)
        assert shipped.ok, shipped
        with open_dsn(dsn) as store:
            yield _read(store)
            if request.param == "server":
                store.command(f"DROP DATABASE {dsn.database} SYNC")


def _read(store: Store) -> Landed:
    found = Landed()
    for table, rows in (
        ("turn_summary", found.turns),
        ("llm_call", found.calls),
        ("tool_call", found.tools),
    ):
        query = f"SELECT * FROM {table} ORDER BY session_id, start_time, span_id"
        for row in store.query(query).dicts():
            rows[row["session_id"]].append(row)
    counted = store.query("SELECT scope, count() FROM message GROUP BY scope")
    found.messages = {str(scope): int(number) for scope, number in counted.rows}
    for name, calls in found.calls.items():
        if "-openai-" in name:
            found.requests[name] = exact_messages(store, "acceptance", calls[-1]["span_id"])
    return found


def differences(landed: Landed, runs: list[TrueRun], compare: Any) -> list[str]:
    """What differs between the file and the store, session by session; empty is equal."""
    found: list[str] = []
    for provider in PROVIDERS:
        for number, run in enumerate(runs, 1):
            name = session(number, provider)
            wanted, got = compare(landed, name, run, provider)
            if wanted != got:
                found.append(f"{name}: {str(got)[:400]} and not {str(wanted)[:400]}")
    return found


def test_there_are_enough_runs(landed: Landed, runs: list[TrueRun], count: int) -> None:
    """Every run is a session of its own with each SDK, and nothing else is in the store."""
    names = {session(n, p) for n in range(1, len(runs) + 1) for p in PROVIDERS}

    assert len(runs) == count
    assert set(landed.turns) == set(landed.calls) == set(landed.messages) == names
    assert set(landed.tools) <= names


def test_turns(landed: Landed, runs: list[TrueRun]) -> None:
    """Each turn has the user's message, the reply, its rounds and its tool calls, in order."""

    def compare(landed: Landed, name: str, run: TrueRun, _provider: str) -> tuple[Any, Any]:
        wanted = [
            (turn.user, turn.answer, len(turn.replies), len(turn.replies), len(turn.tools))
            for turn in run.turns
        ]
        columns = ("user_message", "response_text", "rounds", "llm_call_count", "tool_call_count")
        return wanted, [tuple(row[c] for c in columns) for row in landed.turns[name]]

    assert differences(landed, runs, compare) == []


def test_stop_reasons(landed: Landed, runs: list[TrueRun]) -> None:
    """Each turn stopped for the reason that follows from the file; all are final."""
    found: list[str] = []

    def compare(landed: Landed, name: str, run: TrueRun, _provider: str) -> tuple[Any, Any]:
        wanted: list[tuple[str, str]] = []
        for turn, row in zip(run.turns, landed.turns[name], strict=True):
            reason = turn.stop_reason
            if row["stop_reason"].startswith("loop_detected:"):
                repeated = max(turn.tools.count(tool) for tool in turn.tools)
                assert repeated >= 3, row["stop_reason"]
                found.append(name)
                reason = row["stop_reason"]
            wanted.append(("final", reason))
        return wanted, [(row["status"], row["stop_reason"]) for row in landed.turns[name]]

    assert differences(landed, runs, compare) == []
    assert len(found) < 20


def test_sessions_users_and_agents(landed: Landed, runs: list[TrueRun]) -> None:
    """Every turn names its user, its agent and no parent; its model calls carry its id."""

    def compare(landed: Landed, name: str, run: TrueRun, _provider: str) -> tuple[Any, Any]:
        turns, calls = landed.turns[name], landed.calls[name]
        wanted = [(run.user_id, "tau-bench", "")] * len(run.turns)
        got = [(row["user_id"], row["agent_name"], row["parent_turn_id"]) for row in turns]
        ids = [row["turn_id"] for row in turns for _ in range(row["rounds"])]
        return (wanted, ids), (got, [row["turn_id"] for row in calls])

    assert differences(landed, runs, compare) == []


def test_model_calls(landed: Landed, runs: list[TrueRun]) -> None:
    """Each model call has its reply's text and the tools it asked for, and its round."""

    def compare(landed: Landed, name: str, run: TrueRun, provider: str) -> tuple[Any, Any]:
        wanted = [
            (number, text, [(tool, json.loads(arguments)) for tool, arguments in asked])
            for turn in run.turns
            for number, (text, asked) in enumerate(zip(turn.replies, turn.asked, strict=True), 1)
        ]
        got = [
            (row["round"], row["response_text"], _asked(row["tool_calls"]))
            for row in landed.calls[name]
        ]
        kinds = {(row["provider"], row["error_type"], row["tries"]) for row in landed.calls[name]}
        return (wanted, {(provider, "", 1)}), (got, kinds)

    assert differences(landed, runs, compare) == []


def _asked(text: str) -> list[tuple[str, Any]]:
    """The (name, arguments) of an llm_call's ``tool_calls``."""
    calls: list[Row] = json.loads(text) if text else []
    return [
        (
            call["name"],
            json.loads(call["arguments"])
            if isinstance(call["arguments"], str)
            else call["arguments"],
        )
        for call in calls
    ]


def test_tool_calls(landed: Landed, runs: list[TrueRun]) -> None:
    """Each executed tool has its name, its arguments, its result and whether it failed."""

    def compare(landed: Landed, name: str, run: TrueRun, _provider: str) -> tuple[Any, Any]:
        wanted = [
            (tool, json.loads(arguments), result.startswith("Error"), result)
            for turn in run.turns
            for tool, arguments, result in turn.tools
        ]
        got = [
            (
                row["name"],
                json.loads(row["arguments"]),
                row["failed"],
                row["error_message"].removeprefix("ToolError: ")
                if row["failed"]
                else row["result"],
            )
            for row in landed.tools[name]
        ]
        return wanted, got

    assert differences(landed, runs, compare) == []


def test_messages_are_landed_once(landed: Landed, runs: list[TrueRun]) -> None:
    """A session holds each distinct message once, however often it was sent again."""

    def compare(landed: Landed, name: str, run: TrueRun, provider: str) -> tuple[Any, Any]:
        openai = provider == "openai"
        return run.openai_messages if openai else run.anthropic_messages, landed.messages[name]

    assert differences(landed, runs, compare) == []


def test_requests_are_rebuilt_exactly(landed: Landed, runs: list[TrueRun]) -> None:
    """The last model call's request has the messages of the file, word for word."""
    wrong: list[str] = []
    for number, run in enumerate(runs, 1):
        name = session(number, "openai")
        rebuilt = [
            {key: value for key, value in message.items() if value not in (None, [])}
            for message in landed.requests[name]
        ]
        if rebuilt != run.sent[:-1]:
            wrong.append(name)

    assert wrong == []


TOTALS = {24: [206, 375, 174], 136: [946, 1726, 814]}
"""Turns, model calls and tool calls of so many runs."""


@pytest.mark.large_data
def test_totals(landed: Landed, runs: list[TrueRun]) -> None:
    """All together, per SDK."""
    for provider in PROVIDERS:
        names = [session(number, provider) for number in range(1, len(runs) + 1)]
        assert [
            sum(len(rows[name]) for name in names)
            for rows in (landed.turns, landed.calls, landed.tools)
        ] == TOTALS[len(runs)]
