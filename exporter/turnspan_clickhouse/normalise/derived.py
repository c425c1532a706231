"""Turns of agents that nobody decorated, derived from their model calls.

An undecorated loop is seen as model calls only, often each a trace of its own. An agent resends its
history, so a call whose messages begin with those of an earlier call continues that conversation;
a new message of the user begins a new turn, everything else is another round of the same one. Tool
calls are read from spans, and from the messages where there is no span: what the model asked for,
and the results the next request brings.

Calls under one parent span (a web request, a framework's workflow) are one turn by their trace.
The row of a derived turn is written again whenever a call joins it; the newest write wins. When it
turns out that another package's agent span is around the calls, that agent takes the turn over: its
row is the turn's final one. Where the trace has calls of others too (nested agents), it takes its
own with it into a turn of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from turnspan.content.redact import Redactor
from turnspan.turn import Turn, Usage
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise.conversations import (
    Conversation,
    Conversations,
    Event,
    newest_user_text,
    replayed,
)
from turnspan_clickhouse.normalise.nesting import Held
from turnspan_clickhouse.normalise.requested import (
    SCOPE,
    Execution,
    asked_for,
    forget_executed,
    requests_of,
    results,
    set_usage,
    usage_of_row,
)
from turnspan_clickhouse.normalise.source import SpanFacts
from turnspan_clickhouse.normalise.told import tell_call
from turnspan_clickhouse.normalise.written import write_content
from turnspan_clickhouse.records import LlmCall, ToolCall, TurnSummary


class DerivedTurns:
    """Follows the conversations of one process.

    With ``own_ids`` an agent that takes a turn over keeps its own id and start, so that its row is
    the same record whether its calls came before it or after.
    """

    def __init__(self, *, own_ids: bool = False) -> None:
        self._own_ids = own_ids
        self._conversations = Conversations()
        self._changed: dict[str, tuple[Turn, TurnSummary]] = {}

    def join(
        self,
        facts: SpanFacts,
        row: LlmCall,
        dialect: str,
        messages: list[Any],
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """Give an undecorated call its session, turn and round, before its messages land."""
        found = self._conversations.of(facts, dialect, messages)
        if not row.session_id:
            row.session_id = found.session_id
        starts = found.turn is None or found.taken_over
        if starts or not found.by_trace:
            asked = newest_user_text(dialect, messages, found.known(dialect))
            if starts or asked:
                self._begin(found, facts, row, asked, redactor)
        assert found.turn is not None
        row.turn_id = found.turn.id
        if found.pending:
            self._results(found, facts, row, results(dialect, messages), redactor, batch)
        row.round = found.turn.rounds + 1
        self._conversations.keep(found, dialect, messages)

    def _results(
        self,
        found: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        parts: Iterable[dict[str, Any]],
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """Add the tool calls whose results this call's messages bring."""
        assert found.turn is not None
        for part in parts:
            execution = Execution.of(part, found.pending)
            if execution is not None:
                tool = execution.row(facts, row, redactor, batch)
                found.add(Event(tool, facts.span_id))
                batch.add(tool)

    def reply(self, facts: SpanFacts, row: LlmCall, calls: list[dict[str, Any]]) -> None:
        """Fold the call's reply into its turn."""
        found = self._conversations.by_turn(row.turn_id)
        if found is None or found.turn is None or found.row is None:
            return
        turn, summary = found.turn, found.row
        requests = [(str(c.get("id") or ""), str(c.get("name")), c.get("arguments")) for c in calls]
        found.add(Event(row, facts.span_id, requests))
        found.pending = asked_for(calls, row.round, facts.end_time)
        if row.cost_usd is not None:
            summary.cost_usd = (summary.cost_usd or Decimal(0)) + row.cost_usd
        summary.duration = max(summary.duration, (facts.end_time - summary.start_time) / 1e9)
        summary.error_type, summary.error_message = row.error_type, row.error_message
        self._changed[turn.id] = (turn, summary)

    def completed(self, row: LlmCall, calls: list[dict[str, Any]], when: int) -> bool:
        """A call made in the background has ended: its turn is told, if it is one of these."""
        found = self._conversations.by_turn(row.turn_id)
        if found is None or found.turn is None or found.row is None:
            return False
        turn, summary, requests = found.turn, found.row, requests_of(calls)
        for event in found.events:
            if event.row is row:
                event.requests = requests
        tell_call(turn, row, requests, usage_of_row(row))
        found.pending.update(asked_for(calls, row.round, when))
        if row.cost_usd is not None:
            summary.cost_usd = (summary.cost_usd or Decimal(0)) + row.cost_usd
        summary.duration = max(summary.duration, (when - summary.start_time) / 1e9)
        summary.error_type, summary.error_message = row.error_type, row.error_message
        self._changed[turn.id] = (turn, summary)
        return True

    def tool(self, facts: SpanFacts, row: ToolCall) -> None:
        """A span of an executed tool that is in no decorated turn: give it its turn, if known."""
        found = self._conversations.by_trace(facts.trace_id)
        if found is None and row.call_id:
            found = self._conversations.waiting_for(row.call_id)
        if found is None or found.turn is None or found.row is None or found.taken_over:
            return
        forget_executed(found.pending, row)
        row.session_id = row.session_id or found.session_id
        found.add(Event(row, facts.span_id))
        self._changed[found.turn.id] = (found.turn, found.row)

    def inside(self, row: LlmCall, tools: Sequence[ToolCall], batch: Batch) -> None:
        """Tools whose spans are inside the call that asked for them ran after its reply."""
        found = self._conversations.by_turn(row.turn_id)
        if found is None or found.turn is None or found.row is None:
            return
        for tool in tools:
            forget_executed(found.pending, tool)
            if tool.written_at == batch.written_at:  # else it has landed, in a session or in none
                tool.session_id = tool.session_id or found.session_id
        events = [Event(tool, tool.span_id) for tool in tools]
        if found.by_trace:
            known = {tool.span_id for tool in tools}
            found.events = [e for e in found.events if e.owner not in known] + events
            found.turn = replayed(found.turn.id, found.turn.agent_name, found.events)
            self._changed[found.turn.id] = (found.turn, found.row)
        else:
            for event in events:
                found.add(event)
        for tool in tools:
            again(tool, batch)

    def take_over(self, facts: SpanFacts, row: TurnSummary, held: Held, batch: Batch) -> None:
        """An agent's span ended around these calls and tools: make its row that of their turn."""
        mine = {call.span_id for call in held.calls} | {tool.span_id for tool in held.tools}
        found = next((self._conversations.by_turn(call.turn_id) for call in held.calls), None)
        if found is not None and found.turn is not None and found.row is not None:
            if not self._own_ids and all(event.owner in mine for event in found.events):
                turn, start = found.turn, found.row
                found.taken_over = True
                found.pending.clear()
                self._changed.pop(turn.id, None)
                _adopt(facts, row, start)
            else:
                turn = self._split(found, facts, row, mine, batch)
            _fill(row, turn, held)
        elif held.tools and not self._under_way(facts.trace_id):
            events = [Event(tool, tool.span_id) for tool in held.tools]
            _fill(row, replayed(row.turn_id, row.agent_name, events), held)
            for tool in held.tools:
                again(tool, batch)
        for nested in held.turns:
            nested.parent_turn_id = row.turn_id
            again(nested, batch)

    def _split(
        self, found: Conversation, facts: SpanFacts, row: TurnSummary, mine: set[str], batch: Batch
    ) -> Turn:
        """Move an agent's calls and tools into a turn of their own."""
        assert found.turn is not None
        assert found.row is not None
        own = [event for event in found.events if event.owner in mine]
        found.events = [event for event in found.events if event.owner not in mine]
        turn = replayed(facts.span_id, row.agent_name, own)
        row.session_id = row.session_id or found.session_id
        for event in own:
            again(event.row, batch)
        last = own[-1].row if own else None
        if isinstance(last, LlmCall):
            found.pending.clear()
        if self._own_ids and not found.events:
            row.user_message = row.user_message or found.row.user_message
            self._changed.pop(found.turn.id, None)
            found.turn = found.row = None
            return turn
        rest = replayed(found.turn.id, found.turn.agent_name, found.events)
        costs = [e.row.cost_usd for e in found.events if isinstance(e.row, LlmCall)]
        known = [cost for cost in costs if cost is not None]
        found.row.cost_usd = sum(known, Decimal(0)) if known else None
        for event in found.events:
            again(event.row, batch)
        found.turn = rest
        self._changed[rest.id] = (rest, found.row)
        return turn

    def write(
        self,
        redactor: Redactor,
        batch: Batch,
        ready: Callable[[TurnSummary], bool] | None = None,
    ) -> None:
        """Add the rows of the turns that changed since the last write and are ready for it."""
        waiting: dict[str, tuple[Turn, TurnSummary]] = {}
        for turn, row in self._changed.values():
            if ready is None or ready(row):
                batch.add(_summary(turn, row, redactor, batch))
            else:
                waiting[turn.id] = (turn, row)
        self._changed = waiting

    def forget_trace(self, trace_id: str) -> None:
        """Forget the turn that is derived from the calls of a trace."""
        if self._conversations.forget_trace(trace_id):
            self._changed.pop(trace_id, None)

    def forget(self) -> None:
        """In a forked child: the conversations are the parent's."""
        self._conversations.clear()
        self._changed.clear()

    def _under_way(self, trace_id: str) -> bool:
        found = self._conversations.by_trace(trace_id)
        return found is not None and found.turn is not None

    def _begin(
        self,
        found: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        asked: str,
        redactor: Redactor,
    ) -> None:
        turn_id = facts.trace_id if found.turn is None else facts.span_id
        found.turn = Turn(turn_id, agent_name=row.agent_name)
        found.pending, found.events, found.taken_over = {}, [], False
        found.row = TurnSummary(
            project=facts.project,
            service=facts.origin.service,
            environment=facts.origin.environment,
            session_id=facts.session_id or found.session_id,
            turn_id=turn_id,
            trace_id=facts.trace_id,
            span_id=facts.span_id,
            parent_span_id=facts.parent_span_id,
            start_time=facts.start_time,
            agent_name=row.agent_name,
            agent_version=row.agent_version,
            scope_name=SCOPE,
        )
        write_content(found.row, "user_message", asked, "user_message", redactor)


