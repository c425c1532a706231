"""A conversation as it happened: the typed model that a replay fills and a screen shows.

Times are aware datetimes in UTC, durations seconds, money ``Decimal`` dollars (``None``: unknown).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

_UNENDED: Final = {"running": "still running", "interrupted": "never ended: its process died"}


@dataclass(slots=True)
class MessageRecord:
    """A message of the conversation; ``parts`` follow the GenAI message schema.

    ``recorded`` is false where only the message's hash is known (its content was not recorded, or
    has been pruned).
    """

    hash: str
    role: str = ""
    name: str = ""
    parts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    source: str = ""
    dialect: str = ""
    recorded: bool = True

    @property
    def text(self) -> str:
        """The visible text of the message."""
        return "\n\n".join(
            str(part.get("content", "")) for part in self.parts if part.get("type") == "text"
        )


@dataclass(slots=True)
class ToolFacts:
    """A tool that ran, without its texts."""

    span_id: str
    name: str
    call_id: str
    start_time: datetime
    duration: float
    round: int
    failed: bool
    error_type: str
    error_message: str
    turn_id: str
    trace_id: str
    parent_span_id: str


@dataclass(slots=True)
class ToolExecutionRecord(ToolFacts):
    """A tool that ran, as its own span recorded it."""

    arguments: str
    result: str


@dataclass(slots=True)
class ToolRequestRecord:
    """A tool call that the model asked for, with what came of it.

    ``seen`` is the result that the model was given in its next request; ``execution`` is the tool's
    own record. They differ when the application shortens results; either may be missing.
    """

    call_id: str
    name: str
    arguments: Any
    execution: ToolExecutionRecord | None = None
    seen: Any = None
    answered: bool = False


@dataclass(slots=True)
class CallSpan:
    """Where and when a model was called."""

    span_id: str
    trace_id: str
    turn_id: str
    agent_name: str
    start_time: datetime
    duration: float
    time_to_first_chunk: float | None
    round: int
    provider: str
    operation: str


@dataclass(slots=True)
class CallFacts(CallSpan):
    """One model call: what it was, what it used, what it cost."""

    model: str
    finish_reasons: list[str]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: Decimal | None
    tries: int
    error_type: str
    error_message: str


@dataclass(slots=True)
class CallRecord(CallFacts):
    """One model call: what it was newly given, what it said, what it cost."""

    parent_span_id: str
    stream_outcome: str
    input_hashes: list[str]
    output_hashes: list[str]
    system_hash: str
    response_text: str
    response_thoughts: str
    system_prompt: str | None = None
    """The system prompt where it is new or has changed; ``None`` where it is the one before."""
    new_messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    dropped: int = 0
    """Messages of the call before that this one was not given (history trimmed or rewritten)."""
    replies: list[MessageRecord] = field(default_factory=list[MessageRecord])
    requests: list[ToolRequestRecord] = field(default_factory=list[ToolRequestRecord])
    status: str = "final"
    """``running`` or ``interrupted`` where it has not ended: its texts are those so far, its
    duration is that until now, or until they were written."""

    @property
    def unended(self) -> str:
        """What to say of a call that has not ended; empty for one that has."""
        return _UNENDED.get(self.status, "")


@dataclass(slots=True)
class TurnFacts:
    """A turn, without its texts."""

    turn_id: str
    parent_turn_id: str
    trace_id: str
    span_id: str
    start_time: datetime
    duration: float
    status: str
    agent_name: str
    agent_version: str
    stop_detail: str
    rounds: int
    max_rounds: int | None
    llm_call_count: int
    tool_call_count: int
    tool_error_count: int
    turn_intent: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    models: list[str]
    error_type: str
    error_message: str


@dataclass(slots=True)
class TurnRecord(TurnFacts):
    """One turn with its steps in the order of time."""

    session_id: str
    user_message: str
    response_text: str
    stop_reason: str
    steps: list[Step] = field(default_factory=list["Step"])

    @property
    def ended_how(self) -> str:
        """The stop reason, or the life state of a turn that has not ended."""
        return self.stop_reason if self.status == "final" else self.status or self.stop_reason

    def _repr_html_(self) -> str:
        """What a notebook shows: text that does nothing."""
        from turnspan_records.conversation.html import in_notebook, turn_html  # which reads this

        return in_notebook(turn_html(self))


Step = CallRecord | ToolExecutionRecord | TurnRecord
"""A tool appears as a step only where no model request of its turn accounts for it."""


@dataclass(slots=True)
class Conversation:
    """A session, or a single trace where there is no session."""

    project: str
    session_id: str
    trace_id: str
    steps: list[Step] = field(default_factory=list[Step])
    """Root turns in the order of time, and calls and tools that ran outside any turn."""

    def turns(self) -> Iterator[TurnRecord]:
        """Every turn, nested ones included, depth first."""
        yield from _turns(self.steps)

    def calls(self) -> Iterator[CallRecord]:
        """Every model call that has ended, in the order in which it is shown."""
        yield from (call for call in _calls(self.steps) if call.status == "final")

    def _repr_html_(self) -> str:
        """What a notebook shows: text that does nothing."""
        from turnspan_records.conversation.html import conversation_html, in_notebook  # as above

        return in_notebook(conversation_html(self))


def _turns(steps: list[Step]) -> Iterator[TurnRecord]:
    for step in steps:
        if isinstance(step, TurnRecord):
            yield step
            yield from _turns(step.steps)


def _calls(steps: list[Step]) -> Iterator[CallRecord]:
    for step in steps:
        if isinstance(step, CallRecord):
            yield step
        elif isinstance(step, TurnRecord):
            yield from _calls(step.steps)
