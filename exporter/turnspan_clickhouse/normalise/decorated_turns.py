"""Tool calls as the messages tell them: what a reply asked for and what the next request brings.

They become rows where no ``execute_tool`` span of the turn is about the same call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from turnspan import semconv
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.turn.loop_detector import ToolExecution
from turnspan.turn.stop_reasons import Ending
from turnspan.turn.tool_failure import tool_failed
from turnspan.turn.turn import ToolRequest, Turn, Usage
from turnspan_clickhouse.normalise.content_columns import write_content
from turnspan_clickhouse.normalise.duplicates import Sightings
from turnspan_clickhouse.normalise.history_keys import HistoryReader, canonical
from turnspan_clickhouse.normalise.new_messages import observe
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.normalise.turn_facts import arguments_of, tell_call, text_of
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

SCOPE = "turnspan.derived"
"""The scope_name of derived rows."""

MAX_TURNS = 10_000
MAX_OVER = 256
"""Turns that are over, and of which another package's thread may still tell more."""
_MAX_RESULTS = 64


_FINISHED: Final = (
    *("rounds", "llm_call_count", "models", "response_text", *Usage.__slots__),
    *("tool_call_count", "tool_error_count", "max_identical_tool_streak", "no_progress_rounds"),
    *("stop_reason", "stop_detail"),
)
"""What is added to a turn's row when it ends."""


@mypyc_attr(acyclic=True)
class RequestedTool:
    """A tool call that a reply asked for."""

    __slots__ = ("arguments", "call_id", "name", "replied", "round")

    def __init__(self, call_id: str, name: str, arguments: Any, number: int, replied: int) -> None:
        self.call_id = call_id
        self.name = name
        self.arguments = arguments
        self.round = number
        self.replied = replied
        """When the reply had ended, ns."""


def asked_for(
    requests: Sequence[ToolRequest], number: int, replied: int
) -> dict[str, RequestedTool]:
    """A reply's tool calls by call id (or name and place)."""
    found: dict[str, RequestedTool] = {}
    for place, (call_id, name, arguments) in enumerate(requests):
        # A nanosecond apart, so that they stand in the order of emission.
        asked = RequestedTool(call_id, name, arguments, number, replied + place)
        found[call_id or f"{name}#{place}"] = asked
    return found


def requests_of(calls: list[dict[str, Any]]) -> list[ToolRequest]:
    """A reply's tool calls as a turn is told of them."""
    return [(str(c.get("id") or ""), str(c.get("name") or ""), c.get("arguments")) for c in calls]


def claimed(pending: dict[str, RequestedTool], tool: ToolCall) -> tuple[str, RequestedTool | None]:
    """A span is about this execution: what was asked for by its call id, else by its name (and
    arguments, where several are), waits for no result. Returns it, and its key."""
    if tool.call_id:
        return tool.call_id, pending.pop(tool.call_id, None)
    alike = [key for key, asked in pending.items() if asked.name == tool.name]
    if not alike:
        return "", None
    chosen = alike[0]
    if len(alike) > 1 and tool.arguments:
        given = canonical(tool.arguments)
        for key in alike:
            if canonical(pending[key].arguments) == given:
                chosen = key
                break
    return chosen, pending.pop(chosen)


def complete(row: ToolCall, key: str, asked: RequestedTool, redactor: Redactor) -> bool:
    """Fill what a tool's span does not say from what the model asked for; whether its result is
    to come from the next request's messages."""
    if not row.call_id and "#" not in key:
        row.call_id = redactor.text(key, f"attribute:{semconv.TOOL_CALL_ID}")
    if not redactor.settings.capture_content:
        return False
    if not row.arguments:
        write_content(row, "arguments", asked.arguments, "tool_arguments", redactor)
    return not row.result  # of one that failed, what the model was told of it


