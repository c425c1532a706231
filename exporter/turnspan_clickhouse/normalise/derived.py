"""Sessions and turns of agents that nobody decorated, derived from their model calls.

An undecorated loop is seen as model calls only, often each a trace of its own. Which conversation a
call goes on with is found by what was answered before (``conversations.py``). In it, something new
that the user says begins a turn, everything else is another round of the one it goes on with. Tool
calls are read from spans, and from the messages where there is no span: what the model asked for,
and the results the next request brings. docs/no-code.md explains the whole of it.

The row of a derived turn is written again whenever a call joins it; the newest write wins. When it
turns out that another package's agent span is around the calls, that agent takes the turn over: its
row is the turn's final one. Where the turn has calls of others too (nested agents), it takes its
own with it into a turn of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turnspan.content.convert import first_choice
from turnspan.content.model import Conversation as Reply
from turnspan.content.model import RequestParts, as_dict
from turnspan.content.redact import Redactor
from turnspan.outcomes import tool_failed
from turnspan.turn import Turn
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise.agents import AgentSpans
from turnspan_clickhouse.normalise.answers import SharedAnswers
from turnspan_clickhouse.normalise.conversations import (
    SESSION_PREFIX,
    Asking,
    Conversations,
    Link,
)
from turnspan_clickhouse.normalise.history import HistoryReader, Said
from turnspan_clickhouse.normalise.news import asked_in, asks_anew, observe
from turnspan_clickhouse.normalise.nodes import Conversation, Node
from turnspan_clickhouse.normalise.open_turns import OpenTurns
from turnspan_clickhouse.normalise.requested import (
    SCOPE,
    Execution,
    again,
    asked_for,
    claimed,
    complete,
    requests_of,
)
from turnspan_clickhouse.normalise.sightings import Sightings
from turnspan_clickhouse.normalise.source import SpanFacts
from turnspan_clickhouse.normalise.turns import DerivedTurn, Event
from turnspan_clickhouse.normalise.written import write_content
from turnspan_clickhouse.records import LlmCall, ToolCall, TurnSummary

FINAL_ANSWER = "final_answer"
"""The tool by which agents that must call one say their answer (smolagents)."""
MAX_OPEN = 20_000
"""Turns and calls under way that are kept in mind."""


class DerivedTurns:
    """Follows the conversations of one process.

    With ``own_ids`` an agent that takes a turn over keeps its own id and start, so that its row is
    the same record whether its calls came before it or after.
    """

    def __init__(
        self, sightings: Sightings, *, own_ids: bool = False, shared: SharedAnswers | None = None
    ) -> None:
        self._sightings = sightings
        self._own_ids = own_ids
        self._shared = shared
        self._reader = HistoryReader(shared.salt if shared is not None else b"")
        self._conversations = Conversations(self._reader, shared)
        self._calls: OrderedDict[str, tuple[Node, bool]] = OrderedDict()
        """By span id, the calls whose reply has not been told yet, and whether it is forced."""
        self.turns = OpenTurns()
        self.agents = AgentSpans(self.turns, self._conversations, own_ids=own_ids)
        self._landed_in: dict[str, str] = {}
        """By span id, the session in which a call landed that is told again."""

    # -- calls ------------------

    def join(
        self,
        facts: SpanFacts,
        row: LlmCall,
        dialect: str,
        request: RequestParts,
        redactor: Redactor,
        batch: Batch,
    ) -> None:
        """Give an undecorated call its session, turn and round, before its messages land."""
        conversations = self._conversations
        asking = conversations.read(facts, dialect, request)
        link = conversations.link(facts, asking)
        news = [
            conversations.said(asking, place) for place in range(asking.new, len(asking.messages))
        ]
        observe(news, bool(link is not None and link.node is not None and link.node.pending))
        turn = self._goes_on(facts, asking, link, news)
        conversation = self._conversation(facts, link, turn)
        row.session_id = row.session_id or conversation.session_id
        if link is not None and link.node is not None:
            link.node.continued = True
        if turn is None:
            before = link.node.turn if link is not None and link.node is not None else None
            self._bring(link, before, news, facts, row, redactor, batch)
            turn = self._begin(conversation, facts, row, asking, asked_in(news), redactor)
        else:
            row.turn_id = turn.turn.id
            self._bring(link, turn, news, facts, row, redactor, batch)
        row.turn_id = turn.turn.id
        row.round = turn.turn.rounds + 1
        node = Node(conversation, turn, facts.trace_id, facts.span_id)
        conversations.asked(node, asking)
        conversations.suggest(facts, turn)
        self._calls[row.span_id] = (node, _is_forced(request))
        if len(self._calls) > MAX_OPEN:
            self._calls.popitem(last=False)

    def reply(self, facts: SpanFacts, row: LlmCall, reply: Reply, dialect: str) -> None:
        """Fold the call's reply into its turn, and remember it for calls to come."""
        found = self._calls.pop(row.span_id, None)
        if found is None:
            return
        node, forced = found
        forced = forced or [str(c.get("name")) for c in reply.tool_calls] == [FINAL_ANSWER]
        turn = node.turn
        calls = reply.tool_calls
        event = Event(
            row,
            facts.span_id,
            requests_of(calls),
            reply.response_text,
            known=bool(reply.output),
            forced=forced,
        )
        turn.add(event, facts.end_time)
        node.failed = bool(row.error_type)
        if not node.failed:
            one_choice = len(first_choice(dialect, reply.output)) == len(reply.output)
            answers = self._reader.answers(reply.output, one_choice) if reply.output else []
            if forced and calls:
                answers.append(self._reader.arguments(calls[0]))
            self._conversations.answered(node, answers, row.response_id)
        node.pending = asked_for(calls, row.round, facts.end_time)
        self._conversations.nodes.waits(node)
        self.turns.change(turn)

    def completed(self, row: LlmCall, reply: Reply, when: int) -> bool:
        """A call made in the background has ended: its turn is told, if it is one of these."""
        turn = self.turns.get(row.turn_id)
        event = turn.event_of(row) if turn is not None else None
        if turn is None or event is None:
            return False
        event.requests = requests_of(reply.tool_calls)
        event.text, event.known = reply.response_text, bool(reply.output)
        turn.retell(turn.events)
        turn.row.duration = max(turn.row.duration, (when - turn.row.start_time) / 1e9)
        node = self._conversations.nodes.by_span(row.span_id)
        if node is not None:
            answers = self._reader.answers(reply.output, one_choice=True) if reply.output else []
            self._conversations.answered(node, answers, row.response_id)
            node.pending = asked_for(reply.tool_calls, row.round, when)
            self._conversations.nodes.waits(node)
        self.turns.change(turn)
        return True

    def _goes_on(
        self, facts: SpanFacts, asking: Asking, link: Link | None, news: Sequence[Said]
    ) -> DerivedTurn | None:
        """The turn that a call is another round of; ``None`` where it begins one."""
        if link is None:
            turn = self._hinted(facts, asking)
            if turn is None:
                turn = self._repeated(facts, asking, news)
            return turn
        node = link.node
        if node is None:
            return None
        if facts.session_id and facts.session_id != node.conversation.session_id:
            return None
        if not asks_anew(news):
            return node.turn  # also where a framework's span of a step has ended around it
        again = self._conversations.retried(asking, node.conversation)
        return None if again is None or again.turn.taken_over else again.turn

    def _hinted(self, facts: SpanFacts, asking: Asking) -> DerivedTurn | None:
        """The turn around a call without a history: one under the same span, or in its trace.

        The same agent that starts afresh is another conversation; one agent's call inside another's
        tool, a classifier before the answer or a summary after it are steps of one turn.
        """
        turn = self._conversations.hint(facts)
        if turn is None or turn.taken_over:
            return None
        if facts.session_id and turn.session_id != facts.session_id:
            return None
        again = asking.tools and (asking.tools, asking.system) == (turn.tools, turn.system)
        if again and turn.last is not None and not turn.last.row.error_type:
            return None
        return turn

    def _repeated(
        self, facts: SpanFacts, asking: Asking, news: Sequence[Said]
    ) -> DerivedTurn | None:
        """The turn of a call that failed and is made again, or whose user asks another agent."""
        failed = self._conversations.retried(asking, None)
        if (
            failed is not None
            and not failed.turn.taken_over
            and (not facts.session_id or failed.turn.session_id == facts.session_id)
        ):
            return failed.turn
        if not facts.session_id or not self._conversations.is_session(
            facts.project, facts.session_id
        ):
            return None
        turn = self._conversations.session(facts.project, facts.session_id).turn
        if turn is None or turn.taken_over:
            return None
        if not any(said.by_user for said in news):
            return turn
        other = (turn.system, turn.tools) != (asking.system, asking.tools)
        return turn if other and turn.asked and turn.asked == asked_in(news) else None

    def _conversation(
        self, facts: SpanFacts, link: Link | None, turn: DerivedTurn | None
    ) -> Conversation:
        session = facts.session_id or self._landed_in.pop(facts.span_id, "")
        if not session and turn is not None:
            session = turn.session_id
        if not session and link is not None:
            session = link.session_id
        if not session:
            session = SESSION_PREFIX + facts.trace_id
            if self._conversations.is_session(facts.project, session):
                session = SESSION_PREFIX + facts.span_id
        return self._conversations.session(facts.project, session)

    def _begin(
        self,
        conversation: Conversation,
        facts: SpanFacts,
        row: LlmCall,
        asking: Asking,
        asked: str,
        redactor: Redactor,
    ) -> DerivedTurn:
        before = conversation.turn
        if before is not None and not before.closed and not self._own_ids:
            self.turns.close(before)
        turn_id = facts.span_id if facts.trace_id in self.turns else facts.trace_id
        summary = TurnSummary(
            project=facts.project,
            service=facts.origin.service,
            environment=facts.origin.environment,
            session_id=row.session_id,
            turn_id=turn_id,
            trace_id=facts.trace_id,
            span_id=facts.span_id,
            parent_span_id=facts.parent_span_id,
            start_time=facts.start_time,
            agent_name=row.agent_name,
            agent_version=row.agent_version,
            scope_name=SCOPE,
        )
        if facts.captured and redactor.settings.capture_content:
            write_content(summary, "user_message", asked, "user_message", redactor)
        turn = DerivedTurn(
            Turn(turn_id, agent_name=row.agent_name), summary, asked, asking.system, asking.tools
        )
        conversation.turn = turn
        self.turns.add(turn)
        return turn

    def _bring(
        self,
        link: Link | None,
        turn: DerivedTurn | None,
        news: Sequence[Said],
        facts: SpanFacts,
        row: LlmCall,
        redactor: Redactor,
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
            told = node.executed.pop(call_id, None)
            if told is not None:  # its span did not say what came out
                write_content(told, "result", part.get("response"), "tool_result", redactor)
                told.failed = told.failed or tool_failed(part.get("response"))
                again(told, batch)
                self.changed(told)
                continue
            execution = Execution.of(part, node.pending)
            if execution is None:
                continue
            turn_id, row.turn_id = row.turn_id, turn.turn.id
            tool = execution.row(facts, row, redactor, batch)
            row.turn_id = turn_id
            tool.session_id = turn.session_id
            if self._sightings.tool(tool) is not None:
                continue  # another package's span has told of it, in a trace of its own
            turn.add(Event(tool, facts.span_id), facts.start_time)
            batch.add(tool)
        self.turns.change(turn)

    def _asking(self, link: Link | None, call_id: str, facts: SpanFacts) -> Node | None:
        """The call whose reply asked for a tool."""
        node = None if link is None else link.node
        if node is not None and (not call_id or call_id in node.asked):
            return node
        return self._conversations.nodes.waiting_for(call_id, facts, None) if call_id else node

    # -- tools ------------------

    def tool(self, facts: SpanFacts, row: ToolCall, redactor: Redactor) -> None:
        """A span of an executed tool that is in no decorated turn: give it its turn, if known."""
        nodes = self._conversations.nodes
        if row.call_id:
            node = nodes.waiting_for(row.call_id, facts, row)
        else:
            node = nodes.waiting_for_tool(facts, row)
        if node is not None:
            turn = node.turn
            self._executed(node, row, redactor)
        else:
            hinted = self._conversations.by_trace(facts.trace_id)
            if hinted is None or hinted.taken_over:
                return
            turn = hinted
        row.session_id = turn.session_id
        turn.add(Event(row, facts.span_id), facts.end_time)
        self.turns.change(turn)

    def changed(self, row: ToolCall) -> None:
        """More is known of a tool than when its turn was told of it."""
        turn = self.turns.get(row.turn_id)
        if turn is not None and turn.event_of(row) is not None:
            turn.retell(turn.events)
            self.turns.change(turn)

    def _executed(self, node: Node, row: ToolCall, redactor: Redactor) -> None:
        """A span is about a tool that a reply asked for: nobody waits for its result any more, but
        for what the span does not say itself."""
        key, asked = claimed(node.pending, row)
        if asked is not None and complete(row, key, asked, redactor):
            node.executed[key] = row

    def inside(
        self, facts: SpanFacts, row: LlmCall, tools: Sequence[ToolCall], batch: Batch
    ) -> None:
        """Tools whose spans are inside the call that asked for them ran after its reply."""
        turn = self.turns.get(row.turn_id)
        if turn is None:
            return
        for tool in tools:
            nodes = self._conversations.nodes
            node = nodes.waiting_for(tool.call_id, facts, tool) if tool.call_id else None
            if node is not None:
                claimed(node.pending, tool)
            if tool.written_at == batch.written_at:  # else it has landed, in a session or in none
                tool.session_id = tool.session_id or turn.session_id
        turn.insert([Event(tool, tool.span_id) for tool in tools])
        self.turns.change(turn)
        for tool in tools:
            again(tool, batch)

    # -- writing ------------------

    def write(
        self,
        redactor: Redactor,
        batch: Batch,
        ready: Callable[[TurnSummary], bool] | None = None,
        *,
        last: bool = False,
    ) -> None:
        """Add the rows of the turns that changed since the last write and are ready for it.

        With ``last`` nothing more comes: no turn waits for results any longer.
        """
        self.turns.write(redactor, batch, ready, last=last)
        if self._shared is not None:
            self._shared.write()

    def forget_trace(self, trace_id: str, sessions: Mapping[str, str] | None) -> None:
        """Forget the turns of a trace. Where it is told again, its calls as well; ``sessions`` are
        those in which its spans have landed."""
        again = sessions is not None
        if again:
            self._sightings.forget_trace(trace_id)
        if sessions:
            self._landed_in.update(sessions)
            if len(self._landed_in) > MAX_OPEN:
                self._landed_in = dict(sessions)
        for turn in self._conversations.forget_trace(trace_id, again=again):
            self.turns.forget(turn)

    def forget(self) -> None:
        """In a forked child: the conversations are the parent's."""
        self._conversations.clear()
        self._calls.clear()
        self.turns.clear()
        if self._shared is not None:
            self._shared.after_fork()


def _is_forced(request: RequestParts) -> bool:
    """Whether the request names the one tool that the model must ask for: a way of asking for a
    structured answer, after which nothing is executed."""
    choice: Any = request.parameters.get("tool_choice")
    fields = as_dict(choice)
    if fields is None:
        return False
    return fields.get("type") in ("tool", "function", "custom") and (
        "name" in fields or "function" in fields or "custom" in fields
    )
