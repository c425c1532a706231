"""The rows of facts that are no span's: one builder for each kind of fact.

A new kind of record that an application tells of is a schema file, a class in ``rows/tables.py``, a
``Fact`` with its row in ``LIMITS`` (``turnspan.tracing.content_store``), and a builder here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from turnspan.annotations.comparisons import pairs
from turnspan.redaction.redactor import Redactor
from turnspan.tracing.content_store import (
    ContextFact,
    Fact,
    Judgment,
    Ranking,
    StartedTurn,
    WithdrawalFact,
)
from turnspan_clickhouse.normalise import judgment_rows, loop_rows, other_rows
from turnspan_clickhouse.normalise.attributes import Cleaner
from turnspan_clickhouse.normalise.consortium_rows import KINDS as OF_CONSORTIA
from turnspan_clickhouse.normalise.consortium_rows import ArbiterCalls, consortium_rows
from turnspan_clickhouse.normalise.context_texts import ContextTexts, context_rows
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.row_context import RowContext
from turnspan_clickhouse.normalise.span_facts import Origins
from turnspan_clickhouse.rows.batch import Batch


class FactRows:
    """Adds the rows of facts to batches."""

    def __init__(
        self,
        origins: Origins,
        cleaner: Cleaner,
        message_store: MessageStore,
        contexts: ContextTexts,
        arbiters: ArbiterCalls,
    ) -> None:
        self.origins = origins
        self.cleaner = cleaner
        self.message_store = message_store
        """For texts that are stored once by their hash."""
        self.contexts = contexts
        """Where model calls are looked up that used an assembled text."""
        self.arbiters = arbiters
        """Where the calls of consortia's arbiters are looked up."""
        self.redactor: Redactor = cleaner.redactor

    def context(self, resource: Mapping[str, Any], batch: Batch) -> RowContext:
        """Where the rows of a fact of this resource go."""
        project = self.origins.of(resource).project
        return RowContext(project, self.redactor, self.message_store, batch)

    def add(self, fact: Fact, batch: Batch) -> None:
        """Add a fact's rows.

        Raises:
            TypeError: there is no record of such a fact.
        """
        build = BUILDERS.get(type(fact))
        if build is None:
            raise TypeError(f"there is no record of a {type(fact).__name__}")
        build(fact, self, batch)


def _started_turn(fact: StartedTurn, rows: FactRows, batch: Batch) -> None:
    batch.add(other_rows.running_turn(fact, rows.origins, rows.cleaner, batch))


def _judgment(fact: Judgment, rows: FactRows, batch: Batch) -> None:
    project = rows.origins.of(fact.resource).project
    batch.add(judgment_rows.annotation(fact, project, rows.redactor, batch.written_at))


def _ranking(fact: Ranking, rows: FactRows, batch: Batch) -> None:
    for one in pairs(fact):
        _judgment(one, rows, batch)


def _withdrawal(fact: WithdrawalFact, rows: FactRows, batch: Batch) -> None:
    project = rows.origins.of(fact.resource).project
    batch.add(judgment_rows.withdrawal(fact, project, rows.redactor, batch.written_at))


def _of_the_loop(fact: Any, rows: FactRows, batch: Batch) -> None:
    loop_rows.add(fact, rows.context(fact.resource, batch))


BUILDERS: Final[dict[type[Fact], Callable[[Any, FactRows, Batch], None]]] = {
    StartedTurn: _started_turn,
    Judgment: _judgment,
    Ranking: _ranking,
    WithdrawalFact: _withdrawal,
    ContextFact: context_rows,
    **dict.fromkeys(loop_rows.KINDS, _of_the_loop),
    **dict.fromkeys(OF_CONSORTIA, consortium_rows),
}
"""What adds the rows of a fact, by the fact's class."""
