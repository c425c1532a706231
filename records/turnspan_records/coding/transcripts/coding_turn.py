"""A turn of a coding session under way: the spans of what happened in it, and its part."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from opentelemetry.trace import SpanKind

from turnspan import config, semconv
from turnspan.content.model import TEXT, TOOL_CALL, as_text, dumps_text
from turnspan.tracing.content_store import Content, ToolContent, TurnContent
from turnspan.turn.intent import classify_intent
from turnspan.turn.turn import ToolRequest, Turn
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.history import HistoryEntry, SessionHistory
from turnspan_records.importing import ids
from turnspan_records.importing.sources import Part
from turnspan_records.importing.spans import resource_of_project, scope_of, span_of


@dataclass(slots=True)
class AwaitedTool:
    """A tool call that a reply asks for."""

    name: str
    arguments: Any
    message_id: str
    time: int
    turn: CodingTurn
    answered: bool = False


_Landing: TypeAlias = "tuple[AgentCall, SessionHistory, HistoryEntry, str]"


@dataclass(slots=True)
class _PartContent:
    """A part under way: of a turn of the user, with the subagents' turns in it."""

    captured: bool
    part: Part = field(default_factory=Part)
    calls: dict[str, _Landing] = field(default_factory=dict[str, "_Landing"])
    """By span, a call, its place in the history, and its system prompt."""
    status: dict[str, str] = field(default_factory=dict[str, str])
    """By turn, how it stands if it has not ended."""


