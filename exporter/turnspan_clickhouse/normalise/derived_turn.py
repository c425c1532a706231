"""Turns that nobody decorated: what happened in each, its row, and those under way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan.turn.turn import TokenUsage, ToolRequest, Turn
from turnspan_clickhouse.normalise.history_keys import canonical
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.turn_facts import (
    mask_ending,
    set_usage,
    tell_call,
    tell_tool,
    text_of,
    usage_of_row,
)
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

FINAL_ANSWER: Final = "final_answer"
"""The tool by which agents that must call one say their answer (smolagents)."""
MAX_EVENTS: Final = 2_000
"""Calls and tools of one turn that an agent around them can still claim."""
MAX_IDLE_NS: Final = 900 * 10**9
"""A turn whose model asked for tools waits so long for their results, then it has ended."""

_LOWER_THAN_ERROR: Final = frozenset(
    {"max_tokens", "content_filter", "refusal", "silent_rounds", "empty_no_tools", "completed"}
)


class Event:
    """One thing that happened in a turn, as its rows tell it."""

    __slots__ = ("forced", "known", "owner", "requests", "row", "text")

    def __init__(
        self,
        row: LlmCall | ToolCall,
        owner: str,
        requests: list[ToolRequest] | None = None,
        text: str = "",
        *,
        known: bool = True,
        forced: bool = False,
    ) -> None:
        self.row = row
        self.owner = owner
        """The span that tells of it: the call itself, the tool's, or the call that brought a
        result."""
        self.requests: list[ToolRequest] = requests or []
        self.text = text
        """What the model wrote for the user, also where that may not be recorded."""
        self.known = known
        """Whether what it wrote is known at all."""
        self.forced = forced
        """Whether the request named the one tool to be asked for: then that is the reply."""

    def tell(self, turn: Turn) -> None:
        """Tell a turn of it; the row gets its turn and round."""
        row = self.row
        row.turn_id = turn.id
        if isinstance(row, LlmCall):
            row.round = turn.begin_call()
            text = self.text if self.known else text_of(row)
            tell_call(turn, row, self.requests, usage_of_row(row), text)
        else:
            tell_tool(turn, row)


def replayed(turn_id: str, agent_name: str, events: Sequence[Event]) -> Turn:
    """The turn in which just these things happened."""
    turn = Turn(turn_id, agent_name=agent_name)
    for event in events:
        event.tell(turn)
    return turn


class DerivedTurn:
    """A turn under way, or over."""

    __slots__ = (
        "_cost",
        "asked",
        "closed",
        "events",
        "last",
        "nested",
        "row",
        "session_id",
        "system",
        "taken_over",
        "tools",
        "touched",
        "turn",
    )

    def __init__(self, turn: Turn, row: TurnSummary, asked: str, system: int, tools: int) -> None:
        self.turn = turn
        self.row = row
        self.session_id = row.session_id
        """Of its conversation."""
        self.asked = asked
        """What the user said, as it was said."""
        self.system = system
        self.tools = tools
        self.events: list[Event] = []
        self.last: Event | None = None
        """Its newest call."""
        self.nested: list[TurnSummary] = []
        """Turns of other agents in it, where an agent's span is known to be around them."""
        self.taken_over = False
        """Whether an agent's span has ended around it and ``row`` is that agent's."""
        self.closed = False
        """Whether it is over: the user has gone on, or nobody brings what it waits for."""
        self.touched = row.start_time
        """When it was last heard of, in ns."""
        self._cost: Decimal | None = None

    def add(self, event: Event, now: int) -> None:
        """Something happened in it; a tool that is told late, before the calls that came after."""
        self.touched = max(self.touched, now)
        tool, last = event.row, self.last
        began = last.row.start_time if last is not None and isinstance(tool, ToolCall) else 0
        if tool.start_time < began:
            at = next(
                place
                for place, each in enumerate(self.events)
                if isinstance(each.row, LlmCall) and tool.start_time < each.row.start_time
            )
            self.retell([*self.events[:at], event, *self.events[at:]])
            return
        event.tell(self.turn)
        self.events.append(event)
        del self.events[:-MAX_EVENTS]
        if isinstance(event.row, LlmCall):
            self.last = event
            self._cost = _sum(self._cost, event.row.cost_usd)
            row = self.row
            row.duration = max(row.duration, (now - row.start_time) / 1e9)

    def event_of(self, row: LlmCall | ToolCall) -> Event | None:
        """What happened in it that this row tells."""
        return next((event for event in self.events if event.row is row), None)

    def insert(self, tools: Sequence[ToolCall], batch: Batch) -> None:
        """Put tools in that ran inside a call that is known: after it. Their rows are written
        again; one that has landed keeps its session, or stays in none."""
        for tool in tools:
            if tool.written_at == batch.written_at:
                tool.session_id = tool.session_id or self.session_id
        known = {tool.span_id for tool in tools}
        rest = [each for each in self.events if each.owner not in known]
        self.retell(rest + [Event(tool, tool.span_id) for tool in tools])
        for tool in tools:
            rewrite(tool, batch)

    def retell(self, events: list[Event]) -> None:
        """Let just these things have happened in it."""
        self.events = events
        self.turn = replayed(self.turn.id, self.turn.agent_name, events)
        self.last = self._cost = None
        for event in events:
            if isinstance(event.row, LlmCall):
                self.last, self._cost = event, _sum(self._cost, event.row.cost_usd)

    @property
    def waits(self) -> bool:
        """Whether its last reply asked for tools whose results are still to come."""
        last = self.last
        if last is None or self.closed or last.row.error_type or last.forced:
            return False
        return self.turn.asked_for_tools

    def take_over(self, row: TurnSummary, nested: Sequence[TurnSummary]) -> None:
        """An agent's span ended around it: its row becomes the turn's, which keeps its identity."""
        start = self.row
        end = row.start_time + round(row.duration * 1e9)
        row.turn_id, row.session_id = start.turn_id, start.session_id
        row.start_time = start.start_time
        row.duration = max(0, end - row.start_time) / 1e9
        if self.taken_over:  # one agent's span after another's: a framework's for each step
            row.user_message = start.user_message or row.user_message
            row.agent_name = start.agent_name or row.agent_name
            row.parent_turn_id = start.parent_turn_id or row.parent_turn_id
        else:
            row.user_message = row.user_message or start.user_message
        self.own(row, nested)

    def own(self, row: TurnSummary, nested: Sequence[TurnSummary]) -> None:
        """Let the turn's row be an agent's."""
        known = {each.turn_id for each in self.nested}
        known.add(row.turn_id)
        self.nested += [each for each in nested if each.turn_id not in known]
        self.taken_over = True
        self.row = row
        self.fill(row)

    def summary(self, batch: Batch) -> TurnSummary:
        """Its row, as it stands now."""
        row = replace(self.row, writer=batch.writer, written_at=batch.written_at)
        if not self.taken_over:
            row.error_type = row.error_message = ""
            row.stop_reason = row.stop_detail = row.response_text = ""
        self.fill(row)
        mask_ending(row, batch)
        return row

    def fill(self, row: TurnSummary) -> None:
        """Put what happened in it into a row; what an agent's span says of its own end stays."""
        turn, last = self.turn, self.last
        row.status = "final"
        ending = turn.decide_stop()
        reason, detail = ending.reason, ending.detail
        if last is not None:
            if last.row.error_type and not self.taken_over:
                row.error_type, row.error_message = last.row.error_type, last.row.error_message
            if last.row.error_type and reason in _LOWER_THAN_ERROR:
                reason, detail = "error", ""
        if self.waits and not self.taken_over:
            row.status = reason = "running"
            detail = ""
        if not row.stop_reason or not row.error_type or reason not in _LOWER_THAN_ERROR:
            row.stop_reason, row.stop_detail = reason, detail
        row.response_text = (self.taken_over and row.response_text) or _response_of(self.events)
        row.rounds, row.llm_call_count = turn.rounds, turn.llm_calls
        row.tool_call_count, row.tool_error_count = turn.tool_calls, turn.tool_errors
        row.silent_rounds = turn.silent_rounds
        row.max_identical_tool_streak = turn.max_identical_tool_streak
        row.no_progress_rounds = turn.no_progress_rounds
        usage, models = replace(turn.usage), list(turn.models)
        for nested in self.nested:
            usage.add(usage_of_row(nested))
            models += [model for model in nested.models if model not in models]
        if usage != TokenUsage() or not self.taken_over:
            set_usage(row, usage)
        row.models = models
        row.cost_usd = _sum(self._cost, *(nested.cost_usd for nested in self.nested))


