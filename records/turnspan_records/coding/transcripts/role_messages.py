"""Transcripts that are lists of messages with roles: one reader for many tools.

Each tool's file says of a value which message it is (``role_tools``); what no file says (an id, a
time, what was used) is unknown here too. A call without an id takes its place in the session, and
the result that follows it without one is its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeAlias

from turnspan.content.model import TOOL_CALL, TOOL_CALL_RESPONSE, Part, as_dict
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    add_new,
    parts_of,
    reasoning_part,
)
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.wire_values import (
    NOT_AN_OBJECT,
    own_note,
    result_of,
    wide_id,
)

_WORDS: Final = {
    "assistant": "a model call",
    "compaction": "a compaction",
    "injected": "what the tool put in",
    "interruption": "an interruption",
    "system": "part of a session: its instructions",
    "tool": "a tool's result",
    "user": "a user's message",
}


@dataclass(slots=True)
class RoleMessage:
    """A message of a transcript, whatever its tool calls the fields."""

    role: str
    """``user``, ``injected``, ``assistant``, ``thought`` (before an assistant's), ``tool``,
    ``system``, ``compaction``, ``interruption``, or ``model``: which one answers from now on."""
    content: Any = None
    id: str = ""
    """Of an assistant's message: those with the same one are parts of one."""
    time: int = 0
    reasoning: str = ""
    calls: list[Part] = field(default_factory=list[Part])
    call_id: str = ""
    """Of a tool's result: what it answers; empty: the oldest call without an answer."""
    failed: bool = False
    model: str = ""
    provider: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: Decimal | None = None
    finish: str = ""
    tokens_before: int | None = None
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])


Unwrapped: TypeAlias = "RoleMessage | SessionStart | str"
"""A text is what became of a value that is no message, for the report."""
Unwrap: TypeAlias = "Callable[[dict[str, Any], SessionStart], Unwrapped]"


class RoleReader:
    """Reads a session. A call is held back until the next message, which may be a part of it.

    Args:
        path: of the transcript.
        unwrap: says which message a value is, in the session as it is known.
        start: what the path alone says of the session.
        one_prompt: only the first user's message is the user's; others are the tool's.
    """

    def __init__(
        self, path: Path, unwrap: Unwrap, start: SessionStart, *, one_prompt: bool = False
    ) -> None:
        self._unwrap = unwrap
        self._start = start
        self._one_prompt = one_prompt
        self._number = 0
        self._model = self._provider = ""
        self._started = self._prompted = False
        self._call: AgentCall | None = None
        self._runs: list[ToolEnd] = []
        """Of tools that have run before the call was all written."""
        self._thinking = False
        """Whether the call that is held back is a thought so far."""
        self._waiting: deque[str] = deque()
        """Calls whose results have not come."""
        self._nameless: set[str] = set()
        """Calls without an id of their own."""

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        holder = as_dict(value)
        if holder is None:
            return NOT_AN_OBJECT
        message = self._unwrap(holder, self._start)
        if isinstance(message, str):
            return message
        if isinstance(message, SessionStart):
            self._start, self._started = message, False
            self._model = str(message.attributes.pop("model", "")) or self._model
            self._provider = str(message.attributes.pop("provider", "")) or self._provider
            self._begin(events)
            return "a session"
        self._begin(events)
        if message.role == "model":
            self._model, self._provider = message.model, message.provider
            return own_note("model")
        self._number += 1
        if message.role in ("assistant", "thought"):
            return self._assistant(message, events)
        id_ = self._id(message)
        role = message.role
        if role != "tool":
            self.end(events)
        if role == "user" and self._one_prompt and self._prompted:
            role = "injected"
        if role in ("user", "injected"):
            role = self._user(message, id_, role, events)
        elif role == "tool":
            self._tool(message, id_, result_of(message.content), events)
        elif role == "system":
            self._start.instructions = "\n".join(map(str, _texts(message.content)))
            events.append(replace(self._start, attributes={}))
        elif role == "interruption":
            events.append(Interruption(message.time, "user"))
        else:
            parts = parts_of(message.content)
            events.append(HistoryCompaction(id_, message.time, parts, "", message.tokens_before))
        return _WORDS[role]

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        if self._call is not None:
            events += [self._call, *self._runs]
            self._call, self._thinking = None, False
            self._runs.clear()

    def _begin(self, events: list[CodingEvent]) -> None:
        if not self._started:
            self._started = True
            self.end(events)
            events.append(replace(self._start, attributes=dict(self._start.attributes)))

    def _id(self, message: RoleMessage) -> str:
        session = self._start.session_id + self._start.agent_id
        return wide_id(session, message.id) or f"{session}:{self._number}"

    def _user(self, message: RoleMessage, id_: str, role: str, events: list[CodingEvent]) -> str:
        parts = parts_of(message.content)
        results = [part for part in parts if part["type"] == TOOL_CALL_RESPONSE]
        for number, part in enumerate(results):
            beside = replace(message, call_id=part["id"])
            self._tool(beside, f"{id_}:{number}", part["response"], events)
        rest = [part for part in parts if part["type"] != TOOL_CALL_RESPONSE]
        if rest or not results:
            self._prompted = self._prompted or role == "user"
            if role == "user":
                self._waiting.clear()
            events.append(UserMessage(id_, message.time, rest, injected=role != "user"))
            return role
        return "tool"

    def _tool(self, message: RoleMessage, id_: str, result: Any, events: list[CodingEvent]) -> None:
        call_id = message.call_id
        if self._waiting and (not call_id or self._waiting[0] in self._nameless):
            call_id = self._waiting[0]
        if call_id in self._waiting:
            self._waiting.remove(call_id)
        failed = message.failed
        error = "error" if failed else ""
        run = ToolEnd(call_id, id_, message.time, result, failed=failed, error_type=error)
        run.attributes = message.attributes
        (events if self._call is None else self._runs).append(run)

    def _assistant(self, message: RoleMessage, events: list[CodingEvent]) -> str:
        parts = [reasoning_part(message.reasoning)] if message.reasoning else []
        parts += parts_of(message.content)
        parts += message.calls
        if not parts and not message.id:
            return "unknown: nothing said"
        id_ = self._id(message)
        call = self._call
        if call is not None and call.message_id != id_ and not self._thinking:
            call = None
        self._thinking = message.role == "thought"
        word = "a model call" if call is None else "part of a model call"
        if call is None:
            self.end(events)
            call = self._call = AgentCall(id_, message.time, 0, "", "", [], TokenUsage())
        for number, part in enumerate(parts):
            if part["type"] == TOOL_CALL:
                if not part.get("id"):
                    part["id"] = f"{id_}:{len(call.parts) + number}"
                    self._nameless.add(part["id"])
                if part["id"] not in self._waiting:
                    self._waiting.append(part["id"])
        add_new(call.parts, parts)
        call.time = max(call.time, message.time)
        call.model = message.model or call.model or self._model
        call.provider = message.provider or call.provider or self._provider
        if message.usage != TokenUsage():
            call.usage = message.usage
        if message.cost_usd is not None:
            call.cost_usd = message.cost_usd
        call.finish_reasons = (message.finish,) if message.finish else call.finish_reasons
        call.attributes.update(message.attributes)
        return word


def _texts(content: Any) -> list[Any]:
    return [part.get("content", "") for part in parts_of(content)]
