"""A call's request as it is read for joining, and what it was found to go on with."""

from __future__ import annotations

from typing import Any

from turnspan.content.model import RequestParts
from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.normalise.call_index import CallNode
from turnspan_clickhouse.normalise.history_keys import START, HistoryMessage
from turnspan_clickhouse.normalise.span_facts import SpanFacts


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
        previous: Any = request.parameters.get("previous_response_id")
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
