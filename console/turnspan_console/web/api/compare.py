"""Comparing: answers side by side, an order of them, all bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.judge import JudgedEach, reviewer_of
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.api.turns import TurnId
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.fields import copied
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging.annotation import StoredJudgment, judge
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.comparison import Answer, AnswerFacts
from turnspan_records.loop.directives import LineageNow, lines_of
from turnspan_records.loop.prompts import Prompt, pair_of
from turnspan_records.screens import comparison


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """Two to six ids of turns, calls, attempts, rollouts or artifacts, or their beginnings."""

    ids: list[str]
    project: str = ""
    by: str = ""


@dataclass(slots=True)
class ComparedAnswer(AnswerFacts):
    """One answer, and the prompt that it answers."""

    prompt: str = ""
    """The hash of what it answers; empty where it is no sample, for the reason ``why_not``."""
    why_not: str = ""
    lineage: LineageNow | None = None


@dataclass(frozen=True, slots=True)
class NoPair:
    """Two answers, by their places from 0, of which no pair is made, and why."""

    one: int
    other: int
    why: str


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """Answers side by side, and of which of them pairs are made; ``by`` is who judges."""

    by: str
    answers: list[ComparedAnswer]
    differing: list[str]
    same_prompt: bool
    why_no_pairs: str
    no_pairs: list[NoPair]


@dataclass(frozen=True, slots=True)
class Alike:
    """The turns that began with its prompt, the newest first, with itself."""

    turns: list[str]


@dataclass(frozen=True, slots=True)
class OrderQuery:
    """An order of answers by their ids, the best first; those of a group are equally good."""

    groups: Annotated[list[list[str]], Meta(min_length=1, max_length=6)]
    by: str
    id: str
    project: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PairMade:
    """That one answer is better than another; with a reason where that was not stored."""

    chosen: str
    rejected: str
    why_not: str


@dataclass(frozen=True, slots=True)
class Ordered:
    """What was stored, by which it can be taken back, and what was refused."""

    given: list[StoredJudgment]
    pairs: list[PairMade]


@dataclass(frozen=True, slots=True)
class AllBadQuery:
    """Answers that are all bad."""

    ids: list[str]
    by: str
    id: str
    project: str = ""


@endpoint("GET", "/api/compare", "Answers side by side.")
def _compare(store: Store, query: CompareQuery) -> ComparedAnswers:
    with refusing("record"):
        shown = comparison.side_by_side(store, query.ids, project=query.project)
        found = [RecordRef(one.kind, one.id, one.project) for one in shown.answers]
        each = zip(shown.answers, shown.prompts, lines_of(store, found), strict=True)
        return ComparedAnswers(
            by=reviewer_of(query.by),
            answers=[_answer(*one) for one in each],
            differing=shown.differing,
            same_prompt=shown.same_prompt,
            why_no_pairs=shown.why_no_pairs,
            no_pairs=_no_pairs(shown.prompts),
        )


def _answer(answer: Answer, prompt: Prompt, lineage: LineageNow | None) -> ComparedAnswer:
    own = {"prompt": prompt.hash, "why_not": prompt.why_not, "lineage": lineage}
    return copied(ComparedAnswer, answer, **own)


@endpoint("GET", "/api/compare/alike", "Turns with one prompt.")
def _alike(store: Store, query: TurnId) -> Alike:
    return Alike(comparison.alike(store, query.project, query.turn))


def _no_pairs(prompts: Sequence[Prompt]) -> list[NoPair]:
    return [
        NoPair(one, other, why)
        for one in range(len(prompts))
        for other in range(one + 1, len(prompts))
        if (why := pair_of(prompts[one], prompts[other]).why_not)
    ]


@endpoint("POST", "/api/compare/order", "Store an order of answers as preferences.")
def _order(store: Store, query: OrderQuery) -> Ordered:
    with refusing("record"):
        ids = [id_ for group in query.groups for id_ in group]
        shown = comparison.side_by_side(store, ids, project=query.project)
        every = iter(shown.prompts)  # in the order in which the groups name them
        groups = [[next(every) for _ in group] for group in query.groups]
        spool = judging_spool(store)
        saved = comparison.order(
            spool, groups, reviewer_of(query.by), query.id, reason=query.reason
        )
        pairs = [PairMade(one.chosen.id, one.rejected.id, one.why_not) for one in saved.pairs]
        return Ordered(saved.given, pairs)


@endpoint("POST", "/api/compare/all-bad", "Reject every answer.")
def _all_bad(store: Store, query: AllBadQuery) -> JudgedEach:
    with refusing("record"):
        shown = comparison.side_by_side(store, query.ids, project=query.project)
        subjects = [one.subject for one in shown.prompts]
        spool = judging_spool(store)
        by = reviewer_of(query.by)
        return JudgedEach(judge(spool, subjects, by, query.id, outcome="rejected"))
