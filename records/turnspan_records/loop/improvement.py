"""The typed model of the improvement loop, which ``lineages`` fills and a screen shows.

Times are aware datetimes in UTC, durations seconds, money ``Decimal`` dollars (``None``: unknown).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

SCORE: Final = "score"


def mean(numbers: Sequence[float]) -> float:
    """The average of some numbers."""
    return sum(numbers) / len(numbers)


def score_of(given: Iterable[Mapping[str, float]]) -> float | None:
    """What some judgments by kind come to: the ``score`` where there is one, else the average of
    the evaluations."""
    by_kind: dict[str, list[float]] = {}
    for one in given:
        for kind, score in one.items():
            by_kind.setdefault(kind, []).append(score)
    if not by_kind:
        return None
    if SCORE in by_kind:
        return mean(by_kind[SCORE])
    return mean([mean(scores) for scores in by_kind.values()])


@dataclass(slots=True)
class ArtifactRecord:
    """Something that was written."""

    artifact_id: str
    target: str
    kind: str
    version: str
    version_id: str
    cycle: int | None
    created_at: datetime
    scores: dict[str, float] = field(default_factory=dict[str, float])
    score: float | None = None


@dataclass(slots=True)
class AttemptRecord:
    """One try of a rollout."""

    attempt_id: str
    status: str
    model: str
    parameters: str
    input: str
    output: str
    error_type: str
    error_message: str
    started_at: datetime
    duration: float
    number: int = 0
    final: bool = False
    """Whether it is the one of its rollout that counts."""
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    scores: dict[str, float] = field(default_factory=dict[str, float])
    artifacts: list[ArtifactRecord] = field(default_factory=list[ArtifactRecord])
    score: float | None = None
    """What it, and what it wrote, was judged with."""


@dataclass(slots=True)
class RolloutRecord:
    """One task of a cycle with its attempts."""

    rollout_id: str
    cycle: int
    task: str
    version_id: str
    status: str
    final_attempt_id: str
    started_at: datetime
    duration: float
    attempts: list[AttemptRecord] = field(default_factory=list[AttemptRecord])
    score: float | None = None
    """That of the attempt that counts."""
    cost_usd: Decimal | None = None
    """What all its attempts cost, as far as that is known."""

    @property
    def final(self) -> AttemptRecord | None:
        """The attempt that counts."""
        return next((one for one in self.attempts if one.final), None)


@dataclass(slots=True)
class ConfigChange:
    """A part of a configuration that differs: text as it is, anything else as JSON; ``None`` where
    it is missing."""

    name: str
    before: str | None
    after: str | None


@dataclass(slots=True)
class VersionRecord:
    """A configuration of the agent. ``config`` is ``None`` where it was not recorded."""

    version_id: str
    name: str
    created_at: datetime
    config: Any = None
    made_from: str = ""
    changes: list[ConfigChange] = field(default_factory=list[ConfigChange])
    score: float | None = None
    judged: int = 0
    """How many attempts and artifacts the score is of."""


@dataclass(slots=True)
class EvolutionRecord:
    """A change from one version to the next, and what came of it once both were judged."""

    evolution_id: str
    from_version: str
    to_version: str
    trigger: str
    hypothesis: str
    plan: str
    changes: dict[str, str]
    author: str
    created_at: datetime
    from_score: float | None
    next_score: float | None
    score_delta: float | None
    hypothesis_validated: bool | None


@dataclass(slots=True)
class LineageEventRecord:
    """What was said of a lineage: ``strategy``, ``directive``, ``once``, ``locked``,
    ``unlocked`` or ``evolve``."""

    kind: str
    text: str
    author: str
    created_at: datetime


@dataclass(slots=True)
class LineageRecord:
    """One line of versions of an agent."""

    lineage_id: str
    label: str
    strategy: str
    directive: str
    once: list[str]
    """What was said for the next rollout, which is still to come."""
    locked: bool
    evolve: bool = False
    """Whether its next version was asked for, after its last rollout began."""
    events: list[LineageEventRecord] = field(default_factory=list[LineageEventRecord])
    versions: list[VersionRecord] = field(default_factory=list[VersionRecord])
    rollouts: list[RolloutRecord] = field(default_factory=list[RolloutRecord])
    evolutions: list[EvolutionRecord] = field(default_factory=list[EvolutionRecord])
    artifacts: list[ArtifactRecord] = field(default_factory=list[ArtifactRecord])
    """Those of no attempt."""


@dataclass(slots=True)
class InsightRecord:
    """A pattern that somebody saw, and how often it held."""

    insight_id: str
    lineage_id: str
    pattern: str
    change: str
    evolution_ids: list[str]
    confidence: float | None
    author: str
    created_at: datetime
    successes: int = 0
    failures: int = 0
    average_impact: float | None = None


@dataclass(slots=True)
class ExperimentRecord:
    """A need, and the lineages that try to meet it."""

    project: str
    experiment_id: str
    need: str = ""
    constraints: str = ""
    lineages: list[LineageRecord] = field(default_factory=list[LineageRecord])
    insights: list[InsightRecord] = field(default_factory=list[InsightRecord])
