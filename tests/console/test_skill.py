"""skills/turnspan, taken literally: its steps on five applications, its commands on the demo."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from support.representatives import few
from support.shared import REPOSITORY
from turnspan.testing import ModelRequest, ModelServer, Reply, ToolRequest

SKILL = (REPOSITORY / "skills" / "turnspan" / "SKILL.md").read_text(encoding="utf-8")
PROMPT = (REPOSITORY / "skills" / "README.md").read_text(encoding="utf-8")
APPLICATIONS = REPOSITORY / "tests" / "data" / "applications"
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", SKILL, re.MULTILINE | re.DOTALL))
TASKS = {title: re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for title, text in SECTIONS.items()}


@dataclass(frozen=True)
class Application:
    """A program, and which of its functions are what the skill speaks of."""

    start: str
    run: tuple[str, ...]
    agent: tuple[str, str] | None
    tools: tuple[tuple[str, str], ...] = ()
    turns: int = 1
    calls: int = 2


FIVE = {
    "openai": Application("openai_loop.py", ("openai_loop.py",),
                          ("openai_loop.py", "answer"), (("openai_loop.py", "weather"),)),
    "anthropic": Application("anthropic_loop.py", ("anthropic_loop.py",),
                             ("anthropic_loop.py", "answer"), (("anthropic_loop.py", "weather"),)),
    "plain http": Application("plain_http.py", ("plain_http.py",), None, calls=1),
    "asynchronous": Application("async_stream.py", ("async_stream.py",),
                                ("async_stream.py", "answer"), turns=2),
    "package": Application("desk/__main__.py", ("-m", "desk"), ("desk/agent.py", "handle"),
                           (("desk/tools.py", "weather"),)),
}  # fmt: skip


def said(request: ModelRequest) -> Reply:
    """Asks for the tool once, and answers with what it brought."""
    if "rain in" in json.dumps(request.messages):
        return Reply("Take an umbrella.")
    return Reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(said) as server:
        yield server


def behind_the_imports(path: Path, lines: str) -> None:
    """Put lines behind the last import that stands at the left."""
    text = path.read_text(encoding="utf-8")
    imports = list(re.finditer(r"^(?:import|from) .+\n", text, re.MULTILINE))
    place = imports[-1].end() if imports else 0
    path.write_text(f"{text[:place]}\n{lines}\n{text[place:]}", encoding="utf-8")


def above(path: Path, function: str, decorator: str) -> None:
    """Put a decorator right above a function, below those that it has."""
    text = path.read_text(encoding="utf-8")
    put = rf"\1{decorator}\n\1\2"
    text, number = re.subn(rf"^( *)((?:async )?def {function}\()", put, text, flags=re.MULTILINE)
    assert number == 1
    path.write_text(text, encoding="utf-8")
    if not re.search(r"^import turnspan$", text, re.MULTILINE):
        behind_the_imports(path, "import turnspan\n")


def environment(folder: Path, server: ModelServer | None = None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TURNSPAN_", "OTEL_"))}
    found = {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "TURNSPAN_STORE": f"chdb://{folder}/store",
        "TURNSPAN_SPOOL": f"{folder}/spool",
    }
    if server is not None:
        found |= {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}
        found |= {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    return found


def ran(words: tuple[str, ...], folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", few(FIVE, ()))
def test_an_application_is_instrumented_by_what_it_says(
    name: str, tmp_path: Path, model: ModelServer
) -> None:
    """It prints what it did before, and each input is one turn with its calls and tools."""
    application = FIVE[name]
    shutil.copytree(APPLICATIONS, tmp_path, dirs_exist_ok=True)
    environ = environment(tmp_path, model)
    program = (sys.executable, *application.run)
    before = ran(program, tmp_path, environ)
    assert not (tmp_path / "spool").exists()

    (lines,) = re.findall(r"```python\n(.*?)```", SECTIONS["Instrument this project"], re.DOTALL)
    behind_the_imports(tmp_path / application.start, lines)
    if application.agent:
        above(tmp_path / application.agent[0], application.agent[1], "@turnspan.agent")
    for file, function in application.tools:
        above(tmp_path / file, function, "@turnspan.tool")

    assert ran(program, tmp_path, environ) == before
    (check,) = TASKS["Instrument this project"]
    ran(("bash", "-euo", "pipefail", "-c", check), tmp_path, environ)
    counts = (
        "SELECT count(), any(agent_name), sum(rounds), sum(tool_call_count), any(stop_reason)"
        " FROM turn_summary"
    )
    table = ran(("turnspan", "sql", "--format", "csv", counts), tmp_path, environ)
    (row,) = list(csv.reader(table.splitlines()))[1:]
    agent = application.agent[1] if application.agent else ""
    expected = [application.turns, agent, application.calls, len(application.tools), "completed"]
    assert row == [str(each) for each in expected]


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demonstrated")
    ran(("turnspan", "demo"), folder, environment(folder))
    return folder


@pytest.mark.release  # a minute: the commands themselves are tested elsewhere
def test_every_command_of_it_runs_on_the_demo(demonstrated: Path) -> None:
    """Each block as it stands, in one shell a task."""
    shown = {
        title: [
            ran(("bash", "-euo", "pipefail", "-c", block), demonstrated, environment(demonstrated))
            for block in blocks
        ]
        for title, blocks in TASKS.items()
    }
    assert len(shown) == 5 and all(shown.values())
    assert "tool_failure" in shown["Why did this turn stop"][0]
    assert "the same" in shown["What changed"][0]
    assert "agent_version" in shown["What changed"][1]
    assert "train" in shown["Make a training set"][0]
    assert "Application" in shown["Records do not arrive"][0]


def test_its_head_is_one_that_coding_agents_read() -> None:
    """Front matter with the folder's name and a description; every command it names is there."""
    head = yaml.safe_load(SKILL.split("---\n")[1])
    assert head["name"] == "turnspan"
    assert 0 < len(head["description"]) <= 1_024
    assert len(SKILL.splitlines()) < 500


def test_the_prompt_says_what_the_skill_says() -> None:
    """The one to paste has the same steps, word for word."""
    steps = SECTIONS["Instrument this project"].partition("7. ")[0].strip()
    (prompt,) = re.findall(r"````text\n(.*?)````", PROMPT, re.DOTALL)
    assert steps in prompt
