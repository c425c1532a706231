"""Judgments from outside the application: by a person at a terminal, by a job."""

from __future__ import annotations

import time

from turnspan import config
from turnspan.annotations import judgments_of
from turnspan.redaction.redactor import Redactor
from turnspan.tracing.content_store import Judgment
from turnspan_clickhouse.normalise.other_rows import annotation
from turnspan_clickhouse.rows.native_encoder import encode_rows
from turnspan_clickhouse.rows.tables import Annotation
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_records.lookup import Found


def annotate(
    spool: Spool,
    subject: Found,
    *,
    outcome: str | None = None,
    training_flag: int | None = None,
    score: float | None = None,
    comment: str | None = None,
    directive: str | None = None,
    preferred_over: str | None = None,
    author: str = "",
) -> int:
    """Write judgments of a record to the spool; returns how many. They land when it is shipped.

    Raises:
        ValueError: one of them is not what it must be.
        SpoolError: the spool cannot be written.
    """
    now = time.time_ns()
    said = Judgment(
        resource={},
        subject_kind=subject.kind,
        subject_id=subject.id,
        author=author,
        source="command",
        created_at=now,
    )
    each = judgments_of(said, outcome, training_flag, score, comment, directive, preferred_over)
    if not each:
        return 0
    redactor = Redactor(config.active())
    block, rejected = encode_rows(
        Annotation, [annotation(one, subject.project, redactor, now) for one in each]
    )
    if rejected:
        raise ValueError(str(rejected[0][1]))
    writer = SpoolWriter(spool)
    try:
        writer.write(Annotation.table, SCHEMA_VERSION, block, sync=True)
    finally:
        writer.close()
    return len(each)
