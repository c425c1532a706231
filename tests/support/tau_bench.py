"""What a tau-bench file says happened, read straight from its JSON: the truth of the comparison.

Deliberately without the demonstration's own reader, which is one of the things under test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEP_LIMIT = 30


@dataclass(slots=True)
class TrueTurn:
    """A user message and everything up to the next one."""

    user: str
    replies: list[str] = field(default_factory=list[str])
    """The text of every model reply."""
    tools: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """(name, arguments as written, result) of every tool call."""
    asked: list[list[tuple[str, str]]] = field(default_factory=list[list[tuple[str, str]]])
    """(name, arguments) of the tools that every model reply asked for."""
    ended_on_tools: bool = False
    """No model call followed the last tool result."""

    @property
    def answer(self) -> str:
        """What the user is told: the text of the last reply."""
        return self.replies[-1]

    @property
    def stop_reason(self) -> str:
        """Why it ended, by docs/turns.md, where no loop is detected."""
        if self.ended_on_tools and self.tools[-1][0] == "transfer_to_human_agents":
            return "completed"
        if self.ended_on_tools:
            return "round_cap"
        failed = bool(self.tools) and self.tools[-1][2].startswith("Error")
        return "tool_failure" if failed else "completed"


@dataclass(slots=True)
class TrueRun:
    """One conversation."""

    user_id: str
    turns: list[TrueTurn]
    sent: list[dict[str, Any]]
    """Every message that a model saw or wrote, in order, as OpenAI's format has them."""

    @property
    def openai_messages(self) -> int:
        """Distinct messages, the system message among them."""
        return len({json.dumps(message, sort_keys=True) for message in self.sent})

    @property
    def anthropic_messages(self) -> int:
        """Distinct messages in Anthropic's format: the system prompt is none, a result is a user
        message, and no two tool calls have the same id."""
        texts: set[tuple[str, str]] = set()
        with_ids = 0
        for message in self.sent:
            if message["role"] == "tool" or message.get("tool_calls"):
                with_ids += 1
            elif message["role"] != "system":
                texts.add((message["role"], message["content"]))
        return len(texts) + with_ids


def truth(path: Path) -> list[TrueRun]:
    """The runs of a file, in order."""
    with path.open(encoding="utf-8") as lines:
        return [_run(json.loads(line)["record"]) for line in lines]


def _run(record: dict[str, Any]) -> TrueRun:
    traj: list[dict[str, Any]] = record["traj"]
    last_reply = max(i for i, message in enumerate(traj) if message["role"] == "assistant")
    turns: list[TrueTurn] = []
    for number, message in enumerate(traj):
        role, content = message["role"], message["content"] or ""
        if role == "user" and number < last_reply:
            turns.append(TrueTurn(content))
        elif role == "assistant":
            turns[-1].replies.append(content)
            calls: list[Any] = message.get("tool_calls") or []
            asked = [(call["function"]["name"], call["function"]["arguments"]) for call in calls]
            turns[-1].asked.append(asked)
        elif role == "tool":
            (name, arguments) = turns[-1].asked[-1][0]
            turns[-1].tools.append((name, arguments, content))
    turns[-1].ended_on_tools = traj[-1]["role"] == "tool"
    sent = [_as_sent(message) for message in traj[: last_reply + 1]]
    return TrueRun(record["info"]["task"]["user_id"], turns, sent)


def _as_sent(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the tool's name, which the API's tool messages do not have."""
    return {key: value for key, value in message.items() if key != "name" and value is not None}
