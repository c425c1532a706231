"""The rows of what is said of judgments: rankings and withdrawals."""

from __future__ import annotations

from hashlib import blake2b

from turnspan.annotations.comparisons import pairs
from turnspan.redaction.redactor import Redactor
from turnspan.tracing import content_store as facts
from turnspan_clickhouse.normalise.other_rows import annotation
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal


def ranking(
    fact: facts.Ranking, project: str, redactor: Redactor, written_at: int
) -> list[Annotation]:
    """The rows of a ranking: a preference a pair."""
    return [annotation(one, project, redactor, written_at) for one in pairs(fact)]


def withdrawal(
    fact: facts.Withdrawal, project: str, redactor: Redactor, written_at: int
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


def _id(fact: facts.Withdrawal) -> str:
    """With the time: who withdraws twice takes two judgments back. Landed twice, it is one."""
    values = (fact.kind, fact.annotation_id, fact.author, fact.created_at)
    return blake2b(repr(values).encode(errors="replace"), digest_size=16).hexdigest()
