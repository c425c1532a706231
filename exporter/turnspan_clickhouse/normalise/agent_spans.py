"""Agents' spans of other packages around undecorated calls: whose turn is it?"""

from __future__ import annotations

from collections.abc import Sequence

from turnspan.turn.turn import Turn
from turnspan_clickhouse.normalise.conversations import SESSION_PREFIX, DerivedConversations
from turnspan_clickhouse.normalise.derived_turn import DerivedTurn, Event, OpenTurns
from turnspan_clickhouse.normalise.nesting import ChildRows, fill
from turnspan_clickhouse.normalise.requested_tools import rewrite
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary


class AgentSpans:
    """Lets agents' spans take derived turns over.

    With ``own_ids`` an agent keeps its own id and start, so that its row is the same record whether
    its calls came before it or after.
    """

    def __init__(
        self, turns: OpenTurns, conversations: DerivedConversations, *, own_ids: bool
    ) -> None:
        self._turns = turns
        self._conversations = conversations
        self._own_ids = own_ids

    def take_over(self, facts: SpanFacts, row: TurnSummary, held: ChildRows, batch: Batch) -> bool:
        """An agent's span ended around these calls and tools: make its row that of their turn.

        Returns whether the span is a turn at all: one around a single agent is that agent's
        wrapper, and says no more than it.
        """
        mine = {call.span_id for call in held.calls} | {tool.span_id for tool in held.tools}
        turns = [turn for call in held.calls if (turn := self._turns.get(call.turn_id)) is not None]
        found = turns[0] if turns else None
        if found is not None:
            # Tools that ended before the call that asked for them: a stream's, whose call ends when
            # the framework has left it. Until now nobody knew whose they were.
            late = [tool for tool in held.tools if all(t.event_of(tool) is None for t in turns)]
            if late:
                found.insert(late, batch)
            own, rest = _parted(found, mine)
            if (found.taken_over or not rest) and not self._own_ids:
                self._turns.settle(found)
                found.take_over(row, held.turns)
            else:
                self._split(found, facts, row, own, rest, held, batch)
        elif held.tools and self._conversations.traces.by_trace(facts.trace_id) is None:
            alone = DerivedTurn(Turn(row.turn_id, agent_name=row.agent_name), row, "", 0, 0)
            alone.retell([Event(tool, tool.span_id) for tool in held.tools])
            alone.own(row, held.turns)
            for tool in held.tools:
                rewrite(tool, batch)
        elif held.turns and not held.calls and not held.tools:
            nested = list({each.turn_id: each for each in held.turns}.values())
            if len(nested) == 1:
                # A span around one agent: what it knows more goes to that agent's row.
                if fill(nested[0], row, "user_message", "response_text", "agent_name", "user_id"):
                    rewrite(nested[0], batch)
                return False
            _wrap(row, nested)
        elif not (held.turns or held.calls or held.tools or _says_anything(row)):
            return False
        row.session_id = row.session_id or SESSION_PREFIX + facts.trace_id
        for tool in held.tools:
            if not tool.session_id and tool.written_at == batch.written_at:
                tool.session_id = row.session_id
        for nested_row in held.turns:
            if nested_row.turn_id != row.turn_id:
                nested_row.parent_turn_id = row.turn_id
                rewrite(nested_row, batch)
        return True

    def _split(
        self,
        found: DerivedTurn,
        facts: SpanFacts,
        row: TurnSummary,
        own: list[Event],
        rest: list[Event],
        held: ChildRows,
        batch: Batch,
    ) -> None:
        """Move an agent's calls and tools into a turn of their own."""
        row.session_id = found.session_id or row.session_id
        moved = DerivedTurn(Turn(facts.span_id, agent_name=row.agent_name), row, found.asked, 0, 0)
        moved.session_id = row.session_id
        moved.retell(own)
        self._turns.add(moved)
        for event in own:
            node = self._conversations.nodes.by_span(event.owner)
            if node is not None and isinstance(event.row, LlmCall):
                node.turn, moved.system, moved.tools = moved, node.system, node.tools
            rewrite(event.row, batch)
        if rest:
            found.retell(rest)
            for event in rest:
                rewrite(event.row, batch)
            self._turns.change(found)
        else:
            row.user_message = row.user_message or found.row.user_message
            found.taken_over = True
            self._turns.settle(found)
        moved.own(row, held.turns)


def _parted(turn: DerivedTurn, mine: set[str]) -> tuple[list[Event], list[Event]]:
    """What happened in a turn that is of these spans, and the rest. Of them is also a tool that one
    of them asked for, whose result a later call has brought."""
    asked = {
        call_id
        for event in turn.events
        if event.owner in mine
        for call_id, _, _ in event.requests
        if call_id
    }
    own: list[Event] = []
    rest: list[Event] = []
    for event in turn.events:
        row = event.row
        brought = isinstance(row, ToolCall) and (row.span_id in mine or row.call_id in asked)
        (own if brought or event.owner in mine else rest).append(event)
    return own, rest


def _says_anything(row: TurnSummary) -> bool:
    """Of an agent that nothing was recorded of, what it was asked and said is all there is."""
    return bool(row.user_message or row.response_text or row.error_type)


def _wrap(row: TurnSummary, nested: Sequence[TurnSummary]) -> None:
    """A span around agents that itself called no model: it says what they say together."""
    first, final = nested[0], nested[-1]
    fill(row, first, "session_id", "user_message")
    fill(row, final, "response_text")
    if not row.error_type:
        row.stop_reason, row.stop_detail = final.stop_reason, final.stop_detail
