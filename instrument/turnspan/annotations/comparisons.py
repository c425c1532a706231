"""``turnspan.prefer`` and ``turnspan.rank``: which of several answers is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, TypeVar, cast

from turnspan.annotations.judgments import (
    Subject,
    SubjectKind,
    digest,
    id_of,
    judgment_of,
    subject_of,
)
from turnspan.content.given_values import refused, text_of
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard, warn_once
from turnspan.runtime.inspection import looking
from turnspan.tracing.content_store import Judgment, Ranking
from turnspan.tracing.state import current, taking_facts

MOST_RANKED: Final = 200
"""How many things a ranking has at most: their pairs are rows, 19,900 of so many."""


def prefer(
    chosen: Subject,
    rejected: Subject,
    *,
    kind: SubjectKind | None = None,
    reason: str = "",
    author: str = "",
    confidence: float | None = None,
    source: str = "prefer",
    id: str = "",
) -> bool:
    """Prefer one turn, call or other record to another of its kind. Never raises.

    It is a judgment of the chosen record. The newest preference on a pair holds.

    Args:
        chosen: the better record: its id as text, a turn, a span or its context.
        rejected: the other record.
        kind: the kind of the records, as for ``annotate``; default: turns.
        reason: the reason.
        author: who judged, as for ``annotate``.
        confidence: how sure the author is, from 0 to 1.
        source: where the judgment was made.
        id: your own id of this judgment; sending it again replaces the judgment.

    Returns:
        Whether it was taken, as for ``annotate``.
    """
    with guard("prefer", "turnspan.prefer"):
        content = taking_facts(current())
        if content is None:
            return False
        found = _all((chosen, rejected), kind)
        said = judgment_of(chosen, found[0], author, source, confidence, reason)
        content.tell(preferred(said, found[1][1], text_of(id)))
        return True
    return False


def rank(
    ids: Iterable[Subject],
    *,
    ties: Iterable[Iterable[Subject]] = (),
    kind: SubjectKind | None = None,
    reason: str = "",
    author: str = "",
    confidence: float | None = None,
    source: str = "rank",
    id: str = "",
) -> bool:
    """Order turns, calls or other records of a kind, best first. Never raises.

    Every pair except ties becomes a preference, as with ``prefer``; all share a ``ranking_id``. A
    repeated ranking is stored once.

    Args:
        ids: at most 200 different records, best first.
        ties: groups of equally good records, which stand side by side in ``ids``.
        kind: the kind of the records, as for ``annotate``; default: turns.
        reason: the reason.
        author: who judged, as for ``annotate``.
        confidence: how sure the author is, from 0 to 1.
        source: where the judgment was made.
        id: your own id of this ranking.

    Returns:
        Whether it was taken, as for ``annotate``; also ``False`` if every pair is a tie.
    """
    with guard("rank", "turnspan.rank"):
        content = taking_facts(current())
        if content is None:
            return False
        given = _some(ids)
        found = _all(given, kind)
        equal = [[one[1] for one in _all(_some(tie), kind)] for tie in _some(ties)]
        groups = grouped([one[1] for one in found], equal)
        if len(groups) < 2:
            warn_once("turnspan.rank has nothing that is better")
            return False
        said = judgment_of(given[0], (found[0][0], ""), author, source, confidence, reason)
        content.tell(Ranking(replace(said, ranking_id=text_of(id)), groups))
        return True
    return False


def preferred(said: Judgment, rejected: str, id: str = "") -> Judgment:
    """The preference of what is judged over another.

    Raises:
        ConfigError: it is the same.
    """
    if said.subject_id == rejected:
        raise ConfigError(f"nothing is better than itself: {rejected!r}")
    one = replace(
        said, kind="preference", chosen_id=said.subject_id, rejected_id=rejected, comment=""
    )
    # Its reason is no part of what it says: given another one, it is the same preference.
    return replace(one, annotation_id=id or digest(one), comment=said.comment)


def pairs(ranking: Ranking) -> list[Judgment]:
    """The preferences that a ranking is made of."""
    said, groups = ranking.judgment, ranking.groups
    values = (said.subject_kind, said.author, said.confidence, groups)
    best = replace(said, ranking_id=said.ranking_id or id_of(values))
    return [
        preferred(replace(best, subject_id=chosen), rejected)
        for at, group in enumerate(groups)
        for chosen in group
        for worse in groups[at + 1 :]
        for rejected in worse
    ]


def grouped(ids: Sequence[str], ties: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Ids, best first, in groups of equal ones.

    Raises:
        ConfigError: an id is there twice, or a tie is none; the message says which.
    """
    if len(ids) > MOST_RANKED:
        raise ConfigError(f"a ranking has at most {MOST_RANKED} ids")
    if len(set(ids)) != len(ids):
        raise ConfigError("a ranking has each id once")
    # Whether each id is as good as the one before it.
    level = [False] * len(ids)
    for tie in ties:
        if missing := set(tie) - set(ids):
            raise ConfigError(f"a tie is of ids of the ranking: not {sorted(missing)[0]!r}")
        places = sorted({ids.index(one) for one in tie})
        if places and places[-1] - places[0] != len(places) - 1:
            raise ConfigError(f"the ids of a tie stand beside each other: not {list(tie)!r}")
        for place in places[1:]:
            level[place] = True
    groups: list[list[str]] = []
    for one, same in zip(ids, level, strict=True):
        if same:
            groups[-1].append(one)
        else:
            groups.append([one])
    return tuple(tuple(group) for group in groups)


T = TypeVar("T")


def _some(given: Iterable[T]) -> list[T]:
    """One more than there may be at most: what is given may have no end."""
    if isinstance(given, str) or not isinstance(cast("object", given), Iterable):
        raise refused("what is ranked", "a list", given)
    with looking:
        return list(islice(given, MOST_RANKED + 1))


def _all(subjects: Iterable[Subject | None], kind: str | None) -> list[tuple[str, str]]:
    """The kind and id of each, which are of one kind."""
    found: list[tuple[str, str]] = []
    for subject in subjects:
        one = subject_of(subject, kind) if subject is not None else None
        if one is None:
            raise ConfigError("one of them is nothing, or has no id")
        found.append(one)
    if len({one[0] for one in found}) > 1:
        raise ConfigError("compare records of one kind: name it with kind=")
    return found
