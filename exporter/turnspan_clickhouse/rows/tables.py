"""The canonical records: one dataclass a table, one field a column, in the table's order.

A field's ClickHouse type is the one the segment is encoded with. ``LowCardinality`` is left out on
purpose: the engine adds it when it inserts, and a plain ``String`` column is cheaper to encode.
``tests/`` checks every class against the DDL in ``schema/``.

Times are nanoseconds since the epoch (``DateTime64(9, 'UTC')``), durations seconds, ids lowercase
hex as Jaeger shows them, hashes 16 raw bytes (``FixedString(16)``, zero bytes where there is none).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows import loop_tables as loop
from turnspan_clickhouse.rows import quality_tables as quality
from turnspan_clickhouse.rows.consortium_tables import (
    Consortium,
    ConsortiumIteration,
    ConsortiumMember,
)
from turnspan_clickhouse.rows.import_tables import ImportPosition
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import MONEY as MONEY
from turnspan_clickhouse.rows.record import NO_HASH as NO_HASH
from turnspan_clickhouse.rows.record import TIME as TIME
from turnspan_clickhouse.rows.record import Record as Record
from turnspan_clickhouse.rows.record import Texts as Texts
from turnspan_clickhouse.rows.record import column as column
from turnspan_clickhouse.rows.record import columns as columns


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Located(Record):
    """What the tables of calls, tools and spans begin with: whose, and where in its trace."""

    project: str = column("String", "")
    service: str = column("String", "")
    environment: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    span_id: str = column("String", "")
    parent_span_id: str = column("String", "")


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LlmCall(Located):
    """One model call."""

    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    time_to_first_chunk: float | None = column("Nullable(Float64)")
    round: int = column("UInt32", 0)
    provider: str = column("String", "")
    operation: str = column("String", "")
    request_model: str = column("String", "")
    response_model: str = column("String", "")
    response_id: str = column("String", "")
    request_parameters: str = column("String", "")
    stream: bool = column("Bool", False)
    stream_outcome: str = column("String", "")
    tries: int = column("UInt8", 1)
    finish_reasons: list[str] = column("Array(String)", factory=list)
    input_tokens: int | None = column("Nullable(UInt64)")
    output_tokens: int | None = column("Nullable(UInt64)")
    cache_read_tokens: int | None = column("Nullable(UInt64)")
    cache_write_tokens: int | None = column("Nullable(UInt64)")
    reasoning_tokens: int | None = column("Nullable(UInt64)")
    tokens_estimated: bool = column("Bool", False)
    cost_usd: Decimal | None = column(MONEY)
    price_version: str = column("String", "")
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    input_messages: list[bytes] = column("Array(FixedString(16))", factory=list)
    output_messages: list[bytes] = column("Array(FixedString(16))", factory=list)
    system_prompt: bytes = column("FixedString(16)", NO_HASH)
    tool_definitions: bytes = column("FixedString(16)", NO_HASH)
    context_assembled: bytes = column("FixedString(16)", NO_HASH)
    response_text: str = column("String", "")
    response_thoughts: str = column("String", "")
    tool_calls: str = column("String", "")
    agent_name: str = column("String", "")
    agent_version: str = column("String", "")
    consortium_id: str = column("String", "")
    consortium_role: int | None = column("Nullable(UInt8)")
    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    attempt_id: str = column("String", "")
    scope_name: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class TurnSummary(Record):
    """One agent turn (an ``invoke_agent`` span); its ``final`` row replaces the ``running`` one."""

    project: str = column("String", "")
    service: str = column("String", "")
    environment: str = column("String", "")
    session_id: str = column("String", "")
    user_id: str = column("String", "")
    turn_id: str = column("String", "")
    parent_turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    span_id: str = column("String", "")
    parent_span_id: str = column("String", "")
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status: str = column("String", "")
    agent_name: str = column("String", "")
    agent_version: str = column("String", "")
    user_message: str = column("String", "")
    response_text: str = column("String", "")
    stop_reason: str = column("String", "")
    stop_detail: str = column("String", "")
    rounds: int = column("UInt32", 0)
    max_rounds: int | None = column("Nullable(UInt32)")
    llm_call_count: int = column("UInt32", 0)
    tool_call_count: int = column("UInt32", 0)
    tool_error_count: int = column("UInt32", 0)
    silent_rounds: int = column("UInt32", 0)
    max_identical_tool_streak: int = column("UInt32", 0)
    no_progress_rounds: int = column("UInt32", 0)
    turn_intent: str = column("String", "")
    chat_mode: str = column("String", "unknown")
    task_type: str = column("String", "")
    target: str = column("String", "")
    input_tokens: int | None = column("Nullable(UInt64)")
    output_tokens: int | None = column("Nullable(UInt64)")
    cache_read_tokens: int | None = column("Nullable(UInt64)")
    cache_write_tokens: int | None = column("Nullable(UInt64)")
    reasoning_tokens: int | None = column("Nullable(UInt64)")
    cost_usd: Decimal | None = column(MONEY)
    models: list[str] = column("Array(String)", factory=list)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    attempt_id: str = column("String", "")
    scope_name: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ToolCall(Located):
    """One executed tool: an ``execute_tool`` span."""

    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    round: int = column("UInt32", 0)
    name: str = column("String", "")
    type: str = column("String", "")
    call_id: str = column("String", "")
    arguments: str = column("String", "")
    result: str = column("String", "")
    failed: bool = column("Bool", False)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    agent_name: str = column("String", "")
    scope_name: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class MessageRow(Record):
    """One distinct message of a scope (its session, or its trace where there is no session).

    ``parts`` is a JSON array in the GenAI message schema. ``source`` is the provider's own JSON of
    the message, kept only where it cannot be rebuilt exactly from ``role``, ``name`` and ``parts``.
    """

    project: str = column("String", "")
    scope: str = column("String", "")
    hash: bytes = column("FixedString(16)", NO_HASH)
    role: str = column("String", "")
    name: str = column("String", "")
    parts: str = column("String", "")
    source: str = column("String", "")
    dialect: str = column("String", "")
    first_seen: int = column(TIME, 0)
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Definition(Record):
    """A distinct system prompt, tool catalogue, assembled context or agent configuration.

    ``body`` is text for a prompt, GenAI-schema JSON for a tool catalogue; ``source`` the provider's
    own JSON where ``body`` is not exactly that.
    """

    project: str = column("String", "")
    hash: bytes = column("FixedString(16)", NO_HASH)
    kind: str = column("String", "")
    body: str = column("String", "")
    source: str = column("String", "")
    first_seen: int = column(TIME, 0)
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class SpanRow(Located):
    """Any span of a trace, without content, so that the trace can be rebuilt."""

    trace_state: str = column("String", "")
    name: str = column("String", "")
    kind: str = column("String", "")
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status_code: str = column("String", "")
    status_message: str = column("String", "")
    scope_name: str = column("String", "")
    scope_version: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    resource: Texts = column("Map(String, String)", EMPTY_MAP)
    events: str = column("String", "")
    links: str = column("String", "")
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Annotation(Record):
    """One judgment about a call, turn, session, artifact or attempt; append-only."""

    project: str = column("String", "")
    subject_kind: str = column("String", "")
    subject_id: str = column("String", "")
    kind: str = column("String", "")
    annotation_id: str = column("String", "")
    outcome: str = column("String", "")
    training_flag: int | None = column("Nullable(Int8)")
    score: float | None = column("Nullable(Float64)")
    comment: str = column("String", "")
    chosen_id: str = column("String", "")
    rejected_id: str = column("String", "")
    directive: str = column("String", "")
    author: str = column("String", "")
    source: str = column("String", "")
    created_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)
    confidence: float | None = column("Nullable(Float64)")
    ranking_id: str = column("String", "")


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Withdrawal(Record):
    """That a judgment no longer holds. Of an empty ``annotation_id`` it is the newest of its kind
    then, of ``author`` where one is named."""

    project: str = column("String", "")
    subject_kind: str = column("String", "")
    subject_id: str = column("String", "")
    kind: str = column("String", "")
    withdrawal_id: str = column("String", "")
    annotation_id: str = column("String", "")
    author: str = column("String", "")
    source: str = column("String", "")
    comment: str = column("String", "")
    created_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ReviewQueue(Record):
    """A queue of turns to be judged, saved under a name; ``definition`` is JSON."""

    project: str = column("String", "")
    name: str = column("String", "")
    definition: str = column("String", "")
    author: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextAssemblyRow(Located):
    """One context that was put together for a prompt; its ``final`` row replaces the ``running``
    one. The arrays have a value for each step, in the order in which they began."""

    assembly_id: str = column("String", "")
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status: str = column("String", "")
    agent_name: str = column("String", "")
    task_type: str = column("String", "")
    entities: list[str] = column("Array(String)", factory=list)
    budget: int | None = column("Nullable(UInt64)")
    used: int | None = column("Nullable(UInt64)")
    used_estimated: bool = column("Bool", False)
    considered: int = column("UInt32", 0)
    kept: int = column("UInt32", 0)
    dropped: int = column("UInt32", 0)
    bypassed: bool = column("Bool", False)
    bypass_reason: str = column("String", "")
    step_names: list[str] = column("Array(String)", factory=list)
    step_durations: list[float] = column("Array(Float64)", factory=list)
    step_errors: list[str] = column("Array(String)", factory=list)
    context_hash: bytes = column("FixedString(16)", NO_HASH)
    error_type: str = column("String", "")
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextItemRow(Record):
    """Something that was considered for a context. ``start_time`` is its assembly's."""

    project: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    assembly_id: str = column("String", "")
    start_time: int = column(TIME, 0)
    item_id: str = column("String", "")
    position: int = column("UInt32", 0)
    section: str = column("String", "")
    source: str = column("String", "")
    tokens: int | None = column("Nullable(UInt64)")
    tokens_estimated: bool = column("Bool", False)
    score: float | None = column("Nullable(Float64)")
    kept: bool = column("Bool", False)
    reason: str = column("String", "")
    hop: int | None = column("Nullable(UInt32)")
    requires_depth: int | None = column("Nullable(UInt32)")
    content_hash: bytes = column("FixedString(16)", NO_HASH)
    written_at: int = column(TIME, 0)


