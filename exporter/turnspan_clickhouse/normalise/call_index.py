"""The calls of undecorated conversations, as later calls find them: by what they asked and said."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from turnspan.content.model import RequestParts
from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.normalise.derived_turn import DerivedTurn
from turnspan_clickhouse.normalise.history_keys import START, HistoryMessage, ReplyKeys, canonical
from turnspan_clickhouse.normalise.requested_tools import RequestedTool
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.tables import ToolCall

MAX_NODES: Final = 20_000
MAX_ALIKE: Final = 32
"""Nodes kept a key: answers that many conversations share tell nothing."""


class DerivedConversation:
    """An undecorated conversation: its session, and the newest call's messages."""

    __slots__ = ("chain", "keys", "messages", "project", "session_id", "size", "turn")

    def __init__(self, project: str, session_id: str) -> None:
        self.project = project
        self.session_id = session_id
        self.turn: DerivedTurn | None = None
        """The newest."""
        self.messages: list[Any] = []
        self.keys: list[int] = []
        """Of the messages, one each."""
        self.chain = 0
        """Of all of them."""
        self.size = 0
        """About how many bytes the messages take (``size_of``)."""


class CallNode:
    """A call of a conversation."""

    __slots__ = (
        "answers",
        "asked",
        "blind",
        "chain",
        "continued",
        "conversation",
        "executed",
        "failed",
        "indexed",
        "last",
        "pending",
        "prefill",
        "span_id",
        "system",
        "tools",
        "trace_id",
        "turn",
    )

    def __init__(
        self, conversation: DerivedConversation, turn: DerivedTurn, trace_id: str, span_id: str
    ) -> None:
        self.conversation = conversation
        self.turn = turn
        self.trace_id = trace_id
        self.span_id = span_id
        self.chain = 0
        """The key of its whole history."""
        self.last = 0
        """The key of the newest message of it that is not the model's."""
        self.prefill = ""
        """What the request made the model begin its answer with."""
        self.system = 0
        self.tools = 0
        self.answers: list[ReplyKeys] = []
        self.indexed: list[int] = []
        """Every key under which it is found."""
        self.asked: frozenset[str] = frozenset()
        """The keys of all tool calls that its reply asked for."""
        self.pending: dict[str, RequestedTool] = {}
        """Tool calls that its reply asked for, by call id (or name and place)."""
        self.executed: dict[str, ToolCall] = {}
        """Tools of it whose spans do not say what came out, by call id."""
        self.continued = False
        self.failed = False
        self.blind = False
        """Whether nothing is known of what the model was sent."""


