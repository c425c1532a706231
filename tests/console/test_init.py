"""``turnspan init`` on small applications, as they are found in the world: what it sees, where its
lines go, that it writes nothing unasked, and that what it wrote records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.story import Invoke
from turnspan.testing import ModelServer
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn

SCRIPT = '''#!/usr/bin/env python
"""Greets."""

from __future__ import annotations

import openai  # the client

client = openai.OpenAI()
asked = [{"role": "user", "content": "Hi"}]
print(client.chat.completions.create(model="m", messages=asked).choices[0].message.content)
'''
FASTAPI = """from fastapi import FastAPI
from anthropic import AsyncAnthropic

app = FastAPI()


@app.post("/ask")
async def ask(question: str) -> str:
    answer = await AsyncAnthropic().messages.create(model="m", max_tokens=9, messages=[])
    return answer.content[0].text
"""
LANGGRAPH = """import os
from langgraph.prebuilt import create_react_agent
from langchain_openai import ChatOpenAI
from agents.tools import search


def main():
    create_react_agent(ChatOpenAI(), [search]).invoke({"messages": []})


if __name__ == "__main__":
    main()
"""
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Try\n", "a model"]},
    {
        "cell_type": "code",
        "execution_count": None,
        "id": "b",
        "metadata": {},
        "outputs": [],
        "source": ["%pip install openai\n", "import openai"],
    },
]
NOTEBOOK = json.dumps(
    {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
)
PYPROJECT = """[project]
name = "desk"
dependencies = ["google-genai>=1", "rich"]

[project.scripts]
desk = "desk.cli:main"
"""
LINES = 'import turnspan\n\nturnspan.configure(service_name="{}")\nturnspan.instrument()\n'


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the command runs."""
    folder = tmp_path / "my app"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def found(invoke: Invoke, *arguments: str) -> dict[str, Any]:
    ended = invoke("init", "--format", "json", *arguments)
    assert ended.exit_code == 0, ended.output
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


@pytest.mark.parametrize(
    ("files", "libraries", "file", "command"),
    [
        pytest.param(
            {"hello.py": SCRIPT, "requirements.txt": "openai>=1  # the SDK\nhttpx\n"},
            {"openai": "recorded by Turnspan (hello.py:6, requirements.txt)"},
            "hello.py",
            "python hello.py",
            id="script",
        ),
        pytest.param(
            {"service/main.py": FASTAPI, "tests/test_main.py": "if __name__ == '__main__': pass"},
            {"anthropic": "recorded by Turnspan (service/main.py:2)"},
            "service/main.py",
            "uvicorn service.main:app",
            id="FastAPI",
        ),
        pytest.param(
            {"run.py": LANGGRAPH, "agents/__init__.py": "", "agents/tools.py": "def search(): 1"},
            {"langchain": "recorded through the SDK or HTTP client"},
            "run.py",
            "python run.py",
            id="LangGraph, with a package that is called as an SDK's module",
        ),
        pytest.param(
            {"try.ipynb": NOTEBOOK},
            {"openai": "recorded by Turnspan (try.ipynb)"},
            "try.ipynb",
            "",
            id="notebook",
        ),
        pytest.param(
            {
                "pyproject.toml": PYPROJECT,
                "src/desk/__init__.py": "",
                "src/desk/cli.py": "from google import genai\n\n\ndef main():\n    genai.x()\n",
                "src/desk/__main__.py": "from desk.cli import main\nmain()\n",
                ".venv/pyvenv.cfg": "",
                ".venv/lib/x.py": "import openai",
            },
            {"google_genai": "(pyproject.toml, src/desk/cli.py:1)"},
            "src/desk/cli.py",
            "desk",
            id="package with a src folder",
        ),
    ],
)
def test_what_it_sees_and_where_the_lines_go(
    project: Path,
    invoke: Invoke,
    files: dict[str, str],
    libraries: dict[str, str],
    file: str,
    command: str,
) -> None:
    """Only shown at first; then written, once; the rest of the file stays byte by byte."""
    written(project, files)
    service = "desk" if "pyproject.toml" in files else "my-app"

    shown = found(invoke)

    of_libraries = {c["name"]: c["finding"] for c in shown["checks"] if c["area"] == "libraries"}
    assert of_libraries.keys() == libraries.keys()
    assert all(libraries[name] in finding for name, finding in of_libraries.items())
    assert (shown["file"], shown["written"], shown["unread"]) == (file, False, [])
    assert shown["without_code"].endswith(f"opentelemetry-instrument {command}") == bool(command)
    assert any(
        c["area"] == "proof" and "1 request, 1 record" in c["finding"] for c in shown["checks"]
    )
    assert (project / file).read_text(encoding="utf-8") == files[file]

    assert found(invoke, "--write")["written"]

    after = (project / file).read_text(encoding="utf-8")
    if file.endswith(".ipynb"):
        cells = json.loads(after)["cells"]
        assert "".join(cells.pop(1)["source"]) == LINES.format(service).rstrip()
        assert cells == CELLS
    else:
        assert after.replace(LINES.format(service), "").replace("\n\n\n\n", "\n\n\n").split() == (
            files[file].split()
        )
        before, _, behind = after.partition(LINES.format(service))
        assert "import" in before and not behind.startswith("import")
    again = found(invoke, "--write")
    assert (again["diff"], again["written"]) == ("", False)
    assert (project / file).read_text(encoding="utf-8") == after


