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

from turnspan import semconv
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
    """The first columns of calls, tools and spans: owner, and place in the trace."""

    project: str = column("String", "")
    """Groups records; the service's name unless the application sets it."""
    service: str = column("String", "")
    """``service.name`` of the process."""
    environment: str = column("String", "")
    """``deployment.environment.name`` of the process."""
    session_id: str = column("String", "")
    """The session (conversation); empty if there is none."""
    turn_id: str = column("String", "")
    """The turn; empty outside a turn."""
    trace_id: str = column("String", "")
    """The trace, as Jaeger shows it."""
    span_id: str = column("String", "")
    """The span of this record."""
    parent_span_id: str = column("String", "")
    """The span around it; empty for the root of a trace."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LlmCall(Located):
    """One model call."""

    start_time: int = column(TIME, 0)
    """When it began."""
    duration: float = column("Float64", 0.0)
    """How long it took."""
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
    input_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of the prompt, with those read from a cache; ``NULL`` if unknown."""
    output_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of the reply; ``NULL`` if unknown."""
    cache_read_tokens: int | None = column("Nullable(UInt64)")
    """Prompt tokens that the provider read from its cache."""
    cache_write_tokens: int | None = column("Nullable(UInt64)")
    """Prompt tokens that the provider wrote to its cache."""
    reasoning_tokens: int | None = column("Nullable(UInt64)")
    """Tokens of reasoning, which ``output_tokens`` includes."""
    tokens_estimated: bool = column("Bool", False)
    """Whether the tokens are an estimate."""
    cost_usd: Decimal | None = column(MONEY)
    """Cost in US dollars; ``NULL`` without a known price. A turn's is the sum of its calls."""
    price_version: str = column("String", "")
    """Version of the price table; ``provider`` if the provider stated the cost."""
    error_type: str = column("String", "")
    """Exception class or error code; empty if nothing failed."""
    error_message: str = column("String", "")
    """The error's message, masked and cut."""
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
    agent_name: str = column("String", "")
    """The agent around it."""
    agent_version: str = column("String", "")
    """The agent's version, named by the application."""
    consortium_id: str = column("String", "")
    """The consortium run it belongs to."""
    consortium_role: int | None = column("Nullable(UInt8)")
    """0 member, 1 final arbiter, 2 arbiter followed by another iteration."""
    lineage_id: str = column("String", "")
    """The lineage it belongs to."""
    rollout_id: str = column("String", "")
    """The rollout it belongs to."""
    attempt_id: str = column("String", "")
    """The attempt it belongs to."""
    scope_name: str = column("String", "")
    """The instrumentation that recorded it."""
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    """All other attributes of the span, or of the run."""
    writer: str = column("String", "")
    """The process that wrote the row."""
    written_at: int = column(TIME, 0)
    """When the row was written; the newest row of a key holds."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class TurnSummary(Record):
    """One agent turn (an ``invoke_agent`` span). Its ``final`` row replaces its ``running`` row."""

    project: str = column("String", "")
    service: str = column("String", "")
    environment: str = column("String", "")
    session_id: str = column("String", "")
    user_id: str = column("String", "")
    """The user, named by the application."""
    turn_id: str = column("String", "")
    """The turn."""
    parent_turn_id: str = column("String", "")
    """The turn around a nested agent's; empty for a root turn."""
    trace_id: str = column("String", "")
    span_id: str = column("String", "")
    parent_span_id: str = column("String", "")
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status: str = column("String", "")
    """``running``, ``final``, or ``interrupted`` if its process died."""
    agent_name: str = column("String", "")
    """The agent's name."""
    agent_version: str = column("String", "")
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
    input_tokens: int | None = column("Nullable(UInt64)")
    """Sum over the turn's calls and nested turns: do not add nested turns again."""
    output_tokens: int | None = column("Nullable(UInt64)")
    """As ``input_tokens``."""
    cache_read_tokens: int | None = column("Nullable(UInt64)")
    """As ``input_tokens``."""
    cache_write_tokens: int | None = column("Nullable(UInt64)")
    """As ``input_tokens``."""
    reasoning_tokens: int | None = column("Nullable(UInt64)")
    """As ``input_tokens``."""
    cost_usd: Decimal | None = column(MONEY)
    """Sum of the known costs, nested turns included; ``NULL`` if none is known."""
    models: list[str] = column("Array(String)", factory=list)
    """The models that answered."""
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
    """The content's hash, which other records refer to."""
    kind: str = column("String", "")
    """What it is: a system prompt, tool catalogue, context, artifact or agent configuration."""
    body: str = column("String", "")
    """A prompt's text; JSON for a tool catalogue or configuration."""
    source: str = column("String", "")
    """The provider's own JSON, if it is not exactly ``body``."""
    first_seen: int = column(TIME, 0)
    """When a record first referred to it."""
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class SpanRow(Located):
    """One span of a trace, without content."""

    trace_state: str = column("String", "")
    """The W3C ``tracestate``."""
    name: str = column("String", "")
    """The span's name."""
    kind: str = column("String", "")
    """The span's kind."""
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status_code: str = column("String", "")
    """The span's status."""
    status_message: str = column("String", "")
    """The status' description."""
    scope_name: str = column("String", "")
    scope_version: str = column("String", "")
    """The instrumentation's version."""
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    """The span's attributes, without content."""
    resource: Texts = column("Map(String, String)", EMPTY_MAP)
    """The attributes of the process."""
    events: str = column("String", "")
    """The span's events, as JSON."""
    links: str = column("String", "")
    """The span's links, as JSON."""
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Annotation(Record):
    """One judgment; rows are only appended."""

    project: str = column("String", "")
    subject_kind: str = column("String", "")
    """What is judged: ``turn``, ``call``, ``tool``, ``span``, ``session``, ``artifact``,
    ``attempt`` or ``consortium``."""
    subject_id: str = column("String", "")
    """The id of the judged record."""
    kind: str = column("String", "", redact="annotation:kind")
    """``outcome``, ``training_flag``, ``score``, ``comment``, ``directive``, ``preference`` or
    ``evaluation:NAME``."""
    annotation_id: str = column("String", "")
    """The judgment's id; the same id is stored once."""
    outcome: str = column("String", "", redact="annotation:outcome")
    """``pending``, ``used``, ``modified`` or ``rejected``; an evaluation's label."""
    training_flag: int | None = column("Nullable(Int8)")
    """1 good candidate for training, -1 exclude, 0 neither."""
    score: float | None = column("Nullable(Float64)")
    """The score; people give 1 to 10."""
    comment: str = column("String", "", redact="annotation:comment")
    """The reason or note."""
    chosen_id: str = column("String", "")
    """The better record of a preference."""
    rejected_id: str = column("String", "")
    """The other record of a preference."""
    directive: str = column("String", "", redact="annotation:directive")
    """What to do differently."""
    author: str = column("String", "", redact="annotation:author")
    """Who judged; a machine's name begins with ``passive:``."""
    source: str = column("String", "", redact="annotation:source")
    """Where it was judged: a form, a job, a command."""
    created_at: int = column(TIME, 0)
    """When it was made."""
    written_at: int = column(TIME, 0)
    confidence: float | None = column("Nullable(Float64)")
    """How sure the author is, from 0 to 1."""
    ranking_id: str = column("String", "")
    """The ranking that a preference is part of."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Withdrawal(Record):
    """One withdrawal of a judgment."""

    project: str = column("String", "")
    subject_kind: str = column("String", "")
    subject_id: str = column("String", "")
    kind: str = column("String", "", redact="annotation:kind")
    withdrawal_id: str = column("String", "")
    """The withdrawal's id."""
    annotation_id: str = column("String", "")
    """The withdrawn judgment; empty for the newest of its kind at that time."""
    author: str = column("String", "", redact="annotation:author")
    """Who withdrew it. Without ``annotation_id``, only that author's judgments are meant; all if
    empty."""
    source: str = column("String", "", redact="annotation:source")
    comment: str = column("String", "", redact="annotation:comment")
    created_at: int = column(TIME, 0)
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ReviewQueue(Record):
    """A saved queue of turns to judge."""

    project: str = column("String", "")
    name: str = column("String", "")
    """The queue's name."""
    definition: str = column("String", "")
    """What the queue contains, as JSON."""
    author: str = column("String", "")
    """Who saved it."""
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextAssemblyRow(Located):
    """One context assembled for a prompt. Its ``final`` row replaces its ``running`` row."""

    assembly_id: str = column("String", "")
    """The assembly's id."""
    start_time: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    status: str = column("String", "")
    """``running`` or ``final``."""
    agent_name: str = column("String", "", redact=f"attribute:{semconv.AGENT_NAME}")
    task_type: str = column("String", "", redact="context:task")
    entities: list[str] = column("Array(String)", factory=list)
    """What the prompt is about, in the application's words."""
    budget: int | None = column("Nullable(UInt64)")
    """The most tokens it may use."""
    used: int | None = column("Nullable(UInt64)")
    """Tokens used."""
    used_estimated: bool = column("Bool", False)
    """Whether ``used`` is an estimate."""
    considered: int = column("UInt32", 0)
    """Items considered."""
    kept: int = column("UInt32", 0)
    """Items kept."""
    dropped: int = column("UInt32", 0)
    """Items dropped."""
    bypassed: bool = column("Bool", False)
    """Whether the assembly was skipped."""
    bypass_reason: str = column("String", "")
    """Why it was skipped."""
    step_names: list[str] = column("Array(String)", factory=list)
    """The steps, in the order they began."""
    step_durations: list[float] = column("Array(Float64)", factory=list)
    """Seconds of each step."""
    step_errors: list[str] = column("Array(String)", factory=list)
    """The error type of each step; empty if it did not fail."""
    context_hash: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the assembled text; the text is in ``definition``."""
    error_type: str = column("String", "")
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextItemRow(Record):
    """One item considered for a context."""

    project: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    assembly_id: str = column("String", "")
    start_time: int = column(TIME, 0)
    """When its assembly began."""
    item_id: str = column("String", "", redact="context:id")
    """The application's name for the item."""
    position: int = column("UInt32", 0)
    """Its place in the assembly, from 0."""
    section: str = column("String", "", redact="context:section")
    """The part of the context it belongs to."""
    source: str = column("String", "", redact="context:source")
    """Where it came from."""
    tokens: int | None = column("Nullable(UInt64)")
    """Its tokens."""
    tokens_estimated: bool = column("Bool", False)
    score: float | None = column("Nullable(Float64)")
    """The application's score for it."""
    kept: bool = column("Bool", False)
    """Whether it is in the context."""
    reason: str = column("String", "", redact="context:reason")
    """Why it was dropped: ``budget``, ``duplicate``, ``filtered`` or the application's word."""
    hop: int | None = column("Nullable(UInt32)")
    """Links between it and the starting point."""
    requires_depth: int | None = column("Nullable(UInt32)")
    """Requirements between it and the first instructions."""
    content_hash: bytes = column("FixedString(16)", NO_HASH)
    """Hash of its text; the text is in ``definition``."""
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
