"""Reviewing: what is left of a queue, one reviewer's way through it, and undoing.

The functions keep nothing between two questions: who asks again, in another tab or after a crash,
goes on there. A ``Review`` remembers its own way, for one terminal.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.conversation import Conversation, TurnRecord
from turnspan_records.judging.annotation import (
    PAGE,
    StoredJudgment,
    annotate,
    reviewer,
    withdraw,
)
from turnspan_records.judging.history import ASSESSING, JudgmentRecord, judgments
from turnspan_records.judging.queues import Progress, Queue, progress, waiting
from turnspan_records.judging.unlanded import Unlanded, land, unlanded
from turnspan_records.lookup import RecordRef
from turnspan_records.quality.artifact_checks import (
    ArtifactCheck,
    Correction,
    checks_of_turn,
    corrections,
    worst,
)
from turnspan_records.quality.sources import OUTCOMES
from turnspan_records.replay import replay
from turnspan_records.sql import statement

SOURCE: Final = "review"
TURNS: Final = 1_000
"""How many turns are looked for at once: to look takes longer than to show one."""
_KINDS: Final = ("outcome", "training_flag", "score", "comment")


@dataclass(frozen=True, slots=True)
class QueueState:
    """How far a queue is, and what is next in it."""

    queue: Queue
    progress: Progress
    next: list[RecordRef]
    waiting: int
    """Judgments and withdrawals of this machine that are on disk and not in the store yet."""


def left(store: Store, queue: Queue, author: str, *, limit: int = 100) -> QueueState:
    """What ``author`` is to judge next.

    Raises:
        ValueError: the queue's order or window is none, or the author is no person.
        StoreError: as ``Store.query``.
    """
    author = reviewer(author)
    also = land(store)
    return QueueState(
        queue,
        progress(store, queue, author, also=also),
        waiting(store, queue, author, limit=limit, also=also),
        len(also),
    )


def last_said(
    store: Store, author: str, *, project: str = "", limit: int = 1, also: Unlanded | None = None
) -> list[StoredJudgment]:
    """What this reviewer has said last in the page, the newest first, without what is withdrawn.

    Raises ``StoreError`` as ``Store.query``.
    """
    also = land(store) if also is None else also
    parameters = {
        "author": reviewer(author),
        "source": PAGE,
        "project": project,
        # What waits may take back as many of them.
        "limit": limit + len(also.withdrawals),
    }
    found = {
        StoredJudgment(str(of), "turn", str(turn), str(kind), str(id_)): utc(created)
        for of, turn, kind, id_, created in store.query(
            statement("judging/last_of_reviewer"), parameters
        ).rows
    }
    for row in also.judgments:
        kind = str(row["kind"])
        own = row["subject_kind"] == "turn" and (kind in _KINDS or kind.startswith("evaluation:"))
        by = (row["author"], row["source"]) == (author.strip(), PAGE)
        if own and by and project in ("", row["project"]):
            found[_named(row)] = utc(row["created_at"])
    for row in also.withdrawals:
        found.pop(_named(row), None)
    return sorted(found, key=lambda one: (found[one], one.id), reverse=True)[:limit]


def undo(store: Store, spool: Spool, author: str, *, project: str = "") -> StoredJudgment | None:
    """Withdraw what this reviewer has said last in the page; ``None`` where there is nothing. It is
    on disk when this returns, and nothing is deleted.

    Raises:
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    for one in last_said(store, author, project=project, also=unlanded(spool)):
        subject = RecordRef("turn", one.subject_id, one.project)
        withdraw(spool, subject, one.kind, id=one.id, author=reviewer(author), source=PAGE)
        return one
    return None


def _named(row: Mapping[str, Any]) -> StoredJudgment:
    names = ("project", "subject_kind", "subject_id", "kind", "annotation_id")
    return StoredJudgment(*(str(row[name]) for name in names))


@dataclass(frozen=True, slots=True)
class Signal:
    """What is known of a turn without anybody judging it: what became of what it wrote, and what
    that suggests."""

    suggests: str = ""
    """``used``, ``modified`` or ``rejected``: the worst that holds of what machines said."""
    checks: list[ArtifactCheck] = field(default_factory=list[ArtifactCheck])
    revisions: list[Correction] = field(default_factory=list[Correction])
    """What people made of the turn's texts."""


def signal(store: Store, project: str, turn_id: str, told: Iterable[JudgmentRecord]) -> Signal:
    """The passive signal of a turn of which ``told`` was said. Raises as ``Store.query``."""
    said = [
        one.outcome
        for one in told
        if one.kind == "outcome" and one.withdrawn_at is None and one.author.startswith("passive:")
    ]
    checks = checks_of_turn(store, project, turn_id)
    corrected = {one.artifact_id for one in checks if one.correction_id}
    revisions = [
        revision
        for artifact_id in sorted(corrected)
        for revision in corrections(store, project=project, artifact_id=artifact_id)
    ]
    return Signal(worst(said, OUTCOMES), checks, revisions)


@dataclass(slots=True)
class ReviewItem:
    """A turn that is to be judged, with the conversation it is in and what was said of it."""

    record: RecordRef
    conversation: Conversation
    turn: TurnRecord
    number: int
    """Which turn of the conversation it is, from 1."""
    judgments: list[JudgmentRecord]
    signal: Signal