_TABLES: dict[str, type[Record]] = {
    "tombstone": Tombstone,
    "llm_call": LlmCall,
    "turn_summary": TurnSummary,
    "annotation": Annotation,
    "withdrawal": Withdrawal,
    "review_queue": ReviewQueue,
    "artifact": loop.ArtifactRow,
    "artifact_check": quality.ArtifactCheckRow,
    "evolution": loop.EvolutionRow,
    "insight": loop.InsightRow,
    "agent_version": loop.AgentVersion,
    "attempt": loop.AttemptRow,
    "rollout": loop.RolloutRow,
    "lineage_event": loop.LineageEventRow,
    "lineage": loop.LineageRow,
    "experiment": loop.ExperimentRow,
    "consortium": Consortium,
    "consortium_iteration": ConsortiumIteration,
    "consortium_member": ConsortiumMember,
    "tool_call": ToolCall,
    "message": MessageRow,
    "definition": Definition,
    "context_assembly": ContextAssemblyRow,
    "context_item": ContextItemRow,
    "span": SpanRow,
    "import_position": ImportPosition,
}
# Not in the classes: compiled, a dataclass takes a class variable of its own for a field.
for _table, _record in _TABLES.items():
    _record.table = _table

RECORDS: tuple[type[Record], ...] = tuple(_TABLES.values())
"""Every record class, most precious first (the spool drops from the end when it is full)."""
