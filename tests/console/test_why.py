"""`turnspan why`: the stop reason, its rule, and what a turn did last."""

from __future__ import annotations

import json

import pytest

from support.story import CALL, TOOL, TURN, Invoke


@pytest.mark.parametrize("given", [TURN[:8], CALL, TOOL])
def test_the_turn_of_what_is_named(filled: str, invoke: Invoke, given: str) -> None:
    """By its id, or that of a call or a tool in it; for people and for programs."""
    lines = invoke("--store", filled, "why", given).stdout.splitlines()
    assert lines[0] == f"Turn {TURN}  completed"
    assert lines[1] == "because no other rule held"
    assert any(line.split()[:3] == ["call", "d4" * 8, "the"] for line in lines)
    assert "last model calls" in lines
    (tool,) = (line for line in lines if TOOL in line)
    assert tool.split()[1:4] == ["round", "1", "stock"]
    assert tool.endswith("OSError")
    told = json.loads(invoke("--store", filled, "why", given, "--format", "json").stdout)
    assert (told["turn_id"], told["stop"]["ended_how"]) == (TURN, "completed")
    assert [one["span_id"] for one in told["calls"]] == [CALL, "d4" * 8]
    assert [(one["name"], one["failed"], one["same"]) for one in told["tools"]] == [
        ("stock", True, 1)
    ]


def test_a_session_s_last_turn_and_what_has_none(filled: str, invoke: Invoke) -> None:
    """One sentence where there is nothing."""
    last = invoke("--store", filled, "why", "thread-7").stdout
    assert last.startswith(f"Turn {'e5' * 8}  max_tokens\n")
    assert invoke("--store", filled, "why", "nothing-there").exit_code == 1
