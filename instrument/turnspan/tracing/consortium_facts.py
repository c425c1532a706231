"""What is told of consortium runs: facts that are no span's.

Times are nanoseconds since the epoch. Values of the application's are frozen copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnspan.tracing import content_store
from turnspan.tracing.content_store import Fact

MEMBER: Final = 0
FINAL_ARBITER: Final = 1
EARLIER_ARBITER: Final = 2
"""The roles of calls in a run. Who calls as an arbiter is the final one until another iteration
begins."""

RUNNING: Final = "running"
FINISHED: Final = "finished"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"

LIVE: Final = "live"
IMPORT: Final = "import"
"""Where what is known of a run comes from: told while it ran, or read from another tool's log."""


@dataclass(frozen=True, slots=True)
class ConsortiumPlace:
    """Which run something is of, and where that is: its rows belong to this session and turn."""

    resource: Mapping[str, Any]
    consortium_id: str
    session_id: str = ""
    turn_id: str = ""
    trace_id: str = ""


@dataclass(frozen=True, slots=True)
class ConsortiumTold(Fact):
    """How a run stands. ``outer_id`` and ``outer_member`` are the run, and the member of it, that
    it is. ``grouped_by`` are the keys by which an import found its rows, the strongest first, and
    ``missing`` how many of them the log does not have."""

    place: ConsortiumPlace
    name: str
    strategy: str
    prompt: Any
    started_at: int
    status: str = RUNNING
    final_text: Any = None
    iterations: int = 0
    source: str = LIVE
    outer_id: str = ""
    outer_member: str = ""
    span_id: str = ""
    duration: float = 0.0
    error_type: str = ""
    error_message: str = ""
    grouped_by: tuple[str, ...] = ()
    missing: int = 0


@dataclass(frozen=True, slots=True)
class MemberAnswered(Fact):
    """What a member came to in an iteration. Without an ``answer`` it is that of its last call.

    ``member_id`` is its span's id, which its calls name; or that of its one call.
    """

    place: ConsortiumPlace
    iteration: int
    member_id: str
    model: str
    instance: str
    started_at: int
    answer: Any = None
    duration: float = 0.0
    error_type: str = ""
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class ArbiterDecided(Fact):
    """What an arbiter made of an iteration. ``arbiter_id`` is as ``member_id``; ``raw`` what it
    said, where that is more than the rest."""

    place: ConsortiumPlace
    iteration: int
    arbiter_id: str
    model: str
    started_at: int
    synthesis: Any = None
    ranking: tuple[str, ...] = ()
    confidence: float | None = None
    reasoning: Any = None
    refinement_areas: tuple[str, ...] = ()
    needs_iteration: bool | None = None
    raw: Any = None
    duration: float = 0.0
    error_type: str = ""
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class IterationFollowed(Fact):
    """Another iteration has begun: this arbiter was not the final one."""

    arbiter_id: str


LIMITS: Final[dict[type[Fact], tuple[int, str]]] = {
    ConsortiumTold: (100_000, "consortia_full"),
    MemberAnswered: (100_000, "consortia_full"),
    ArbiterDecided: (100_000, "consortia_full"),
    IterationFollowed: (100_000, "consortia_full"),
}
"""As in ``content_store``, to which they are added."""
content_store.LIMITS.update(LIMITS)