def brought(
    part: dict[str, Any], executed: dict[str, ToolCall], redactor: Redactor, batch: Batch
) -> ToolCall | None:
    """Tell a tool's row, whose span did not say what came out, the result that a message brings.

    A result that names no call is that of the first of its name that has none; a framework's text,
    which names no tool either, that of the first.
    """
    call_id = str(part.get("id") or "")
    told = executed.pop(call_id, None)
    if told is None and not call_id:
        name = part.get("name") or ""
        alike = (key for key, row in executed.items() if not name or row.name == name)
        told = executed.pop(next(alike, ""), None)
    if told is None:
        return None
    result = part.get("response")
    write_content(told, "result", result, "tool_result", redactor)
    told.failed = told.failed or tool_failed(result) or part.get("is_error") is True
    rewrite(told, batch)
    return told


def rewrite(row: LlmCall | ToolCall | TurnSummary, batch: Batch) -> None:
    """Write a row that has changed; one that is in this batch changes there."""
    if row.written_at != batch.written_at:
        row.writer, row.written_at = batch.writer, batch.written_at
        batch.add(row)


def _next_by_name(pending: dict[str, RequestedTool], name: str) -> RequestedTool | None:
    """The first of this name that still waits; it does so no more."""
    found = next((key for key, asked in pending.items() if asked.name == name), None)
    return None if found is None else pending.pop(found)


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool call that only the messages tell of."""

    call_id: str
    asked: RequestedTool
    result: Any
    failed: bool

    @classmethod
    def of(cls, part: dict[str, Any], pending: dict[str, RequestedTool]) -> Execution | None:
        """The execution whose result this is; ``None`` for one that nobody waits for."""
        call_id, name = str(part.get("id") or ""), part.get("name")
        asked = pending.pop(call_id, None)
        if asked is None and not call_id and isinstance(name, str) and name:
            asked = _next_by_name(pending, name)
        elif asked is None and not call_id and pending:
            asked = pending.pop(next(iter(pending)))
        if asked is None:
            return None
        call_id = call_id or asked.call_id
        result = part.get("response")
        return cls(call_id, asked, result, tool_failed(result) or part.get("is_error") is True)

    def row(self, facts: SpanFacts, call: LlmCall, redactor: Redactor, batch: Batch) -> ToolCall:
        """Its row, in the turn of the call whose request brought the result."""
        asked = self.asked
        start = asked.replied or facts.start_time
        # Without the round: that is another one once a call is known that came late.
        identity = f"{facts.trace_id}\0{call.turn_id}\0{self.call_id}\0{start}"
        row = ToolCall(
            project=facts.project,
            service=facts.origin.service,
            environment=facts.origin.environment,
            session_id=call.session_id,
            turn_id=call.turn_id,
            trace_id=facts.trace_id,
            span_id=blake2b(identity.encode(), digest_size=8).hexdigest(),
            parent_span_id=call.parent_span_id,
            start_time=start,
            duration=max(0, facts.start_time - start) / 1e9,
            round=asked.round,
            name=redactor.text(asked.name, f"attribute:{semconv.TOOL_NAME}"),
            type="function",
            call_id=redactor.text(self.call_id, f"attribute:{semconv.TOOL_CALL_ID}"),
            failed=self.failed,
            agent_name=call.agent_name,
            scope_name=SCOPE,
            writer=batch.writer,
            written_at=batch.written_at,
        )
        if redactor.settings.capture_content:
            write_content(row, "arguments", asked.arguments, "tool_arguments", redactor)
            write_content(row, "result", self.result, "tool_result", redactor)
        return row

    def fact(self) -> ToolExecution:
        """As a turn remembers it."""
        asked = self.asked
        return ToolExecution(
            asked.name, asked.arguments, asked.round, self.result, self.failed, True
        )


class Unseen:
    """What a decorated turn did that it was not told of itself."""

    __slots__ = (
        "calls",
        "executed",
        "last",
        "models",
        "over",
        "pending",
        "round",
        "tools",
        "usage",
    )

    def __init__(self) -> None:
        self.executed: dict[str, ToolCall] = {}
        """Tools whose spans do not say what came out, by call id."""
        self.pending: dict[str, RequestedTool] = {}
        self.tools: list[tuple[ToolCall, ToolExecution]] = []
        self.calls = 0
        self.round = 1
        """That of the newest call, as far as the turn is followed."""
        self.last: tuple[LlmCall, list[ToolRequest]] | None = None
        """The newest call of another package's, and what it asked for."""
        self.usage = Usage()
        self.models: list[str] = []
        self.over: tuple[TurnSummary, TurnSummary, Turn | None] | None = None
        """Once the turn has ended, its row, and that as the turn had told it."""


