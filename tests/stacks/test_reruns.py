"""Every stack in Python, run again with what was recorded of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import turnspan_records
from stacks.checks import Records
from stacks.matrix import ALONE, STACKS, THREE, Cell, Manner
from stacks.running import play
from turnspan_records.again.rerun import RerunServer
from turnspan_records.again.rerun.recording import load_recording

UNEQUAL = {"DSPy"}
"""Stacks that tell the model a traceback, whose lines are those of where an error is raised."""


class Watching(RerunServer):
    """The real server, which keeps what came."""

    bodies: list[bytes]

    def answer(self, asked: Any, origin: str, data: bytes, *, retries: bool) -> Any:
        self.bodies.append(data)
        return super().answer(asked, origin, data, retries=retries)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("stack", [one for one in STACKS if one.here], ids=lambda one: one.name)
def test_the_same_requests_and_no_tool(stack: Any, stream: bool, tmp_path: Path) -> None:
    """Byte by byte; nothing reaches the model, and the replies are the same."""
    if stream and not stack.streams:
        pytest.skip("it does not stream")
    if stack.name in UNEQUAL:
        pytest.skip("it tells the model a traceback")
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
    assert sorted(server.bodies) == sorted(first.stub.bodies)
    assert again.stub.bodies == []
    assert (sum(report.tools_answered.values()), report.tools_ran) == (len(first.ran), {})
    if "MCP" not in stack.name:  # that program logs what it asks a server for, and what it gets
        assert again.ran == []
    assert again.replies == first.replies
    sessions = {row["session_id"] for row in Records(again.store).calls}
    assert sessions == {f"{call['session_id']}~{server.rerun_id}"}
