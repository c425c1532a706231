"""Which conversation an undecorated call goes on with: found by what was answered before.

Every call that ended is a *node*: the history that it was given and what the model answered. A
later call belongs to the node whose answer its own history contains, under the same system prompt,
after the same messages. docs/no-code.md explains the rules and their limits.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from turnspan.content.frozen_history import MAX_HELD, begins_with
from turnspan.content.model import RequestParts
from turnspan.content.sizes import size_of_all
from turnspan.runtime.throttle import give_way
from turnspan_clickhouse.normalise.call_index import (
    CallNode,
    DerivedConversation,
    JoinRequest,
    Link,
    NodeIndex,
    Traces,
)
from turnspan_clickhouse.normalise.derived_turn import DerivedTurn
from turnspan_clickhouse.normalise.history_keys import (
    START,
    HistoryMessage,
    HistoryReader,
    ReplyKeys,
    extended,
    speaks,
)
from turnspan_clickhouse.normalise.shared_answers import KnownAnswer, SharedAnswers
from turnspan_clickhouse.normalise.span_facts import SpanFacts

SESSION_PREFIX = "auto-"
"""A derived session's id: this and the trace id of its first call."""

RESPONSE_PREFIX = "resp_"
"""How ids of OpenAI's responses begin."""

MAX_CONVERSATIONS = 2_000
MAX_RUNS = 8
"""How many of its answers, from the newest back, a history is looked up by."""

_EXACT, _LOOSE, _DISTINCT = 3, 2, 1


