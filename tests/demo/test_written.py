"""The runs that ship with the package, and the files that people write like them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnspan_demo.model import RunError
from turnspan_demo.trajectories import load
from turnspan_demo.written import shipped


def test_shipped_runs_have_something_for_every_diagnostic() -> None:
    """Loops, caps, failures, faults, aborts, nested agents, thinking, streams: each is there."""
    runs = shipped()
    turns = [turn for run in runs for part in run.everything() for turn in part.turns]
    replies = [reply for turn in turns for reply in turn.replies]

    assert len(runs) >= 10
    assert len({run.id for run in runs}) == len(runs)
    assert {reply.fault.kind for reply in replies if reply.fault} >= {
        "rate_limit", "overloaded", "broken_stream"
    }  # fmt: skip
    assert {reply.finish for reply in replies} >= {"length", "content_filter", "stop"}
    assert any(len(reply.tools) > 1 for reply in replies)
    assert any(reply.thinking for reply in replies)
    assert any(tool.failed for reply in replies for tool in reply.tools)
    assert any(not reply.text and not reply.tools for reply in replies)
    assert any(turn.aborted for turn in turns)
    assert any(run.nested for run in runs)
    assert any(run.max_rounds for run in runs)
    assert any(run.stream for run in runs)
    assert {provider for run in runs for provider in run.providers} == {"openai", "anthropic"}
    labels = {key for turn in turns for key in turn.labels}
    assert labels == {"intent", "chat_mode", "task_type", "target"}


def test_a_run_of_ones_own_is_loaded_like_a_trajectory_file(tmp_path: Path) -> None:
    """``.json`` is one written run; what it leaves out has a default."""
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps(
            {
                "id": "mine",
                "turns": [
                    {
                        "user": "ls?",
                        "replies": [
                            {"calls": [{"tool": "ls", "arguments": {"n": 1}, "result": {"a": 2}}]},
                            {"text": "a"},
                        ],
                    }
                ],
            }
        ),
        encoding="utf-8",
    )
    (run,) = load(path)

    assert run.id == "mine"
    assert [tool.result for turn in run.turns for tool in turn.tools] == ['{"a": 2}']
    assert [(tool.name, tool.parameters["properties"]) for tool in run.tools] == [
        ("ls", {"n": {"type": "number"}})
    ]


ENOUGH: dict[str, Any] = {"id": "x", "turns": [{"user": "u", "replies": [{"text": "t"}]}]}


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"turns": []}, "no turns"),
    ({"colour": "red"}, "unknown field 'colour'"),
    ({"providers": ["acme"]}, "'acme' is not one of anthropic, openai"),
    ({"turns": [{"user": "u", "replies": []}]}, "turn 1 has no replies"),
    ({"turns": [{"replies": [{"text": "t"}]}]}, "has no 'user'"),
    (
        {"turns": [{"user": "u", "replies": [{"calls": [{"tool": "t"}]}]}]},
        "exactly one of result, error and run",
    ),
    (
        {"turns": [{"user": "u", "replies": [{"fault": {"kind": "flood"}}]}]},
        "'flood' is not one of",
    ),
]


@pytest.mark.parametrize(("change", "problem"), MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    """The error names the file and the mistake."""
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**ENOUGH, **change}), encoding="utf-8")
    with pytest.raises(RunError, match=problem) as raised:
        load(path)
    assert str(path) in str(raised.value)
