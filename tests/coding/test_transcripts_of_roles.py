"""Transcripts that are lists of messages with roles: Cursor, Grok, Kimi, Aider, trajectories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.coding_transcripts import (
    AIDER,
    KIMI_CODE,
    TOOLS,
    calls,
    imported,
    items,
    of_type,
    read,
    tokens,
)
from turnspan_records.coding.transcripts.events import SessionStart, ToolEnd, UserMessage


def test_a_result_without_an_id_is_of_the_oldest_call_without_one() -> None:
    """Cursor keeps no ids: its calls take their place; its own ids of results name none of them."""
    asked: list[dict[str, Any]] = [
        {"type": "tool_use", "name": name, "input": {}} for name in ("Read", "Shell")
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": text}
        for n, text in enumerate("ab")
    ]
    lines = [
        ("user", [{"type": "text", "text": "<user_query>\nLook\n</user_query>"}]),
        ("assistant", asked),
        ("user", results),
        ("assistant", [{"type": "text", "text": "Done"}]),
    ]
    values = [{"role": role, "message": {"content": content}} for role, content in lines]
    events, seen = read(TOOLS["cursor"], values, Path("11112222-3333.jsonl"))
    assert seen == {"a user's message": 1, "a model call": 2, "a tool's result": 1}
    ids = [part["id"] for part in calls(events)[0].parts]
    runs = of_type(ToolEnd, events)
    assert [(run.call_id, run.result) for run in runs] == [(ids[0], "a"), (ids[1], "b")]
    assert of_type(UserMessage, events)[0].parts == [{"type": "text", "content": "Look"}]
    assert calls(events)[0].usage.input_tokens is None
    lost = [*values[:2], values[0], values[1], *values[2:]]  # the first two calls were stopped
    events, _ = read(TOOLS["cursor"], lost, Path("11112222-3333.jsonl"))
    assert [run.call_id for run in of_type(ToolEnd, events)] == [
        part["id"] for part in calls(events)[1].parts
    ]


def test_a_thought_before_an_answer_is_a_part_of_it(tmp_path: Path) -> None:
    """Grok writes it as a line of its own; the session's place stands in a file beside."""
    info = {"info": {"id": "s", "cwd": "/w"}, "head_branch": "main", "head_commit": "abc"}
    (tmp_path / "summary.json").write_text(json.dumps(info))
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}
    lines = [
        {"type": "user", "content": "<user_info/>", "synthetic_reason": "environment_context"},
        {"type": "user", "content": "Go"},
        thought,
        {"type": "assistant", "content": "So", "model_id": "grok-4.5"},
        thought,
        {"type": "assistant", "content": "And"},
        thought,
        {"type": "user", "content": "Next"},
    ]
    events, _ = read(TOOLS["grok"], lines, tmp_path / "chat_history.jsonl")
    parts = [[part["content"] for part in call.parts] for call in calls(events)]
    assert parts == [["Hm", "So"], ["Hm", "And"], ["Hm"]]
    assert [prompt.injected for prompt in of_type(UserMessage, events)] == [True, False, False]
    start = of_type(SessionStart, events)[0]
    assert (start.folder, start.branch, start.commit) == ("/w", "main", "abc")


