"""tau2-bench: like tau-bench, but the simulated user has tools of its own."""

from __future__ import annotations

import json
from typing import Any

from turnspan_demo.model import Reply, Run, ToolUse, infer_tools
from turnspan_demo.trajectories.fold import Folder

_STOPS = {"max_steps": "round_cap", "too_many_errors": "tool_failure"}


def read(record: dict[str, Any], name: str) -> Run | None:
    """A run; ``None`` where the record has no messages."""
    messages: list[dict[str, Any]] = record.get("messages") or []
    folder = Folder()
    user_calls = 0
    for message in messages:
        role = message["role"]
        content = message.get("content") or ""
        if role == "user":
            calls: list[Any] = message.get("tool_calls") or []
            user_calls += len(calls)
            if not calls:
                folder.user(content)
        elif role == "assistant":
            folder.assistant(Reply(text=content, tools=_tools(message), usage=_usage(message)))
        elif message.get("requestor") != "user":
            folder.result(content, bool(message.get("error")))
    reason = str(record.get("termination_reason") or "")
    turns = folder.turns(_STOPS.get(reason, "completed"), f"the run was ended: {reason}")
    if not turns:
        return None
    reward: dict[str, Any] = record.get("reward_info") or {}
    return Run(
        id=name,
        turns=turns,
        agent="tau2-bench",
        system=str(record.get("policy") or ""),
        tools=infer_tools(turns),
        title=f"task {record.get('task_id')}",
        greeting=folder.greeting,
        unanswered=folder.unanswered,
        user_tool_calls=user_calls,
        outcome=f"reward {reward.get('reward')}, {reason}",
    )


def _tools(message: dict[str, Any]) -> tuple[ToolUse, ...]:
    calls: list[Any] = message.get("tool_calls") or []
    return tuple(
        ToolUse(
            id=call["id"],
            name=call["name"],
            arguments=json.dumps(call["arguments"], ensure_ascii=False, separators=(",", ":")),
        )
        for call in calls
    )


def _usage(message: dict[str, Any]) -> tuple[int, int] | None:
    usage = message.get("usage")
    return (usage["prompt_tokens"], usage["completion_tokens"]) if usage else None
