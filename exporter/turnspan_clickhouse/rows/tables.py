"""The canonical records: one dataclass a table, one field a column.

A field's ClickHouse type is the one the segment is encoded with. ``LowCardinality`` is left out on
purpose: the engine adds it when it inserts, and a plain ``String`` column is cheaper to encode.
``tests/`` checks every class against the DDL in ``schema/``.

Times are nanoseconds since the epoch (``DateTime64(9, 'UTC')``), durations seconds, ids lowercase
hex as Jaeger shows them, hashes 16 raw bytes (``FixedString(16)``, zero bytes where there is none).
"""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows import loop_tables as loop
from turnspan_clickhouse.rows.consortium_tables import (
    Consortium,
    ConsortiumIteration,
    ConsortiumMember,
)
from turnspan_clickhouse.rows.context_tables import ContextAssemblyRow as ContextAssemblyRow
from turnspan_clickhouse.rows.context_tables import ContextItemRow as ContextItemRow
from turnspan_clickhouse.rows.dataset_tables import DatasetCase as DatasetCase
from turnspan_clickhouse.rows.judgment_tables import Annotation as Annotation
from turnspan_clickhouse.rows.judgment_tables import ArtifactCheckRow
from turnspan_clickhouse.rows.judgment_tables import ReviewQueue as ReviewQueue
from turnspan_clickhouse.rows.judgment_tables import Withdrawal as Withdrawal
from turnspan_clickhouse.rows.keeping_tables import ImportPosition, Tombstone
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import MONEY as MONEY
from turnspan_clickhouse.rows.record import NO_HASH as NO_HASH
from turnspan_clickhouse.rows.record import TIME as TIME
from turnspan_clickhouse.rows.record import Located as Located
from turnspan_clickhouse.rows.record import ProjectRecord, SpanRecord, UsageRecord
from turnspan_clickhouse.rows.record import Record as Record
from turnspan_clickhouse.rows.record import Texts as Texts
from turnspan_clickhouse.rows.record import column as column
from turnspan_clickhouse.rows.record import columns as columns
from turnspan_clickhouse.rows.running_call import RunningCall as RunningCall


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LlmCall(UsageRecord):
    """One model call."""

    time_to_first_chunk: float | None = column("Nullable(Float64)")
    """Seconds until a stream's first chunk."""
    round: int = column("UInt32", 0)
    """Number of the model call in its turn, from 1; a tool has the number of the call before it."""
    provider: str = column("String", "")
    """Who served the model, as ``gen_ai.provider.name``."""
    operation: str = column("String", "")
    """``chat``, ``text_completion``, ``embeddings``, ... (``gen_ai.operation.name``)."""
    request_model: str = column("String", "")
    """The model that was asked for."""
    response_model: str = column("String", "")
    """The model that answered."""
    response_id: str = column("String", "")
    """The provider's id of the response."""
    request_parameters: str = column("String", "")
    """Temperature and the other parameters, as JSON."""
    stream: bool = column("Bool", False)
    """Whether the reply was streamed."""
    stream_outcome: str = column("String", "")
    """How a stream ended: ``complete``, ``abandoned``, ``cancelled`` or ``error``."""
    tries: int = column("UInt8", 1)
    """HTTP requests made, with the SDK's retries."""
    finish_reasons: list[str] = column("Array(String)", factory=list)
    """Why the model stopped, in the provider's words, one for each choice."""
    tokens_estimated: bool = column("Bool", False)
    """Whether the tokens are an estimate."""
    price_version: str = column("String", "")
    """Version of the price table; ``provider`` if the provider stated the cost."""
    input_messages: list[bytes] = column("Array(FixedString(16))", factory=list)
    """Hashes of the messages sent, in order; their texts are in ``message``."""
    output_messages: list[bytes] = column("Array(FixedString(16))", factory=list)
    """Hashes of the messages received."""
    system_prompt: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the system prompt; its text is in ``definition``."""
    tool_definitions: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the tool catalogue."""
    context_assembled: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the assembled context that the request contains."""
    response_text: str = column("String", "")
    """Visible text of the reply."""
    response_thoughts: str = column("String", "")
    """Reasoning text of the reply."""
    tool_calls: str = column("String", "")
    """The tool calls that the reply asks for, as JSON."""
    consortium_id: str = column("String", "")
    """The consortium run it belongs to."""
    consortium_role: int | None = column("Nullable(UInt8)")
    """0 member, 1 final arbiter, 2 arbiter followed by another iteration."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class TurnSummary(UsageRecord):
    """One agent turn (an ``invoke_agent`` span). Its ``final`` row replaces its ``running`` row."""

    user_id: str = column("String", "")
    """The user, named by the application."""
    parent_turn_id: str = column("String", "")
    """The turn around a nested agent's; empty for a root turn."""
    status: str = column("String", "")
    """``running``, ``final``, or ``interrupted`` if its process died."""
    user_message: str = column("String", "")
    """The user's input."""
    response_text: str = column("String", "")
    """The turn's answer: ``turn.set(response_text=...)``, else the returned value (text, JSON or
    joined generator items), else the last reply's visible text."""
    stop_reason: str = column("String", "")
    """Why the turn ended; see the stop reasons."""
    stop_detail: str = column("String", "")
    """The failed tool, exception or rounds behind the stop reason."""
    rounds: int = column("UInt32", 0)
    """Model calls of the turn without nested agents; a retried call counts once."""
    max_rounds: int | None = column("Nullable(UInt32)")
    """The limit of rounds, if the application set one."""
    llm_call_count: int = column("UInt32", 0)
    """Model calls of the turn."""
    tool_call_count: int = column("UInt32", 0)
    """Executed tools."""
    tool_error_count: int = column("UInt32", 0)
    """Executed tools that failed."""
    silent_rounds: int = column("UInt32", 0)
    """Tool rounds since the last visible text."""
    max_identical_tool_streak: int = column("UInt32", 0)
    """The longest run of equal tool calls."""
    no_progress_rounds: int = column("UInt32", 0)
    """Rounds at the end in which every tool call repeated an earlier one."""
    turn_intent: str = column("String", "")
    """``conversational``, ``status_check``, ``diagnose``, ``small_fix``, ``feature_build``,
    ``deploy`` or ``autonomous``: given, or found by keywords if ``classify_intent`` is on."""
    chat_mode: str = column("String", "unknown")
    """``vibe``, ``collaborate``, ``delegate``, ``unknown`` or your own word."""
    task_type: str = column("String", "")
    """Your own word for the kind of task."""
    target: str = column("String", "")
    """What the turn works on, in your own words."""
    models: list[str] = column("Array(String)", factory=list)
    """The models that answered."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ToolCall(SpanRecord):
    """One executed tool: an ``execute_tool`` span."""

    round: int = column("UInt32", 0)
    name: str = column("String", "")
    """The tool's name."""
    type: str = column("String", "")
    """The kind of tool: ``function``, ..."""
    call_id: str = column("String", "")
    """The id of the model's tool call that asked for it."""
    arguments: str = column("String", "")
    """The arguments, as JSON."""
    result: str = column("String", "")
    """The result: text, or JSON."""
    failed: bool = column("Bool", False)
    """Whether it raised, or its result says that it failed."""
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    agent_name: str = column("String", "")


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class MessageRow(ProjectRecord):
    """One distinct message of a scope (its session, or its trace where there is no session).

    ``parts`` is a JSON array in the GenAI message schema. ``source`` is the provider's own JSON of
    the message, kept only where it cannot be rebuilt exactly from ``role``, ``name`` and ``parts``.
    """

    scope: str = column("String", "")
    """The session's id, or the trace's without a session."""
    hash: bytes = column("FixedString(16)", NO_HASH)
    """The content's hash, which calls refer to."""
    role: str = column("String", "")
    """``system``, ``user``, ``assistant`` or ``tool``."""
    name: str = column("String", "")
    """The participant's name, if the message has one."""
    parts: str = column("String", "")
    """The message's parts, as JSON in the GenAI conventions' schema."""
    source: str = column("String", "")
    """The provider's own JSON, only if it cannot be rebuilt exactly from the other columns."""
    dialect: str = column("String", "")
    """The API whose form ``source`` has."""
    first_seen: int = column(TIME, 0)
    """When a call first contained it."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Definition(ProjectRecord):
    """A distinct system prompt, tool catalogue, assembled context or agent configuration.

    ``body`` is text for a prompt, GenAI-schema JSON for a tool catalogue; ``source`` the provider's
    own JSON where ``body`` is not exactly that.
    """

    hash: bytes = column("FixedString(16)", NO_HASH)
    """The content's hash, which other records refer to."""
    kind: str = column("String", "")
    """What it is: a system prompt, tool catalogue, context, artifact or agent configuration."""
    body: str = column("String", "")
    """A prompt's text; JSON for a tool catalogue or configuration."""
    source: str = column("String", "")
    """The provider's own JSON, if it is not exactly ``body``."""
    first_seen: int = column(TIME, 0)
    """When a record first referred to it."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class SpanRow(SpanRecord):
    """One span of a trace, with all its attributes but the content."""

    trace_state: str = column("String", "")
    """The W3C ``tracestate``."""
    name: str = column("String", "")
    """The span's name."""
    kind: str = column("String", "")
    """The span's kind."""
    status_code: str = column("String", "")
    """The span's status."""
    status_message: str = column("String", "")
    """The status' description."""
    scope_version: str = column("String", "")
    """The instrumentation's version."""
    resource: Texts = column("Map(String, String)", EMPTY_MAP)
    """The attributes of the process."""
    events: str = column("String", "")
    """The span's events, as JSON."""
    links: str = column("String", "")
    """The span's links, as JSON."""


