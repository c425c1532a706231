"""The records of what agents wrote, and of the improvement loop: lineages, versions, rollouts,
attempts, and what was changed and learned between them."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan import semconv
from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import NO_HASH, OWN_ID, TIME, Texts, WriterRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ArtifactRow(WriterRecord):
    """One text that an agent wrote."""

    target: str = column("String", "", redact=f"attribute:{semconv.TURN_TARGET}")
    """What was written: a page's title, a file's path."""
    artifact_id: str = column("String", "")
    """The artifact's id."""
    kind: str = column("String", "", redact="artifact:kind")
    """The application's word for it (``page``, ``file``), or ``correction`` for a person's text."""
    version: str = column("String", "", redact="artifact:version")
    """The target system's own version: a revision, a commit."""
    content: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the text; the text is in ``definition``."""
    content_bytes: int = column("UInt64", 0)
    """Size of the whole text."""
    session_id: str = column("String", "", redact=f"attribute:{semconv.CONVERSATION_ID}")
    trace_id: str = column("String", "")
    turn_id: str = column("String", "")
    call_id: str = column("String", "")
    """The model call that wrote it."""
    lineage_id: str = column("String", "", redact=OWN_ID)
    rollout_id: str = column("String", "", redact=OWN_ID)
    attempt_id: str = column("String", "", redact=OWN_ID)
    version_id: str = column("String", "", redact=OWN_ID)
    """The version of the agent."""
    cycle: int | None = column("Nullable(UInt32)")
    """The lineage's cycle."""
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class ExperimentRow(WriterRecord):
    """A need, and the lineages tried for it."""

    experiment_id: str = column("String", "", redact="experiment:id")
    """The experiment's id."""
    need: str = column("String", "", redact="experiment:need")
    """What the lineages are tried for."""
    constraints: str = column("String", "", redact="experiment:constraints")
    """What they must observe."""
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LineageRow(WriterRecord):
    """One line of versions of an agent. Its directives and locks are in ``lineage_event``."""

    experiment_id: str = column("String", "", redact="experiment:id")
    lineage_id: str = column("String", "")
    """The lineage."""
    label: str = column("String", "", redact="lineage:label")
    """Its name in the experiment."""
    opened_at: int = column(TIME, 0)
    """When it was opened."""


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class LineageEventRow(WriterRecord):
    """One strategy, directive, lock or unlock of a lineage."""

    lineage_id: str = column("String", "")
    kind: str = column("String", "")
    """``strategy``, ``directive``, ``once`` (a directive for the next cycle), ``locked``,
    ``unlocked`` or ``evolve``."""
    event_id: str = column("String", "")
    """The event's id."""
    text: str = column("String", "")
    """The strategy, the directive or the reason."""
    author: str = column("String", "", redact="lineage:author")
    """Who decided."""
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class AgentVersion(WriterRecord):
    """One configuration of an agent in a lineage."""

    lineage_id: str = column("String", "")
    version_id: str = column("String", "")
    """The version's id: the same for equal configurations."""
    name: str = column("String", "", redact="version:name")
    """The application's name for it."""
    content: bytes = column("FixedString(16)", NO_HASH)
    """Hash of the configuration; the configuration is in ``definition``."""
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class RolloutRow(WriterRecord):
    """One task of a cycle, with all its attempts. Its last row replaces the others."""

    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    """The rollout."""
    cycle: int = column("UInt32", 0)
    task: str = column("String", "", redact="rollout:task")
    """The task, if the application named it."""
    version_id: str = column("String", "", redact=OWN_ID)
    status: str = column("String", "")
    """``running``, ``succeeded``, ``failed`` or ``interrupted``."""
    final_attempt_id: str = column("String", "")
    """The attempt that counts, if the application named it."""
    error_type: str = column("String", "")
    started_at: int = column(TIME, 0)
    """When it began."""
    duration: float = column("Float64", 0.0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class AttemptRow(WriterRecord):
    """One try of a rollout. Its last row replaces its ``running`` row."""

    lineage_id: str = column("String", "")
    rollout_id: str = column("String", "")
    attempt_id: str = column("String", "")
    """The attempt."""
    cycle: int = column("UInt32", 0)
    version_id: str = column("String", "", redact=OWN_ID)
    status: str = column("String", "")
    """``running``, ``succeeded``, ``failed`` or ``interrupted``."""
    model: str = column("String", "", redact=f"attribute:{semconv.REQUEST_MODEL}")
    """The model it uses."""
    parameters: str = column("String", "")
    """Its parameters, as JSON."""
    input: str = column("String", "", content="user_message")
    """What it was given."""
    output: str = column("String", "", content="response_text")
    """What it returned."""
    error_type: str = column("String", "")
    error_message: str = column("String", "", redact="error")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
    started_at: int = column(TIME, 0)
    duration: float = column("Float64", 0.0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class EvolutionRow(WriterRecord):
    """One change from a version of a lineage to the next, with its expected effect."""

    lineage_id: str = column("String", "")
    evolution_id: str = column("String", "")
    """The evolution's id."""
    from_version: str = column("String", "", redact=OWN_ID)
    """The version before."""
    to_version: str = column("String", "", redact=OWN_ID)
    """The version after."""
    trigger: str = column("String", "", redact="evolution:trigger")
    """The reason for the change."""
    hypothesis: str = column("String", "", redact="evolution:hypothesis")
    """The expected effect."""
    plan: str = column("String", "", redact="evolution:plan")
    """How to reach it."""
    changes: Texts = column("Map(String, String)", EMPTY_MAP)
    """What changes, by kind."""
    author: str = column("String", "", redact="evolution:author")
    created_at: int = column(TIME, 0)


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class InsightRow(WriterRecord):
    """A pattern seen in evolutions."""

    experiment_id: str = column("String", "", redact="experiment:id")
    lineage_id: str = column("String", "")
    insight_id: str = column("String", "")
    """The insight's id."""
    pattern: str = column("String", "", redact="insight:pattern")
    """The pattern that was seen."""
    change: str = column("String", "", redact="evolution:change")
    """The kind of change it is about."""
    evolution_ids: list[str] = column("Array(String)", factory=list)
    """The evolutions that show it."""
    confidence: float | None = column("Nullable(Float64)")
    author: str = column("String", "", redact="insight:author")
    created_at: int = column(TIME, 0)
