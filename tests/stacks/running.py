"""Plays one cell in its own environment, against a server of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stacks.matrix import Cell
from stacks.stub import Stub, serving

ROOT: Final = Path(__file__).parents[2]
PROGRAMS: Final = Path(__file__).parent / "programs"

_QUIET: Final = {
    "AGNO_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "TRACELOOP_TELEMETRY": "false",
}
"""No framework tells its maker."""

_CONTENT: Final = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
}
_SECONDS: Final = 120

RAISED: Final = "(the tool's exception)"
"""What a program says that the application got where it got no reply."""


@dataclass(slots=True)
class Played:
    """What a run told of itself, and where its records are."""

    cell: Cell
    stub: Stub
    store: Path
    replies: list[list[str]]
    """By conversation."""
    ran: list[dict[str, Any]]
    flushed: bool
    report: list[dict[str, Any]]
    named: list[str]
    """By what ids the framework knows the conversations, if it does."""
    log: str


def ready(venv: str) -> Path:
    """The folder of an environment, which is made when it is first asked for."""
    subprocess.run(["make", "--silent", f".venv-stacks/{venv}/.ready"], cwd=ROOT, check=True)
    return ROOT / ".venv-stacks" / venv


def python_of(venv: str) -> Path:
    """The interpreter of an environment."""
    return ready(venv) / "bin" / "python"


def llm_folders(folder: Path) -> tuple[Path, Path]:
    """The folders of ``llm``'s settings, made in this one: ``LLM_USER_PATH``, and that of the home
    folder, where some plugins write whatever the variable says."""
    found = folder / "user", folder / "home" / ".config" / "io.datasette.llm"
    for users in found:
        users.mkdir(parents=True, exist_ok=True)
    return found


def at_home(folder: Path) -> dict[str, str]:
    """The environment of a command of ``llm`` with home and settings of its own in the folder."""
    settings, _ = llm_folders(folder)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TURNSPAN")}
    kept.pop("XDG_CONFIG_HOME", None)
    own = {"HOME": str(folder / "home"), "LLM_USER_PATH": str(settings)}
    return {**kept, **own, "OPENAI_API_KEY": "k"}


def play(cell: Cell, folder: Path, more: Mapping[str, str] | None = None) -> Played:
    """Play a cell, with ``more`` in its environment; its records are in the folder afterwards."""
    store = folder / "store"
    with serving() as (url, stub):
        environment = {**os.environ, **_surroundings(url, store)}
        environment |= {**cell.stack.environment.get(cell.beside, {}), **(more or {})}
        run = _run_node if cell.stack.program.endswith(".mjs") else _run_python
        try:
            ran = run(cell, environment)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{cell.id} hung:\n{late.stderr!r}") from late
    log = f"{ran.stdout}\n{ran.stderr}"
    assert ran.returncode == 0, f"{cell.id} failed:\n{log[-6000:]}"
    told = json.loads(ran.stdout.strip().splitlines()[-1])
    return Played(cell, stub, store, log=log, **told)


def _run_python(cell: Cell, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    python = python_of(cell.stack.venv)
    manner = cell.manner
    options = {
        "ours": True,
        "decorated": manner.decorated,
        "tools": manner.tools,
        "stream": manner.stream,
        "web": manner.web,
        "raises": manner.raises,
        "at_once": manner.at_once,
        "scripts": manner.scripts,
        "beside": cell.beside,
        "entries": dict(cell.stack.beside.get(cell.beside, {})),
        "exclude": _excluded(cell, python),
    }
    command = [str(python), "player.py", cell.stack.program, json.dumps(options)]
    return _run(command, PROGRAMS, environment)


def _run_node(cell: Cell, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A program for Node sends its spans to ``turnspan receive``."""
    made = ready(cell.stack.venv)
    receive = [sys.executable, "-m", "turnspan_console", "receive", "--port", "0"]
    receiver = subprocess.Popen(receive, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert receiver.stderr is not None
        said = receiver.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", said)
        assert found is not None, said
        environment = {**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": found[0]}
        options = {"stream": cell.manner.stream, "scripts": cell.manner.scripts}
        return _run(["node", Path(cell.stack.program).name, json.dumps(options)], made, environment)
    finally:
        receiver.terminate()
        receiver.communicate(timeout=_SECONDS)


def _run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _surroundings(url: str, store: Path) -> dict[str, str]:
    return {
        **_QUIET,
        **_CONTENT,
        "TURNSPAN_STORE": f"chdb://{store}",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_BASE": f"{url}/v1",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_BASE": url,
        "GOOGLE_API_KEY": "k",
        "GEMINI_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": url,
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": "k",
        "OTEL_SDK_DISABLED": "false",
    }


_LIST = """
import json
from importlib import metadata
found = metadata.entry_points(group="opentelemetry_instrumentor")
print(json.dumps([one.dist.name for one in found]))
"""


def _excluded(cell: Cell, python: Path) -> list[str]:
    """The instrumentations of this environment that are to be as if they were not installed."""
    listed = subprocess.run(
        [str(python), "-c", _LIST], capture_output=True, text=True, check=True, timeout=_SECONDS
    )
    wanted = cell.stack.beside.get(cell.beside, {}).values()
    found: set[str] = set(json.loads(listed.stdout))
    ours = set[str]() if cell.manner.theirs else {"turnspan"}
    return sorted(found - ours - set(wanted))
