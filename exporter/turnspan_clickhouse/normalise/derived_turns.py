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
from typing import NamedTuple

from turnspan.content.model import CallContent as Reply
from turnspan.content.model import RequestParts
from turnspan.dialects.convert import first_choice
from turnspan.turn.turn import Turn
from turnspan_clickhouse.normalise.agent_spans import AgentSpans
from turnspan_clickhouse.normalise.call_index import (
    CallNode,
    DerivedConversation,
    JoinRequest,
    Link,
)
from turnspan_clickhouse.normalise.content_columns import write_content
from turnspan_clickhouse.normalise.conversations import SESSION_PREFIX, DerivedConversations
from turnspan_clickhouse.normalise.derived_tools import DerivedTools
from turnspan_clickhouse.normalise.derived_turn import FINAL_ANSWER, DerivedTurn, Event, OpenTurns
from turnspan_clickhouse.normalise.duplicates import Sightings
from turnspan_clickhouse.normalise.history_keys import (
    HistoryMessage,
    HistoryReader,
    ReplyKeys,
    asked_in,
    asks_anew,
    observe,
)
from turnspan_clickhouse.normalise.requested_tools import SCOPE, asked_for, is_forced, requests_of
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.normalise.turn_facts import note_rerun
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary

MAX_OPEN = 20_000
"""Turns and calls under way that are kept in mind."""


