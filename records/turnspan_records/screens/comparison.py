"""Judging answers that are side by side: an order of them. What is written names ids, never places:
in which order they were shown is nobody's business later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnspan.annotations.comparisons import preferred
from turnspan.tracing.content_store import Judgment
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.judging.annotation import (
    PAGE,
    StoredJudgment,
    judgment_id,
    reviewer,
    stored,
    unsaid,
    write_judgments,
)
from turnspan_records.judging.unlanded import land
from turnspan_records.lookup import RecordRef, find
from turnspan_records.loop.comparison import COMPARABLE, LEAST, MOST, Comparison, compare
from turnspan_records.loop.lineages import AmbiguousError
from turnspan_records.loop.prompts import AnswerPair, Prompt, pairs_of

_ALIKE_MOST = 200
"""Among so many turns with the same user message."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What an order of answers has come to."""

    given: list[StoredJudgment]
    pairs: list[AnswerPair]
    """Every pair that the order makes, those that were refused with the reason."""


def side_by_side(store: Store, ids: Sequence[str], *, project: str = "") -> Comparison:
    """The answers that ids, or beginnings of at least six characters, mean.

    Raises:
        ValueError: they are too few or too many, one is twice there, or one has no answer.
        KeyError: there is nothing of an id.
        AmbiguousError: an id means several records.
        StoreError: as ``Store.query``.
    """
    if not LEAST <= len(ids) <= MOST:
        raise ValueError(f"{LEAST} to {MOST} answers can be compared, not {len(ids)}")
    land(store)
    found = [_one(store, id_, project) for id_ in ids]
    if len({(one.kind, one.id, one.project) for one in found}) != len(found):
        raise ValueError("an answer is compared with others: name each once")
    return compare(store, found)


def alike(store: Store, project: str, turn_id: str) -> list[str]:
    """The turns that began with the same prompt as this one, the newest first, with itself; none
    where its content was not recorded.

    Raises ``StoreError`` as ``Store.query``.
    """
    asked = {"project": project, "turn": turn_id, "limit": _ALIKE_MOST}
    return [str(turn) for (turn,) in ask(store, "comparison/alike", **asked).rows]


def _one(store: Store, id_: str, project: str) -> RecordRef:
    every = [one for one in find(store, id_) if project in ("", one.project)]
    if not every:
        raise KeyError(id_)
    fits = [one for one in every if one.kind in COMPARABLE]
    if not fits:
        raise ValueError(f"{every[0].kind} {every[0].id} has no answer to compare")
    kind = min((one.kind for one in fits), key=COMPARABLE.index)
    same = {(one.project, one.id): one for one in fits if one.kind == kind}
    if len(same) > 1:
        raise AmbiguousError(", ".join(sorted(f"{kind} {id_} of {of}" for of, id_ in same)))
    return next(iter(same.values()))


def order(
    spool: Spool, groups: Sequence[Sequence[Prompt]], author: str, id: str, *, reason: str = ""
) -> Saved:
    """Write an order of answers as preferences, best first, those of a group equally good; on disk
    when this returns. They have ``id`` as their ranking's. Pairs of different prompts are refused.

    Raises:
        ValueError: no pair can be made of them; the message says why.
        SpoolError: the spool cannot be written.
    """
    ranking, author = judgment_id(id), reviewer(author)
    if sum(map(len, groups)) > MOST or len([group for group in groups if group]) < LEAST:
        raise ValueError(f"an order is of {LEAST} to {MOST} answers that are not all equally good")
    pairs = pairs_of(groups)
    good = [one for one in pairs if not one.why_not]
    if not good:
        reasons = ", or ".join(dict.fromkeys(one.why_not for one in pairs))
        raise ValueError(f"no pair is made of these: {reasons}")
    each: list[Judgment] = []
    for number, pair in enumerate(good, 1):
        best = replace(unsaid(pair.chosen, author, None, PAGE, reason), ranking_id=ranking)
        each.append(preferred(best, pair.rejected.id, f"{ranking}-{number}"))
    project = good[0].chosen.project
    write_judgments(spool, project, each)
    return Saved([stored(project, one) for one in each], pairs)
