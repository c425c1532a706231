"""Judgments from outside the application: by a person at a terminal, by a job."""

from __future__ import annotations

from turnspan.annotations import judgments_of
from turnspan_clickhouse.spool.spool import Spool
from turnspan_records.judging.comparisons import SOURCE, said, write_judgments
from turnspan_records.lookup import RecordRef


def annotate(
    spool: Spool,
    subject: RecordRef,
    *,
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
) -> int:
    """Write judgments of a record to the spool; returns how many. They land when it is shipped.

    Raises:
        ValueError: one of them is not what it must be.
        SpoolError: the spool cannot be written.
    """
    one = said(subject, author, confidence, source)
    each = judgments_of(one, outcome, training_flag, score, comment, directive, preferred_over, id)
    return write_judgments(spool, subject.project, each)