class KnownReply(NamedTuple):
    """What a span told of a call's reply."""

    event: Event
    answers: list[ReplyKeys]


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
        self._conversations = DerivedConversations(self._reader, shared)
        self._calls: OrderedDict[str, tuple[CallNode, bool]] = OrderedDict()
        """By span id, the calls whose reply has not been told yet, and whether it is forced."""
        self.turns = OpenTurns()
        self.tools = DerivedTools(self._conversations, self.turns, sightings)
        self.agents = AgentSpans(self.turns, self._conversations, own_ids=own_ids)
        self._landed_in: dict[str, str] = {}
        """By span id, the session in which a call landed that is told again."""

    # -- calls ------------------

    def join(
        self, facts: SpanFacts, row: LlmCall, dialect: str, request: RequestParts, batch: Batch
    ) -> None:
        """Give an undecorated call its session, turn and round, before its messages land."""
        conversations = self._conversations
        named = facts.session_id
        asking, link, news, turn = self._looked_up(facts, dialect, request)
        if row.session_id == named != facts.session_id:
            row.session_id = ""
        session = facts.session_id or self._landed_in.pop(facts.span_id, "")
        session = session or self._session(facts, link, turn)
        conversation = conversations.session(facts.project, session)
        row.session_id = row.session_id or conversation.session_id
        if link is not None and link.node is not None:
            link.node.continued = True
        if turn is None:
            before = link.node.turn if link is not None and link.node is not None else None
            self.tools.bring(link, before, news, facts, row, batch)
            turn = self._begin(conversation, facts, row, asking, asked_in(news), batch)
        else:
            row.turn_id = turn.turn.id
            self.tools.bring(link, turn, news, facts, row, batch)
        row.turn_id = turn.turn.id
        row.round = turn.turn.rounds + 1
        node = CallNode(conversation, turn, row.trace_id, row.span_id)
        conversations.asked(node, asking)
        conversations.traces.suggest(facts, turn)
        self._calls[row.span_id] = (node, is_forced(request))
        if len(self._calls) > MAX_OPEN:
            self._calls.popitem(last=False)

    def place(self, facts: SpanFacts, dialect: str, request: RequestParts) -> tuple[str, str]:
        """The session and turn that a call that runs would join now; nothing is remembered."""
        _, link, _, turn = self._looked_up(facts, dialect, request)
        session = facts.session_id or self._session(facts, link, turn)
        return session, self._new_id(facts) if turn is None else turn.turn.id

    def _looked_up(
        self, facts: SpanFacts, dialect: str, request: RequestParts
    ) -> tuple[JoinRequest, Link | None, list[HistoryMessage], DerivedTurn | None]:
        conversations = self._conversations
        conversations.settle_session(facts)
        asking = conversations.read(facts, dialect, request)
        link = conversations.link(facts, asking)
        places = range(asking.new, len(asking.messages))
        news = [conversations.message_at(asking, place) for place in places]
        observe(news, bool(link is not None and link.node is not None and link.node.asked))
        return asking, link, news, self._goes_on(facts, asking, link, news)

    def reply(
        self,
        facts: SpanFacts,
        row: LlmCall,
        reply: Reply,
        dialect: str,
        told: KnownReply | None = None,
    ) -> None:
        """Fold the call's reply into its turn, and remember it for calls to come; what another
        span of it has ``told`` is taken where this one does not know the reply."""
        found = self._calls.pop(row.span_id, None)
        if found is None:
            return
        node, forced = found
        if told is None or reply.output:
            told = self._told(facts, row, reply, dialect, forced=forced)
        node.turn.add(told.event, facts.end_time)
        node.failed = bool(row.error_type)
        if not node.failed:
            self._conversations.answered(node, told.answers, row.response_id)
        node.pending = asked_for(told.event.requests, row.round, facts.end_time)
        self._conversations.nodes.waits(node)
        self.turns.change(node.turn)

    def _told(
        self, facts: SpanFacts, row: LlmCall, reply: Reply, dialect: str, *, forced: bool
    ) -> KnownReply:
        calls = reply.tool_calls
        forced = forced or [str(call.get("name")) for call in calls] == [FINAL_ANSWER]
        requests, known = requests_of(calls), bool(reply.output)
        event = Event(row, row.span_id, requests, reply.response_text, known=known, forced=forced)
        one_choice = len(first_choice(dialect, reply.output)) == len(reply.output)
        answers = self._reader.answers(reply.output, one_choice)
        if forced and calls:
            answers.append(self._reader.arguments(calls[0]))
        return KnownReply(event, answers)

    def rejoin(
        self,
        facts: SpanFacts,
        row: LlmCall,
        dialect: str,
        request: RequestParts,
        batch: Batch,
        *,
        better: bool,
    ) -> KnownReply | None:
        """Join a call anew whose own span did not say what the model was sent, or not as it was
        sent, and which began a session by that, as another span of it now does. Returns what the
        first told of the reply, for ``reply``, which has to follow; ``None`` where nothing was
        joined: a row that has landed keeps its session."""
        node = self._conversations.nodes.by_span(row.span_id)
        if node is None or not request.messages_raw or node.turn.taken_over:
            return None
        if not (node.blind or (better and _is_alone(node))):
            return None
        if row.written_at != batch.written_at:
            return None
        turn = node.turn
        event = turn.event_of(row)
        if event is None:
            return None
        rest = [each for each in turn.events if each is not event]
        self._conversations.forget_call(node, None if rest else turn)
        if rest:
            turn.retell(rest)
            self.turns.change(turn)
        else:
            self.turns.forget(turn)
        row.session_id, row.turn_id = facts.session_id, ""
        self.join(facts, row, dialect, request, batch)
        self.told_beside(facts.trace_id, row.trace_id, row.turn_id)
        return KnownReply(event, node.answers)

    def told_beside(self, of: str, by: str, turn_id: str) -> None:
        """A span of a trace has told of a call of this turn, which is in another one."""
        turn = self.turns.get(turn_id)
        if turn is not None and of != by:
            self._conversations.traces.told_beside(by, turn)

    def told_more(self, row: LlmCall, reply: Reply, when: int) -> None:
        """More is known of a call than when its turn was told of it."""
        turn = self.turns.get(row.turn_id)
        event = turn.event_of(row) if turn is not None else None
        if event is not None and not event.known and reply.output:
            self.completed(row, reply, when)
        else:
            self.tools.changed(row)

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
            answers = self._reader.answers(reply.output, one_choice=True)
            self._conversations.answered(node, answers, row.response_id)
            node.pending = asked_for(event.requests, row.round, when)
            self._conversations.nodes.waits(node)
        self.turns.change(turn)
        return True

    def _goes_on(
        self,
        facts: SpanFacts,
        asking: JoinRequest,
        link: Link | None,
        news: Sequence[HistoryMessage],
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

    def _hinted(self, facts: SpanFacts, asking: JoinRequest) -> DerivedTurn | None:
        """The turn around a call without a history: one under the same span, or in its trace.

        The same agent that starts afresh is another conversation; one agent's call inside another's
        tool, a classifier before the answer or a summary after it are steps of one turn.
        """
        turn = self._conversations.traces.hint(facts)
        if turn is None or turn.taken_over:
            return None
        if facts.session_id and turn.session_id != facts.session_id:
            return None
        again = asking.tools and (asking.tools, asking.system) == (turn.tools, turn.system)
        if again and turn.last is not None and not turn.last.row.error_type:
            return None
        return turn

    def _repeated(
        self, facts: SpanFacts, asking: JoinRequest, news: Sequence[HistoryMessage]
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

    def _session(self, facts: SpanFacts, link: Link | None, turn: DerivedTurn | None) -> str:
        """The session of a call that names none."""
        session = turn.session_id if turn is not None else ""
        if not session and link is not None:
            session = link.session_id
        if not session:
            session = SESSION_PREFIX + facts.trace_id
            if self._conversations.is_session(facts.project, session):
                session = SESSION_PREFIX + facts.span_id
        return session

    def _new_id(self, facts: SpanFacts) -> str:
        return facts.trace_id if self.turns.get(facts.trace_id) is None else facts.span_id

    def _begin(
        self,
        conversation: DerivedConversation,
        facts: SpanFacts,
        row: LlmCall,
        asking: JoinRequest,
        asked: str,
        batch: Batch,
    ) -> DerivedTurn:
        before = conversation.turn
        if before is not None and not before.closed and not self._own_ids:
            self.turns.close(before)
        turn_id = self._new_id(facts)
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
            lineage_id=row.lineage_id,
            rollout_id=row.rollout_id,
            attempt_id=row.attempt_id,
            scope_name=SCOPE,
        )
        note_rerun(summary, facts.attributes)
        if facts.captured and batch.redactor.settings.capture_content:
            write_content(summary, "user_message", asked, "user_message", batch)
        turn = DerivedTurn(
            Turn(turn_id, agent_name=row.agent_name), summary, asked, asking.system, asking.tools
        )
        conversation.turn = turn
        self.turns.add(turn)
        return turn

    # -- writing ------------------

    def write(
        self,
        batch: Batch,
        ready: Callable[[TurnSummary], bool] | None = None,
        *,
        last: bool = False,
    ) -> None:
        """Add the rows of the turns that changed since the last write and are ready for it.

        With ``last`` nothing more comes: no turn waits for results any longer.
        """
        self.turns.write(batch, ready, last=last)
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


def _is_alone(node: CallNode) -> bool:
    """Whether a call is all of its turn, in a session that nobody has named."""
    one = len(node.turn.events) <= 1 and node.conversation.turn is node.turn
    return one and node.conversation.session_id.startswith(SESSION_PREFIX)