def _adopt(facts: SpanFacts, row: TurnSummary, start: TurnSummary) -> None:
    """The agent's row replaces the derived one: their identity (with the start) is the same."""
    end = row.start_time + round(row.duration * 1e9)
    row.turn_id, row.session_id, row.start_time = start.turn_id, start.session_id, start.start_time
    row.duration = max(0, end - row.start_time) / 1e9
    row.user_message = row.user_message or start.user_message


def _fill(row: TurnSummary, turn: Turn, held: Held) -> None:
    """Put what happened in the turn into the agent's row, nested agents' usage included."""
    ending = turn.judge()
    if not row.error_type or ending.reason not in ("completed", "empty_no_tools"):
        row.stop_reason, row.stop_detail = ending.reason, ending.detail
    row.response_text = row.response_text or turn.last_text
    row.rounds, row.llm_call_count = turn.rounds, turn.llm_calls
    row.tool_call_count, row.tool_error_count = turn.tool_calls, turn.tool_errors
    row.silent_rounds = turn.silent_rounds
    row.max_identical_tool_streak = turn.max_identical_tool_streak
    row.no_progress_rounds = turn.no_progress_rounds
    usage, models = replace(turn.usage), list(turn.models)
    costs = [call.cost_usd for call in held.calls]
    for nested in held.turns:
        usage.add(usage_of_row(nested))
        models += [model for model in nested.models if model not in models]
        costs.append(nested.cost_usd)
    if usage != Usage():
        set_usage(row, usage)
    row.models = models
    known = [cost for cost in costs if cost is not None]
    row.cost_usd = sum(known, Decimal(0)) if known else None


