"""A model call as llm logged it, the same for every generation: what spans are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from turnspan.content.model import Message
from turnspan.turn.turn import TokenUsage, ToolRequest


@dataclass(slots=True)
class ToolOutcome:
    """What a tool came to, as the next call's request brings it."""

    key: str
    """What tells it from the other results of its call, the same at every import."""
    call_id: str
    name: str
    output: Any
    exception: str = ""
    attributes: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class LoggedCall:
    """One response of llm's."""

    table: str
    id: str
    session: str
    model: str
    start: int
    """Ns since the epoch."""
    end: int
    messages: list[Message]
    """Everything the model was sent, history included."""
    reply: list[Message]
    text: str
    """What it wrote for the user to read."""
    said: str
    """What the user asked; empty for a call that only brings tools' results."""
    begins: bool
    """Whether it begins a turn: it is not the next round of a chain of tools."""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    requests: list[ToolRequest] = field(default_factory=list[ToolRequest])
    outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    usage: TokenUsage = field(default_factory=TokenUsage)
    response_model: str = ""
    response_id: str = ""
    finish_reasons: list[str] = field(default_factory=list[str])
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    """What the row says beside, as attributes of the call."""
    consortium: tuple[str, int, int] | None = None
    """The run that it belongs to, its role in it, and the iteration; 0 of an output."""

    @property
    def row(self) -> str:
        """Where it stands, for people."""
        return f"{self.table} {self.id}"
