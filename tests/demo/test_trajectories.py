"""Recorded runs of four benchmarks are read and counted as their files say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.shared import enough, recorded_data, trajectories
from turnspan_demo.model import Run, RunError, arguments_of, as_sent, expected
from turnspan_demo.trajectories import load

WITH_NATIVE_CALLS = (
    "tau-bench__gpt-4o-airline",
    "tau-bench-fork__tool-calling-retail",
    "tau-bench-fork__tool-calling-preconditions-retail",
    "tau-bench-fork__assertions-agent-retail",
)


def line(folder: Path, record: dict[str, Any]) -> Path:
    """A trajectory file of one record."""
    path = folder / "runs.jsonl"
    path.write_text(json.dumps({"_src": {}, "record": record}) + "\n", encoding="utf-8")
    return path


def call(name: str, arguments: Any, id_: str = "c1") -> dict[str, Any]:
    """A tool call as OpenAI writes it."""
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function}


@pytest.mark.parametrize("path", trajectories(*WITH_NATIVE_CALLS), ids=lambda path: path.stem)
def test_tau_bench_counts_equal_the_published_index(path: Path) -> None:
    """Turns, model calls, tool calls and tool errors of every run are those of the data's index."""
    index: dict[str, Any] = {}
    with recorded_data("index.jsonl").open(encoding="utf-8") as lines:
        for text in lines:
            entry = json.loads(text)
            index[entry["path"].removeprefix("trajectories/").replace(".jsonl", "")] = entry

    runs = load(path)

    assert len(runs) >= enough(50, 24)
    for run in runs:
        entry, got = index[run.id], expected(run)
        assert (got.turns, got.llm_calls, got.tool_calls, got.tool_errors) == (
            entry["n_turns"],
            entry["n_llm_calls"],
            entry["n_tool_calls"],
            entry["n_tool_errors"],
        ), run.id


def test_every_file_is_read_and_every_message_of_an_agent_is_kept() -> None:
    """No layout loses a reply: model calls are the assistant messages after the first user's."""
    counts: dict[str, Callable[[dict[str, Any]], int]] = {
        "intercode": lambda r: len(r["turn_history"]["actions"]),
        "tau2": lambda r: sum(m["role"] == "assistant" for m in _after_greeting(r["messages"])),
        "tau-": lambda r: sum(m["role"] == "assistant" for m in list[Any](r["traj"] or [])),
    }
    files = trajectories()
    assert len(files) == enough(12, 4)
    for path in files:
        runs = load(path)
        assert runs
        for prefix, count in counts.items():
            if path.stem.startswith(prefix):
                with path.open(encoding="utf-8") as lines:
                    wanted = sum(count(json.loads(text)["record"]) for text in lines)
                assert sum(expected(run).llm_calls for run in runs) == wanted, path.stem


def _after_greeting(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = next(i for i, message in enumerate(messages) if message["role"] == "user")
    return messages[first:]


def test_last_user_message_without_a_reply_is_no_turn(tmp_path: Path) -> None:
    """``###STOP###`` ends the conversation: the agent never ran on it."""
    traj = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "###STOP###"},
    ]
    (run,) = load(line(tmp_path, {"task_id": 0, "traj": traj}))

    assert [turn.user for turn in run.turns] == ["Hi"]
    assert run.unanswered == "###STOP###"
    assert run.turns[0].stop == ""


@pytest.mark.parametrize(
    ("tool", "replies", "stop"),
    [
        ("transfer_to_human_agents", 1, "completed"),
        ("get_user", 30, "round_cap"),
        ("get_user", 3, ""),
    ],
)
def test_run_that_ends_on_a_tool_result(tmp_path: Path, tool: str, replies: int, stop: str) -> None:
    """The application ended it: after a hand-over, at the step limit, or for no reason it tells."""
    traj: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
    for number in range(replies):
        asked = [call(tool, "{}", f"c{number}")]
        traj.append({"role": "assistant", "content": None, "tool_calls": asked})
        traj.append({"role": "tool", "tool_call_id": f"c{number}", "content": "Error: no"})
    (run,) = load(line(tmp_path, {"task_id": 0, "traj": traj}))

    assert run.turns[0].stop == stop
    assert [use.failed for use in run.turns[0].tools] == [True] * replies


def test_record_of_a_crashed_benchmark_is_skipped(tmp_path: Path) -> None:
    """A record without messages holds no run."""
    assert load(line(tmp_path, {"task_id": 0, "traj": None, "info": {"error": "boom"}})) == []


def test_tau2_greeting_and_user_tools(tmp_path: Path) -> None:
    """A greeting is no model call; the user's own tool calls are counted but not played."""
    messages = [
        {"role": "assistant", "content": "Hi! How can I help?"},
        {"role": "user", "content": "Wait, I look.", "tool_calls": [{"name": "look"}]},
        {"role": "tool", "id": "u1", "content": "no bars", "requestor": "user"},
        {"role": "user", "content": "No signal."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "name": "reset", "arguments": {"line": 7}}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 9},
        },
        {"role": "tool", "id": "c1", "content": "x", "requestor": "assistant", "error": True},
    ]
    record = {"task_id": "t", "messages": messages, "termination_reason": "max_steps"}
    (run,) = load(line(tmp_path, record))

    assert run.greeting == "Hi! How can I help?"
    assert run.user_tool_calls == 1
    (turn,) = run.turns
    assert turn.user == "No signal."
    assert turn.replies[0].usage == (90, 9)
    assert [(t.name, t.arguments, t.result, t.failed) for t in turn.tools] == [
        ("reset", '{"line":7}', "x", True)
    ]
    assert turn.stop == "round_cap"


def test_repeated_call_ids_are_made_unique_for_anthropic() -> None:
    """Some tau-bench runs use an id twice, which Anthropic's API refuses."""

    def ids(run: Run) -> list[str]:
        return [tool.id for turn in run.turns for tool in turn.tools]

    (path,) = trajectories("tau-bench__gpt-4o-airline")
    runs = load(path)
    repeating = [run for run in runs if len(set(ids(run))) < len(ids(run))]
    assert repeating
    for run in runs:
        sent = ids(as_sent(run, "anthropic"))
        assert len(set(sent)) == len(sent) == len(ids(run))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("{'zip': '19122'}", {"zip": "19122"}),
        ("[1, 2]", {"arguments": [1, 2]}),
        ("rm -rf", {"arguments": "rm -rf"}),
    ],
)
def test_arguments_in_any_spelling_become_an_object(text: str, value: dict[str, Any]) -> None:
    """JSON, then a Python literal, then the text itself."""
    assert arguments_of(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1 is not JSON"),
        ('{"record": {"x": 1}}', "has no layout that is known"),
        ('{"record": {"traj": [{"content": "role is missing"}]}}', "not in its layout"),
    ],
)
def test_unreadable_file_is_one_sentence(tmp_path: Path, text: str, problem: str) -> None:
    """The error names the file, the line and the reason."""
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=problem) as raised:
        load(path)
    assert str(path) in str(raised.value)


def test_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(RunError, match="cannot be read"):
        load(tmp_path / "none.jsonl")
