"""Model calls, told by one span or by several: one row each, in its session and turn.

A call that makes a response in the background returns before the model has answered. Whoever
fetches the response later (``retrieve``, a resumed stream, ``cancel``) brings its end; the first
time, that completes the row of the call: answer, tokens, cost, how it finished. Where the end is
seen by another process than the one that made the response, the row stays as it was: only the
fetch's own row tells the answer.
"""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal

from turnspan import semconv
from turnspan.content.model import CallContent, RequestParts
from turnspan.dialects.convert import split_request
from turnspan.tracing.consortium_facts import FINAL_ARBITER
from turnspan.tracing.content_store import InferenceContent
from turnspan_clickhouse.normalise import llm_call
from turnspan_clickhouse.normalise.column_values import text
from turnspan_clickhouse.normalise.consortium_rows import ArbiterCalls
from turnspan_clickhouse.normalise.context_texts import ContextTexts
from turnspan_clickhouse.normalise.decorated_turns import DecoratedTurns
from turnspan_clickhouse.normalise.derived_turns import DerivedTurns
from turnspan_clickhouse.normalise.duplicates import Sightings
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.nesting import (
    TOLD,
    ChildRows,
    Nesting,
    enrich,
    is_ours,
    same_call,
)
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.normalise.turn_facts import (
    TurnCosts,
    copy_notes,
    note,
    set_usage,
    usage_of_row,
)
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
        told = {name: facts.raw.get(key) for name, key in semconv.COMPLETED_USAGE.items()}
        usage = llm_call.usage_of(told)
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


class ModelCalls:
    """Makes the rows of calls, and tells everybody who has to know of one."""

    def __init__(
        self,
        derived: DerivedTurns,
        decorated: DecoratedTurns,
        sightings: Sightings,
        message_store: MessageStore,
        contexts: ContextTexts,
        arbiters: ArbiterCalls,
        also_ours: dict[str, bool],
    ) -> None:
        self._derived = derived
        self._decorated = decorated
        self._sightings = sightings
        self._message_store = message_store
        self._contexts = contexts
        self._arbiters = arbiters
        self._also_ours = also_ours
        self.background = BackgroundCalls()
        self.nesting = Nesting()
        self.costs = TurnCosts()

    def inference(
        self, facts: SpanFacts, content: InferenceContent | None, held: ChildRows, batch: Batch
    ) -> None:
        """A span of a call ended: add its row, or what it tells more to the row of the call that
        another span has told of."""
        row = llm_call.llm_call(facts, batch)
        request = split_request(content.dialect, content.request) if content else RequestParts()
        within = [call for call in held.calls if same_call(call, row.operation)]
        if len(within) > 1 and len({id(c) for c in within if not c.error_type}) > 1:
            return  # around several calls, none of them another one's next try: it is no call
        inner = within[-1] if within else None
        if inner is None and facts.parent_span_id in self.nesting.ended:
            inner = self.nesting.ended[facts.parent_span_id]
            if inner is None or not same_call(inner, row.operation):
                if row.turn_id and not facts.foreign:
                    self._decorated.same(row)
                return
            self._same(facts, inner, row)
        if inner is None and self._sightings.may_see_calls_twice(row):
            inner = self._sightings.call(row, llm_call.output_of(content))
            if inner is not None:
                held.calls.append(inner)
                self._derived.told_beside(inner.trace_id, facts.trace_id, inner.turn_id)
                if inner.turn_id == row.turn_id:
                    self._same(facts, inner, row)
        if inner is None:
            self._count(facts, row, content, request, held, batch)
            return
        # The same call seen by another: what that one knows more, or better, is kept.
        dialect = content.dialect if content is not None else ""
        better = is_ours(row) and not is_ours(inner)
        if better:
            self._also_ours[inner.scope_name] = True
        elif facts.foreign:
            seen = self._also_ours.get(facts.scope.name, False)
            self._also_ours[facts.scope.name] = seen or is_ours(inner)
        told = self._derived.rejoin(facts, inner, dialect, request, batch, better=better)
        row.session_id, row.turn_id = inner.session_id, inner.turn_id
        reply = self._land(facts, row, content, request, batch)
        cost = inner.cost_usd
        changed = enrich(inner, row)
        if told is not None:
            self._derived.reply(facts, inner, reply, dialect, told)
        elif not changed.isdisjoint(TOLD):
            self._derived.told_more(inner, reply, facts.end_time)
        if inner.cost_usd != cost and inner.turn_id and inner.cost_usd is not None:
            self.costs.add(inner.turn_id, inner.cost_usd - (cost or 0))
        if changed or told is not None:
            rewrite(inner, batch)

    def _same(self, facts: SpanFacts, inner: LlmCall, row: LlmCall) -> None:
        """A decorated turn was told of a call by our own span; another's had counted it before."""
        if row.turn_id and not facts.foreign and not is_ours(inner):
            self._decorated.same(inner)

    def _count(
        self,
        facts: SpanFacts,
        row: LlmCall,
        content: InferenceContent | None,
        request: RequestParts,
        held: ChildRows,
        batch: Batch,
    ) -> None:
        """Add the row of a call that nobody else has told of, and its turn's."""
        dialect = content.dialect if content is not None else ""
        derived = not row.turn_id and row.operation not in semconv.OUTSIDE_ROUNDS
        if derived:
            self._derived.join(facts, row, dialect, request, batch)
        elif row.turn_id:
            self._decorated.call(facts, row, dialect, request.messages_raw, batch)
        reply = self._land(facts, row, content, request, batch)
        if row.consortium_role == FINAL_ARBITER:
            self._arbiters.called(row, facts.attributes)
        batch.add(row)
        if facts.foreign:
            self._also_ours.setdefault(facts.scope.name, False)
        self.background.made(facts, row)
        held.calls.append(row)
        self._sightings.landed(row, reply.output)
        if facts.parent_span_id:
            self.nesting.counted(facts.span_id, row)
        if derived:
            self._derived.reply(facts, row, reply, dialect)
            if held.tools:
                self._derived.tools.inside(facts, row, held.tools, batch)
            return
        if row.turn_id and row.operation not in semconv.OUTSIDE_ROUNDS:
            self._decorated.reply(facts, row, reply.tool_calls)
        if row.turn_id and row.cost_usd is not None:
            self.costs.add(row.turn_id, row.cost_usd)

    def fetched(self, facts: SpanFacts, content: InferenceContent | None, batch: Batch) -> None:
        """What a model said in the background: no call of its own, so nothing counts it."""
        row = llm_call.llm_call(facts, batch)
        reply = self._land(facts, row, content, RequestParts(), batch)
        if content is not None:
            batch.add(row)
        made = self.background.completed(facts, row, batch)
        if row.turn_id and not facts.foreign:
            self._decorated.reply(facts, row, reply.tool_calls)
        if made is None:
            return
        if self._derived.completed(made, reply, facts.end_time):
            return
        if not self.background.complete_turn(made, batch) and made.cost_usd is not None:
            self.costs.add(made.turn_id, made.cost_usd)

    def _land(
        self,
        facts: SpanFacts,
        row: LlmCall,
        content: InferenceContent | None,
        request: RequestParts,
        batch: Batch,
    ) -> CallContent:
        if content is None:
            reply = CallContent()
        elif not content.captured:  # it tells whose the call is; none of it is written
            reply = llm_call.reply_of(row, content)
        else:
            reply = llm_call.add_content(row, content, request, facts, self._message_store, batch)
        if self._contexts.any:
            when = facts.start_time
            self._contexts.attach(row, facts.attributes, request, when, self._message_store, batch)
        return reply
