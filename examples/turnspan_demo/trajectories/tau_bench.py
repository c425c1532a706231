"""tau-bench: an agent, its tools and a simulated user, in OpenAI's message format."""

from __future__ import annotations

from typing import Any

from turnspan_demo.model import Reply, Run, ToolUse, infer_tools
from turnspan_demo.trajectories.fold import Folder

STEP_LIMIT = 30
"""Model calls after which tau-bench ends a run."""


def read(record: dict[str, Any], name: str) -> Run | None:
    """A run; ``None`` where the benchmark crashed before it recorded one."""
    messages: list[dict[str, Any]] | None = record["traj"]
    if not messages:
        return None
    folder = Folder()
    system: list[str] = []
    calls = 0
    last = ""
    for number, message in enumerate(messages):
        role = message["role"]
        content = message.get("content") or ""
        if role == "system":
            system.append(content)
        elif role == "user":
            folder.user(content)
        elif role == "assistant":
            calls += 1
            tools = _tools(message, number)
            last = tools[-1].name if tools else last
            folder.assistant(Reply(text=content, tools=tools))
        else:
            folder.result(content, content.startswith("Error"))
    turns = folder.turns(*_ending(calls, last))
    task = record.get("info", {}).get("task", {})
    return Run(
        id=name,
        turns=turns,
        agent="tau-bench",
        system="\n\n".join(system),
        tools=infer_tools(turns),
        title=f"task {record.get('task_id')}",
        user_id=str(task.get("user_id", "")),
        unanswered=folder.unanswered,
        outcome=f"reward {record.get('reward')}",
    )


def _ending(calls: int, last: str) -> tuple[str, str]:
    """Why a run that ends on a tool result ended: the environment closed it after that tool, or
    the step limit was reached."""
    if last == "transfer_to_human_agents":
        return "completed", "the application handed the conversation to a human"
    if calls >= STEP_LIMIT:
        return "round_cap", f"the run's limit of {STEP_LIMIT} model calls"
    return "", ""


def _tools(message: dict[str, Any], number: int) -> tuple[ToolUse, ...]:
    return tuple(
        ToolUse(
            id=call.get("id") or f"call_{number}_{index}",
            name=call["function"]["name"],
            arguments=call["function"]["arguments"],
        )
        for index, call in enumerate(message.get("tool_calls") or [])
    )
