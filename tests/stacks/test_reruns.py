"""Every stack in Python, run again with what was recorded of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import turnspan_records
from stacks.checks import Records
from stacks.matrix import ALONE, STACKS, THREE, Cell, Manner, Stack
from stacks.running import ROOT, play
from turnspan_records.again.rerun import RerunServer
from turnspan_records.again.rerun.likeness import masked
from turnspan_records.again.rerun.recording import load_recording

TRACEBACKS = {"DSPy"}
"""Stacks that tell the model a traceback: its frames are those of where an error is raised."""


def _row(stack: Stack) -> str:
    """The stack's line in the page."""
    if not stack.here:
        return f"| {stack.name} | no: its program is not Python's | |"
    streamed = "yes" if stack.streams else "does not stream"
    plain = "yes, but for a traceback's frames" if stack.name in TRACEBACKS else "yes"
    return f"| {stack.name} | {plain} | {streamed} |"


def test_the_page_has_every_stack() -> None:
    """What the test below finds of each."""
    page = (ROOT / "docs" / "again" / "rerun.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| Stack | plain | streamed |\n| --- | --- | --- |\n")
    assert table.partition("\n\n")[0].splitlines() == [_row(stack) for stack in STACKS]


class Watching(RerunServer):
    """The real server, which keeps what came."""

    bodies: list[bytes]

    def answer(self, asked: Any, origin: str, data: bytes, *, retries: bool) -> Any:
        self.bodies.append(data)
        return super().answer(asked, origin, data, retries=retries)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("stack", [one for one in STACKS if one.here], ids=lambda one: one.name)
def test_the_same_requests_and_no_tool(stack: Any, stream: bool, tmp_path: Path) -> None:
    """Byte by byte, but for a traceback's frames; nothing reaches the model, and the replies are
    the same."""
    if stream and not stack.streams:
        pytest.skip("it does not stream")
    cell = Cell(stack, ALONE, Manner("again", THREE, stream=stream, decorated=True, tools=True))
    first = play(cell, tmp_path / "first")
    call = Records(first.store).calls[0]
    with turnspan_records.open(f"chdb://{first.store}") as store:
        recording = load_recording(store, call["project"], call["session_id"])
    with Watching(recording) as server:
        server.bodies = []
        again = play(cell, tmp_path / "again", server.environment().variables(os.environ))
        report = server.report()
    assert (report.divergences, report.unasked, report.notes) == ((), (), ())
    assert _told(stack, server.bodies) == _told(stack, first.stub.bodies)
    assert again.stub.bodies == []
    assert (sum(report.tools_answered.values()), report.tools_ran) == (len(first.ran), {})
    if "MCP" not in stack.name:  # that program logs what it asks a server for, and what it gets
        assert again.ran == []
    assert again.replies == first.replies
    sessions = {row["session_id"] for row in Records(again.store).calls}
    assert sessions == {f"{call['session_id']}~{server.rerun_id}"}


def _told(stack: Any, bodies: list[bytes]) -> list[Any]:
    if stack.name not in TRACEBACKS:
        return sorted(bodies)
    return sorted(masked(body.decode().replace("\\n", "\n")) for body in bodies)
