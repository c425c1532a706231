"""The first run of a program says where its records are and what to type next, to a person."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn

AGENT = """
import sys
import turnspan

turnspan.configure(store=(sys.argv[1:] or [None])[0])

@turnspan.agent
def answer(question):
    return "42"

with turnspan.session("first"):
    answer("?")
"""
SILENT = "import turnspan; turnspan.configure()"


def run(code: str, environ: dict[str, str], *arguments: str, terminal: bool = True) -> str:
    """What a program says on standard error, be that a terminal or a pipe."""
    reads, writes = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(command, stderr=writes, env=os.environ | environ)
    os.close(writes)
    said = b""
    try:
        while piece := os.read(reads, 65_536):
            said += piece
    except OSError:  # how a terminal ends
        pass
    os.close(reads)
    assert process.wait(60) == 0, said
    return said.decode().replace("\r\n", "\n")


@pytest.fixture
def store(tmp_path: Path) -> Dsn:
    return Dsn(scheme="chdb", path=tmp_path / "store")


def path_with_command() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def test_a_person_is_told_until_they_look(store: Dsn) -> None:
    """Where the records are and the command that shows them; no more once they were read."""
    environ = {"TURNSPAN_STORE": str(store), "PATH": path_with_command()}

    first, second = run(AGENT, environ), run(AGENT, environ)
    with open_dsn(store) as opened:
        assert len(opened.query("SELECT * FROM turn_summary").rows) == 2
    after = run(AGENT, environ)

    told = f"turnspan: recorded in {store}\nturnspan: to see it: turnspan replay\n"
    assert (first, second, after) == (told, told, "")


def test_nobody_else_is_told(store: Dsn) -> None:
    """Neither a log, nor who recorded nothing."""
    environ = {"TURNSPAN_STORE": str(store)}
    assert run(SILENT, environ) == ""
    assert run(AGENT, environ, terminal=False) == ""


@pytest.mark.release
def test_what_is_told_can_be_typed(store: Dsn) -> None:
    """With another store than the variable's, and where the command is not on the path."""
    said = run(AGENT, {"PATH": "/usr/bin:/bin", "XDG_DATA_HOME": str(store.path)}, str(store))

    typed = said.splitlines()[1].removeprefix("turnspan: to see it: ")
    shown = subprocess.run(
        shlex.split(typed),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"XDG_DATA_HOME": str(store.path)},
    )
    assert "first" in shown.stdout
