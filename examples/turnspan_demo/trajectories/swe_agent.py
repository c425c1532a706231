"""SWE-agent and mini-swe-agent: one issue, a model that reads and edits a repository."""

from __future__ import annotations

import json
import re
from typing import Any

from turnspan_demo.model import Reply, Run, ToolUse, Turn, infer_tools

_FENCED = re.compile(r"```mswea_bash_command\n(.*?)\n?```", re.DOTALL)


def read(record: dict[str, Any], name: str) -> Run | None:
    """A run of one turn; ``None`` where the model never replied.

    Everything before the first reply is the task. After that a user or tool message is the
    observation of the reply's command. A reply at the very end has no observation: its command
    (``submit``) ended the run.
    """
    history: list[dict[str, Any]] = record.get("history") or record.get("messages") or []
    system: list[str] = []
    task: list[str] = []
    replies: list[Reply] = []
    for message in history:
        role = message["role"]
        content = str(message.get("content") or "")
        if role == "assistant":
            replies.append(_reply(message, content, len(replies) + 1))
        elif replies:
            replies[-1] = _observed(replies[-1], content)
        else:
            (system if role == "system" else task).append(content)
    if not replies:
        return None
    replies.extend(_final_step(record, replies[-1], len(replies) + 1))
    info: dict[str, Any] = record.get("info") or {}
    status = str(info.get("exit_status") or "")
    ended = bool(replies[-1].tools)
    detail = f"the agent's last command ended the run{f': {status}' if status else ''}"
    stop = ("completed", detail) if ended else ("", "")
    turn = Turn("\n\n".join(task), tuple(replies), *stop, labels={"task_type": "small_fix"})
    return Run(
        id=name,
        turns=(turn,),
        agent="swe-agent",
        system="\n\n".join(system),
        tools=infer_tools((turn,)),
        title=str(record.get("environment") or "issue"),
        outcome=status,
    )


def _reply(message: dict[str, Any], content: str, number: int) -> Reply:
    native: list[Any] = message.get("tool_calls") or []
    tools = tuple(
        ToolUse(call["id"], call["function"]["name"], _text(call["function"]["arguments"]))
        for call in native
    )
    command = str(message.get("action") or "") or "\n".join(_FENCED.findall(content))
    if not tools and command:
        arguments = json.dumps({"command": command}, ensure_ascii=False)
        tools = (ToolUse(f"call_{number}", "run_command", arguments),)
    return Reply(text=content, tools=tools)


def _final_step(record: dict[str, Any], last: Reply, number: int) -> list[Reply]:
    """The closing command where only the step log (``trajectory``) has it, not the history."""
    steps: list[dict[str, Any]] = record.get("trajectory") or []
    if not steps or "submit" not in steps[-1]["action"]:
        return []
    if any("submit" in tool.arguments + tool.name for tool in last.tools):
        return []
    command = json.dumps({"command": steps[-1]["action"]}, ensure_ascii=False)
    tool = ToolUse(f"call_{number}", "run_command", command, str(steps[-1]["observation"]))
    return [Reply(text=str(steps[-1]["response"]), tools=(tool,))]


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _observed(reply: Reply, content: str) -> Reply:
    """The reply with the observation as the result of its first tool that has none."""
    tools = list(reply.tools)
    for index, tool in enumerate(tools):
        if not tool.result:
            tools[index] = ToolUse(tool.id, tool.name, tool.arguments, content)
            break
    return Reply(text=reply.text, tools=tuple(tools))