class NodeIndex:
    """The newest nodes of a process."""

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, CallNode] = OrderedDict()
        """By span id."""
        self._by_key: dict[tuple[str, int], list[CallNode]] = {}
        self._by_trace: dict[str, list[CallNode]] = {}
        self._waiting: OrderedDict[str, list[CallNode]] = OrderedDict()
        """By call id, those that wait for a tool's result; ids are not always told apart."""

    def add(self, node: CallNode) -> None:
        """Keep a node; the oldest makes room for it."""
        self._nodes[node.span_id] = node
        self._by_trace.setdefault(node.trace_id, []).append(node)
        if len(self._nodes) > MAX_NODES:
            self._drop(self._nodes.popitem(last=False)[1])

    def forget(self, node: CallNode) -> None:
        """Forget a node."""
        self._nodes.pop(node.span_id, None)
        self._drop(node)

    def by_span(self, span_id: str) -> CallNode | None:
        """The node of a call's span."""
        return self._nodes.get(span_id)

    def by_key(self, project: str, key: int) -> list[CallNode]:
        """The nodes that are found under a key, oldest first."""
        return self._by_key.get((project, key), [])

    def index(self, node: CallNode, key: int) -> None:
        """Let a node be found under a key."""
        if node.span_id not in self._nodes:
            return
        alike = self._by_key.setdefault((node.conversation.project, key), [])
        if node in alike:
            return
        node.indexed.append(key)
        alike.append(node)
        if len(alike) > MAX_ALIKE:
            del alike[0]

    def forget_trace(self, trace_id: str) -> list[CallNode]:
        """Forget the nodes of a trace; returns them."""
        gone = self._by_trace.get(trace_id, [])[:]
        for node in gone:
            self.forget(node)
        return gone

    # -- tools ------------------

    def waits(self, node: CallNode) -> None:
        """A call's reply has asked for tools: it waits for their results."""
        node.asked = frozenset(node.pending)
        for call_id in node.pending:
            nodes = self._waiting.setdefault(call_id, [])
            nodes.append(node)
            del nodes[:-MAX_ALIKE]
            self._waiting.move_to_end(call_id)
        while len(self._waiting) > MAX_NODES:
            self._waiting.popitem(last=False)

    def waiting_for(
        self,
        call_id: str,
        facts: SpanFacts,
        tool: ToolCall | None,
        turns: frozenset[str] = frozenset(),
    ) -> CallNode | None:
        """The call whose reply asked for the tool call of this id and that has no result yet: of
        several (there are models whose ids count) the one in the same session, in the same trace
        or a turn of those that it tells of, with the same arguments, the newest."""
        nodes = self._waiting.get(call_id)
        if nodes is None:
            return None
        nodes[:] = [node for node in nodes if call_id in node.pending]
        if not nodes:
            del self._waiting[call_id]
            return None
        found = nodes[-1]
        if len(nodes) > 1:
            most = (False, False, False, -1)
            for place, node in enumerate(nodes):
                rank = (
                    node.conversation.session_id == facts.session_id,
                    node.trace_id == facts.trace_id or node.turn.turn.id in turns,
                    tool is not None and is_same_call(node.pending[call_id], tool),
                    place,
                )
                if rank > most:
                    found, most = node, rank
        return found

    def waiting_for_tool(
        self, facts: SpanFacts, tool: ToolCall, turns: frozenset[str]
    ) -> CallNode | None:
        """The newest call that asked for a tool of this name, with these arguments, before it
        began. It is of these turns, which its trace tells of: among them the name is enough, as
        frameworks write arguments in ways of their own. Where none is known it is of any."""
        found: CallNode | None = None
        only_named: CallNode | None = None
        for call_id in reversed(self._waiting):
            for node in reversed(self._waiting[call_id]):
                asked = node.pending.get(call_id)
                if (
                    asked is None
                    or asked.name != tool.name
                    or asked.replied > facts.start_time
                    or node.conversation.project != facts.project
                ):
                    continue
                mine = node.trace_id == facts.trace_id or node.turn.turn.id in turns
                if is_same_call(asked, tool):
                    if mine:
                        return node
                    if not turns:
                        found = found or node
                elif mine:
                    only_named = only_named or node
        return found or only_named

    def _drop(self, node: CallNode) -> None:
        for key in node.indexed:
            place = (node.conversation.project, key)
            alike = self._by_key.get(place)
            if alike is not None:
                if node in alike:
                    alike.remove(node)
                if not alike:
                    del self._by_key[place]
        siblings = self._by_trace.get(node.trace_id)
        if siblings is not None:
            if node in siblings:
                siblings.remove(node)
            if not siblings:
                del self._by_trace[node.trace_id]


def is_same_call(asked: RequestedTool, tool: ToolCall) -> bool:
    """Whether a tool was executed with the arguments that the model gave, as far as is known."""
    if not tool.arguments:
        return True
    return canonical(asked.arguments) == canonical(tool.arguments)


@mypyc_attr(acyclic=True)
class JoinRequest:
    """A call's request, read for joining."""

    __slots__ = (
        "chain",
        "dialect",
        "keys",
        "last",
        "messages",
        "new",
        "prefill",
        "previous_id",
        "project",
        "read",
        "session_id",
        "system",
        "tools",
        "trace_id",
    )

    def __init__(self, facts: SpanFacts, dialect: str, request: RequestParts) -> None:
        self.project = facts.project
        self.trace_id = facts.trace_id
        self.session_id = facts.session_id
        """As the application or a framework gives it."""
        self.dialect = dialect
        self.messages = request.messages_raw
        self.system = 0
        self.tools = 0
        asked = request.parameters
        previous: Any = asked.get("previous_response_id") or asked.get("previous_interaction_id")
        self.previous_id = previous if type(previous) is str else facts.previous_id
        self.read: dict[int, HistoryMessage] = {}
        """The messages that were looked at, by place."""
        self.keys: list[int] = []
        """Of all messages, once a conversation is found or none is."""
        self.chain = START
        self.last = 0
        self.new = 0
        """The place of the first message that is new."""
        self.prefill = ""


