"""What later revisions say about what an agent wrote. Every source of revisions decides by this.

It is decided by what stood there when the window was over, however late somebody looks: whoever
looks, from wherever, finds the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from turnspan_records.quality.sources import (
    MODIFIED,
    NOT_JUDGED,
    REJECTED,
    UNDECIDED,
    USED,
    ArtifactVerdict,
)

NOTHING, SOME, ALL = "nothing", "some", "all"
"""How much of the agent's text a revision changed, of what was still there."""
PERSON, BOT, AGENT = "person", "bot", "agent"
"""Who made a revision."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a target, as far as its text matters here."""

    id: str
    at: int
    digest: str
    """Of its text; empty where it is not known."""
    by: str = ""
    maker: str = PERSON
    """``person``, ``bot`` or ``agent``: only what people change counts."""
    change: str = SOME
    """``nothing``, ``some`` or ``all`` of the agent's text."""
    undoes: bool = False
    """Whether it says of itself that it takes the agent's revision back."""
    how: str = ""
    """In words, where all is gone: ``blanked``, ``deleted``."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """How the agent's text stands after some revision, and which one made it so."""

    decision: str
    reason: str
    revision: Revision


_BEFORE: Final = "before"
_TAKEN_BACK: Final = "taken back by a bot or by the agent itself"


def decide(
    own: Revision,
    earlier: Iterable[Revision],
    later: Sequence[Revision],
    window: timedelta,
    now: int,
) -> tuple[ArtifactVerdict, Revision | None]:
    """What became of ``own``, and the revision by which a person changed it, if one did.

    ``earlier`` and ``later`` are the revisions before it and after it, the latter in their order.
    """
    end = own.at + round(window.total_seconds() * 1e9)
    seen = [one for one in later if one.at <= end]
    standing = _walk(own, earlier, seen)
    known = ArtifactVerdict(UNDECIDED, "", revision=own.id, revised_at=own.at)
    if standing.decision == USED:
        last = max([own.at, *(one.at for one in seen)])
        if now < end:
            return replace(known, reason="the window is not over yet", decided_at=last), None
        reason = "nobody changed it" if not seen else "what a person changed was taken back"
        if seen and not any(one.maker == PERSON and one.change != NOTHING for one in seen):
            reason = "no person changed it"
        return replace(known, decision=USED, reason=reason, decided_at=end), None
    decided = replace(
        known,
        decision=standing.decision,
        reason=standing.reason,
        later_revision=standing.revision.id,
        later_by=standing.revision.by,
        decided_at=standing.revision.at,
    )
    return decided, standing.revision if standing.decision == MODIFIED else None


def _walk(own: Revision, earlier: Iterable[Revision], later: Iterable[Revision]) -> _Standing:
    """Follow the agent's text from revision to revision."""
    kept = standing = _Standing(USED, "", own)
    before = _Standing(_BEFORE, "", own)
    known = {one.digest: before for one in earlier if one.digest}
    known[own.digest] = kept
    for one in later:
        found = known.get(one.digest) if one.digest else None
        if found is before:
            standing = _gone(standing, one, "reverted")
            continue
        if found is None:
            standing = _changed(standing, one)
        elif one.maker != AGENT:  # which brings back its own text for no reason of anybody's
            standing = found
        if one.digest:
            known.setdefault(one.digest, standing)
    return standing


def _changed(standing: _Standing, one: Revision) -> _Standing:
    """After a revision whose text was not there before."""
    if one.change == NOTHING:
        return standing
    person = one.maker == PERSON
    if one.change == ALL or (one.undoes and person):
        return _gone(standing, one, one.how or "undone")
    if not person or standing.decision in (REJECTED, NOT_JUDGED):
        return standing
    return _Standing(MODIFIED, "a person changed it", one)


def _gone(standing: _Standing, one: Revision, how: str) -> _Standing:
    """After a revision that leaves nothing of the agent's text; the first such one is told."""
    if standing.decision in (REJECTED, NOT_JUDGED):
        return standing
    if one.maker != PERSON:
        return _Standing(NOT_JUDGED, _TAKEN_BACK, one)
    return _Standing(REJECTED, how, one)
