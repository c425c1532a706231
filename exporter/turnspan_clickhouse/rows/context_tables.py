"""The records of contexts that were assembled for prompts."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan import semconv
from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import NO_HASH, TIME, Located, ProjectRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextAssemblyRow(Located):
    """One context assembled for a prompt. Its ``final`` row replaces its ``running`` row."""

    assembly_id: str = column("String", "")
    """The assembly's id."""
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


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ContextItemRow(ProjectRecord):
    """One item considered for a context."""

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
