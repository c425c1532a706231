"""The rows of judgments and of their withdrawals."""

from __future__ import annotations

from hashlib import blake2b

from turnspan.redaction.redactor import Redactor
from turnspan.tracing import content_store as facts
from turnspan_clickhouse.normalise.row_context import row_of
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal


def annotation(
    judgment: facts.Judgment, project: str, redactor: Redactor, written_at: int
) -> Annotation:
    """The row of a judgment of something in this project."""
    return row_of(Annotation, redactor, judgment, project=project, written_at=written_at)


def withdrawal(
    fact: facts.WithdrawalFact, project: str, redactor: Redactor, written_at: int
) -> Withdrawal:
    """The row of a withdrawal."""
    # With the time: who withdraws twice takes two judgments back. Landed twice, it is one.
    values = (fact.kind, fact.annotation_id, fact.author, fact.created_at)
    id_ = blake2b(repr(values).encode(errors="replace"), digest_size=16).hexdigest()
    return row_of(
        Withdrawal, redactor, fact, project=project, withdrawal_id=id_, written_at=written_at
    )
