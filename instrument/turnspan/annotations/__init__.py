"""What people, judges and tests say of what was recorded: judgments, comparisons, withdrawals."""

from __future__ import annotations

from turnspan.annotations.comparisons import prefer, rank
from turnspan.annotations.judgments import (
    OUTCOMES,
    SUBJECTS,
    Outcome,
    Subject,
    SubjectKind,
    annotate,
    evaluation,
    judgment_of_evaluation,
    judgments_of,
    subject_kind,
)
from turnspan.annotations.withdrawals import withdraw

__all__ = [
    "OUTCOMES",
    "SUBJECTS",
    "Outcome",
    "Subject",
    "SubjectKind",
    "annotate",
    "evaluation",
    "judgment_of_evaluation",
    "judgments_of",
    "prefer",
    "rank",
    "subject_kind",
    "withdraw",
]
