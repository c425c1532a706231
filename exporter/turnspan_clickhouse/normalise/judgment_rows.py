"""The rows of withdrawals of judgments."""

from __future__ import annotations

from hashlib import blake2b

from turnspan.redaction.redactor import Redactor
from turnspan.tracing import content_store as facts
from turnspan_clickhouse.rows.tables import Withdrawal


def withdrawal(
    fact: facts.WithdrawalFact, project: str, redactor: Redactor, written_at: int
) -> Withdrawal:
    """The row of a withdrawal."""
    said = {
        name: redactor.text(getattr(fact, name), f"annotation:{name}")
        for name in ("comment", "author", "source", "kind")
    }
    return Withdrawal(
        project=project,
        subject_kind=fact.subject_kind,
        subject_id=fact.subject_id,
        withdrawal_id=_id(fact),
        annotation_id=fact.annotation_id,
        created_at=fact.created_at,
        written_at=written_at,
        **said,
    )


def _id(fact: facts.WithdrawalFact) -> str:
    """With the time: who withdraws twice takes two judgments back. Landed twice, it is one."""
    values = (fact.kind, fact.annotation_id, fact.author, fact.created_at)
    return blake2b(repr(values).encode(errors="replace"), digest_size=16).hexdigest()
