"""The one tool that writes: judgments, where they are allowed. They are a machine's, so that what a
person said holds."""

from __future__ import annotations

from turnspan_clickhouse.store.client import Store
from turnspan_console.failures import USAGE, Failure
from turnspan_console.ids import one
from turnspan_console.judgment_command import JUDGED
from turnspan_console.mcp_server.answers import Cursor, ToolAnswer
from turnspan_console.mcp_server.transcripts import record
from turnspan_records.access import land_what_waits
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging.annotation import annotate

SOURCE = "machine:mcp"


def judged(
    store: Store,
    _: Cursor,
    id_: str,
    outcome: str,
    training_flag: int | None,
    score: float | None,
    comment: str,
    confidence: float | None,
    author: str,
) -> ToolAnswer:
    """Write judgments of a record; they have landed when it returns, or wait in the spool."""
    subject = one(store, id_, prefer=JUDGED)
    spool = judging_spool(store)
    count = annotate(
        spool,
        subject,
        outcome=outcome or None,
        training_flag=training_flag,
        score=score,
        comment=comment or None,
        author=author,
        confidence=confidence,
        source=SOURCE,
    )
    if not count:
        raise Failure("Give a judgment: outcome, training_flag, score or comment.", USAGE)
    waits: list[str] = []
    land_what_waits(store, waits.append)
    lines = [record({"kind": subject.kind, "id": subject.id}), *waits]
    return ToolAnswer(f"{count} written, as a machine's judgment.", "\n".join(lines))