class Link:
    """What a call goes on with: a node of this process, or a session known from another."""

    __slots__ = ("new", "node", "session_id")

    def __init__(self, node: CallNode | None, new: int, session_id: str = "") -> None:
        self.node = node
        self.new = new
        """The place of the first message that is new."""
        self.session_id = session_id if node is None else node.conversation.session_id


MAX_TRACES = 20_000
MAX_PARENTS = 256
"""Of one trace, the spans around calls whose turns are remembered."""


class _TraceTurns:
    """The turns of a trace, for calls that say nothing of what they go on with."""

    __slots__ = ("began", "beside", "by_parent", "newest")

    def __init__(self) -> None:
        self.newest: DerivedTurn | None = None
        self.by_parent: dict[str, DerivedTurn] = {}
        self.began: list[DerivedTurn] = []
        """Those whose first call is one of its own."""
        self.beside: list[DerivedTurn] = []
        """Those whose calls it tells of as well, which are in traces of their own."""

    def forget(self, turn: DerivedTurn) -> None:
        """Suggest a turn no more."""
        self.by_parent = {key: each for key, each in self.by_parent.items() if each is not turn}
        self.began = [each for each in self.began if each is not turn]
        if self.newest is turn:
            self.newest = next(reversed(self.by_parent.values()), None)


class Traces:
    """Those of one process; the oldest make room."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, _TraceTurns] = OrderedDict()

    def hint(self, facts: SpanFacts) -> DerivedTurn | None:
        """The turn of the newest call under the same span, else in the same trace."""
        trace = self._traces.get(facts.trace_id) if facts.parent_span_id else None
        if trace is None:
            return None
        return trace.by_parent.get(facts.parent_span_id, trace.newest)

    def by_trace(self, trace_id: str) -> DerivedTurn | None:
        """The newest turn in a trace."""
        trace = self._traces.get(trace_id)
        return None if trace is None else trace.newest

    def turns(self, trace_id: str) -> frozenset[str]:
        """The ids of all turns that a trace is known to tell of."""
        trace = self._traces.get(trace_id)
        if trace is None:
            return frozenset()
        known = [*trace.by_parent.values(), *trace.began, *trace.beside]
        if trace.newest is not None:
            known.append(trace.newest)
        return frozenset(turn.turn.id for turn in known)

    def told_beside(self, trace_id: str, turn: DerivedTurn) -> None:
        """A span of this trace has told of a call of a turn that is in another one."""
        beside = self._trace(trace_id).beside
        if turn not in beside:
            beside.append(turn)
            del beside[:-MAX_PARENTS]

    def suggest(self, facts: SpanFacts, turn: DerivedTurn) -> None:
        """Remember a call's turn for others under the same span or in the same trace."""
        trace = self._trace(facts.trace_id)
        trace.newest = turn
        if facts.parent_span_id:
            trace.by_parent[facts.parent_span_id] = turn
            if len(trace.by_parent) > MAX_PARENTS:
                del trace.by_parent[next(iter(trace.by_parent))]
        if turn.row.trace_id == facts.trace_id and turn not in trace.began:
            trace.began.append(turn)
            del trace.began[:-MAX_PARENTS]

    def _trace(self, trace_id: str) -> _TraceTurns:
        trace = self._traces.get(trace_id)
        if trace is None:
            trace = self._traces[trace_id] = _TraceTurns()
            if len(self._traces) > MAX_TRACES:
                self._traces.popitem(last=False)
        else:
            self._traces.move_to_end(trace_id)
        return trace

    def forget_turn(self, turn: DerivedTurn, trace_id: str) -> None:
        """Suggest a turn no more, in its own trace and in this one."""
        for trace in (self._traces.get(trace_id), self._traces.get(turn.row.trace_id)):
            if trace is not None:
                trace.forget(turn)

    def forget(self, trace_id: str) -> list[DerivedTurn]:
        """Forget a trace; returns the turns that began in it."""
        trace = self._traces.pop(trace_id, None)
        return [] if trace is None else trace.began
