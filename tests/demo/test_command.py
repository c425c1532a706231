"""``turnspan demo`` and the example scripts, as people run them: in a process of their own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kept_stores import migrated
from support.shared import trajectories
from support.terminal import Typing
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.commands.console import DEFAULT_PORT
from turnspan_demo.server import ModelServer
from turnspan_demo.written import shipped
from turnspan_records.access import open_dsn

pytestmark = pytest.mark.with_schema

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMANDS = Path(sys.executable).parent


def run(
    *command: str | Path, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command without any telemetry settings but these."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    ended = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, **environment},
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A server with the shipped runs."""
    with ModelServer(shipped()) as server:
        yield server


def test_demo_of_the_shipped_runs(embedded_dsn: Dsn) -> None:
    """It ends well, with equal counts, the diagnostics, a replay and what to do next."""
    ended = run(COMMANDS / "turnspan", "demo", "--store", str(embedded_dsn))

    text = ended.stdout
    assert re.search(r"Played \d\d recorded runs as \d\d sessions through openai 3\.", text)
    assert "Every session's counts are equal." in text
    for reason in ("completed", "round_cap", "tool_failure", "loop_detected", "user_aborted"):
        assert reason in text
    assert "run_query" in text
    assert "Which five countries brought the most revenue last quarter?" in text
    assert f"The records are in {embedded_dsn}" in text
    assert f"export TURNSPAN_STORE={embedded_dsn}" in text
    assert "\x1b[" not in text
    assert ended.stderr == ""


def test_demo_on_a_terminal_says_what_it_does_and_opens_the_page(embedded_dsn: Dsn) -> None:
    """From the first second on; and where the page's port is taken, the page takes another."""
    arguments = ("demo", "--limit", "1", "--provider", "openai", "--open")
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another process may have it
            stack.enter_context(socket.create_server(("127.0.0.1", DEFAULT_PORT)))
        screen = stack.enter_context(
            Typing(*arguments, "--store", str(embedded_dsn), BROWSER="true")
        )
        shown = screen.wait("Ctrl+C ends it", line=True)
    places = [
        shown.index(words)
        for words in (
            "Reading the recorded runs ...",
            "sessions",
            "0/",
            "Loading ClickHouse's engine ...",
            "Every session's counts are equal.",
            f"showing {embedded_dsn} at http://127.0.0.1:",
        )
    ]
    assert places == sorted(places)
    assert f"127.0.0.1:{DEFAULT_PORT}/" not in shown


@pytest.mark.release
def test_demo_over_the_store_of_another_version(tmp_path: Path) -> None:
    """Its own store, made of other tables, is set aside whole, and a new one made."""
    store = tmp_path / "turnspan" / "demo"
    with migrated(Dsn(scheme="chdb", path=store)) as opened:
        opened.command("ALTER TABLE schema_migration UPDATE checksum = 'x' WHERE version = 1")

    ended = run(COMMANDS / "turnspan", "demo", "--limit", "1", XDG_DATA_HOME=str(tmp_path))

    assert "Every session's counts are equal." in ended.stdout
    assert "the last demo's store is of another version" in ended.stderr
    assert len(list(store.parent.glob("demo-*"))) == 1


@pytest.mark.release
def test_demo_on_a_server(server_dsn: Dsn) -> None:
    """The same on a ClickHouse server; its password is neither printed nor lost."""
    ended = run(
        COMMANDS / "turnspan",
        "demo",
        "--limit",
        "2",
        TURNSPAN_STORE=str(server_dsn),
        TURNSPAN_STORE_PASSWORD=server_dsn.password,
        TURNSPAN_SPOOL=str(server_dsn.spool),
    )

    assert "Played 2 recorded runs as 3 sessions" in ended.stdout
    assert "Every session's counts are equal." in ended.stdout
    assert f"The records are in {server_dsn}" in ended.stdout
    assert ended.stderr == ""


