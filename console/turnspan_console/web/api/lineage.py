"""Experiments: lineages with their versions, what changed between these, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

import orjson
from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.fields import copied, of_row
from turnspan_records.access.times import utc
from turnspan_records.loop.improvement import (
    MISSING,
    ArtifactRecord,
    AttemptRecord,
    EvolutionRecord,
    ExperimentRecord,
    InsightRecord,
    LineageEventRecord,
    LineageRecord,
    RolloutRecord,
    VersionRecord,
    score_of,
)
from turnspan_records.loop.lineages import experiment, experiments, experiments_sql


@dataclass(frozen=True, slots=True)
class ExperimentsQuery:
    """Which experiments."""

    project: str = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class ExperimentItem:
    """An experiment in the list."""

    project: str
    experiment: str
    last_time: datetime
    lineages: int
    rollouts: int
    cycle: int
    need: str


@dataclass(frozen=True, slots=True)
class Experiments:
    """Experiments, those worked on last first."""

    experiments: list[ExperimentItem]
    sql: str


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """Which experiment, by its name."""

    session: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactShown:
    """Something that was written."""

    id: str
    target: str
    kind: str
    version: str
    score: float | None


@dataclass(frozen=True, slots=True)
class AttemptShown:
    """One try of a rollout; ``final`` is the one that counts."""

    id: str
    number: int
    final: bool
    status: str
    model: str
    seconds: float
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    score: float | None
    error_type: str
    error_message: str
    input: str
    output: str
    artifacts: list[ArtifactShown]


@dataclass(frozen=True, slots=True)
class RolloutShown:
    """One task of a cycle."""

    id: str
    cycle: int
    task: str
    status: str
    seconds: float
    cost_usd: Decimal | None
    score: float | None
    attempts: list[AttemptShown]


@dataclass(frozen=True, slots=True)
class ChangeShown:
    """A part of a configuration that differs, as JSON or text; ``None`` where it is missing."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class VersionShown:
    """A configuration of the agent, what differs from the one it was made from, and its rollouts.
    ``judged`` attempts and artifacts make the score."""

    id: str
    name: str
    created_at: datetime
    made_from: str
    changes: list[ChangeShown]
    score: float | None
    judged: int
    recorded: bool
    rollouts: list[RolloutShown]


@dataclass(frozen=True, slots=True)
class EvolutionShown:
    """A change, why it was made, and what came of it."""

    id: str
    from_version: str
    to_version: str
    trigger: str
    hypothesis: str
    plan: str
    changes: list[ChangeShown]
    author: str
    from_score: float | None
    next_score: float | None
    score_delta: float | None
    held: bool | None


@dataclass(frozen=True, slots=True)
class LineageShown:
    """One line of versions."""

    id: str
    label: str
    strategy: str
    directive: str
    once: list[str]
    locked: bool
    evolve: bool
    """Whether its next version was asked for, after its last rollout began."""
    scores: list[float | None]
    """Of its versions, in their order."""
    versions: list[VersionShown]
    evolutions: list[EvolutionShown]
    events: list[LineageEventRecord]
    artifacts: list[ArtifactShown]


@dataclass(frozen=True, slots=True)
class ExperimentShown:
    """A need, the lineages that were tried for it, and the patterns that somebody saw."""

    project: str
    experiment: str
    need: str
    constraints: str
    lineages: list[LineageShown]
    insights: list[InsightRecord]


@endpoint("GET", "/api/lineage/experiments", "The experiments.")
def _experiments(store: Store, query: ExperimentsQuery) -> Experiments:
    rows = experiments(store, project=query.project, limit=query.limit).dicts()
    return Experiments(
        [
            of_row(
                ExperimentItem,
                row,
                last_time=utc(row["last_time"]),
                rollouts=int(row["rollouts"] or 0),
                cycle=int(row["cycle"] or 0),
                need=row["need_text"],
            )
            for row in rows
        ],
        experiments_sql(project=query.project, limit=query.limit),
    )


@endpoint("GET", "/api/lineage", "One experiment.")
def _lineage(store: Store, query: LineageQuery) -> ExperimentShown:
    with refusing("experiment"):
        return _shown(experiment(store, query.session, project=query.project))


def _shown(made: ExperimentRecord) -> ExperimentShown:
    return ExperimentShown(
        made.project,
        made.experiment_id,
        made.need,
        made.constraints,
        [_line(one) for one in made.lineages],
        made.insights,
    )


def _line(one: LineageRecord) -> LineageShown:
    return copied(
        LineageShown,
        one,
        id=one.lineage_id,
        scores=[version.score for version in one.versions],
        versions=[_version(version, one.rollouts) for version in one.versions],
        evolutions=[_evolution(evolution) for evolution in one.evolutions],
        artifacts=[_artifact(artifact) for artifact in one.artifacts],
    )


def _version(one: VersionRecord, rollouts: list[RolloutRecord]) -> VersionShown:
    own = [rollout for rollout in rollouts if rollout.version_id == one.version_id]
    return copied(
        VersionShown,
        one,
        id=one.version_id,
        changes=[
            ChangeShown(change.name, _text(change.before), _text(change.after))
            for change in one.changes
        ],
        recorded=one.config is not None,
        rollouts=[_rollout(rollout) for rollout in own],
    )


def _text(value: Any) -> str | None:
    """A part of a configuration: text as it is, anything else as JSON."""
    if value is MISSING:
        return None
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()


def _rollout(one: RolloutRecord) -> RolloutShown:
    final = one.final
    return copied(
        RolloutShown,
        one,
        id=one.rollout_id,
        seconds=one.duration,
        score=None if final is None else final.score,
        attempts=[_attempt(attempt) for attempt in one.attempts],
    )


def _attempt(one: AttemptRecord) -> AttemptShown:
    artifacts = [_artifact(artifact) for artifact in one.artifacts]
    own = {"id": one.attempt_id, "seconds": one.duration, "artifacts": artifacts}
    return copied(AttemptShown, one, **own)


def _artifact(one: ArtifactRecord) -> ArtifactShown:
    score = score_of([one.scores])
    return ArtifactShown(one.artifact_id, one.target, one.kind, one.version, score)


def _evolution(one: EvolutionRecord) -> EvolutionShown:
    changes = [ChangeShown(name, None, what) for name, what in one.changes.items()]
    own = {"id": one.evolution_id, "changes": changes, "held": one.hypothesis_validated}
    return copied(EvolutionShown, one, **own)
