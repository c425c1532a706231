"""The README's first example, typed as it stands."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_replies import chat
from support.shared import REPOSITORY
from turnspan.testing import ModelServer

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
FIND_ORDER = {"name": "find_order", "arguments": '{"order_id": "7"}'}
VARYING = {
    r"\x1b\[[0-9;]*m": "",
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d": "TIME",
    r"\b\d+(\.\d)? (ms|µs|s)\b": "DURATION",
    r"\b[0-9a-f]{8}\b": "ID",
    r"chdb:///\S+": "STORE",
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """Asks for the tool, then answers."""
    server = ModelServer()
    call = {"id": "call_1", "type": "function", "function": FIND_ORDER}
    for sent, got, reply in (
        (58, 16, chat(None, "tool_calls", tool_calls=[call])),
        (92, 8, chat("Your order 7 has shipped.")),
    ):
        usage = {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
        server.answer(reply | {"model": "gpt-4o-2024-08-06", "usage": usage})
    server.start()
    yield server
    server.stop()


def typed(command: str, folder: Path, **environ: str) -> str:
    """What a shell's command writes to a terminal of 100 columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command],
        stdin=child,
        stdout=child,
        stderr=child,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", **environ},
    )
    os.close(child)
    shown = b""
    try:
        while piece := os.read(parent, 65_536):
            shown += piece
    except OSError:  # how a terminal ends
        pass
    os.close(parent)
    assert process.wait(60) == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def settled(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, word in VARYING.items():
        text = re.sub(pattern, word, text)
    return text


def test_the_first_example_prints_what_it_says(tmp_path: Path, model: ModelServer) -> None:
    """The program's answer, where the records are, and the conversation as it is replayed."""
    code, after = README.split("```python\n", 1)[1].split("```\n", 1)
    console = after.split("```text\n", 1)[1].split("```\n", 1)[0]
    pieces = re.split(r"^\$ (.*)\n", console, flags=re.MULTILINE)[1:]
    told = dict(zip(pieces[::2], pieces[1::2], strict=True))
    assert list(told) == ["python agent.py", "turnspan replay"]
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    surroundings = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": "none",
    }

    for command, expected in told.items():
        assert settled(typed(command, tmp_path, **surroundings)) == settled(expected), command
