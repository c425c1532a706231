"""Comparisons from outside the application: one record over others, or an order of them."""

from __future__ import annotations

from collections.abc import Sequence

from turnspan.annotations.comparisons import grouped, pairs, preferred
from turnspan.tracing.content_store import Ranking
from turnspan_clickhouse.spool.spool import Spool
from turnspan_records.judging.annotation import SOURCE, unsaid, write_judgments
from turnspan_records.lookup import RecordRef


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
