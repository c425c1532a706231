"""Responses made in the background: the rows of the calls that made them, until their end is seen.

The call that makes one returns before the model has answered. Whoever fetches the response later
(``retrieve``, a resumed stream, ``cancel``) brings its end; the first time, that completes the row
of the call: answer, tokens, cost, how it finished. Where the end is seen by another process than
the one that made the response, the row stays as it was: only the fetch's own row tells the answer.
"""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal

from turnspan import semconv
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.normalise.column_values import integer, text
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.normalise.turn_facts import copy_notes, note, set_usage, usage_of_row
from turnspan_clickhouse.pricing.prices import price_of_call
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary

MAX_PENDING = 10_000

_PENDING = frozenset({"queued", "in_progress"})


class BackgroundCalls:
    """The calls of one process whose responses have not ended."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, LlmCall] = OrderedDict()
        self._turns: dict[str, TurnSummary] = {}
        """Decorated turns that ended before a call of theirs did."""

    def made(self, facts: SpanFacts, row: LlmCall) -> None:
        """A model call has landed; one whose response goes on is kept."""
        if row.response_id and facts.raw.get(semconv.RESPONSE_STATUS) in _PENDING:
            self._calls[row.response_id] = row
            while len(self._calls) > MAX_PENDING:
                self._forget_turn(self._calls.popitem(last=False)[1].turn_id)

    def turn_ended(self, row: TurnSummary) -> None:
        """A decorated turn's row has landed; it is kept while a call of it goes on."""
        if self._calls and any(call.turn_id == row.turn_id for call in self._calls.values()):
            self._turns[row.turn_id] = row

    def completed(self, facts: SpanFacts, fetched: LlmCall, batch: Batch) -> LlmCall | None:
        """The row of the call that a fetch completes, with what it brought, written again."""
        if facts.raw.get(semconv.RESPONSE_STATUS) in _PENDING or not fetched.finish_reasons:
            return None
        call = self._calls.pop(fetched.response_id, None)
        if call is None:
            return None
        usage = _usage(facts)
        set_usage(call, usage)
        named = {semconv.REQUEST_MODEL: call.request_model, **facts.raw}
        call.cost_usd, call.price_version = price_of_call(named, usage, call.start_time)
        call.response_model = fetched.response_model or call.response_model
        call.finish_reasons = fetched.finish_reasons
        call.error_type, call.error_message = fetched.error_type, fetched.error_message
        call.stream_outcome = "complete" if call.stream and not call.error_type else ""
        call.output_messages = fetched.output_messages
        call.response_text = fetched.response_text
        call.response_thoughts = fetched.response_thoughts
        call.tool_calls = fetched.tool_calls
        copy_notes(fetched, call)
        note(call, semconv.RESPONSE_STATUS, text(facts.raw.get(semconv.RESPONSE_STATUS)))
        rewrite(call, batch)
        return call

    def complete_turn(self, call: LlmCall, batch: Batch) -> bool:
        """Add a completed call's tokens and cost to the row of its turn, if that has ended."""
        turn = self._turns.get(call.turn_id)
        if turn is None:
            return False
        usage = usage_of_row(turn)
        usage.add(usage_of_row(call))
        set_usage(turn, usage)
        if call.cost_usd is not None:
            turn.cost_usd = (turn.cost_usd or Decimal(0)) + call.cost_usd
        rewrite(turn, batch)
        self._forget_turn(call.turn_id)
        return True

    def _forget_turn(self, turn_id: str) -> None:
        if not any(call.turn_id == turn_id for call in self._calls.values()):
            self._turns.pop(turn_id, None)


def _usage(facts: SpanFacts) -> TokenUsage:
    """The tokens that a fetch says the call took which it completes."""
    counts = {name: integer(facts.raw.get(told)) for name, told in semconv.COMPLETED_USAGE.items()}
    return TokenUsage(
        counts[semconv.USAGE_INPUT_TOKENS],
        counts[semconv.USAGE_OUTPUT_TOKENS],
        counts[semconv.USAGE_CACHE_READ_INPUT_TOKENS],
        counts[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS],
        counts[semconv.USAGE_REASONING_OUTPUT_TOKENS],
    )
