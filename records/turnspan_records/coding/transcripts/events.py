"""What happens in a session of a coding agent, whichever tool wrote it down.

A tool's reader makes these events of its lines, in the order in which they happened; ``turns``
makes turns, model calls and tool calls of them. Times are nanoseconds since the epoch, 0 where the
tool does not say; parts are of the GenAI message schema (``turnspan.content.model``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from turnspan.content.model import Message, Part
from turnspan.turn.turn import TokenUsage


@dataclass(slots=True)
class SessionStart:
    """Which session what follows is of. A later one, of the same session, changes what it says;
    one of another session goes on with that (a file may hold several, one in the other)."""

    session_id: str
    version: str = ""
    """The tool's."""
    folder: str = ""
    """The working folder."""
    repository: str = ""
    """Its address."""
    branch: str = ""
    commit: str = ""
    title: str = ""
    agent_name: str = ""
    """A subagent's; empty for the tool itself."""
    agent_id: str = ""
    """What tells a subagent from others of the session: what follows is of this one. Empty with a
    ``parent_call``: that."""
    parent_session: str = ""
    """The session that a subagent works for, or that a fork goes on with."""
    parent_call: str = ""
    """The id of the tool call that began the subagent."""
    instructions: str = ""
    """The system prompt."""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    """What else the tool says and has no other place."""


@dataclass(slots=True)
class UserMessage:
    """What a user said, which begins a turn; what the tool put in (``injected``) begins none."""

    message_id: str
    time: int
    parts: list[Part]
    parent: str = ""
    """The message before it, where the tool keeps a tree; empty: the one before in the file."""
    injected: bool = False
    role: str = "user"
    typed: str = ""
    """What the user typed, where the parts have it in the tool's way."""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the tools' results that stand in its parts."""
    origin: str = ""
    """What it has in common with its copies in forks, where those have ids of their own."""


@dataclass(slots=True)
class AgentCall:
    """One request to a model with its reply: given once, when all of it is known."""

    message_id: str
    time: int
    """When the reply's last part was written."""
    start: int = 0
    """When the request was sent; 0: when the message before it was written."""
    provider: str = ""
    """As ``gen_ai.provider.name``."""
    model: str = ""
    parts: list[Part] = field(default_factory=list[Part])
    usage: TokenUsage = field(default_factory=TokenUsage)
    """Input with cached tokens, output with reasoning; None is unknown."""
    parent: str = ""
    finish_reasons: tuple[str, ...] = ()
    cost_usd: Decimal | None = None
    """As the tool states it."""
    error_type: str = ""
    error_message: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    origin: str = ""


@dataclass(slots=True)
class ToolEnd:
    """A tool that has run: ``call_id`` is of the ``tool_call`` part that asked for it."""

    call_id: str
    message_id: str
    time: int
    """When it ended."""
    result: Any
    start: int = 0
    name: str = ""
    """Empty: as the call says it."""
    parent: str = ""
    failed: bool = False
    error_type: str = ""
    error_message: str = ""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])

    def fail(self, error_type: str = "error", message: str = "") -> None:
        """It has failed."""
        self.failed, self.error_type, self.error_message = True, error_type, message


@dataclass(slots=True)
class HistoryCompaction:
    """What was said before is replaced by a summary (or by ``messages``); with neither, a part of
    it is gone, and the file does not say which."""

    message_id: str
    time: int
    parts: list[Part]
    """The summary's."""
    trigger: str = ""
    """``auto`` or ``manual``."""
    tokens_before: int | None = None
    parent: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    """What stands in the place of the history, where that is more than a summary."""
    kept: str = ""
    """The first message that stays, with all up to ``parent``: they follow the summary."""


@dataclass(slots=True)
class Interruption:
    """The user stopped the turn, or the tool gave up."""

    time: int
    reason: str = "user"
    message: str = ""


CodingEvent: TypeAlias = (
    SessionStart | UserMessage | AgentCall | ToolEnd | HistoryCompaction | Interruption
)
