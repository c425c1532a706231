"""What is told of artifacts and of the improvement loop: facts that are no span's.

Times are nanoseconds since the epoch. Values of the application's are frozen copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnspan.tracing import content_store
from turnspan.tracing.content_store import Fact

RUNNING: Final = "running"
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
_NO_RESOURCE: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class ArtifactMade(Fact):
    """Something that an agent wrote. ``loop`` holds the ids that spans carry there."""

    resource: Mapping[str, Any]
    artifact_id: str
    target: str
    text: str
    kind: str
    version: str
    session_id: str
    trace_id: str
    turn_id: str
    call_id: str
    loop: Mapping[str, Any]
    created_at: int


@dataclass(frozen=True, slots=True)
class ExperimentOpened(Fact):
    """What the lineages of an experiment are tried for."""

    resource: Mapping[str, Any]
    experiment_id: str
    need: str
    constraints: Any
    created_at: int


@dataclass(frozen=True, slots=True)
class LineageOpened(Fact):
    """A lineage of an experiment is worked on."""

    resource: Mapping[str, Any]
    experiment_id: str
    lineage_id: str
    label: str
    created_at: int


@dataclass(frozen=True, slots=True)
class LineageTold(Fact):
    """A lineage was given a strategy or a directive, locked or unlocked."""

    resource: Mapping[str, Any]
    lineage_id: str
    kind: str
    event_id: str
    text: str
    author: str
    created_at: int


@dataclass(frozen=True, slots=True)
class VersionMade(Fact):
    """A configuration of an agent. ``config`` is what its id is the hash of."""

    resource: Mapping[str, Any]
    lineage_id: str
    version_id: str
    name: str
    config: Any
    created_at: int


@dataclass(frozen=True, slots=True)
class RolloutPlace:
    """Which rollout it is; all its attempts share one."""

    lineage_id: str
    rollout_id: str
    cycle: int
    task: str
    version_id: str


@dataclass(frozen=True, slots=True)
class RolloutTold(Fact):
    """How a rollout stands."""

    resource: Mapping[str, Any]
    place: RolloutPlace
    status: str
    final_attempt_id: str
    error_type: str
    started_at: int
    duration: float


class AttemptTold(Fact):
    """How an attempt stands. Told once when it begins, and again when it ends, unless nobody has
    taken it by then: it then says how it ended at once."""

    __slots__ = (
        "attempt_id",
        "duration",
        "error_message",
        "error_type",
        "input",
        "model",
        "output",
        "parameters",
        "place",
        "resource",
        "started_at",
        "status",
        "taken",
    )

    # By hand, since what a dataclass generates is not compiled: this is most of an attempt's cost.
    def __init__(self, place: RolloutPlace, model: str, parameters: Any, given: Any) -> None:
        self.resource: Mapping[str, Any] = _NO_RESOURCE
        self.place = place
        self.attempt_id = ""
        self.model = model
        self.parameters = parameters
        self.input = given
        self.started_at = 0
        self.status = RUNNING
        self.duration = 0.0
        self.output: Any = None
        self.error_type = ""
        self.error_message = ""
        self.taken = False
        """Whether a row was made of it; set before it is read."""

    def anew(self) -> AttemptTold:
        """Another attempt like this one."""
        return AttemptTold(self.place, self.model, self.parameters, self.input)


@dataclass(frozen=True, slots=True)
class Evolved(Fact):
    """A lineage went on with another version. ``changes`` are by kind; where none is said, they are
    what differs between the two configurations."""

    resource: Mapping[str, Any]
    lineage_id: str
    evolution_id: str
    from_version: str
    to_version: str
    trigger: str
    hypothesis: str
    plan: str
    changes: Mapping[str, str]
    author: str
    created_at: int
    configs: tuple[Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class InsightHad(Fact):
    """A pattern that somebody saw."""

    resource: Mapping[str, Any]
    experiment_id: str
    lineage_id: str
    insight_id: str
    pattern: str
    change: str
    evolution_ids: tuple[str, ...]
    confidence: float | None
    author: str
    created_at: int


LIMITS: Final[dict[type[Fact], tuple[int, str]]] = {
    ArtifactMade: (20_000, "loop_full"),
    ExperimentOpened: (10_000, "loop_full"),
    LineageOpened: (10_000, "loop_full"),
    LineageTold: (100_000, "loop_full"),
    VersionMade: (10_000, "loop_full"),
    RolloutTold: (100_000, "loop_full"),
    AttemptTold: (100_000, "loop_full"),
    Evolved: (100_000, "loop_full"),
    InsightHad: (100_000, "loop_full"),
}
"""As in ``content_store``, to which they are added."""
content_store.LIMITS.update(LIMITS)
