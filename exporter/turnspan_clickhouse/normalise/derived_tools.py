"""Tools of turns that nobody decorated: told by spans, and by messages where there is none."""

from __future__ import annotations

from collections.abc import Sequence

from turnspan_clickhouse.normalise.call_index import CallNode, Link
from turnspan_clickhouse.normalise.conversations import DerivedConversations
from turnspan_clickhouse.normalise.derived_turn import DerivedTurn, Event, OpenTurns
from turnspan_clickhouse.normalise.duplicates import Sightings
from turnspan_clickhouse.normalise.history_keys import HistoryMessage
from turnspan_clickhouse.normalise.nesting import enrich_tool
from turnspan_clickhouse.normalise.requested_tools import Execution, brought, claimed, complete
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall


class DerivedTools:
    """Gives executed tools to the turns of one process's conversations."""

    def __init__(
        self, conversations: DerivedConversations, turns: OpenTurns, sightings: Sightings
    ) -> None:
        self._conversations = conversations
        self._turns = turns
        self._sightings = sightings

    def bring(
        self,
        link: Link | None,
        turn: DerivedTurn | None,
        news: Sequence[HistoryMessage],
        facts: SpanFacts,
        row: LlmCall,
        batch: Batch,
    ) -> None:
        """Add the tool calls whose results this call's messages bring, to the turn that asked."""
        if turn is None:
            return
        for part in [part for said in news for part in said.results]:
            call_id = str(part.get("id") or "")
            node = self._asking(link, call_id, facts)
            if node is None:
                continue
            told = brought(part, node.executed, batch)
            if told is not None:
                self.changed(told)
                continue
            execution = Execution.of(part, node.pending)
            if execution is None:
                continue
            turn_id, row.turn_id = row.turn_id, turn.turn.id
            tool = execution.row(facts, row, batch)
            row.turn_id = turn_id
            tool.session_id = turn.session_id
            seen = self._sightings.tool(tool, lambda: frozenset((turn.turn.id,)))
            if seen is not None:  # another package's span has told of it, in a trace of its own
                # Before anybody knew who had asked for it: a decorated turn has not its trace's id.
                if seen.turn_id == seen.trace_id and self._turns.get(seen.turn_id) is None:
                    enrich_tool(seen, tool)
                    turn.insert((seen,), batch)
                continue
            turn.add(Event(tool, facts.span_id), facts.start_time)
            batch.add(tool)
        self._turns.change(turn)

    def _asking(self, link: Link | None, call_id: str, facts: SpanFacts) -> CallNode | None:
        """The call whose reply asked for a tool."""
        node = None if link is None else link.node
        if node is not None and (not call_id or call_id in node.asked):
            return node
        return self._conversations.nodes.waiting_for(call_id, facts, None) if call_id else node

    def tool(self, facts: SpanFacts, row: ToolCall, batch: Batch) -> bool:
        """A span of an executed tool that is in no decorated turn: give it its turn; whether it is
        known."""
        nodes, turns = self._conversations.nodes, self.turns_of(facts)
        if row.call_id:
            node = nodes.waiting_for(row.call_id, facts, row, turns)
        else:
            node = nodes.waiting_for_tool(facts, row, turns)
        if node is not None:
            turn = node.turn
            # Its result is waited for no more, but for what the span does not say itself.
            key, asked = claimed(node.pending, row)
            if asked is not None and complete(row, key, asked, batch):
                node.executed[key] = row
        else:
            hinted = self._conversations.traces.by_trace(facts.trace_id)
            if hinted is None or hinted.taken_over:
                return False
            turn = hinted
        row.session_id = turn.session_id
        turn.add(Event(row, facts.span_id), facts.end_time)
        self._turns.change(turn)
        return True

    def turns_of(self, facts: SpanFacts) -> frozenset[str]:
        """The ids of the turns that a span can be of, by its trace; none where nobody knows."""
        if facts.turn_id:
            return frozenset((facts.turn_id,))
        return self._conversations.traces.turns(facts.trace_id)

    def changed(self, row: LlmCall | ToolCall) -> None:
        """More is known of a tool or a call than when its turn was told of it."""
        turn = self._turns.get(row.turn_id)
        if turn is not None and turn.event_of(row) is not None:
            turn.retell(turn.events)
            self._turns.change(turn)

    def inside(
        self, facts: SpanFacts, row: LlmCall, tools: Sequence[ToolCall], batch: Batch
    ) -> None:
        """Tools whose spans are inside the call that asked for them ran after its reply."""
        turn = self._turns.get(row.turn_id)
        if turn is None:
            return
        for tool in tools:
            nodes = self._conversations.nodes
            node = nodes.waiting_for(tool.call_id, facts, tool) if tool.call_id else None
            if node is not None:
                claimed(node.pending, tool)
        turn.insert(tools, batch)
        self._turns.change(turn)