@pytest.mark.release
def test_demo_of_the_training_camp(embedded_dsn: Dsn) -> None:
    """Tree, answers side by side, and what was learned; all of it computed from what landed."""
    ended = run(COMMANDS / "turnspan", "demo", "--camp", "--store", str(embedded_dsn))

    for words in (
        "Experiment training-camp-",
        "B  structured  locked",
        "BadRequestError",
        "beside its last",
        "Versions  versions",
        "Naming what is missing in the prompt is enough (prompt)  5 of 5 times",
        "Pairs of a better and a worse answer to one prompt: 1 by correction, 3 by score",
        "chosen (coach)",
        "4 lines  of 28 turns, 30 samples",
        "its first line",
        f"The records are in {embedded_dsn}",
        "turnspan compare ",
    ):
        assert words in ended.stdout
    assert ended.stderr == ""
    assert embedded_dsn.path is not None
    (made,) = (embedded_dsn.path.parent / "sets").iterdir()
    assert sorted(one.name for one in made.iterdir()) == ["preference", "sft"]


@pytest.mark.release
def test_demo_with_an_otlp_endpoint_that_is_away(embedded_dsn: Dsn) -> None:
    """Where the endpoint does not answer it says so, and the records land anyway."""
    ended = run(
        COMMANDS / "turnspan",
        *("demo", "--limit", "1", "--provider", "openai", "--store", str(embedded_dsn)),
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )

    assert "Every session's counts are equal." in ended.stdout
    assert "The spans could not be sent to http://127.0.0.1:9." in ended.stdout


@pytest.mark.release
def test_demo_of_every_kind_of_trajectory_file(embedded_dsn: Dsn) -> None:
    """Runs of every file land with the counts of their files, with both SDKs."""
    files = trajectories()
    options = ["--limit", "2", "--provider", "both", "--store", str(embedded_dsn)]

    ended = run(COMMANDS / "turnspan", "demo", *options, "--trajectories", *files)

    count = 2 * len(files)
    assert f"Played {count} recorded runs as {2 * count} sessions" in ended.stdout
    assert "Every session's counts are equal." in ended.stdout


def test_demo_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    """A file that is none of the layouts is one sentence and exit code 2."""
    path = tmp_path / "notes.jsonl"
    path.write_text('{"note": 1}\n', encoding="utf-8")

    ended = run(COMMANDS / "turnspan", "demo", "--trajectories", path, code=2)

    assert ended.stdout == ""
    assert ended.stderr.startswith(f"turnspan: {path}, line 1 has no layout that is known")
    assert ended.stderr.count("\n") == 1


def test_demo_says_that_the_server_is_away() -> None:
    """It does not play anything for a store that does not answer: exit code 3."""
    store = "http://127.0.0.1:9/turnspan"

    ended = run(COMMANDS / "turnspan", "demo", "--store", store, code=3)

    assert "The ClickHouse server at 127.0.0.1:9 does not answer" in ended.stderr


@pytest.mark.parametrize(
    ("script", "session"),
    [
        pytest.param("openai_agent.py", "weather-1", marks=pytest.mark.release),
        ("anthropic_agent.py", "weather-2"),
    ],
)
def test_example_script(
    model_server: ModelServer, embedded_dsn: Dsn, script: str, session: str
) -> None:
    """A decorated agent of forty lines: two turns, three model calls, two tools."""
    ended = run(
        sys.executable,
        EXAMPLES / script,
        TURNSPAN_STORE=str(embedded_dsn),
        OPENAI_BASE_URL=model_server.openai_url,
        OPENAI_API_KEY="any",
        ANTHROPIC_BASE_URL=model_server.anthropic_url,
        ANTHROPIC_API_KEY="any",
    )
    answer = (
        "It is warmer in Lisbon: sunny and 19 degrees, while Oslo has light snow at -2 degrees."
    )
    assert answer in ended.stdout
    assert "FlushResult(ok=True" in ended.stdout
    with open_dsn(embedded_dsn) as store:
        turns = store.query(
            "SELECT session_id, user_message, response_text, stop_reason, rounds, tool_call_count"
            " FROM turn_summary ORDER BY start_time"
        ).rows
        tools = store.query(
            "SELECT name, arguments, result, call_id != '' FROM tool_call ORDER BY start_time"
        ).rows
    question = "Is it warmer in Oslo or in Lisbon?"
    assert [tuple(row) for row in turns] == [
        (session, question, answer, "completed", 2, 2),
        (session, "Thanks!", "You are welcome!", "completed", 1, 0),
    ]
    assert [tuple(row) for row in tools] == [
        ("get_weather", '{"city":"Oslo"}', "light snow, -2 degrees", True),
        ("get_weather", '{"city":"Lisbon"}', "sunny, 19 degrees", True),
    ]


