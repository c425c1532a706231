"""Turns of agents that nobody decorated, derived from their model calls.

An undecorated loop is seen as model calls only, often each a trace of its own. An agent resends its
history, so a call whose messages begin with those of an earlier call continues that conversation;
a new message of the user begins a new turn, everything else is another round of the same one. Tool
calls are read from the messages: what the model asked for, and the results the next request brings.

Calls under one parent span (a web request, a framework's workflow) are one turn by their trace.
The row of a derived turn is written again whenever a call joins it; the newest write wins.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from turnspan import semconv
from turnspan.content.convert import convert_message
from turnspan.content.model import Message, last_user_text
from turnspan.content.redact import Redactor
from turnspan.outcomes import tool_failed
from turnspan.turn import Turn, Usage
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise.source import SpanFacts
from turnspan_clickhouse.normalise.written import write_content
from turnspan_clickhouse.records import LlmCall, ToolCall, TurnSummary

SCOPE = "turnspan.derived"
"""The scope_name of derived rows."""

SESSION_PREFIX = "auto-"
"""A derived session's id: this and the trace id of its first call."""

MAX_CONVERSATIONS = 2_000


@dataclass(slots=True)
class Conversation:
    """An undecorated conversation: the newest call's messages and the turn under way."""

    session_id: str
    by_trace: bool
    dialect: str = ""
    messages: list[Any] = field(default_factory=list[Any])
    turn: Turn | None = None
    row: TurnSummary | None = None
    pending: dict[str, dict[str, Any]] = field(default_factory=dict[str, "dict[str, Any]"])
    """Tool calls the last reply asked for, by call id (or name and place)."""
    replied: int = 0
    """When the last reply ended, ns."""


