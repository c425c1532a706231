"""The fixtures that pytest finds when Turnspan is installed, and what it costs those without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from turnspan.testing import ModelServer, Recorded

PASSING = """
import sys

def test_it_is_light():
    assert not {"turnspan", "opentelemetry", "openai"} & set(sys.modules)

def test_an_agent(turnspan_recorded, turnspan_model):
    import openai
    turnspan_model.reply("Hello.")
    client = openai.OpenAI(base_url=turnspan_model.url, api_key="any")
    client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])
    assert turnspan_recorded.turn().text == "Hello."

def test_anew(turnspan_recorded):
    assert turnspan_recorded.calls() == []
"""
FAILING = """
import turnspan

def test_an_agent(turnspan_recorded):
    with turnspan.tool("look") as tool:
        tool.result = "rain"
    assert turnspan_recorded.turns()
"""


def run(folder: Path, text: str) -> tuple[int, str]:
    """Pytest in a folder of its own, with nothing said of plugins."""
    (folder / "test_agent.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "."]
    command += ["-p", "no:randomly"]  # the first of the tests looks at what nobody has asked for
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_they_are_found_and_load_nothing_until_asked(tmp_path: Path) -> None:
    """Neither Turnspan nor OpenTelemetry; each test has records of its own."""
    code, said = run(tmp_path, PASSING)
    assert code == 0, said
    assert "3 passed" in said


def test_an_answer_that_nobody_asked_for_fails_the_test(tmp_path: Path) -> None:
    code, said = run(tmp_path, "def test_it(turnspan_model): turnspan_model.reply('Hello.')\n")
    assert code == 1
    assert "1 queued answers of turnspan_model were never asked for" in said


def test_a_failing_test_shows_the_conversation(tmp_path: Path) -> None:
    """In its report, after what else was captured."""
    code, said = run(tmp_path, FAILING)
    assert code == 1
    assert "Captured turnspan teardown" in said
    assert 'tool look() -> "rain"' in said


def test_they_are_there_in_our_own_tests(
    turnspan_recorded: Recorded, turnspan_model: ModelServer
) -> None:
    """As in anybody's."""
    assert turnspan_recorded.turns() == []
    assert turnspan_model.requests == []
