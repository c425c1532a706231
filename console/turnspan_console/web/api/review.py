"""Reviewing: what is to be judged, one turn with what was said of it, judging and undoing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.judge import reviewer_of
from turnspan_console.web.api.refusals import refusing, understood
from turnspan_console.web.api.turns import TurnId
from turnspan_console.web.api.window import WindowQuery
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging import review
from turnspan_records.judging.annotation import judge
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.judging.queues import Queue, Summary, chosen_queue, progress, queues, summary
from turnspan_records.judging.unlanded import land
from turnspan_records.lookup import RecordRef
from turnspan_records.quality.artifact_checks import ArtifactCheck, Correction
from turnspan_records.screens.reading_view import TurnText, tell


@dataclass(frozen=True, slots=True)
class ReviewQueuesQuery:
    """For whom."""

    by: str = ""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue, and how far it is for this reviewer."""

    name: str
    order: str
    each: bool
    turns: int
    left: int


@dataclass(frozen=True, slots=True)
class ReviewQueues:
    """The queues; ``by`` is who judges unless another name is given."""

    by: str
    queues: list[QueueRow]


@dataclass(frozen=True, slots=True)
class ReviewQuery(WindowQuery):
    """Which queue, with what is asked instead of what its name says; and who judges."""

    queue: str = ""
    by: str = ""
    agent: str = ""
    order: str = ""
    stop: list[str] = field(default_factory=list[str])
    odd: bool = False
    sample: Annotated[int, Meta(ge=0, le=100_000)] = 0
    seed: Annotated[int, Meta(ge=0, le=2**32)] = 0
    each: bool = False
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100


@dataclass(frozen=True, slots=True)
class ReviewLeft:
    """How far the queue is, and what is next in it. ``waiting`` judgments of this machine have not
    landed yet."""

    queue: str
    order: str
    each: bool
    by: str
    turns: int
    left: int
    next: list[TurnId]
    waiting: int


@dataclass(frozen=True, slots=True)
class ReviewTurnQuery:
    """Which turn."""

    turn: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class ReviewTurn:
    """A turn with everything that was said of it; ``suggests`` is the passive signal's outcome,
    ``done_by`` who has judged it so that it is done."""

    turn: TurnText
    judgments: list[JudgmentRecord]
    suggests: str
    checks: list[ArtifactCheck]
    revisions: list[Correction]
    done_by: list[str]


@dataclass(frozen=True, slots=True)
class JudgeQuery:
    """One judgment. ``id`` is made by who asks: asked again with it, it is the same judgment."""

    project: str
    turn: str
    by: str
    id: str
    outcome: str | None = None
    flag: int | None = None
    score: float | None = None
    note: str | None = None
    label: str | None = None
    correction: str | None = None
    """What the answer should have been."""


@dataclass(frozen=True, slots=True)
class JudgedNow:
    """It is on disk."""

    id: str


@dataclass(frozen=True, slots=True)
class UndoQuery:
    """Whose last judgment."""

    by: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back; an empty ``kind`` where there was nothing."""

    project: str
    turn: str
    kind: str


@dataclass(frozen=True, slots=True)
class EarlierQuery(UndoQuery):
    """Whose."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class Earlier:
    """The turns that this reviewer judged in the page, the last one first."""

    turns: list[TurnId]


@endpoint("GET", "/api/review/queues", "The queues, and how far they are.")
def _queues(store: Store, query: ReviewQueuesQuery) -> ReviewQueues:
    with refusing("queue"):
        by = reviewer_of(query.by)
        also = land(store)
        rows: list[QueueRow] = []
        for name, queue in queues(store).items():
            now = progress(store, queue, by, also=also)
            rows.append(QueueRow(name, queue.order, queue.each, now.total, now.left))
        return ReviewQueues(by, rows)


def _queue(store: Store, query: ReviewQuery) -> Queue:
    """The queue of this name, with what the question says instead."""
    alike = ("project", "agent", "order", "since", "until", "odd", "sample", "seed", "each")
    given = {name: getattr(query, name) for name in alike} | {"stop_reasons": tuple(query.stop)}
    with understood():
        return chosen_queue(store, query.queue, {k: one for k, one in given.items() if one})


@endpoint("GET", "/api/review/left", "What is to be judged.")
def _left(store: Store, query: ReviewQuery) -> ReviewLeft:
    with refusing("queue"):
        by = reviewer_of(query.by)
        left = review.left(store, _queue(store, query), by, limit=query.limit)
        return ReviewLeft(
            queue=left.queue.name,
            order=left.queue.order,
            each=left.queue.each,
            by=by,
            turns=left.progress.total,
            left=left.progress.left,
            next=[TurnId(one.project, one.id) for one in left.next],
            waiting=left.waiting,
        )


@endpoint("GET", "/api/review/turn", "A turn with what was said of it.")
def _turn(store: Store, query: ReviewTurnQuery) -> ReviewTurn:
    with refusing("turn"):
        project, also = query.project, land(store)
        turn = tell(store, project, query.turn)
        judged = judgments(store, project, "turn", query.turn, also=also)
        known = review.signal(store, project, query.turn, judged)
        return ReviewTurn(
            *(turn, judged, known.suggests, known.checks, known.revisions),
            done_by=sorted({one.author for one in judged if one.settles}),
        )


@endpoint("POST", "/api/review/judge", "Judge a turn.")
def _judge(store: Store, query: JudgeQuery) -> JudgedNow:
    with refusing("turn"):
        judge(
            judging_spool(store),
            [RecordRef("turn", query.turn, query.project)],
            reviewer_of(query.by),
            query.id,
            outcome=query.outcome,
            training_flag=query.flag,
            score=query.score,
            comment=query.note,
            label=query.label,
            correction=query.correction,
        )
        return JudgedNow(query.id)


@endpoint("POST", "/api/review/undo", "Take the last judgment back.")
def _undo(store: Store, query: UndoQuery) -> Undone:
    with refusing("judgment"):
        undone = review.undo(store, judging_spool(store), query.by, project=query.project)
        if undone is None:
            return Undone("", "", "")
        return Undone(undone.project, undone.subject_id, undone.kind)


@endpoint("GET", "/api/review/earlier", "What was judged before.")
def _earlier(store: Store, query: EarlierQuery) -> Earlier:
    with refusing("judgment"):
        said = review.last_said(store, query.by, project=query.project, limit=query.limit)
        turns = dict.fromkeys((one.project, one.subject_id) for one in said)
        return Earlier([TurnId(*one) for one in turns])


@endpoint("GET", "/api/review/summary", "What a reviewer has said in a queue.")
def _summary(store: Store, query: ReviewQuery) -> Summary:
    with refusing("queue"):
        land(store)
        return summary(store, _queue(store, query), reviewer_of(query.by))