_IN_SESSION = ("project", "session_id", "start_time")
_TABLES: dict[str, tuple[type[Record], tuple[str, ...]]] = {
    "tombstone": (Tombstone, ("project", "kind", "key", "forgetting_id")),
    "llm_call": (LlmCall, (*_IN_SESSION, "span_id")),
    "turn_summary": (TurnSummary, (*_IN_SESSION, "turn_id")),
    "annotation": (Annotation, ("project", "subject_kind", "kind", "subject_id", "annotation_id")),
    "withdrawal": (Withdrawal, ("project", "subject_kind", "kind", "subject_id", "withdrawal_id")),
    "review_queue": (ReviewQueue, ("project", "name")),
    "dataset_case": (DatasetCase, ("project", "dataset", "version", "case_id")),
    "artifact": (loop.ArtifactRow, ("project", "target", "artifact_id")),
    "artifact_check": (ArtifactCheckRow, ("project", "source", "artifact_id")),
    "evolution": (loop.EvolutionRow, ("project", "lineage_id", "evolution_id")),
    "insight": (loop.InsightRow, ("project", "insight_id")),
    "agent_version": (loop.AgentVersion, ("project", "lineage_id", "version_id")),
    "attempt": (loop.AttemptRow, ("project", "lineage_id", "rollout_id", "attempt_id")),
    "rollout": (loop.RolloutRow, ("project", "lineage_id", "rollout_id")),
    "lineage_event": (loop.LineageEventRow, ("project", "lineage_id", "kind", "event_id")),
    "lineage": (loop.LineageRow, ("project", "experiment_id", "lineage_id")),
    "experiment": (loop.ExperimentRow, ("project", "experiment_id")),
    "consortium": (Consortium, ("project", "consortium_id")),
    "consortium_iteration": (ConsortiumIteration, ("project", "consortium_id", "arbiter_id")),
    "consortium_member": (ConsortiumMember, ("project", "consortium_id", "member_id")),
    "tool_call": (ToolCall, (*_IN_SESSION, "span_id")),
    "message": (MessageRow, ("project", "scope", "hash")),
    "definition": (Definition, ("project", "hash")),
    "context_assembly": (ContextAssemblyRow, (*_IN_SESSION, "assembly_id")),
    "context_item": (ContextItemRow, (*_IN_SESSION, "assembly_id", "item_id")),
    "span": (SpanRow, ("project", "trace_id", "start_time", "span_id")),
    "import_position": (ImportPosition, ("project", "kind", "source")),
    "llm_call_running": (RunningCall, (*_IN_SESSION, "span_id")),
}
# Not in the classes: compiled, a dataclass takes a class variable of its own for a field.
for _table, (_record, _) in _TABLES.items():
    _record.table = _table

RECORDS: tuple[type[Record], ...] = tuple(record for record, _ in _TABLES.values())
"""Every record class, most precious first (the spool drops from the end when it is full)."""

KEYS: dict[type[Record], tuple[str, ...]] = dict(_TABLES.values())
"""What each table is ordered by: of rows that are equal there, the newest holds. The week that some
tables begin with follows from the time."""