class Review:
    """One reviewer's way through a queue.

    Every judgment is on disk when its method returns, and lands at once if the store can be
    reached. Who goes on later gets what is still to be judged. ``opener`` gives the store for one
    step: in between it may be closed, so that others have an embedded one.
    """

    def __init__(
        self,
        opener: Callable[[], AbstractContextManager[Store]],
        spool: Spool,
        queue: Queue,
        author: str,
    ) -> None:
        self.queue = queue
        self.author = author
        self.elsewhere = 0
        """How many turns were left out since somebody else had judged them meanwhile."""
        self._open = opener
        self._spool = spool
        self._ahead: deque[RecordRef] = deque()
        self._seen: list[RecordRef] = []
        self._at = -1
        self._done: list[tuple[RecordRef, str, str]] = []
        self._judged: set[RecordRef] = set()
        self._counted = Progress(0, 0)
        self._exhausted = False

    @property
    def progress(self) -> Progress:
        """The progress of the queue."""
        left = self._counted.left - len(self._judged) - self.elsewhere
        return Progress(self._counted.total, max(0, left))

    def next(self) -> ReviewItem | None:
        """Go on to the next turn; ``None`` where none is left.

        Raises:
            ValueError: the queue's order or window is none.
            MayNotInsertError: the store's user may not judge.
            StoreError: as ``Store.query``.
        """
        with self._open() as store:
            judging_spool(store)
            while self._at + 1 < len(self._seen):
                self._at += 1
                if item := self._load(store, self._seen[self._at]):
                    return item
            while found := self._new(store):
                item = self._load(store, found)
                if item is None:
                    continue
                if not self.queue.each and any(one.settles for one in item.judgments):
                    self.elsewhere += 1  # judged since it was looked for
                    continue
                self._seen.append(found)
                self._at = len(self._seen) - 1
                return item
        self._at = len(self._seen)
        return None

    def back(self) -> ReviewItem | None:
        """Go back to the turn before; ``None`` where this is the first. Raises as ``next``."""
        if self._at <= 0:
            return None
        self._at -= 1
        return self.again()

    def again(self) -> ReviewItem | None:
        """The turn that is being judged, with what was said of it by now. Raises as ``next``."""
        if not 0 <= self._at < len(self._seen):
            return None
        with self._open() as store:
            return self._load(store, self._seen[self._at])

    def judge(
        self,
        *,
        outcome: str | None = None,
        training_flag: int | None = None,
        score: float | None = None,
        comment: str | None = None,
    ) -> ReviewItem | None:
        """Judge the turn, in one way; returns it as it is then.

        Raises:
            ValueError: it is not what it must be.
            SpoolError: the spool cannot be written.
            StoreError: it is on disk, and the store cannot be reached.
        """
        found = self._seen[self._at]
        (given,) = annotate(
            *(self._spool, found),
            outcome=outcome,
            training_flag=training_flag,
            score=score,
            comment=comment,
            author=self.author,
            source=SOURCE,
            id=uuid.uuid4().hex,  # so that an undo takes back this one, not an equal one before
        )
        self._done.append((found, given.kind, given.id))
        if given.kind in ASSESSING:
            self._judged.add(found)
        return self._landed(found)

    def undo(self) -> ReviewItem | None:
        """Withdraw this reviewer's last judgment, and go back to what it was of; ``None`` where
        there is none. After those of this review come earlier ones of the turn being judged.

        Raises as ``judge``.
        """
        last = self._done.pop() if self._done else self._earlier()
        if last is None:
            return None
        found, kind, id_ = last
        withdraw(self._spool, found, kind, id=id_, author=self.author, source=SOURCE)
        if found in self._judged and not any(
            one == found and what in ASSESSING for one, what, _ in self._done
        ):
            self._judged.discard(found)
        self._at = self._seen.index(found)
        return self._landed(found)

    def _earlier(self) -> tuple[RecordRef, str, str] | None:
        item = self.again()
        own = [
            one
            for one in (item.judgments if item else ())
            if one.author == self.author and one.withdrawn_at is None
        ]
        return (self._seen[self._at], own[-1].kind, own[-1].id) if own else None

    def _landed(self, found: RecordRef) -> ReviewItem | None:
        with self._open() as store:
            ship(store, spool=self._spool)
            return self._load(store, found)

    def _new(self, store: Store) -> RecordRef | None:
        """The next turn that was not shown yet."""
        if not self._ahead and not self._exhausted:
            known = {*self._seen}
            found = waiting(store, self.queue, self.author, limit=TURNS + len(known))
            self._ahead.extend(one for one in found if one not in known)
            self._exhausted = len(found) < TURNS + len(known)
            if not self._counted.total:
                self._counted = progress(store, self.queue, self.author)
        return self._ahead.popleft() if self._ahead else None

    def _load(self, store: Store, found: RecordRef) -> ReviewItem | None:
        """Everything about a turn; ``None`` where it is gone since."""
        conversation = replay(store, found.project, found.session_id, found.trace_id)
        turns = [step for step in conversation.steps if isinstance(step, TurnRecord)]
        for number, turn in enumerate(turns, 1):
            if turn.turn_id == found.id:
                told = judgments(store, found.project, "turn", found.id)
                known = signal(store, found.project, found.id, told)
                return ReviewItem(found, conversation, turn, number, told, known)
        return None
