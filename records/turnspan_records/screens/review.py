"""A review without anything that is kept between two questions: what is left, a turn with all that
was said of it, judging and undoing. Who asks again, in another tab or after a crash, goes on there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from turnspan.annotations import judgments_of
from turnspan.annotations.judgments import SUBJECTS, is_machine
from turnspan_clickhouse.ship.shipper import Shipper
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.times import utc
from turnspan_records.judging.comparisons import said, withdraw, write_judgments
from turnspan_records.judging.history import NOT_WITHDRAWN, JudgmentRecord, judgments
from turnspan_records.judging.queues import Progress, Queue, progress, waiting
from turnspan_records.judging.signal import Signal, signal
from turnspan_records.judging.unlanded import Unlanded, unlanded
from turnspan_records.lookup import RecordRef
from turnspan_records.screens.reading_view import TurnText, tell

SOURCE: Final = "console"
"""Where the page's judgments were given."""
LONGEST_AUTHOR: Final = 200
LANDING_SECONDS: Final = 1.0
"""How long a question lets what waits land first."""
_ID: Final = re.compile(r"[0-9A-Za-z-]{8,64}")
_KINDS: Final = ("outcome", "training_flag", "score", "comment")
_LAST: Final = f"""
SELECT project, subject_id, kind, annotation_id, created_at FROM annotation
WHERE subject_kind = 'turn' AND kind IN ('outcome', 'training_flag', 'score', 'comment')
    AND author = {{author:String}} AND source = {{source:String}}
    AND ({{project:String}} = '' OR project = {{project:String}})
    AND {NOT_WITHDRAWN}
ORDER BY toUnixTimestamp64Nano(created_at) DESC, annotation_id LIMIT {{limit:UInt32}}
"""


@dataclass(frozen=True, slots=True)
class QueueState:
    """How far a queue is, and what is next in it."""

    queue: Queue
    progress: Progress
    next: list[RecordRef]
    waiting: int
    """Judgments and withdrawals of this machine that are on disk and not in the store yet."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A turn that is to be judged, with what is known and what was said of it."""

    turn: TurnText
    judgments: list[JudgmentRecord]
    signal: Signal
    done: bool
    """Whether somebody has judged it."""


@dataclass(frozen=True, slots=True)
class UndoableJudgment:
    """A judgment that can be taken back: of what, and its id."""

    project: str
    subject_kind: str
    subject_id: str
    kind: str
    id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """A judgment that was written, by which it can be taken back."""

    project: str
    subject_kind: str
    subject_id: str
    kind: str
    id: str


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


def reviewed(store: Store, project: str, turn_id: str) -> Reviewed:
    """A turn with everything that a reviewer is shown.

    Raises:
        KeyError: there is no such turn.
        StoreError: as ``Store.query``.
    """
    also = land(store)
    turn = tell(store, project, turn_id)
    told = judgments(store, project, "turn", turn_id, also=also)
    return Reviewed(
        turn, told, signal(store, project, turn_id, told), any(one.settles for one in told)
    )


def judge(
    spool: Spool,
    subjects: Sequence[RecordRef],
    author: str,
    id: str,
    *,
    outcome: str | None = None,
    training_flag: int | None = None,
    score: float | None = None,
    comment: str | None = None,
    directive: str | None = None,
) -> list[StoredJudgment]:
    """Write one judgment, the same of each subject; it is on disk when this returns, and lands with
    the next question. ``id`` is its own: the same told again, since an answer was lost, is the same
    judgment.

    Raises:
        ValueError: it is not one judgment, or not what it must be.
        SpoolError: the spool cannot be written.
    """
    for one in subjects:
        if one.kind not in SUBJECTS or not one.id:
            raise ValueError(f"judge one of {', '.join(SUBJECTS)}, with its id")
    if score is not None and not 0 <= score <= 10:
        raise ValueError(f"a score is from 0 to 10: not {score!r}")
    given = (outcome, training_flag, score, comment or None, directive or None)
    if not subjects or sum(one is not None for one in given) != 1:
        raise ValueError("name one of outcome, training_flag, score, comment and directive")
    author, id = reviewer(author), judgment_id(id)
    ids = [f"{id}-{number}" for number in range(1, len(subjects) + 1)] if subjects[1:] else [id]
    each = [
        (one.project, told)
        for one, own in zip(subjects, ids, strict=True)
        for told in judgments_of(
            said(one, author, None, SOURCE),
            *(outcome, training_flag, score, comment or None, directive or None),
            id=own,
        )
    ]
    for project in dict.fromkeys(one[0] for one in each):
        write_judgments(spool, project, [one for of, one in each if of == project])
    return [
        StoredJudgment(of, one.subject_kind, one.subject_id, one.kind, one.annotation_id)
        for of, one in each
    ]


