"""Judgments and comparisons from outside the application (a terminal, a job, the page, an MCP
client), and taking them back: into the spool, whence they land."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from turnspan import config
from turnspan.annotations.comparisons import grouped, pairs, preferred
from turnspan.annotations.judgments import SUBJECTS, confidence_of, is_machine, judgments_of
from turnspan.annotations.withdrawals import judgment_kind
from turnspan.redaction.redactor import Redactor
from turnspan.tracing.content_store import Judgment, Ranking, WithdrawalFact
from turnspan_clickhouse.normalise import judgment_rows
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.row_writer import write_rows
from turnspan_records.judging.history import judgments
from turnspan_records.judging.unlanded import unlanded
from turnspan_records.lookup import RecordRef
from turnspan_records.sql import statement

SOURCE: Final = "command"
PAGE: Final = "console"
"""Where the page's judgments were given."""
LONGEST_AUTHOR: Final = 200
CORRECTION: Final = "correction"
"""The evaluation whose comment is what the answer should have been."""
_LABEL: Final = re.compile(r"[^\x00-\x1f\x7f]{1,60}")
_ID: Final = re.compile(r"[0-9A-Za-z-]{8,64}")


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """A judgment that was written, by which it can be taken back."""

    project: str
    subject_kind: str
    subject_id: str
    kind: str
    id: str


def annotate(
    spool: Spool,
    *subjects: RecordRef,
    outcome: str | None = None,
    training_flag: int | None = None,
    score: float | None = None,
    comment: str | None = None,
    directive: str | None = None,
    preferred_over: str | None = None,
    author: str = "",
    confidence: float | None = None,
    source: str = SOURCE,
    id: str = "",
) -> list[StoredJudgment]:
    """Write judgments of records to the spool, the same of each. They land when it is shipped.

    Raises:
        ValueError: one of them is not what it must be.
        SpoolError: the spool cannot be written.
    """
    several = bool(id) and len(subjects) > 1
    each = [
        (one.project, judgment)
        for number, one in enumerate(subjects, 1)
        for judgment in judgments_of(
            *(unsaid(one, author, confidence, source), outcome, training_flag, score),
            *(comment, directive, preferred_over),
            id=f"{id}-{number}" if several else id,
        )
    ]
    for project in dict.fromkeys(project for project, _ in each):
        write_judgments(spool, project, [judgment for of, judgment in each if of == project])
    return [stored(project, judgment) for project, judgment in each]


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
    label: str | None = None,
    correction: str | None = None,
) -> list[StoredJudgment]:
    """Write one judgment of a person's in the page, the same of each subject; it is on disk when
    this returns, and lands with the next question. ``id`` is its own: the same told again, since an
    answer was lost, is the same judgment. A label is an evaluation of that name, a correction (what
    the answer should have been) the evaluation ``correction`` with the text as its comment.

    Raises:
        ValueError: it is not one judgment, or not what it must be.
        SpoolError: the spool cannot be written.
    """
    if any(one.kind not in SUBJECTS or not one.id for one in subjects):
        raise ValueError(f"judge one of {', '.join(SUBJECTS)}, with its id")
    if score is not None and not 0 <= score <= 10:
        raise ValueError(f"a score is from 0 to 10: not {score!r}")
    given = (outcome, training_flag, score, comment or None, directive or None, label, correction)
    if not subjects or sum(one is not None for one in given) != 1:
        raise ValueError(
            "name one of outcome, training_flag, score, comment, directive, label and correction"
        )
    if label is not None or correction is not None:
        return _evaluate(spool, subjects, reviewer(author), judgment_id(id), label, correction)
    return annotate(
        spool,
        *subjects,
        outcome=outcome,
        training_flag=training_flag,
        score=score,
        comment=comment,
        directive=directive,
        author=reviewer(author),
        source=PAGE,
        id=judgment_id(id),
    )


def _evaluate(
    spool: Spool, subjects: Sequence[RecordRef], author: str, id: str, label: str | None,
    correction: str | None,
) -> list[StoredJudgment]:  # fmt: skip
    name = CORRECTION if label is None else label.strip()
    if not _LABEL.fullmatch(name) or label == CORRECTION:
        raise ValueError(f"a label has 1 to 60 characters in one line, and is not {CORRECTION!r}")
    if label is None and not (correction or "").strip():
        raise ValueError("a correction is the text that the answer should have been")
    each: list[StoredJudgment] = []
    for number, one in enumerate(subjects, 1):
        judgment = replace(
            unsaid(one, author, None, PAGE, correction or ""),
            kind=f"evaluation:{name}",
            outcome="" if label is None else "yes",
            annotation_id=f"{id}-{number}" if len(subjects) > 1 else id,
        )
        write_judgments(spool, one.project, [judgment])
        each.append(stored(one.project, judgment))
    return each