def _response_of(events: Sequence[Event]) -> str:
    """The last reply with any visible text, as it may be recorded; of a tool that the request
    named, what it was to be called with."""
    for event in reversed(events):
        row = event.row
        if isinstance(row, LlmCall):
            if row.response_text.strip():
                return row.response_text
            if event.forced and row.tool_calls:
                asked: Any = orjson.loads(row.tool_calls)
                return _said_by(asked[0])
    return ""


def _said_by(asked: Any) -> str:
    """What a tool call says that is an answer: all that it was to be called with, but of the tool
    that is there for answers its one text."""
    arguments = asked["arguments"]
    values: list[Any] = list(arguments.values()) if is_dict(arguments) else []
    if asked["name"] == FINAL_ANSWER and len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return canonical(arguments)


def _sum(*costs: Any) -> Decimal | None:
    """What calls cost together; ``None`` where no price is known."""
    known: list[Decimal] = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if known else None


MAX_TURNS: Final = 20_000


class OpenTurns:
    """Those of one process, by turn id; the oldest make room for others."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, DerivedTurn] = OrderedDict()
        self._changed: dict[str, DerivedTurn] = {}
        self._waiting: OrderedDict[str, DerivedTurn] = OrderedDict()
        """Those that wait for their tools' results, idle for longest first."""

    def get(self, turn_id: str) -> DerivedTurn | None:
        """The turn of this id, if it is under way."""
        return self._turns.get(turn_id)

    def add(self, turn: DerivedTurn) -> None:
        """A turn has begun."""
        self._turns[turn.turn.id] = turn
        if len(self._turns) > MAX_TURNS:
            self._turns.popitem(last=False)

    def change(self, turn: DerivedTurn) -> None:
        """Something happened in a turn: its row is to be written again."""
        self._changed[turn.turn.id] = turn
        self._waiting.pop(turn.turn.id, None)
        if turn.waits and not turn.taken_over:
            self._waiting[turn.turn.id] = turn

    def close(self, turn: DerivedTurn) -> None:
        """No more comes in this turn; what it says of itself may change by that."""
        waited = turn.waits
        turn.closed = True
        self._waiting.pop(turn.turn.id, None)
        if waited:
            self._changed[turn.turn.id] = turn

    def settle(self, turn: DerivedTurn) -> None:
        """An agent's row stands for it: it has none of its own to write."""
        self._changed.pop(turn.turn.id, None)
        self._waiting.pop(turn.turn.id, None)

    def forget(self, turn: DerivedTurn) -> None:
        """Its spans come again, or no more."""
        self.settle(turn)
        self._turns.pop(turn.turn.id, None)

    def write(
        self, batch: Batch, ready: Callable[[TurnSummary], bool] | None, *, last: bool
    ) -> None:
        """Add the rows of those that changed and are ``ready``; with ``last`` none waits longer."""
        while self._waiting:
            turn = next(iter(self._waiting.values()))
            if not last and turn.touched + MAX_IDLE_NS > batch.written_at:
                break
            self.close(turn)
        kept: dict[str, DerivedTurn] = {}
        for turn in self._changed.values():
            if ready is None or ready(turn.row):
                batch.add(turn.summary(batch))
            else:
                kept[turn.turn.id] = turn
        self._changed = kept
