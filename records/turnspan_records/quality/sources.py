"""What a source of later revisions is: the one interface of everything in this package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

USED, MODIFIED, REJECTED, UNDECIDED = "used", "modified", "rejected", "undecided"
NOT_FOUND, NOT_JUDGED = "not_found", "not_judged"
DECISIONS: Final = (USED, MODIFIED, REJECTED, UNDECIDED, NOT_FOUND, NOT_JUDGED)
"""What may be found: three outcomes, one that is still to come, and two that stay without one."""
OUTCOMES: Final = (REJECTED, MODIFIED, USED)
"""Those that are judgments, the worst first."""


@dataclass(frozen=True, slots=True)
class WrittenArtifact:
    """An artifact: what an agent wrote, and where."""

    project: str
    artifact_id: str
    target: str
    text: str | None
    """``None`` where it was not recorded, or not whole."""
    version: str
    """What the agent said that the target's own system calls it: a revision, a commit."""
    kind: str
    session_id: str
    trace_id: str
    turn_id: str
    call_id: str
    created_at: int
    revision: str = ""
    """The agent's own revision, where an earlier look has found it."""


@dataclass(frozen=True, slots=True)
class ArtifactVerdict:
    """What became of an artifact. Times are nanoseconds since the epoch."""

    decision: str
    """One of ``DECISIONS``."""
    reason: str
    """Why, as a sentence without its full stop."""
    revision: str = ""
    """The agent's own revision, where it was found."""
    found_by: str = ""
    """How it was found: by ``text``, ``lines``, ``version`` or ``user and time``."""
    revised_at: int = 0
    """When the agent's revision came in."""
    later_revision: str = ""
    """The revision that decided."""
    later_by: str = ""
    """Who made it."""
    later_text: str | None = None
    """Where a person changed the agent's text: what it says after that."""
    decided_at: int = 0
    """When it was decided, there: of ``used`` the end of the window."""


class RevisionSource(Protocol):
    """Somewhere that has later revisions of what agents wrote."""

    @property
    def author(self) -> str:
        """Whose judgments they are: ``passive:`` and the kind of source."""
        ...

    @property
    def name(self) -> str:
        """Which one it is, the same from every machine: an address, a repository's first commit."""
        ...

    def verdicts(
        self, written: Sequence[WrittenArtifact], window: timedelta
    ) -> Iterator[tuple[WrittenArtifact, ArtifactVerdict]]:
        """What became of each of these, in any order, each as soon as it is known.

        Raises:
            SourceError: the source cannot be asked.
        """
        ...


class SourceError(Exception):
    """A source cannot be asked; the message says why, and what to do about it."""
