"""``turnspan rerun``: a program that was recorded runs again, here and where there is no store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.kept_stores import copy_schema
from turnspan.testing import ModelServer, ToolRequest
from turnspan_console.cli import turnspan as command_line

pytestmark = pytest.mark.slow

AGENT = """
import datetime, json, os, uuid
import openai, turnspan
turnspan.configure(service_name="weather")
turnspan.instrument()

@turnspan.tool
def weather(city):
    with open("ran.txt", "a") as file:
        file.write(city)
    return {"sky": "rain", "city": city}

@turnspan.agent
def answer(question):
    client = openai.OpenAI(base_url=os.environ["MODEL"], api_key="k")
    rules = f"Today is {datetime.datetime.now()}, run {uuid.uuid4()}." + os.environ.get("MORE", "")
    said = [{"role": "system", "content": rules}, {"role": "user", "content": question}]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    while True:
        reply = client.chat.completions.create(model="gpt-4o", messages=said, tools=tools)
        message = reply.choices[0].message
        said.append(message.to_dict())
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = json.dumps(weather(**json.loads(call.function.arguments)))
            said.append({"role": "tool", "tool_call_id": call.id, "content": result})

with turnspan.session("thread-1"):
    print(answer("Oslo?"))
"""


class Desk:
    """A folder with an agent that was recorded once, and two stores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "agent.py").write_text(AGENT)
        for name in ("store", "elsewhere"):
            copy_schema(folder / name)
        self.agent = [sys.executable, "agent.py"]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TURNSPAN_", "OTEL_"))},
            "TURNSPAN_STORE": f"chdb://{folder}/store",
            "XDG_DATA_HOME": str(folder / "data"),
            "MODEL": "https://api.openai.com/v1",
        }
        with ModelServer() as server:
            server.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
            server.reply("It rains.")
            first = self.run(*self.agent, MODEL=f"{server.url}/v1")
        assert first.stdout == "It rains.\n", first.stderr

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program there."""
        env = {**self.environment, **more}
        return subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=self.folder, env=env,
            timeout=240,
        )  # fmt: skip

    def turnspan(self, *words: str, **more: str) -> Result:
        """Run the command in this process."""
        return CliRunner().invoke(command_line, words, env={**self.environment, **more})

    def rerun(self, *words: str, **more: str) -> tuple[int, dict[str, Any]]:
        """Have the agent run again; the exit code, and what the command says of it."""
        command = (sys.executable, "-m", "turnspan_console", "rerun")
        done = self.run(*command, *words, "--format", "json", "--", *self.agent, **more)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)[0]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One for all of these tests."""
    return Desk(tmp_path_factory.mktemp("rerun"))


def test_a_program_runs_again(desk: Desk) -> None:
    """Without the network and without its tools."""
    code, done = desk.rerun("thread-1")
    report = done["report"]
    assert (code, report["answered"], report["divergences"]) == (0, 2, []), report
    assert report["tools_answered"] == {"weather": 1}
    assert done["sessions"] == [f"thread-1~{report['rerun_id']}"]
    assert (desk.folder / "ran.txt").read_text() == "Oslo"


@pytest.mark.release
def test_a_change_is_named(desk: Desk) -> None:
    """The command then ends with 3."""
    code, done = desk.rerun("thread-1", MORE=" Be brief.")
    assert (code, done["report"]["divergences"][0]["where"]) == (3, "the system prompt, line 1")


def test_out_of_a_file_it_does_the_same_elsewhere(desk: Desk) -> None:
    """A fork is an attempt that can be compared."""
    file = str(desk.folder / "thread.jsonl.zst")
    exported = desk.turnspan("export", "session", "thread-1", "--to", file)
    assert "2 calls, 1 tool" in exported.stdout, exported.stderr
    other = {"TURNSPAN_STORE": f"chdb://{desk.folder}/elsewhere"}
    with ModelServer("It shines.") as server:
        fork = ("--fork", "2", "--model", "gpt-5", "--base-url", server.url)
        code, done = desk.rerun("thread.jsonl.zst", *fork, **other)
        assert [one.model for one in server.requests] == ["gpt-5"]
    assert (code, done["report"]["answered"], done["report"]["live"]) == (0, 1, 1)
    found = desk.turnspan("show", done["attempt_id"], "--format", "json", **other)
    assert "succeeded" in found.stdout, found.stderr


def test_what_cannot_be_asked_is_a_usage_error(desk: Desk) -> None:
    """A rerun without a program, a fork at no call, a set without what it needs."""
    for words in (
        ("rerun", "thread-1"),
        ("rerun", "thread-1", "--model", "m", "--", "x"),
        ("rerun", "thread-1", "--fork", "9", "--", "x"),
        ("export", "session", "--to", "f"),
        ("export", "sft", "thread-1", "--to", "f"),
    ):
        assert desk.turnspan(*words).exit_code == 2, words