class DerivedConversations:
    """Those of one process, bounded by their number and by ``size_of``."""

    def __init__(self, reader: HistoryReader, shared: SharedAnswers | None = None) -> None:
        self._reader = reader
        self._shared = shared
        self._known: OrderedDict[tuple[str, str], DerivedConversation] = OrderedDict()
        """By project and session."""
        self._held = 0
        self.nodes = NodeIndex()
        self.traces = Traces()

    def settle_session(self, facts: SpanFacts) -> None:
        """A conversation named by the id of a response (Microsoft's agent framework does) is none:
        each call would be one. It says which response the call goes on with."""
        named = facts.session_id
        if not named:
            return
        key = self._reader.digest("response\0" + named)
        if named.startswith(RESPONSE_PREFIX) or self.nodes.by_key(facts.project, key):
            facts.session_id, facts.previous_id = "", named

    def read(self, facts: SpanFacts, dialect: str, request: RequestParts) -> JoinRequest:
        """Read a request."""
        asking = JoinRequest(facts, dialect, request)
        asking.system = self._reader.system(dialect, request)
        asking.tools = self._reader.tools(request)
        return asking

    def link(self, facts: SpanFacts, asking: JoinRequest) -> Link | None:
        """What the call goes on with, by the id it names, else by what was answered before."""
        found = self._by_previous_id(asking) if asking.previous_id else None
        if found is None:
            found = self._by_history(asking) or self._by_results(facts, asking)
        if found is not None:
            asking.new = found.new
        if found is None or found.node is None:
            self._take_keys(asking, None)
        elif not asking.keys:
            if not asking.new:
                self._begin_after(asking, found.node)
            else:
                self._take_keys(asking, found.node.conversation)
        return found

    def retried(
        self, asking: JoinRequest, conversation: DerivedConversation | None
    ) -> CallNode | None:
        """The newest call that asked just the same and failed; in this conversation, any."""
        alike = self.nodes.by_key(asking.project, _asked_key(asking, asking.chain))
        for node in reversed(alike):
            if node.failed if conversation is None else node.conversation is conversation:
                return node
        return None

    def _by_previous_id(self, asking: JoinRequest) -> Link | None:
        key = self._reader.digest("response\0" + asking.previous_id)
        for node in reversed(self.nodes.by_key(asking.project, key)):
            return Link(node, 0)
        for known in reversed(self._elsewhere(asking.project, [key])):
            return Link(None, 0, known.session_id)
        return None

    def _by_history(self, asking: JoinRequest) -> Link | None:
        end = len(asking.messages)
        for _ in range(MAX_RUNS):
            run = self._run_before(asking, end)
            if run is None:
                return None
            start, stop = run
            answer = self._reader.answer([asking.read[i] for i in range(start, stop)])
            if stop == len(asking.messages):
                asking.prefill = answer.text
            node = self._node_of(asking, answer, start) or self._rewritten(asking, answer, start)
            if node is not None:
                return Link(node, stop)
            for known in reversed(self._elsewhere(asking.project, answer.keys)):
                if self._is_known(known, asking, answer, start):
                    return Link(None, stop, known.session_id)
            end = start
        return None

    def _by_results(self, facts: SpanFacts, asking: JoinRequest) -> Link | None:
        """The call that asked for the tools whose results a request without a history brings."""
        if not asking.messages or any(said.role == "assistant" for said in asking.read.values()):
            return None
        for part in self.message_at(asking, 0).results:
            node = self.nodes.waiting_for(str(part.get("id") or ""), facts, None)
            if node is not None:
                return Link(node, 0)
        return None

    def _run_before(self, asking: JoinRequest, end: int) -> tuple[int, int] | None:
        """The newest messages in a row that are the model's, before this place."""
        stop = 0
        for place in range(end - 1, -1, -1):
            if self.message_at(asking, place).role == "assistant":
                stop = stop or place + 1
            elif stop:
                return place + 1, stop
        return (0, stop) if stop else None

    def message_at(self, asking: JoinRequest, place: int) -> HistoryMessage:
        """A message of a request, read once."""
        said = asking.read.get(place)
        if said is None:
            give_way()
            said = self._reader.message(asking.dialect, asking.messages[place])
            asking.read[place] = said
        return said

    def _node_of(self, asking: JoinRequest, answer: ReplyKeys, start: int) -> CallNode | None:
        """The node that gave this answer, the likeliest of those that may have."""
        found: list[CallNode] = []
        for key in answer.keys:
            found += [node for node in self.nodes.by_key(asking.project, key) if node not in found]
        # Most often one of them is simply gone on with; no other can be likelier, and to look at
        # the whole history for it would cost most of what a call does.
        added = [node for node in found if self._is_added_to(asking, node, start)]
        best: CallNode | None = None
        most = (False, 0, False, False, False)
        for node in added or found:
            grade = self._grade(asking, node, answer, start)
            rank = (
                node.conversation.session_id == asking.session_id,
                grade,
                node.system == asking.system,
                not node.continued,
                node.trace_id == asking.trace_id,
            )
            if grade and rank > most:  # of equals the one that waits longest
                best, most = node, rank
        return best

    def _is_added_to(self, asking: JoinRequest, node: CallNode, start: int) -> bool:
        """Whether a node's history, the newest of its conversation, is all before this place."""
        conversation = node.conversation
        return (
            len(conversation.messages) == start
            and conversation.chain == node.chain
            and node.system == asking.system
            and begins_with(asking.messages, conversation.messages)
        )

    def _rewritten(self, asking: JoinRequest, answer: ReplyKeys, start: int) -> CallNode | None:
        """The node that answered the same history, if this is its answer in other words."""
        if not answer.text:
            return None
        self._take_keys(asking, None)
        chain = _chained(asking.keys, start)
        found: CallNode | None = None
        for node in self.nodes.by_key(asking.project, _asked_key(asking, chain)):
            written = any(each.is_written_in(answer) for each in node.answers)
            if written and (found is None or not node.continued):
                found = node
        return found or self._of_another_prompt(asking, answer, chain, start)

    def _of_another_prompt(
        self, asking: JoinRequest, answer: ReplyKeys, chain: int, start: int
    ) -> CallNode | None:
        """The one node that answered the same history under another system prompt and waits, where
        the user says nothing new: an agent at its limit is asked so for its last words."""
        found = [
            node
            for node in self.nodes.by_key(asking.project, _history_key(chain))
            if node.system != asking.system
            and not node.continued
            and any(each.is_written_in(answer) or each.text == answer.text for each in node.answers)
        ]
        new = range(start + 1, len(asking.messages))
        spoken = any(speaks(self.message_at(asking, place)) for place in new)
        return found[0] if len(found) == 1 and not spoken else None

    def _grade(self, asking: JoinRequest, node: CallNode, answer: ReplyKeys, start: int) -> int:
        """How sure it is that a history has this node's answer; 0 for not at all.

        The same history before it proves it, and a part of that where the rest was cut off or
        told in short. Under another system prompt only an answer that is nobody else's does.
        """
        same_system = node.system == asking.system
        if not same_system and not answer.distinct:
            return 0
        if self._chain(asking, node, start) == node.chain:
            return _EXACT
        if not same_system:
            return 0
        last = self._last_before(asking, start)
        if last and last == node.last:
            return _LOOSE
        return _DISTINCT if answer.distinct and asking.tools == node.tools else 0

    def _chain(self, asking: JoinRequest, node: CallNode, start: int) -> int:
        """The key of the history before this place."""
        if self._is_added_to(asking, node, start):
            return node.chain
        self._take_keys(asking, node.conversation)
        return _chained(asking.keys, start)

    def _last_before(self, asking: JoinRequest, start: int) -> int:
        """The key of the newest message before this place that is not the model's."""
        for place in range(start - 1, -1, -1):
            said = self.message_at(asking, place)
            if not said.is_system and said.role != "assistant":
                return said.key
        return 0

    def _take_keys(self, asking: JoinRequest, like: DerivedConversation | None) -> None:
        """Know every message's key; those that a conversation has at their places are the same."""
        messages, count = asking.messages, len(asking.messages)
        if len(asking.keys) != count:
            known: list[Any] = [] if like is None else like.messages
            if like is not None and begins_with(messages, known):  # it was only added to
                new = [self.message_at(asking, place).key for place in range(len(known), count)]
                asking.keys = like.keys + new
                asking.chain = _chained(new, len(new), like.chain)
            else:
                known_keys = [] if like is None else like.keys
                keys: list[int] = []
                for place, message in enumerate(messages):
                    if place < len(known) and (message is known[place] or message == known[place]):
                        keys.append(known_keys[place])
                    else:
                        keys.append(self.message_at(asking, place).key)
                asking.keys, asking.chain = keys, _chained(keys, count)
        asking.last = self._last_before(asking, count)

    def _begin_after(self, asking: JoinRequest, node: CallNode) -> None:
        """The history that the provider keeps goes before what the request says."""
        self._take_keys(asking, None)
        answered = node.answers[0].keys if node.answers else []
        chain = extended(node.chain, answered[0] if answered else 0)
        asking.chain = _chained(asking.keys, len(asking.keys), chain)

    def _elsewhere(self, project: str, keys: list[int]) -> list[KnownAnswer]:
        return [] if self._shared is None or not keys else self._shared.find(project, keys)

    def _is_known(
        self, known: KnownAnswer, asking: JoinRequest, answer: ReplyKeys, start: int
    ) -> bool:
        if known.system != asking.system:
            return False
        self._take_keys(asking, None)
        chain = _chained(asking.keys, start)
        return chain == known.chain or (
            answer.distinct and self._last_before(asking, start) == known.last
        )

    def session(self, project: str, session_id: str) -> DerivedConversation:
        """The conversation of a session."""
        key = (project, session_id)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = DerivedConversation(project, session_id)
            if len(self._known) > MAX_CONVERSATIONS:
                self._drop_oldest()
        else:
            self._known.move_to_end(key)
        return found

    def is_session(self, project: str, session_id: str) -> bool:
        """Whether there is a conversation of this session."""
        return (project, session_id) in self._known

    def asked(self, node: CallNode, asking: JoinRequest) -> None:
        """A call of a conversation: later ones are compared with what it asked."""
        node.chain, node.last, node.prefill = asking.chain, asking.last, asking.prefill
        node.system, node.tools = asking.system, asking.tools
        node.blind = not asking.messages and not asking.previous_id
        conversation = node.conversation
        before = conversation.size
        count = len(conversation.messages)
        if 0 < count <= asking.new:
            size = before + size_of_all(asking.messages[count:])
        else:
            size = size_of_all(asking.messages)
        conversation.messages, conversation.keys = asking.messages, asking.keys
        conversation.chain = asking.chain if asking.new else _chained(asking.keys, len(asking.keys))
        conversation.size = size
        self._held += size - before
        while self._held > MAX_HELD and len(self._known) > 1:
            self._drop_oldest()
        self.nodes.add(node)
        self.nodes.index(node, _asked_key(asking, asking.chain))
        self.nodes.index(node, _history_key(asking.chain))

    def answered(self, node: CallNode, answers: list[ReplyKeys], response_id: str) -> None:
        """Its reply: later calls are found by it."""
        node.answers = answers
        keys: list[int] = []
        for answer in answers:
            keys += answer.keys
            if node.prefill and answer.text:
                keys += ReplyKeys(node.prefill + answer.text, [], self._reader).keys
        if response_id:
            keys.append(self._reader.digest("response\0" + response_id))
        for key in keys:
            self.nodes.index(node, key)
        if self._shared is not None and keys:
            known = KnownAnswer(node.conversation.session_id, node.chain, node.last, node.system)
            self._shared.add(node.conversation.project, keys, known)

    def forget_call(self, node: CallNode, turn: DerivedTurn | None) -> None:
        """Forget a call of which nothing was known but its answer; the turn that it alone was."""
        self.nodes.forget(node)
        if turn is None:
            return
        self.traces.forget_turn(turn, node.trace_id)
        conversation = node.conversation
        if conversation.turn is turn:
            conversation.turn = None
            if not conversation.messages:
                self._forget_derived(conversation)

    def forget_trace(self, trace_id: str, *, again: bool) -> list[DerivedTurn]:
        """Forget the turns of a trace; where it is told ``again``, its calls too."""
        began = self.traces.forget(trace_id)
        if again:
            for node in self.nodes.forget_trace(trace_id):
                conversation = node.conversation
                if conversation.turn is None or conversation.turn.row.trace_id == trace_id:
                    self._forget_derived(conversation)
        return began

    def _forget_derived(self, conversation: DerivedConversation) -> None:
        """Forget a conversation whose session nobody has named."""
        key = (conversation.project, conversation.session_id)
        if key[1].startswith(SESSION_PREFIX) and self._known.pop(key, None) is not None:
            self._held -= conversation.size

    def _drop_oldest(self) -> None:
        _, oldest = self._known.popitem(last=False)
        self._held -= oldest.size
        oldest.messages, oldest.keys, oldest.chain, oldest.size = [], [], START, 0


def _chained(keys: list[int], count: int, chain: int = START) -> int:
    """The key of the history that the first messages are, after another one."""
    for place in range(count):
        chain = extended(chain, keys[place])
    return chain


def _asked_key(asking: JoinRequest, chain: int) -> int:
    """The key of all that a request asks: its history, system prompt and tools."""
    return extended(extended(chain, asking.system), asking.tools) ^ 1


def _history_key(chain: int) -> int:
    """The key of a request's history alone."""
    return chain ^ 2