def prefer(
    spool: Spool,
    chosen: RecordRef,
    rejected: Sequence[RecordRef],
    *,
    reason: str = "",
    author: str = "",
    confidence: float | None = None,
    source: str = SOURCE,
) -> int:
    """Write that one record is better than each of the others; returns how many preferences.

    Raises:
        ValueError: they are not all different records of one kind.
        SpoolError: the spool cannot be written.
    """
    _comparable([chosen, *rejected])
    judgment = unsaid(chosen, author, confidence, source, reason)
    each = [preferred(judgment, one.id) for one in rejected]
    return write_judgments(spool, chosen.project, each)


def rank(
    spool: Spool,
    best_first: Sequence[RecordRef],
    *,
    ties: Sequence[Sequence[RecordRef]] = (),
    reason: str = "",
    author: str = "",
    confidence: float | None = None,
    source: str = SOURCE,
) -> int:
    """Write an order of records as preferences, ties as none; returns how many.

    Raises:
        ValueError: they are not different records of one kind, or a tie is none of them.
        SpoolError: the spool cannot be written.
    """
    _comparable(best_first)
    groups = grouped([one.id for one in best_first], [[one.id for one in tie] for tie in ties])
    if len(groups) < 2:
        raise ValueError("a ranking has at least two ids that are no tie")
    first = best_first[0]
    ranking = Ranking(unsaid(first, author, confidence, source, reason), groups)
    return write_judgments(spool, first.project, pairs(ranking))


def _comparable(records: Sequence[RecordRef]) -> None:
    if len({(one.kind, one.project) for one in records}) != 1:
        raise ValueError("compare records of one kind and one project")


def write_judgments(spool: Spool, project: str, each: Sequence[Judgment]) -> int:
    """Write judgments of a project's records to the spool, redacted; returns how many.

    Raises:
        ValueError: one has a value that cannot be written.
        SpoolError: the spool cannot be written.
    """
    redactor = Redactor(config.active())
    rows = [judgment_rows.annotation(one, project, redactor, one.created_at) for one in each]
    return write_rows(spool, rows)


def stored(project: str, judgment: Judgment) -> StoredJudgment:
    """What a judgment of a project's record is known by."""
    return StoredJudgment(
        *(project, judgment.subject_kind, judgment.subject_id, judgment.kind),
        judgment.annotation_id,
    )


def unsaid(
    subject: RecordRef, author: str, confidence: float | None, source: str, comment: str = ""
) -> Judgment:
    """What is judged, by whom and when, of a judgment that says nothing yet.

    Raises:
        ValueError: the confidence is none.
    """
    return Judgment(
        resource={},
        subject_kind=subject.kind,
        subject_id=subject.id,
        author=author,
        source=source,
        comment=comment,
        created_at=time.time_ns(),
        confidence=confidence_of(confidence),
    )


def withdraw(
    spool: Spool,
    subject: RecordRef,
    judgment: str,
    *,
    id: str = "",
    reason: str = "",
    author: str = "",
    source: str = SOURCE,
) -> None:
    """Write that a judgment of a record no longer holds: the newest of its kind (of ``author``
    where one is named), or the one with this id.

    Raises:
        ValueError: there is no such kind of judgment.
        SpoolError: the spool cannot be written.
    """
    one = StoredJudgment(subject.project, subject.kind, subject.id, judgment_kind(judgment), id)
    _withdraw(spool, [one], reason, author, source)


def withdraw_ranking(
    spool: Spool,
    store: Store,
    subject: RecordRef,
    ranking_id: str,
    *,
    reason: str = "",
    author: str = "",
) -> int:
    """Write that none of the preferences holds that a ranking is made of; ``subject`` is one of
    what was ranked. Returns how many they are.

    Raises:
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    project, kind = subject.project, subject.kind
    given = {"project": project, "kind": kind, "id": ranking_id}
    rows = store.query(statement("judging/ranking"), given).rows
    each = [StoredJudgment(project, kind, str(one), "preference", str(id_)) for one, id_ in rows]
    return _withdraw(spool, each, reason, author, SOURCE)


def take_back(store: Store, spool: Spool, each: Sequence[StoredJudgment], author: str) -> int:
    """Withdraw what this reviewer has said; returns how much of it there was.

    Raises:
        ValueError: one is somebody else's.
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    author, also = reviewer(author), unlanded(spool)
    mine: list[StoredJudgment] = []
    for one in each:
        for judged in judgments(store, one.project, one.subject_kind, one.subject_id, also=also):
            if (judged.kind, judged.id) != (one.kind, one.id) or judged.withdrawn_at is not None:
                continue
            if judged.author != author:
                raise ValueError(f"{judged.author} judged this: only they can take it back")
            mine.append(one)
    return _withdraw(spool, mine, "", author, PAGE)


def _withdraw(
    spool: Spool, each: Iterable[StoredJudgment], reason: str, author: str, source: str
) -> int:
    now = time.time_ns()
    redactor = Redactor(config.active())
    facts = [
        (
            one.project,
            WithdrawalFact(
                {},
                *(one.subject_kind, one.subject_id, one.kind, one.id),
                author=author,
                source=source,
                comment=reason,
                created_at=now,
            ),
        )
        for one in each
    ]
    rows = [judgment_rows.withdrawal(fact, project, redactor, now) for project, fact in facts]
    return write_rows(spool, rows)


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
