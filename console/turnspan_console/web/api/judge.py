"""Judging what is selected: one judgment of each, and taking back what was said."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging.annotation import StoredJudgment, judge, reviewer, take_back
from turnspan_records.lookup import RecordRef


@dataclass(frozen=True, slots=True)
class JudgmentSubject:
    """What is judged: a ``turn``, a ``call``, an ``attempt``, ..."""

    kind: str
    id: str
    project: str


@dataclass(frozen=True, slots=True)
class JudgeEachQuery:
    """One judgment, the same of each subject. ``id`` is made by who asks: asked again with it, it
    is the same judgment."""

    subjects: Annotated[list[JudgmentSubject], Meta(min_length=1, max_length=100)]
    by: str
    id: str
    outcome: str | None = None
    flag: int | None = None
    score: float | None = None
    directive: str | None = None
    """What is to be done differently."""


@dataclass(frozen=True, slots=True)
class JudgedEach:
    """What was stored, by which it can be taken back."""

    given: list[StoredJudgment]


@dataclass(frozen=True, slots=True)
class TakeBackQuery:
    """What is to be withdrawn, and by whom."""

    given: Annotated[list[StoredJudgment], Meta(max_length=100)]
    by: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """How many judgments."""

    number: int


def reviewer_of(given: str) -> str:
    """The name of who judges.

    Raises:
        ValueError: it is no person's.
    """
    return reviewer(given or getpass.getuser())


@endpoint("POST", "/api/judge", "Judge what is selected.")
def _judge(store: Store, query: JudgeEachQuery) -> JudgedEach:
    with refusing("record"):
        return JudgedEach(
            judge(
                judging_spool(store),
                [RecordRef(one.kind, one.id, one.project) for one in query.subjects],
                reviewer_of(query.by),
                query.id,
                outcome=query.outcome,
                training_flag=query.flag,
                score=query.score,
                directive=query.directive,
            )
        )


@endpoint("POST", "/api/judge/take-back", "Withdraw what was said.")
def _take_back(store: Store, query: TakeBackQuery) -> TakenBack:
    with refusing("judgment"):
        spool = judging_spool(store)
        return TakenBack(take_back(store, spool, query.given, reviewer_of(query.by)))
