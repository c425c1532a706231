"""The records of consortium runs: several models answer a prompt, and an arbiter decides."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import NO_HASH, TIME, Record, Texts, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Consortium(Record):
    """One run; its last row replaces the one that it began with. ``prompt`` and ``final_text`` are
    hashes of texts in ``definition``."""

    project: str = column("String", "")
    consortium_id: str = column("String", "")
    name: str = column("String", "")
    strategy: str = column("String", "")
    prompt: bytes = column("FixedString(16)", NO_HASH)
    final_text: bytes = column("FixedString(16)", NO_HASH)
    status: str = column("String", "")
    iterations: int = column("UInt32", 0)
    source: str = column("String", "")
    outer_id: str = column("String", "")
    outer_member: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    span_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ConsortiumIteration(Record):
    """What an arbiter made of the answers of an iteration."""

    project: str = column("String", "")
    consortium_id: str = column("String", "")
    iteration: int = column("UInt32", 0)
    arbiter_id: str = column("String", "")
    model: str = column("String", "")
    synthesis: str = column("String", "")
    ranking: list[str] = column("Array(String)", factory=list)
    confidence: float | None = column("Nullable(Float64)")
    reasoning: str = column("String", "")
    refinement_areas: list[str] = column("Array(String)", factory=list)
    needs_iteration: int | None = column("Nullable(UInt8)")
    raw: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ConsortiumMember(Record):
    """A member's answer in an iteration; ``answer`` where the application said it, else its last
    call has it."""

    project: str = column("String", "")
    consortium_id: str = column("String", "")
    iteration: int = column("UInt32", 0)
    member_id: str = column("String", "")
    model: str = column("String", "")
    instance: str = column("String", "")
    answer: str = column("String", "")
    session_id: str = column("String", "")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)
