"""The conversations of undecorated calls: what went before, and the turn under way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from turnspan.content.convert import convert_message
from turnspan.content.model import last_user_text
from turnspan.content.snapshot import MAX_HELD, begins_with, size_of_all
from turnspan.pace import give_way
from turnspan.turn import ToolRequest, Turn
from turnspan_clickhouse.normalise.requested import Asked, usage_of_row
from turnspan_clickhouse.normalise.source import SpanFacts
from turnspan_clickhouse.normalise.told import tell_call, tell_tool
from turnspan_clickhouse.records import LlmCall, ToolCall, TurnSummary

SESSION_PREFIX = "auto-"
"""A derived session's id: this and the trace id of its first call."""

MAX_CONVERSATIONS = 2_000
MAX_EVENTS = 2_000
"""Calls and tools of one turn that an agent around them can still claim."""
_RECENT = 64


@dataclass(slots=True)
class Event:
    """One thing that happened in a turn, as its rows tell it."""

    row: LlmCall | ToolCall
    owner: str
    """The span that tells of it: the call itself, the tool's, or the call that brought a result."""
    requests: list[ToolRequest] = field(default_factory=list[ToolRequest])

    def tell(self, turn: Turn) -> None:
        """Tell a turn of it; the row gets its turn and round."""
        row = self.row
        row.turn_id = turn.id
        if isinstance(row, LlmCall):
            row.round = turn.begin_call()
            tell_call(turn, row, self.requests, usage_of_row(row))
        else:
            tell_tool(turn, row)


def replayed(turn_id: str, agent_name: str, events: Sequence[Event]) -> Turn:
    """The turn in which just these things happened."""
    turn = Turn(turn_id, agent_name=agent_name)
    for event in events:
        event.tell(turn)
    return turn


@dataclass(slots=True)
class Conversation:
    """An undecorated conversation: the newest call's messages and the turn under way."""

    session_id: str
    by_trace: bool
    dialect: str = ""
    messages: list[Any] = field(default_factory=list[Any])
    size: int = 0
    """About how many bytes the messages take (``size_of``)."""
    turn: Turn | None = None
    row: TurnSummary | None = None
    pending: dict[str, Asked] = field(default_factory=dict[str, Asked])
    """Tool calls the last reply asked for, by call id (or name and place)."""
    events: list[Event] = field(default_factory=list[Event])
    taken_over: bool = False
    """Whether an agent's span has made the turn its own: what comes is another one."""

    def add(self, event: Event) -> None:
        """Something happened in the turn; where an agent may claim it, it is remembered."""
        assert self.turn is not None
        event.tell(self.turn)
        if self.by_trace:
            self.events.append(event)
            del self.events[:-MAX_EVENTS]

    def known(self, dialect: str) -> int:
        """How many of a call's first messages are known."""
        return len(self.messages) if self.dialect == dialect else 0


class Conversations:
    """Those of one process, the newest last; bounded by their number and by ``size_of``."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._held = 0

    def of(self, facts: SpanFacts, dialect: str, messages: list[Any]) -> Conversation:
        """The conversation that a call goes on with; a new one where there is none."""
        by_trace = bool(facts.parent_span_id)
        # A trace may go through several services, each a project of its own.
        key = ("", facts.trace_id) if by_trace else (facts.project, facts.session_id)
        found = self._known.get(key) if key[1] else None
        if found is None and not by_trace and not facts.session_id:
            key, found = self._continued(facts.project, dialect, messages)
        if found is None:
            session = facts.session_id
            if not session and not by_trace:
                session = SESSION_PREFIX + facts.trace_id
            found = Conversation(session, by_trace)
            key = key if key[1] else (facts.project, session)
            self._known[key] = found
            if len(self._known) > MAX_CONVERSATIONS:
                self._drop_oldest()
        else:
            self._known.move_to_end(key)
        return found

    def _continued(
        self, project: str, dialect: str, messages: list[Any]
    ) -> tuple[tuple[str, str], Conversation | None]:
        for key in reversed(self._known):
            found = self._known[key]
            size = len(found.messages)
            if (
                key[0] == project
                and found.dialect == dialect
                and not found.by_trace
                and 0 < size < len(messages)
                and begins_with(messages, found.messages)
            ):
                return key, found
        return (project, ""), None

    def _drop_oldest(self) -> None:
        self._held -= self._known.popitem(last=False)[1].size

    def by_trace(self, trace_id: str) -> Conversation | None:
        """The one that is the calls of a trace."""
        return self._known.get(("", trace_id))

    def by_turn(self, turn_id: str) -> Conversation | None:
        """The one whose turn under way this is."""
        for found in reversed(self._known.values()):
            if found.turn is not None and found.turn.id == turn_id:
                return found
        return None

    def waiting_for(self, call_id: str) -> Conversation | None:
        """One of the newest whose last reply asked for this tool call."""
        recent = islice(reversed(self._known.values()), _RECENT)
        return next((found for found in recent if call_id in found.pending), None)

    def keep(self, found: Conversation, dialect: str, messages: list[Any]) -> None:
        """The newest call's messages; those idle for longest make room for them."""
        known, before = found.known(dialect), found.size
        new = messages[known:] if 0 < known <= len(messages) else None
        found.size = size_of_all(messages) if new is None else before + size_of_all(new)
        found.dialect, found.messages = dialect, messages
        self._held += found.size - before
        while self._held > MAX_HELD and len(self._known) > 1:
            self._drop_oldest()

    def forget_trace(self, trace_id: str) -> bool:
        """Forget what is derived from the calls of a trace; whether there was anything."""
        found = self._known.pop(("", trace_id), None)
        if found is not None:
            self._held -= found.size
        return found is not None

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()
        self._held = 0


def newest_user_text(dialect: str, messages: list[Any], known: int) -> str:
    """What the user wrote last in the messages that are new; empty when that is nothing."""
    for place in range(len(messages) - 1, known - 1, -1):
        give_way()
        asked = last_user_text([convert_message(dialect, messages[place])])
        if asked:
            return asked
    return ""