def again(row: LlmCall | ToolCall | TurnSummary, batch: Batch) -> None:
    """Write a row that has changed; one that is in this batch changes there."""
    if row.written_at != batch.written_at:
        row.writer, row.written_at = batch.writer, batch.written_at
        batch.add(row)


def _summary(turn: Turn, row: TurnSummary, redactor: Redactor, batch: Batch) -> TurnSummary:
    ending = turn.judge()
    waiting = turn.asked_for_tools and not row.error_type
    if row.error_type and ending.reason == "completed":
        ending.reason = "error"
    return replace(
        row,
        status="running" if waiting else "final",
        stop_reason="running" if waiting else redactor.text(ending.reason, "error"),
        stop_detail=redactor.text(ending.detail, "error"),
        response_text=turn.last_text,
        rounds=turn.rounds,
        llm_call_count=turn.llm_calls,
        tool_call_count=turn.tool_calls,
        tool_error_count=turn.tool_errors,
        silent_rounds=turn.silent_rounds,
        max_identical_tool_streak=turn.max_identical_tool_streak,
        no_progress_rounds=turn.no_progress_rounds,
        input_tokens=turn.usage.input_tokens,
        output_tokens=turn.usage.output_tokens,
        cache_read_tokens=turn.usage.cache_read_tokens,
        cache_write_tokens=turn.usage.cache_write_tokens,
        reasoning_tokens=turn.usage.reasoning_tokens,
        models=list(turn.models),
        writer=batch.writer,
        written_at=batch.written_at,
    )
