"""The records of consortium runs: several models answer a prompt, and an arbiter decides."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan import semconv
from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import NO_HASH, TIME, Texts, WriterRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class Consortium(WriterRecord):
    """One consortium run. Its last row replaces its first."""

    consortium_id: str = column("String", "", redact=f"attribute:{semconv.CONSORTIUM_ID}")
    """The run's id, a KSUID."""
    name: str = column("String", "", redact="consortium:name")
    """The consortium's name."""
    strategy: str = column("String", "", redact="consortium:strategy")
    """The application's word for how it decides."""
    prompt: bytes = column(
        "FixedString(16)", NO_HASH, content="input", definition="consortium_prompt"
    )
    """Hash of the prompt; its text is in ``definition``."""
    final_text: bytes = column(
        "FixedString(16)", NO_HASH, content="output", definition="consortium_final"
    )
    """Hash of the final text."""
    status: str = column("String", "")
    """``running``, ``finished``, ``failed`` or ``interrupted``."""
    iterations: int = column("UInt32", 0)
    """Iterations that were decided."""
    source: str = column("String", "")
    """``live``, or ``import`` for another tool's log."""
    outer_id: str = column("String", "", redact=f"attribute:{semconv.CONSORTIUM_ID}")
    """The run that this run is a member of."""
    outer_member: str = column("String", "")
    """The member of that run."""
    session_id: str = column("String", "", redact=f"attribute:{semconv.CONVERSATION_ID}")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    span_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ConsortiumIteration(WriterRecord):
    """One decision of an arbiter on the answers of an iteration."""

    consortium_id: str = column("String", "", redact=f"attribute:{semconv.CONSORTIUM_ID}")
    iteration: int = column("UInt32", 0)
    """The iteration's number, from 1."""
    arbiter_id: str = column("String", "")
    """The arbiter's span; its call's span if it has no other."""
    model: str = column("String", "", redact=f"attribute:{semconv.REQUEST_MODEL}")
    """The arbiter's model."""
    synthesis: str = column("String", "", content="output")
    """The text the arbiter made of the answers."""
    ranking: list[str] = column("Array(String)", factory=list, redact="consortium:ranking")
    """Models, best first."""
    confidence: float | None = column("Nullable(Float64)")
    """How sure the arbiter is, from 0 to 1."""
    reasoning: str = column("String", "", content="output")
    """The arbiter's reasons."""
    refinement_areas: list[str] = column("Array(String)", factory=list, redact="output")
    """What the next iteration should improve."""
    needs_iteration: int | None = column("Nullable(UInt8)")
    """Whether the arbiter wants another iteration."""
    raw: str = column("String", "", content="output")
    """The arbiter's whole reply."""
    session_id: str = column("String", "", redact=f"attribute:{semconv.CONVERSATION_ID}")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ConsortiumMember(WriterRecord):
    """One member's answer in an iteration."""

    consortium_id: str = column("String", "", redact=f"attribute:{semconv.CONSORTIUM_ID}")
    iteration: int = column("UInt32", 0)
    member_id: str = column("String", "")
    """The member's span; its call's span if it has no other."""
    model: str = column("String", "", redact=f"attribute:{semconv.REQUEST_MODEL}")
    """The member's model."""
    instance: str = column("String", "", redact="consortium:instance")
    """Which of several members with this model."""
    answer: str = column("String", "", content="output")
    """The answer, if the application gave it; else read ``response_text`` of the last call."""
    session_id: str = column("String", "", redact=f"attribute:{semconv.CONVERSATION_ID}")
    turn_id: str = column("String", "")
    trace_id: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
