"""Root calls that landed without a word: their events may come after them.

Such a call is a conversation that others may go on with, so its trace is not told again. What its
events say is added to its own records, as if it had been alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from turnspan.tracing.content_store import ContentStore
from turnspan_clickhouse.normalise.conversations import SESSION_PREFIX
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.receive.decoded import Received
from turnspan_clickhouse.receive.log_events import LogEvent, is_silent, with_events
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, TurnSummary

MAX_CALLS = 2_000
"""Calls that are remembered; of more the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class _CallEvents:
    received: Received
    turn_id: str
    round: int


class SilentCalls:
    """The newest root calls that landed without content."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._calls: OrderedDict[tuple[str, str], _CallEvents] = OrderedDict()

    def __contains__(self, span: tuple[str, str]) -> bool:
        return span in self._calls

    def landed(self, one: Received, rows: Sequence[LlmCall]) -> None:
        """Remember a call that has landed as one of these rows, if it is such a one."""
        if one.parent_id or not is_silent(one.span):
            return
        for row in rows:
            if row.span_id == one.span_id:
                self._calls[one.trace_id, one.span_id] = _CallEvents(one, row.turn_id, row.round)
        if len(self._calls) > MAX_CALLS:
            self._calls.popitem(last=False)

    def tell(self, span: tuple[str, str], events: Sequence[LogEvent], batch: Batch) -> None:
        """Add the records of a call with what its events say; they replace those that landed.

        Raises:
            Exception: what they say cannot be read.
        """
        call = self._calls[span]
        whole = replace(call.received, span=with_events(call.received.span, events))
        alone = Normaliser(ContentStore(), self._project, received=True)
        inner = Batch(batch.writer, batch.written_at)
        alone.span(whole.span, inner)
        alone.finish(inner)
        self._calls[span] = replace(call, received=whole)
        for rows in inner.rows.values():
            for row in rows:
                if isinstance(row, SpanRow):
                    continue
                if isinstance(row, TurnSummary):
                    own = row.session_id == SESSION_PREFIX + whole.trace_id
                    if not own or row.turn_id != call.turn_id:
                        continue  # a turn of several calls, whose counters are those of all
                if isinstance(row, LlmCall):
                    row.turn_id, row.round = call.turn_id, call.round
                batch.add(row)
