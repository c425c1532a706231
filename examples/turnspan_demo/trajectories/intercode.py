"""intercode: one task, a model that acts on an environment until it is solved or out of turns."""

from __future__ import annotations

import json
from typing import Any

from turnspan_demo.model import Reply, Run, ToolUse, Turn, infer_tools

_TOOLS = {"ic_bash": "run_bash", "ic_ctf": "run_bash", "ic_python": "run_python"}
_SYSTEM = (
    "You solve a task by acting on an environment ({environment}). Each reply is one action; the "
    "environment answers with an observation. You have {limit} actions."
)


def read(record: dict[str, Any], name: str) -> Run | None:
    """A run of one turn; ``None`` where the model never acted.

    The recording holds actions, not replies: each becomes a reply without text that asks for one
    tool call. A solved task is ended by the environment; an unsolved one has used up its turns.
    """
    history = record["turn_history"]
    summary = record["summary"]
    environment = str(record["environment"])
    tool = _TOOLS.get(environment, f"run_{environment.removeprefix('ic_')}")
    replies = tuple(
        Reply(
            tools=(
                ToolUse(
                    id=f"call_{number}",
                    name=tool,
                    arguments=json.dumps({"action": action}, ensure_ascii=False),
                    result=observation,
                    failed=valid is False,
                ),
            )
        )
        for number, (action, observation, valid) in enumerate(
            zip(
                history["actions"],
                history["observations"],
                history["valid_action"],
                strict=True,
            ),
            1,
        )
    )
    if not replies:
        return None
    limit = int(summary["turns_max"])
    solved = float(summary["max_reward"] or 0) >= 1
    stop = ("completed", "the environment accepted the solution") if solved else ("", "")
    if not solved and len(replies) < limit:
        stop = ("completed", "the environment ended the task")
    turn = Turn(str(record["query"]), replies, *stop, labels={"task_type": environment})
    return Run(
        id=name,
        turns=(turn,),
        agent="intercode",
        system=_SYSTEM.format(environment=environment, limit=limit),
        tools=infer_tools((turn,)),
        title=f"task {record['task_id']}",
        max_rounds=limit,
        outcome=f"reward {summary['max_reward']}",
    )