def last_said(
    store: Store, author: str, *, project: str = "", limit: int = 1, also: Unlanded | None = None
) -> list[UndoableJudgment]:
    """What this reviewer has said last in the page, the newest first, without what is withdrawn.

    Raises ``StoreError`` as ``Store.query``.
    """
    also = land(store) if also is None else also
    parameters = {
        "author": reviewer(author),
        "source": SOURCE,
        "project": project,
        # What waits may take back as many of them.
        "limit": limit + len(also.withdrawals),
    }
    found = {
        (str(kind), str(turn), str(id_)): UndoableJudgment(
            str(of), "turn", str(turn), str(kind), str(id_), utc(created)
        )
        for of, turn, kind, id_, created in store.query(_LAST, parameters).rows
    }
    for row in also.judgments:
        if _is_own(row, author, project):
            own = UndoableJudgment(*_named(row), row["annotation_id"], utc(row["created_at"]))
            found[own.kind, own.subject_id, own.id] = own
    taken = {(row["kind"], row["subject_id"], row["annotation_id"]) for row in also.withdrawals}
    each = [one for key, one in found.items() if key not in taken]
    return sorted(each, key=lambda one: (one.created_at, one.id), reverse=True)[:limit]


def undo(store: Store, spool: Spool, author: str, *, project: str = "") -> UndoableJudgment | None:
    """Withdraw what this reviewer has said last in the page; ``None`` where there is nothing. It is
    on disk when this returns, and nothing is deleted.

    Raises:
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    last = last_said(store, author, project=project, also=unlanded(spool))
    if not last:
        return None
    one = last[0]
    subject = RecordRef("turn", one.subject_id, one.project)
    withdraw(spool, subject, one.kind, id=one.id, author=reviewer(author), source=SOURCE)
    return one


def reviewer(author: str) -> str:
    """Who judges, if it is a person's name.

    Raises:
        ValueError: it is none.
    """
    author = author.strip()
    if not author or len(author) > LONGEST_AUTHOR:
        raise ValueError(f"who judges has a name of 1 to {LONGEST_AUTHOR} characters")
    if is_machine(author, ""):
        raise ValueError(f"{author!r} is the name of a machine: name who judges")
    return author


def judgment_id(id: str) -> str:
    """The id of a judgment, if it can be one.

    Raises:
        ValueError: it cannot.
    """
    if _ID.fullmatch(id) is None:
        raise ValueError("a judgment's id is 8 to 64 letters, digits and hyphens")
    return id


def land(store: Store) -> Unlanded:
    """Land what waits on this machine, for a moment, and say what of it still waits.

    A user who may not write, or another process that ships, leave it where it is: it is shown from
    the spool then.
    """
    spool = Spool(store.dsn.spool)
    if not spool.names():
        return Unlanded()
    shipper = Shipper(lambda: nullcontext(store), spool, auto_migrate=False)
    shipper.run(time.monotonic() + LANDING_SECONDS, wait=False)
    return unlanded(spool)


def _is_own(row: Mapping[str, Any], author: str, project: str) -> bool:
    return (
        row["subject_kind"] == "turn"
        and row["kind"] in _KINDS
        and (row["author"], row["source"]) == (author.strip(), SOURCE)
        and project in ("", row["project"])
    )


def _named(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return str(row["project"]), "turn", str(row["subject_id"]), str(row["kind"])