class DecoratedTurns:
    """Follows the decorated turns under way: their undecorated tools, and what other packages
    recorded in them."""

    def __init__(self, sightings: Sightings) -> None:
        self._sightings = sightings
        self._turns: OrderedDict[str, Unseen] = OrderedDict()
        self._over: OrderedDict[str, Unseen] = OrderedDict()
        self._reader = HistoryReader()

    def call(
        self,
        facts: SpanFacts,
        row: LlmCall,
        dialect: str,
        messages: list[Any],
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """A model call of a turn: add the tools whose results its request brings."""
        unseen = self._turns.get(row.turn_id)
        if unseen is not None and (unseen.pending or unseen.executed):
            mine = frozenset((row.turn_id,))
            for part in self._results(unseen, dialect, messages):
                if brought(part, unseen.executed, redactor, batch) is not None:
                    continue
                execution = Execution.of(part, unseen.pending)
                if execution is None:
                    continue
                tool = execution.row(facts, row, redactor, batch)
                if self._sightings.tool(tool, lambda: mine) is None:
                    unseen.tools.append((tool, execution.fact()))
                    batch.add(tool)

    def _results(self, unseen: Unseen, dialect: str, messages: list[Any]) -> list[dict[str, Any]]:
        """The results that a request brings of what the turn waits for: all that came after the
        last reply, and before it those that name a call."""
        found: list[dict[str, Any]] = []
        waited = len(unseen.pending) + len(unseen.executed)
        replied = False
        for raw in messages[: -_MAX_RESULTS - 1 : -1]:
            said = self._reader.message(dialect, raw)
            if said.role == "assistant":
                replied = True
            elif not replied:
                observe((said,), bool(unseen.pending or unseen.executed))
            for part in reversed(said.results):
                key = part.get("id")
                if not replied or key in unseen.pending or key in unseen.executed:
                    found.append(part)
            if replied and len(found) >= waited:
                break
        found.reverse()
        return found

    def reply(self, facts: SpanFacts, row: LlmCall, calls: list[dict[str, Any]]) -> None:
        """What the call's reply asked for; a call of another package's counts as well."""
        if not calls and not facts.foreign:
            known = self._turns.get(row.turn_id)
            if known is not None:
                known.round = max(known.round, row.round)
            return
        unseen = self._of(row.turn_id)
        requests = requests_of(calls)
        if facts.foreign:
            unseen.calls += 1
            row.round = row.round or unseen.calls
            unseen.usage.add(usage_of_row(row))
            unseen.last = row, requests
            model = row.response_model or row.request_model
            if model and model not in unseen.models:
                unseen.models.append(model)
        unseen.round = max(unseen.round, row.round)
        unseen.pending.update(asked_for(requests, row.round, facts.end_time))

    def same(self, row: LlmCall) -> None:
        """A call the turn was told of turned out to be one that another package's span counted."""
        unseen = self._turns.get(row.turn_id)
        if unseen is not None and unseen.calls:
            unseen.calls -= 1
            said = usage_of_row(row)
            for name in Usage.__slots__:
                known, more = getattr(unseen.usage, name), getattr(said, name)
                if known is not None and more is not None:
                    setattr(unseen.usage, name, max(0, known - more))

    def tool(self, facts: SpanFacts, row: ToolCall, redactor: Redactor, *, answered: bool) -> None:
        """An executed tool of a turn; one of another package's counts as well. One that
        ``answered`` has its result, and if that is an empty text."""
        unseen = self._turns.get(row.turn_id) or self._over.get(row.turn_id)
        if unseen is not None:
            key, asked = claimed(unseen.pending, row)
            if asked is not None:
                row.round = row.round or asked.round
                if complete(row, key, asked, redactor) and not answered:
                    unseen.executed[key] = row
        if facts.foreign:
            unseen = unseen or self._of(row.turn_id)
            row.round = row.round or unseen.round
            given = arguments_of(row)
            fact = ToolExecution(row.name, given, row.round, row.result, row.failed, True)
            unseen.tools.append((row, fact))

    def finish(self, row: TurnSummary, turn: Turn | None) -> None:
        """Add what the turn was not told of to its row."""
        unseen = self._turns.pop(row.turn_id, None)
        if unseen is not None:
            unseen.over = row, copy(row), turn
            self._over[row.turn_id] = unseen
            if len(self._over) > MAX_OVER:
                self._over.popitem(last=False)
            _finish(row, turn, unseen)

    def finished_anew(self, turn_id: str) -> TurnSummary | None:
        """The row of a turn that is over, now that more is known of its tools."""
        unseen = self._over.get(turn_id)
        if unseen is None or unseen.over is None:
            return None
        row, told, turn = unseen.over
        for name in _FINISHED:
            setattr(row, name, getattr(told, name))
        _finish(row, turn, unseen)
        return row

    def forget_turn(self, turn_id: str) -> None:
        """Its spans come again, or no more."""
        self._turns.pop(turn_id, None)
        self._over.pop(turn_id, None)

    def forget(self) -> None:
        """In a forked child: the turns are the parent's."""
        self._turns.clear()
        self._over.clear()

    def _of(self, turn_id: str) -> Unseen:
        unseen = self._turns.get(turn_id)
        if unseen is None:
            unseen = self._turns[turn_id] = Unseen()
            if len(self._turns) > MAX_TURNS:
                self._turns.popitem(last=False)
        return unseen


def _finish(row: TurnSummary, turn: Turn | None, unseen: Unseen) -> None:
    """Add what a turn was not told of to its row."""
    tools: list[ToolExecution] = []
    for told_row, fact in unseen.tools:
        fact.error = told_row.failed
        tools.append(fact)
    row.rounds += unseen.calls
    row.llm_call_count += unseen.calls
    usage = usage_of_row(row)
    usage.add(unseen.usage)
    set_usage(row, usage)
    row.models = [*row.models, *(m for m in unseen.models if m not in row.models)]
    row.tool_call_count += len(unseen.tools)
    row.tool_error_count += sum(fact.error for fact in tools)
    last = unseen.last
    if last is not None and not row.response_text:
        row.response_text = last[0].response_text
    if turn is None or not (unseen.tools or last):
        return
    told, ending = turn.judged_with(tools)
    if last is not None and not turn.llm_calls:  # else nobody knows which was the last
        told.rounds += unseen.calls
        tell_call(told, *last, None, text_of(last[0]))
        ending = told.decide_stop()
    row.tool_error_count = told.tool_errors
    row.max_identical_tool_streak = told.max_identical_tool_streak
    row.no_progress_rounds = told.no_progress_rounds
    _judge(row, ending)


def _judge(row: TurnSummary, ending: Ending) -> None:
    """Put the reason in that holds with the tools known; one that ranks higher stays."""
    found = ending.reason
    beats = found.startswith("loop_detected:") or (
        found == "tool_failure" and row.stop_reason != "round_cap"
    )
    # The ending knows everything but the exception that the turn ended with.
    if row.stop_reason != "user_aborted" and (beats or not row.error_type):
        row.stop_reason, row.stop_detail = found, ending.detail


def usage_of_row(row: LlmCall | TurnSummary) -> Usage:
    """The token counts of a row."""
    return Usage(
        row.input_tokens,
        row.output_tokens,
        row.cache_read_tokens,
        row.cache_write_tokens,
        row.reasoning_tokens,
    )


def set_usage(row: LlmCall | TurnSummary, usage: Usage) -> None:
    """Write token counts into a row."""
    row.input_tokens = usage.input_tokens
    row.output_tokens = usage.output_tokens
    row.cache_read_tokens = usage.cache_read_tokens
    row.cache_write_tokens = usage.cache_write_tokens
    row.reasoning_tokens = usage.reasoning_tokens