def test_what_was_written_records(project: Path, invoke: Invoke, tmp_path: Path) -> None:
    """The script, run as ever, leaves its call in the store that the command named."""
    written(project, {"hello.py": SCRIPT})
    store = Dsn(scheme="chdb", path=tmp_path / "store")
    os.chmod(project / "hello.py", 0o755)

    shown = invoke("init", "--write", "--store", str(store))

    assert shown.exit_code == 0 and f"Records go to {store}" in shown.output
    assert (project / "hello.py").stat().st_mode & 0o777 == 0o755
    with ModelServer() as server:
        server.reply("Hello there.")
        environ = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "k"}
        ended = subprocess.run(
            [sys.executable, "hello.py"],
            env={**os.environ, **environ, "TURNSPAN_STORE": str(store)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert ended.stdout == "Hello there.\n"
    with open_dsn(store) as opened:
        rows = opened.query(f"SELECT service FROM {LlmCall.table}").rows
    assert [tuple(row) for row in rows] == [("my-app",)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import os; import openai; openai.OpenAI()\n", "statements share a line"),
        ("import turnspan\nimport openai\nopenai.OpenAI()\n", "does not call what turns it on"),
        ("import openai\r\nopenai.OpenAI()\n", "its lines end in several ways"),
        ("# -*- coding: latin-1 -*-\nimport openai\nopenai.x()\n", "its encoding is iso-8859-1"),
        ("\ufeffimport openai\nopenai.OpenAI()\n", "its encoding is utf-8-sig"),
    ],
)
def test_an_unusual_file_is_left_alone(
    project: Path, invoke: Invoke, text: str, reason: str
) -> None:
    """With the reason, and what to do."""
    written(project, {"app.py": text})
    shown = found(invoke, "app.py", "--write")
    assert reason in shown["reason"] and "by hand" in shown["reason"]
    assert not shown["written"] and (project / "app.py").read_bytes() == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        '"""Only words."""\nclient = 1\n',
        "#!/bin/sh\n# comment\n\nx = 1\n",
        "import openai",
        "",
        "import openai\r\n\r\nopenai.x()\r\n",
        "from __future__ import annotations\nimport a\nif TYPE_CHECKING:\n    import x\nimport y\n",
        "@decorated\ndef f(): '\x0c\u2028'\n",
    ],
)
def test_the_lines_stand_behind_the_imports_whatever_a_file_looks_like(
    project: Path, invoke: Invoke, text: str
) -> None:
    """The result is the old file with the lines in it, and runs in the same order."""
    written(project, {"app.py": text, "uses.py": "import openai"})
    assert found(invoke, "app.py", "--write")["written"]
    after = (project / "app.py").read_bytes().decode()
    compile(after, "app.py", "exec")
    assert after.count("turnspan.instrument()") == 1
    assert ("\r\n" in after) == ("\r\n" in text) and after.endswith("\n")
    kept = [line for line in after.splitlines() if "turnspan" not in line and line.strip()]
    assert kept == [line for line in text.splitlines() if line.strip()]


def test_what_cannot_be_done_is_said_with_what_to_do(project: Path, invoke: Invoke) -> None:
    """No library, several beginnings, and files that cannot be read."""
    written(project, {"app.py": "print(1)\n"})
    ended = invoke("init")
    assert ended.exit_code == 1 and "none imports a GenAI library" in ended.output

    main = 'import openai\nif __name__ == "__main__":\n    pass\n'
    odd = {"broken.py": "def (", "large.py": "#" * 1_000_001, "pyproject.toml": "[", "nul.py": "\0"}
    written(project, {"one.py": main, "two.py": main, **odd})
    shown = found(invoke, "--write")
    assert "one.py, two.py" in shown["reason"] and not shown["written"]
    assert {one.partition(":")[0] for one in shown["unread"]} == odd.keys()
    assert found(invoke, "two.py")["diff"]
