"""The one tool that writes: judgments, where they are allowed. They are a machine's, so that what a
person said holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from turnspan_clickhouse.store.client import Store
from turnspan_console.failures import USAGE, Failure
from turnspan_console.ids import one
from turnspan_console.judgment_command import JUDGED
from turnspan_console.mcp_server.answers import Cursor, ToolAnswer
from turnspan_console.mcp_server.questions import Id
from turnspan_console.mcp_server.transcripts import record
from turnspan_records.access import land_what_waits
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.judging.annotation import annotate

SOURCE = "machine:mcp"


def judging_as(author: str) -> Callable[..., ToolAnswer]:
    """The question that writes an author's judgments of a record. They have landed when it is
    answered, or wait in the spool."""

    def judge(
        store: Store,
        _: Cursor,
        id: Id,
        outcome: Annotated[
            Literal["", "pending", "used", "modified", "rejected"],
            Field(description="The outcome of the answer."),
        ] = "",
        training_flag: Annotated[
            Literal[-1, 0, 1] | None,
            Field(description="1 good example, -1 exclude, 0 neither."),
        ] = None,
        score: Annotated[float | None, Field(description="1 to 10.")] = None,
        comment: Annotated[str, Field(description="The reason.")] = "",
        confidence: Annotated[float | None, Field(description="0 to 1.")] = None,
    ) -> ToolAnswer:
        """Judge a turn, call, tool, session or consortium run. It is stored as a machine's
        judgment; a person's takes precedence."""
        subject = one(store, id, prefer=JUDGED)
        count = annotate(
            judging_spool(store),
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

    return judge
