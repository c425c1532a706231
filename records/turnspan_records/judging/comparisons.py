"""Comparisons and withdrawals from outside the application: into the spool, whence they land."""

from __future__ import annotations

import time
from collections.abc import Sequence

from turnspan import config
from turnspan.annotations.comparisons import grouped, pairs, preferred
from turnspan.annotations.judgments import confidence_of
from turnspan.annotations.withdrawals import judgment_kind
from turnspan.redaction.redactor import Redactor
from turnspan.tracing.content_store import Judgment, Ranking, WithdrawalFact
from turnspan_clickhouse.normalise import judgment_rows
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.row_writer import write_rows
from turnspan_records.lookup import RecordRef

SOURCE = "command"


def write_judgments(spool: Spool, project: str, each: Sequence[Judgment]) -> int:
    """Write judgments of a project's records to the spool, redacted; returns how many.

    Raises:
        ValueError: one has a value that cannot be written.
        SpoolError: the spool cannot be written.
    """
    redactor = Redactor(config.active())
    rows = [judgment_rows.annotation(one, project, redactor, one.created_at) for one in each]
    return write_rows(spool, rows)


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
    judgment = said(chosen, author, confidence, source, reason)
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
    ranking = Ranking(said(first, author, confidence, source, reason), groups)
    return write_judgments(spool, first.project, pairs(ranking))


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
    _withdraw(spool, subject, judgment, [(subject.id, id)], reason, author, source)


def withdraw_ranking(
    spool: Spool,
    store: Store,
    subject: RecordRef,
    ranking_id: str,
    *,
    reason: str = "",
    author: str = "",
    source: str = SOURCE,
) -> int:
    """Write that none of the preferences holds that a ranking is made of; ``subject`` is one of
    what was ranked. Returns how many they are.

    Raises:
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    rows = store.query(
        "SELECT subject_id, annotation_id FROM annotation WHERE project = {project:String}"
        " AND subject_kind = {kind:String} AND kind = 'preference' AND ranking_id = {id:String}",
        {"project": subject.project, "kind": subject.kind, "id": ranking_id},
    ).rows
    each = [(str(chosen), str(id_)) for chosen, id_ in rows]
    return _withdraw(spool, subject, "preference", each, reason, author, source)


def _withdraw(
    spool: Spool,
    subject: RecordRef,
    judgment: str,
    each: Sequence[tuple[str, str]],
    reason: str,
    author: str,
    source: str,
) -> int:
    """Withdraw judgments of records like ``subject``, by the record's id and their own."""
    now = time.time_ns()
    kind = judgment_kind(judgment)
    redactor = Redactor(config.active())
    facts = [
        WithdrawalFact(
            resource={},
            subject_kind=subject.kind,
            subject_id=subject_id,
            kind=kind,
            annotation_id=id_,
            author=author,
            source=source,
            comment=reason,
            created_at=now,
        )
        for subject_id, id_ in each
    ]
    return write_rows(
        spool, [judgment_rows.withdrawal(one, subject.project, redactor, now) for one in facts]
    )


def said(
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


def _comparable(records: Sequence[RecordRef]) -> None:
    if len({(one.kind, one.project) for one in records}) != 1:
        raise ValueError("compare records of one kind and one project")