class CodingTurn:
    """A turn that has begun: of a tool's ``kind``, and of a session, as its start says it, in a
    project."""

    def __init__(
        self,
        kind: str,
        facts: tuple[SessionStart, str],
        prompt: UserMessage,
        start: int,
        *,
        asked: dict[str, AwaitedTool],
        around: CodingTurn | None = None,
    ) -> None:
        self._kind = kind
        self._asked = asked
        self._captured = config.active().capture_content
        self.session, self.project = facts
        self.prompt = prompt
        self.root: CodingTurn = self if around is None else around.root
        self.nested: list[CodingTurn] = []
        """Of a turn of the user, all subagents' turns."""
        self._around = around
        self.parent_turn_id, self.number = "", 0
        self.recorded, self.closed = True, False
        self.foreign = False
        """Whether another session has recorded it."""
        self._start = self._end = start
        self._span_id = ids.span_id(kind, "turn", prompt.message_id)
        self.turn_id = f"{self._span_id:016x}"
        self._trace_id: int = (
            ids.trace_id(kind, "turn", prompt.message_id)
            if around is None
            else around.root._trace_id
        )
        self.turn: Turn = Turn(
            self.turn_id, parent=None if around is None else around.turn, recording=False
        )
        self._tool_spans: dict[str, int] = {}
        self._answered = False
        self._interrupted = False
        self._content: _PartContent = (
            _PartContent(self._captured) if around is None else around.root._content
        )

    # -- what happens ------------------

    def call(
        self, event: AgentCall, start: int, end: int, history: SessionHistory, entry: HistoryEntry
    ) -> None:
        """A model has answered; times in ns."""
        turn, session = self.turn, self.session
        number = turn.begin_call()
        requests = self.ask(event, end)
        text = "".join(as_text(p.get("content")) for p in event.parts if p.get("type") == TEXT)
        turn.end_call(
            model=event.model,
            finish_reasons=event.finish_reasons,
            text=text,
            tool_requests=requests,
            usage=event.usage,
        )
        failed = bool(event.error_type)
        if failed:
            turn.fail_call((self._captured and event.error_message) or event.error_type)
        self._answered, self._end, usage = not requests, max(self._end, end), event.usage
        span_id = ids.span_id(self._kind, "call", event.message_id)
        self._span(
            *(f"chat {event.model}".strip(), span_id, start, end),
            {
                semconv.OPERATION_NAME: semconv.OP_CHAT,
                semconv.PROVIDER_NAME: event.provider or None,
                semconv.REQUEST_MODEL: event.model or None,
                semconv.RESPONSE_MODEL: None if failed and not event.parts else event.model or None,
                semconv.RESPONSE_ID: event.message_id,
                semconv.RESPONSE_FINISH_REASONS: event.finish_reasons or None,
                semconv.USAGE_INPUT_TOKENS: usage.input_tokens,
                semconv.USAGE_OUTPUT_TOKENS: usage.output_tokens,
                semconv.USAGE_CACHE_READ_INPUT_TOKENS: usage.cache_read_tokens,
                semconv.USAGE_CACHE_WRITE_INPUT_TOKENS: usage.cache_write_tokens,
                semconv.USAGE_REASONING_OUTPUT_TOKENS: usage.reasoning_tokens,
                semconv.ROUND: number,
                semconv.ERROR_TYPE: event.error_type or None,
                semconv.AGENT_NAME: session.agent_name,
                semconv.TURN_AGENT_VERSION: session.version or None,
                **self._more(event.attributes),
            },
            kind=SpanKind.CLIENT,
            error=event.error_message or event.error_type,
        )
        self._content.calls[f"{span_id:016x}"] = event, history, entry, session.instructions

    def ask(self, event: AgentCall, time: int) -> list[ToolRequest]:
        """Remember the tools that a reply asks for."""
        found: list[ToolRequest] = []
        for part in event.parts:
            if part.get("type") == TOOL_CALL:
                call_id, name = as_text(part.get("id")), as_text(part.get("name"))
                arguments = part.get("arguments")
                self._asked[call_id] = AwaitedTool(name, arguments, event.message_id, time, self)
                found.append((call_id, name, arguments))
        return found

    def tool(self, event: ToolEnd, end: int) -> None:
        """A tool has run; ``end`` in ns."""
        asked = self._asked.get(event.call_id)
        if asked is None:
            asked = AwaitedTool("", None, event.message_id, end, self)
        asked.answered = True
        name = event.name or asked.name
        start = min(event.start or asked.time or end, end)
        fact = self.turn.begin_tool(name, asked.arguments, event.call_id)
        self.turn.end_tool(fact, event.result, event.failed)
        self._answered, self._end = False, max(self._end, end)
        span_id = ids.span_id(self._kind, "tool", asked.message_id, event.call_id)
        self._tool_spans[event.call_id] = span_id
        self._span(
            *(f"execute_tool {name}".strip(), span_id, start, end),
            {
                semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
                semconv.TOOL_NAME: name or None,
                semconv.TOOL_TYPE: "function",
                semconv.TOOL_CALL_ID: event.call_id or None,
                semconv.TOOL_FAILED: event.failed or None,
                semconv.ERROR_TYPE: event.error_type or None,
                semconv.ROUND: fact.round,
                semconv.AGENT_NAME: self.session.agent_name,
                **self._more(event.attributes),
            },
            content=ToolContent(asked.arguments, event.result) if self._captured else None,
            error=event.error_message or event.error_type,
        )

    def compaction(self, event: HistoryCompaction, time: int) -> None:
        """The history was replaced by a summary."""
        self._end = max(self._end, time)
        span_id = ids.span_id(self._kind, "compaction", event.message_id or time)
        self._span(
            *("compaction", span_id, time, time),
            {
                semconv.CODING_TOOL: self._kind,
                semconv.CODING_COMPACTION_TRIGGER: event.trigger or None,
                semconv.CODING_COMPACTION_TOKENS: event.tokens_before,
            },
        )

    def interrupt(self, event: Interruption, time: int) -> None:
        """The user has stopped it, or the tool gave up."""
        self._interrupted = True
        self._end = max(self._end, time)
        message = event.message if self._captured else ""
        if event.reason == "user":
            self.turn.abort(message)
        else:
            self.turn.fail_call(message or event.reason)

    # -- its end ------------------

    def close(self, unfinished: str) -> None:
        """It is over; ``unfinished`` is how it stands if it has not ended by itself."""
        self.closed = True
        if not self.recorded:
            return
        turn, session = self.turn, self.session
        self.root._end = max(self.root._end, self._end)
        ending = turn.finish(None)
        reason, detail = ending.reason, ending.detail
        waiting = any(a.turn is self and not a.answered for a in self._asked.values())
        ended = self._interrupted or (self._answered and not waiting)
        if unfinished and not ended:
            self._content.status[self.turn_id] = reason = unfinished
            detail = "the transcript ends before the turn does" if unfinished != "running" else ""
        parent_span = 0
        if self._around is not None:
            spans = self._around._tool_spans
            parent_span = spans.get(session.parent_call) or self._around._span_id
        self._span(
            *(f"invoke_agent {session.agent_name}", self._span_id, self._start, self._end),
            {
                semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
                semconv.AGENT_NAME: session.agent_name,
                semconv.TURN_AGENT_VERSION: session.version or None,
                semconv.TURN_PARENT_ID: self.parent_turn_id or None,
                semconv.TURN_STOP_REASON: reason,
                semconv.TURN_STOP_DETAIL: detail or None,
                semconv.TURN_INTENT: classify_intent(self._said()) if self.prompt.parts else None,
                semconv.TURN_ROUNDS: turn.rounds,
                semconv.TURN_LLM_CALLS: turn.llm_calls,
                semconv.TURN_TOOL_CALLS: turn.tool_calls,
                semconv.TURN_TOOL_ERRORS: turn.tool_errors,
                semconv.TURN_SILENT_ROUNDS: turn.silent_rounds,
                semconv.TURN_MAX_IDENTICAL_TOOL_STREAK: turn.max_identical_tool_streak,
                semconv.TURN_NO_PROGRESS_ROUNDS: turn.no_progress_rounds,
                semconv.TURN_MODELS: tuple(turn.models),
                semconv.CODING_MESSAGE_ID: self.prompt.message_id,
                **(session.attributes if self._captured else _without_content(session.attributes)),
            },
            parent_id=parent_span,
            content=TurnContent(turn, self._captured, self._said()),
        )

    def _said(self) -> str:
        texts = (as_text(p.get("content")) for p in self.prompt.parts if p.get("type") == TEXT)
        return self.prompt.typed or "\n".join(texts)

    def part(self) -> Part:
        """The part of a turn of the user that is over."""
        content = self._content
        content.part.amend = lambda batch: _amend(content, batch)
        return content.part

    # -- spans ------------------

    def _more(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """What the tool says beside; it may be content."""
        found: dict[str, Any] = {}
        for key, value in attributes.items():
            if key.startswith(("turnspan.", "gen_ai.")):
                found[key] = value
            elif self._captured:
                plain = isinstance(value, (str, bool, int, float))
                found[semconv.IMPORT_PREFIX + key] = value if plain else dumps_text(value)
        return found

    def _span(
        self,
        name: str,
        span_id: int,
        start: int,
        end: int,
        attributes: dict[str, Any],
        *,
        parent_id: int | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        content: Content | None = None,
        error: str = "",
    ) -> None:
        part = self._content.part
        span = span_of(
            name,
            trace_id=self._trace_id,
            span_id=span_id,
            parent_id=self._span_id if parent_id is None else parent_id,
            start_time=start,
            end_time=end,
            attributes={
                semconv.CONVERSATION_ID: self.session.session_id or None,
                semconv.TURN_ID: self.turn_id,
                **attributes,
            },
            resource=resource_of_project(self._kind, self.project),
            scope=scope_of(self._kind),
            kind=kind,
            error=error or None,
        )
        part.spans.append(span)
        if content is not None:
            part.contents.append((span, content))


def _without_content(attributes: dict[str, Any]) -> dict[str, Any]:
    kept = semconv.CODING_TITLE, semconv.IMPORT_PREFIX
    return {key: value for key, value in attributes.items() if not key.startswith(kept)}


def _amend(content: _PartContent, batch: Batch) -> None:
    """Put in what spans cannot say."""
    costs: dict[str, Decimal] = {}
    for row in batch.rows.get(LlmCall, ()):
        assert isinstance(row, LlmCall)
        landing, cost = content.calls.get(row.span_id), None
        if landing is not None:
            call, history, entry, instructions = landing
            cost = call.cost_usd
            if content.captured:
                history.input_of(row, entry.before, batch)
                history.settings_of(row, instructions, call.parameters, batch)
                history.output_of(row, entry, call.parts, batch)
        if cost is not None:
            row.cost_usd, row.price_version = cost, "provider"
        elif row.input_tokens is None:  # Copilot counts only the output: half a price is none
            row.cost_usd, row.price_version = None, ""
        if row.cost_usd is not None:
            costs[row.turn_id] = costs.get(row.turn_id, Decimal(0)) + row.cost_usd
    for turn in batch.rows.get(TurnSummary, ()):  # inner turns before those around them
        assert isinstance(turn, TurnSummary)
        turn.status = content.status.get(turn.turn_id, turn.status)
        turn.cost_usd = costs.get(turn.turn_id)
        if turn.cost_usd is not None and turn.parent_turn_id:
            around = costs.get(turn.parent_turn_id, Decimal(0))
            costs[turn.parent_turn_id] = around + turn.cost_usd