def test_a_trajectory_has_one_prompt_and_its_own_answers_usage() -> None:
    """What comes back as the user's messages are observations; a run's file has the name of its
    task, and its folder tells the runs of that apart."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    answer = {
        "role": "assistant",
        "content": "ls",
        "extra": {"response": {"id": "r", "usage": usage}},
    }
    document = {
        "info": {"mini_version": "1.17", "model_stats": {"api_calls": 1}},
        "trajectory_format": "mini-swe-agent-1",
        "messages": [
            {"role": "system", "content": "You are"},
            {"role": "user", "content": "Fix it"},
            answer,
            {"role": "user", "content": "a.py"},
        ],
    }
    tool, sessions = TOOLS["mini-swe-agent"], set[str]()
    assert tool.is_own(document)
    for run in ("one", "two"):
        path = Path(run) / "task.traj.json"
        values = tool.values(document)
        assert values is not None
        events, _ = read(tool, values, path)
        start = of_type(SessionStart, events)[-1]
        sessions.add(start.session_id)
        assert (start.version, start.instructions) == ("1.17", "You are")
        assert [prompt.injected for prompt in of_type(UserMessage, events)] == [False, True]
        assert tokens(events) == 12
    assert len(sessions) == 2


def test_a_subagent_of_kimi_is_a_turn_within_the_turn(tmp_path: Path) -> None:
    """Its wire is beside the session's; a result comes before its call is all written."""
    agents = tmp_path / "sessions" / "wd_x" / "session_1" / "agents"
    for agent, text in (("main", "Look"), ("agent-0", "Look there")):
        folder = agents / agent
        folder.mkdir(parents=True)
        lines = [json.dumps(line) for line in wire(text)]
        (folder / "wire.jsonl").write_text("\n".join(lines) + "\n")
    made = imported("coding", [tmp_path])
    assert made.problems == []
    turns = {turn.user_message: turn for turn in made.turns}
    assert turns["Look there"].parent_turn_id == turns["Look"].turn_id
    assert {turn.session_id for turn in made.turns} == {"session_1"}
    assert [call.input_tokens for call in made.calls] == [13, 13]
    assert {call.request_model for call in made.calls} == {"k2"}
    assert len(made.tools) == 2
    assert KIMI_CODE.is_transcript(agents / "main" / "wire.jsonl")


def wire(text: str) -> list[dict[str, Any]]:
    usage = {"inputOther": 3, "output": 2, "inputCacheRead": 10, "inputCacheCreation": 0}
    step = {"turnId": "0", "step": 1}
    loop = "context.append_loop_event"
    id_ = f"step-of-{text}-0000000"
    call = {"type": "tool.call", "toolCallId": f"Bash-{text}", "name": "Bash", "args": {"c": 1}}
    ended = {"type": "step.end", "uuid": id_, "usage": usage, "finishReason": "end_turn"}
    result = {"type": "tool.result", "toolCallId": f"Bash-{text}", "result": {"output": "a"}}
    lines: list[dict[str, Any]] = [
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "turn.prompt", "input": [{"type": "text", "text": text}]},
        {"type": "llm.request", "model": "k2", "provider": "kimi"},
        {"type": loop, "event": {"type": "step.begin", "uuid": id_, **step}},
        {"type": loop, "event": {**call, "stepUuid": id_}},
        {"type": loop, "event": result},
        {"type": loop, "event": ended},
        {"type": "usage.record", "usageScope": "turn", "usage": usage},
    ]
    return [{**line, "time": 1_785_000_000_000 + n} for n, line in enumerate(lines)]


def test_an_answer_of_aider_may_hold_what_begins_like_a_prompt(tmp_path: Path) -> None:
    """In a fence; what was used is of the answer before it, and rounded."""
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(
        """
# aider chat started at 2026-05-01 10:00:00

> Aider v0.86.1
> Main model: gemini/gemini-2.5-pro with diff edit format

#### Fix it
#### now

Here:

```md
#### A heading
> A quote
```

> Tokens: 3.2k sent, 1.5k cache hit, 21 received. Cost: $0.0082 message, $0.50 session.
> Commit abc1234 fix: it
> ^C KeyboardInterrupt
"""
    )
    assert AIDER.is_transcript(path)
    events, seen = read(AIDER, items(AIDER, path), path)
    (call,) = calls(events)
    (prompt,) = of_type(UserMessage, events)
    assert prompt.parts[0]["content"] == "Fix it\nnow"
    assert "#### A heading\n> A quote" in call.parts[0]["content"]
    assert (call.usage.input_tokens, call.usage.cache_read_tokens) == (3200, 1500)
    assert (str(call.cost_usd), call.model) == ("0.0082", "gemini-2.5-pro")
    assert call.attributes == {"rounded": True, "commit": "abc1234"}
    assert seen["an interruption"] == 1
    assert of_type(SessionStart, events)[-1].version == "0.86.1"
