"""What a test sees of an agent: its turns, calls, tools, messages and judgments, as plain values.

Texts are empty and numbers ``None`` where nothing was said; times are nanoseconds since the epoch,
durations seconds, ids lowercase hex.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class ToolRequest:
    """A tool that the model asks for."""

    name: str
    arguments: Any = field(default_factory=dict[str, Any])
    """As the JSON says: usually a dictionary; the text itself where it is no JSON."""
    id: str = ""


@dataclass(frozen=True)
class RecordedMessage:
    """A message of a call, as the model got or wrote it."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str
    """Its texts together; of a tool's result what the tool returned."""
    parts: tuple[Mapping[str, Any], ...] = ()
    """All of it, in the message schema of the GenAI conventions."""
    name: str = ""


@dataclass(frozen=True)
class RecordedCall:
    """One request to a model, with every retry of the SDK inside."""

    id: str
    """Its span's id, by which a judgment names it."""
    trace_id: str
    turn_id: str
    session_id: str
    round: int
    """Which call of its turn it is, from 1."""
    provider: str
    operation: str
    """``chat``, ``embeddings``, ``text_completion`` or ``generate_content``."""
    model: str
    """The model that was asked for; see ``response_model``."""
    response_model: str
    response_id: str
    system_prompt: str
    messages: tuple[RecordedMessage, ...]
    """What the model got, but for the system prompt where the API has a place of its own for it."""
    reply: tuple[RecordedMessage, ...]
    """What it answered: one message a choice."""
    text: str
    """The reply's text."""
    thoughts: str
    """The reply's reasoning, where the API shows it."""
    tool_requests: tuple[ToolRequest, ...]
    """The tools that the reply asks for."""
    tools_offered: tuple[str, ...]
    """The names of the tools that the model was offered."""
    parameters: Mapping[str, Any]
    """What else the request said (temperature, ...)."""
    finish_reasons: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: Decimal | None
    stream: bool
    stream_outcome: str
    """Of a stream: ``complete``, ``abandoned``, ``cancelled`` or ``error``."""
    error_type: str
    error_message: str
    agent_name: str
    start_time: int
    duration: float
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    row: Any = field(default=None, repr=False, compare=False)
    """The row that would have landed in ``llm_call`` (docs/schema.md); its columns may change with
    the schema."""


@dataclass(frozen=True)
class RecordedTool:
    """One execution of a tool."""

    id: str
    """Its span's id; empty where the tool was derived from the model's messages."""
    trace_id: str
    turn_id: str
    session_id: str
    round: int
    name: str
    call_id: str
    """The id that the model gave its request."""
    arguments: Any
    """As the JSON says; the text itself where it is no JSON."""
    result: Any
    """As the JSON says; the text itself where it is no JSON."""
    failed: bool
    error_type: str
    error_message: str
    agent_name: str
    start_time: int
    duration: float
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    row: Any = field(default=None, repr=False, compare=False)
    """The row that would have landed in ``tool_call``."""


@dataclass(frozen=True)
class RecordedTurn:
    """One input of a user and everything that the agent did about it."""

    id: str
    trace_id: str
    parent_id: str
    """The turn of the agent that called this one."""
    session_id: str
    user_id: str
    agent_name: str
    agent_version: str
    status: str
    """``running`` until it has ended, then ``final``."""
    user_message: str
    text: str
    """What the user was told."""
    stop_reason: str
    """``completed``, ``tool_failure``, ``round_cap``, ... (docs/schema.md)."""
    stop_detail: str
    rounds: int
    calls: int
    """How many model calls were made."""
    tools: int
    """How many tools were executed."""
    failed_tools: int
    intent: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    models: tuple[str, ...]
    error_type: str
    error_message: str
    start_time: int
    duration: float
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    row: Any = field(default=None, repr=False, compare=False)
    """The row that would have landed in ``turn_summary``."""


@dataclass(frozen=True)
class RecordedAnnotation:
    """What somebody said of a turn, a call, ...: ``turnspan.annotate``, ``turnspan.evaluation``."""

    id: str
    subject_kind: str
    """``turn``, ``call``, ``tool``, ``span``, ``session``, ``artifact`` or ``attempt``."""
    subject_id: str
    kind: str
    """``outcome``, ``score``, ``comment``, ...; of an evaluation ``evaluation:`` and its name."""
    outcome: str
    training_flag: int | None
    score: float | None
    comment: str
    directive: str
    chosen_id: str
    rejected_id: str
    author: str
    created_at: int
    confidence: float | None = None
    source: str = ""
    ranking_id: str = ""
    """Of a preference that a ranking is made of: the id of the ranking."""
    row: Any = field(default=None, repr=False, compare=False)
    """The row that would have landed in ``annotation``."""


@dataclass(frozen=True)
class RecordedSpan:
    """Any span that ended inside, of whichever instrumentation, without content."""

    id: str
    trace_id: str
    parent_id: str
    name: str
    kind: str
    status: str
    """``UNSET``, ``OK`` or ``ERROR``."""
    scope: str
    """The instrumentation that made it."""
    attributes: Mapping[str, str]
    start_time: int
    duration: float
    row: Any = field(default=None, repr=False, compare=False)
    """The row that would have landed in ``span``."""
