"""What happens in a session of a coding agent, whichever tool wrote it down.

A tool's reader makes these events of its lines, in the order in which they happened; ``turns``
makes turns, model calls and tool calls of them. Times are nanoseconds since the epoch, 0 where the
tool does not say; parts are of the GenAI message schema (``turnspan.content.model``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

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


@dataclass(slots=True)
class AgentCall:
    """One request to a model with its reply: given once, when all of it is known."""

    message_id: str
    time: int
    """When the reply's last part was written."""
    start: int
    """When the request was sent; 0: when the message before it was written."""
    provider: str
    """As ``gen_ai.provider.name``."""
    model: str
    parts: list[Part]
    usage: TokenUsage
    """Input with cached tokens, output with reasoning; None is unknown."""
    parent: str = ""
    finish_reasons: tuple[str, ...] = ()
    cost_usd: Decimal | None = None
    """As the tool states it."""
    error_type: str = ""
    error_message: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])


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


class TranscriptReader(Protocol):
    """Reads one transcript from its beginning; holds what it needs of the lines before."""

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """Read the next line (or item, or row), add what has happened by it.

        Returns:
            What became of the line, for the report: ``a user's message``, ``part of a call``,
            ``unknown: TYPE`` ... Every line is counted under one of these. What a line says that
            no field here has goes into ``attributes``.
        """
        ...

    def end(self, events: list[CodingEvent]) -> None:
        """The transcript is over as far as it is written: add what was held back."""
        ...


@runtime_checkable
class NestedFiles(Protocol):
    """A tool that keeps what a subagent does in a file of its own."""

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """Of the files of subagents among ``paths``, the file of the session they work for, which
        is among ``paths`` as well. Both are read together."""
        ...


class CodingTool(Protocol):
    """A coding agent, and how it keeps its transcripts."""

    @property
    def kind(self) -> str:
        """As ``turnspan import`` calls it: ``claude-code``."""
        ...

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """Where it keeps them, of this user."""
        ...

    def is_transcript(self, path: Path) -> bool:
        """Whether a file in those folders is one, by its name."""
        ...

    def is_own(self, first: Any) -> bool:
        """Whether a file is its transcript, by the value of its first line (a document: of it)."""
        ...

    def reader(self, path: Path) -> TranscriptReader:
        """A reader for the transcript of a file."""
        ...

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """The items of a document in their order; None: the document is one item, or the file has
        lines."""
        ...

    def rows(self, path: Path) -> Iterator[Any] | None:
        """What a reader takes of a file that is no JSON itself: a database's rows (read as they are
        now, while the tool writes; its ``-wal`` file is newer than it), lines of Markdown, a
        document that stands in several files. One file may have several sessions, one after the
        other. None: the file is JSON.
        """
        ...
