"""The records of what agents wrote, and of the improvement loop: lineages, versions, rollouts,
attempts, and what was changed and learned between them."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import NO_HASH, TIME, Record, Texts, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ArtifactRow(Record):
    """Something that an agent wrote; ``content`` is the hash of its text in ``definition``."""

    project: str = column("String", "")
    target: str = column("String", "")
    artifact_id: str = column("String", "")
    kind: str = column("String", "")
    version: str = column("String", "")
    content: bytes = column("FixedString(16)", NO_HASH)
    content_bytes: int = column("UInt64", 0)
    session_id: str = column("String", "")
    trace_id: str = column("String", "")
    turn_id: str = column("String", "")
    call_id: str = column("String", "")
    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    attempt_id: str = column("String", "")
    version_id: str = column("String", "")
    cycle: int | None = column("Nullable(UInt32)")
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ExperimentRow(Record):
    """What a number of lineages are tried for."""

    project: str = column("String", "")
    experiment_id: str = column("String", "")
    need: str = column("String", "")
    constraints: str = column("String", "")
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LineageRow(Record):
    """One line of versions of an agent; what is said of it is in ``lineage_event``."""

    project: str = column("String", "")
    experiment_id: str = column("String", "")
    lineage_id: str = column("String", "")
    label: str = column("String", "")
    opened_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LineageEventRow(Record):
    """A strategy or a directive that was given to a lineage, or that it was locked or unlocked."""

    project: str = column("String", "")
    lineage_id: str = column("String", "")
    kind: str = column("String", "")
    event_id: str = column("String", "")
    text: str = column("String", "")
    author: str = column("String", "")
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class AgentVersion(Record):
    """A configuration of an agent in a lineage; ``content`` is its hash in ``definition``."""

    project: str = column("String", "")
    lineage_id: str = column("String", "")
    version_id: str = column("String", "")
    name: str = column("String", "")
    content: bytes = column("FixedString(16)", NO_HASH)
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class RolloutRow(Record):
    """One task of a cycle, however often it was attempted; its last row replaces the others."""

    project: str = column("String", "")
    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    cycle: int = column("UInt32", 0)
    task: str = column("String", "")
    version_id: str = column("String", "")
    status: str = column("String", "")
    final_attempt_id: str = column("String", "")
    error_type: str = column("String", "")
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class AttemptRow(Record):
    """One try of a rollout; its last row replaces the ``running`` one."""

    project: str = column("String", "")
    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    attempt_id: str = column("String", "")
    cycle: int = column("UInt32", 0)
    version_id: str = column("String", "")
    status: str = column("String", "")
    model: str = column("String", "")
    parameters: str = column("String", "")
    input: str = column("String", "")
    output: str = column("String", "")
    error_type: str = column("String", "")
    error_message: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class EvolutionRow(Record):
    """A change from one version of a lineage to the next, and what was expected of it."""

    project: str = column("String", "")
    lineage_id: str = column("String", "")
    evolution_id: str = column("String", "")
    from_version: str = column("String", "")
    to_version: str = column("String", "")
    trigger: str = column("String", "")
    hypothesis: str = column("String", "")
    plan: str = column("String", "")
    changes: Texts = column("Map(String, String)", EMPTY_MAP)
    author: str = column("String", "")
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class InsightRow(Record):
    """A pattern that somebody saw in evolutions; how often it held is computed, not said."""

    project: str = column("String", "")
    experiment_id: str = column("String", "")
    lineage_id: str = column("String", "")
    insight_id: str = column("String", "")
    pattern: str = column("String", "")
    change: str = column("String", "")
    evolution_ids: list[str] = column("Array(String)", factory=list)
    confidence: float | None = column("Nullable(Float64)")
    author: str = column("String", "")
    created_at: int = column(TIME, 0)
    writer: str = column("String", "")
    written_at: int = column(TIME, 0)