def test_example_without_a_change_to_its_code(model_server: ModelServer, embedded_dsn: Dsn) -> None:
    """``opentelemetry-instrument`` records an agent that does not know of Turnspan."""
    ended = run(
        COMMANDS / "opentelemetry-instrument",
        sys.executable,
        EXAMPLES / "no_code_agent.py",
        OTEL_TRACES_EXPORTER="turnspan",
        OTEL_METRICS_EXPORTER="none",
        OTEL_LOGS_EXPORTER="none",
        OTEL_SERVICE_NAME="weather",
        TURNSPAN_STORE=str(embedded_dsn),
        OPENAI_BASE_URL=model_server.openai_url,
        OPENAI_API_KEY="any",
    )
    assert "It is warmer in Lisbon" in ended.stdout
    with open_dsn(embedded_dsn) as store:
        calls = store.query(
            "SELECT service, request_model, finish_reasons FROM llm_call ORDER BY start_time"
        ).rows
    assert [tuple(row) for row in calls] == [
        ("weather", "gpt-4o", ["tool_calls"]),
        ("weather", "gpt-4o", ["stop"]),
    ]


def test_the_model_server_runs_on_its_own() -> None:
    """``python -m turnspan_demo.server`` says what to set, and refuses a file it cannot read."""
    ended = run(sys.executable, "-m", "turnspan_demo.server", "none.jsonl", code=2)
    assert "none.jsonl cannot be read" in ended.stderr

    with subprocess.Popen(
        [sys.executable, "-m", "turnspan_demo.server", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.terminate()
    assert lines[0].startswith("Replaying 13 recorded runs")
    assert re.match(r"export OPENAI_BASE_URL=http://127\.0\.0\.1:\d+/v1 OPENAI_API_KEY=", lines[2])
    assert re.match(r"export ANTHROPIC_BASE_URL=http://127\.0\.0\.1:\d+ ANTHROPIC_API", lines[3])


@pytest.mark.release
def test_demo_of_the_wiki_agent(embedded_dsn: Dsn) -> None:
    """One context in full, the diagnostics over all of them, an editor's correction as a pair,
    a set, and what to do next."""
    ended = run(COMMANDS / "turnspan", "demo", "--wiki", "--store", str(embedded_dsn))

    text = ended.stdout
    assert "Answered 8 requests, for which 8 contexts were assembled" in text
    assert "tokens used of 700" in text and "[INSTRUCTIONS]" in text
    for name in ("context_budget", "context_dropped", "context_bypassed", "context_outcomes"):
        assert name in text
    assert "obviously a query" in text and "too few turns" in text
    assert "Pairs of a better and a worse answer to one prompt: 1 by correction" in text
    assert "chosen (editor)" in text and "3 lines  of 3 turns, 3 samples" in text
    assert f"export TURNSPAN_STORE={embedded_dsn}" in text
    with open_dsn(embedded_dsn) as store:
        counts = store.query(
            "SELECT count(), countIf(bypassed), countIf(used > budget) FROM context_assembly"
        ).rows
        used = store.query(
            "SELECT count() FROM llm_call WHERE context_assembled IN"
            " (SELECT context_hash FROM context_assembly WHERE NOT bypassed)"
        ).rows
    assert (tuple(counts[0]), tuple(used[0])) == ((8, 2, 1), (6,))
    shown = run(COMMANDS / "turnspan", "context", "--store", str(embedded_dsn), *next_id(text))
    assert "[INSTRUCTIONS]" in shown.stdout


def next_id(text: str) -> list[str]:
    """The id in the command that the demonstration ends with."""
    return re.findall(r"turnspan context ([0-9a-f]{16})", text)[:1]


@pytest.mark.release
def test_demo_that_opens_the_page_at_its_end(embedded_dsn: Dsn, tmp_path: Path) -> None:
    """It shows the records that were just made; Ctrl+C ends it in order."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o700)
    environment = {**os.environ, "BROWSER": str(browser), "TURNSPAN_STORE": str(embedded_dsn)}
    command = [sys.executable, "-m", "turnspan_console", "demo", "--limit", "1", "--open"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as playing:
        until = time.monotonic() + 120
        while not opened.exists():
            assert playing.poll() is None and time.monotonic() < until
            time.sleep(0.1)
        address = opened.read_text().strip()
        with urllib.request.urlopen(address.partition("#")[0], timeout=30) as page:
            assert b"<html" in page.read()
        playing.send_signal(signal.SIGINT)
        assert playing.wait(30) == 0
