"""Decorated turns: what they did that they were not told of themselves.

Tools that the messages tell of become rows where no ``execute_tool`` span of the turn is about the
same call.
"""

from __future__ import annotations

from collections import OrderedDict
from copy import copy
from typing import Any, Final

from turnspan.turn.loop_detector import ExecutedTool
from turnspan.turn.turn import TokenUsage, ToolRequest, Turn
from turnspan_clickhouse.normalise.duplicates import Sightings
from turnspan_clickhouse.normalise.history_keys import HistoryReader, observe
from turnspan_clickhouse.normalise.requested_tools import (
    Execution,
    RequestedTool,
    asked_for,
    brought,
    claimed,
    complete,
    requests_of,
)
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.normalise.turn_facts import (
    arguments_of,
    set_usage,
    tell_call,
    text_of,
    usage_of_row,
)
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

MAX_TURNS = 10_000
MAX_OVER = 256
"""Turns that are over, and of which another package's thread may still tell more."""
_MAX_RESULTS = 64


_FINISHED: Final = (
    *("rounds", "llm_call_count", "models", "response_text", *TokenUsage.__slots__),
    *("tool_call_count", "tool_error_count", "max_identical_tool_streak", "no_progress_rounds"),
    *("stop_reason", "stop_detail"),
)
"""What is added to a turn's row when it ends."""


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
        self.tools: list[tuple[ToolCall, ExecutedTool]] = []
        self.calls = 0
        self.round = 1
        """That of the newest call, as far as the turn is followed."""
        self.last: tuple[LlmCall, list[ToolRequest]] | None = None
        """The newest call of another package's, and what it asked for."""
        self.usage = TokenUsage()
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
        self, facts: SpanFacts, row: LlmCall, dialect: str, messages: list[Any], batch: Batch
    ) -> None:
        """A model call of a turn: add the tools whose results its request brings."""
        unseen = self._turns.get(row.turn_id)
        if unseen is not None and (unseen.pending or unseen.executed):
            mine = frozenset((row.turn_id,))
            for part in self._results(unseen, dialect, messages):
                if brought(part, unseen.executed, batch) is not None:
                    continue
                execution = Execution.of(part, unseen.pending)
                if execution is None:
                    continue
                tool = execution.row(facts, row, batch)
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
            for name in TokenUsage.__slots__:
                known, more = getattr(unseen.usage, name), getattr(said, name)
                if known is not None and more is not None:
                    setattr(unseen.usage, name, max(0, known - more))

    def tool(self, facts: SpanFacts, row: ToolCall, batch: Batch, *, answered: bool) -> None:
        """An executed tool of a turn; one of another package's counts as well. One that
        ``answered`` has its result, and if that is an empty text."""
        unseen = self._turns.get(row.turn_id) or self._over.get(row.turn_id)
        if unseen is not None:
            key, asked = claimed(unseen.pending, row)
            if asked is not None:
                row.round = row.round or asked.round
                if complete(row, key, asked, batch) and not answered:
                    unseen.executed[key] = row
        if facts.foreign:
            unseen = unseen or self._of(row.turn_id)
            row.round = row.round or unseen.round
            given = arguments_of(row)
            fact = ExecutedTool(row.name, given, row.round, row.result, row.failed, True)
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

    def _of(self, turn_id: str) -> Unseen:
        unseen = self._turns.get(turn_id)
        if unseen is None:
            unseen = self._turns[turn_id] = Unseen()
            if len(self._turns) > MAX_TURNS:
                self._turns.popitem(last=False)
        return unseen


def _finish(row: TurnSummary, turn: Turn | None, unseen: Unseen) -> None:
    """Add what a turn was not told of to its row."""
    tools: list[ExecutedTool] = []
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
    found = ending.reason  # holds with the tools known, unless one that ranks higher is there
    beats = found.startswith("loop_detected:") or (
        found == "tool_failure" and row.stop_reason != "round_cap"
    )
    # The ending knows everything but the exception that the turn ended with.
    if row.stop_reason not in ("user_aborted", "budget_exceeded") and (beats or not row.error_type):
        row.stop_reason, row.stop_detail = found, ending.detail