class DerivedTurns:
    """Follows the conversations of one process."""

    def __init__(self) -> None:
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
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
        found = self._find(facts, dialect, messages)
        known = len(found.messages) if found.dialect == dialect else 0
        new = [convert_message(dialect, raw) for raw in messages[known:]]
        if found.turn is None or (not found.by_trace and _has_user_text(new)):
            self._begin(found, facts, row, new, redactor)
        elif found.pending:
            self._results(found, facts, row, new, redactor, batch)
        assert found.turn is not None
        found.dialect, found.messages = dialect, messages
        if not row.session_id:
            row.session_id = found.session_id
        row.turn_id = found.turn.id
        row.round = found.turn.begin_call()

    def _results(
        self,
        found: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        messages: list[Message],
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """Add the tool calls whose results this call's messages bring."""
        for message in messages:
            for part in message.get("parts", ()):
                if part.get("type") == "tool_call_response":
                    self._executed(found, facts, row, part, redactor, batch)

    def reply(self, facts: SpanFacts, row: LlmCall, calls: list[dict[str, Any]]) -> None:
        """Fold the call's reply into its turn."""
        found = self._by_turn(row)
        if found is None or found.turn is None or found.row is None:
            return
        turn, summary = found.turn, found.row
        usage = Usage(
            row.input_tokens,
            row.output_tokens,
            row.cache_read_tokens,
            row.cache_write_tokens,
            row.reasoning_tokens,
        )
        requests = [(str(c.get("id") or ""), str(c.get("name")), c.get("arguments")) for c in calls]
        turn.end_call(
            model=row.response_model or row.request_model,
            finish_reasons=row.finish_reasons,
            text=row.response_text,
            tool_requests=requests,
            usage=usage,
        )
        found.pending = {r[0] or f"{r[1]}#{i}": calls[i] for i, r in enumerate(requests)}
        found.replied = facts.end_time
        if row.cost_usd is not None:
            summary.cost_usd = (summary.cost_usd or Decimal(0)) + row.cost_usd
        summary.duration = max(summary.duration, (facts.end_time - summary.start_time) / 1e9)
        summary.error_type, summary.error_message = row.error_type, row.error_message
        self._changed[turn.id] = (turn, summary)

    def write(self, redactor: Redactor, batch: Batch) -> None:
        """Add the rows of the turns that changed since the last write."""
        for turn, row in self._changed.values():
            batch.add(_summary(turn, row, redactor, batch))
        self._changed.clear()

    def forget(self) -> None:
        """In a forked child: the conversations are the parent's."""
        self._conversations.clear()
        self._changed.clear()

    # -- finding and beginning ------------------

    def _find(self, facts: SpanFacts, dialect: str, messages: list[Any]) -> Conversation:
        by_trace = bool(facts.parent_span_id)
        key = (facts.project, facts.trace_id if by_trace else facts.session_id)
        found = self._conversations.get(key) if key[1] else None
        if found is None and not by_trace and not facts.session_id:
            key, found = self._continued(facts.project, dialect, messages)
        if found is None:
            session = facts.session_id
            if not session and not by_trace:
                session = SESSION_PREFIX + facts.trace_id
            found = Conversation(session, by_trace)
            key = (facts.project, key[1] or session)
            self._conversations[key] = found
            if len(self._conversations) > MAX_CONVERSATIONS:
                self._conversations.popitem(last=False)
        else:
            self._conversations.move_to_end(key)
        return found

    def _continued(
        self, project: str, dialect: str, messages: list[Any]
    ) -> tuple[tuple[str, str], Conversation | None]:
        for key in reversed(self._conversations):
            found = self._conversations[key]
            size = len(found.messages)
            if (
                key[0] == project
                and found.dialect == dialect
                and not found.by_trace
                and 0 < size < len(messages)
                and messages[:size] == found.messages
            ):
                return key, found
        return (project, ""), None

    def _by_turn(self, row: LlmCall) -> Conversation | None:
        for found in reversed(self._conversations.values()):
            if found.turn is not None and found.turn.id == row.turn_id:
                return found
        return None

    def _begin(
        self,
        found: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        new: list[Message],
        redactor: Redactor,
    ) -> None:
        turn_id = facts.trace_id if found.turn is None else facts.span_id
        found.turn = Turn(turn_id, agent_name=row.agent_name)
        found.pending = {}
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
        write_content(found.row, "user_message", last_user_text(new), "user_message", redactor)

    def _executed(
        self,
        found: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        part: dict[str, Any],
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        call_id = str(part.get("id") or "")
        asked = found.pending.pop(call_id, None)
        if asked is None and not call_id and found.pending:
            asked = found.pending.pop(next(iter(found.pending)))
        if asked is None or found.turn is None:
            return
        turn = found.turn
        arguments, result = asked.get("arguments"), part.get("response")
        failed = tool_failed(result) or part.get("is_error") is True
        name = str(asked.get("name") or "")
        fact = turn.begin_tool(name, arguments)
        turn.end_tool(fact, result, failed)
        start = found.replied or facts.start_time
        identity = f"{facts.trace_id}\0{turn.id}\0{call_id or len(found.pending)}\0{fact.round}"
        executed = ToolCall(
            project=facts.project,
            service=facts.origin.service,
            environment=facts.origin.environment,
            session_id=row.session_id or found.session_id,
            turn_id=turn.id,
            trace_id=facts.trace_id,
            span_id=blake2b(identity.encode(), digest_size=8).hexdigest(),
            parent_span_id=row.parent_span_id,
            start_time=start,
            duration=max(0, facts.start_time - start) / 1e9,
            round=fact.round,
            name=redactor.text(name, f"attribute:{semconv.TOOL_NAME}"),
            type="function",
            call_id=redactor.text(call_id, f"attribute:{semconv.TOOL_CALL_ID}"),
            failed=failed,
            agent_name=row.agent_name,
            scope_name=SCOPE,
            writer=batch.writer,
            written_at=batch.written_at,
        )
        write_content(executed, "arguments", arguments, "tool_arguments", redactor)
        write_content(executed, "result", result, "tool_result", redactor)
        batch.add(executed)


def _has_user_text(messages: list[Message]) -> bool:
    return bool(last_user_text(messages))


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
