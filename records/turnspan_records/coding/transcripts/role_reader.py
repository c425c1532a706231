"""Transcripts that are lists of messages with roles: what their readers (``role_tools``) share.

What no file says (an id, a time, what was used) is unknown here too. A message without an id takes
its place in the session; so does a call, and the result that follows it without one is its own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from turnspan.content.model import TOOL_CALL, TOOL_CALL_RESPONSE, Part, as_list
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    call_part,
    parts_of,
    reasoning_part,
    texts_of,
)
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    fields_of,
    result_of,
    time_of,
    unknown,
    usage_of,
    wide_id,
)

Message: TypeAlias = "CodingEvent | Part | str"
"""What a value is: an event (its message id may be empty), a thought of the reply that follows, or
what became of a value that is no message."""
_QUERY: Final = re.compile(r"\s*<(user_query|USER_REQUEST)>\n?(.*?)\n?</\1>", re.DOTALL)


MessageOf: TypeAlias = "Callable[[WireFields, RoleReader], Message]"


def start_of(path: Path) -> SessionStart:
    """What a file's path says of its session."""
    if path.parent.name != "subagents":
        return SessionStart(path.stem)
    parent = path.parent.parent.name
    return SessionStart(path.stem, agent_id=path.stem, agent_name="subagent", parent_session=parent)


class RoleReader(TranscriptReader):
    """Reads a session.

    Args:
        path: of the transcript.
        message: says which message a value is.
        start: what is known of the session by its path.
        one_prompt: only the first user's message is the user's; others are the tool's.
    """

    def __init__(
        self, path: Path, message: MessageOf, start: SessionStart, *, one_prompt: bool = False
    ) -> None:
        super().__init__(path)
        self.start = start
        self.model = self.provider = ""
        """What answers, where a call does not say it."""
        self._message = message
        self._one_prompt = one_prompt
        self._number = 0
        self._started = self._prompted = False
        self._thinking = False
        """Whether the call that is held back is a thought so far."""
        self._waiting: deque[str] = deque()
        """Calls whose results have not come."""
        self._nameless: set[str] = set()
        """Calls without an id of their own."""

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        event = self._message(line, self)
        if isinstance(event, str):
            return event
        if isinstance(event, SessionStart):
            self.start, self._started = event, False
            self.model = str(event.attributes.pop("model", "")) or self.model
            self.provider = str(event.attributes.pop("provider", "")) or self.provider
            self._begin()
            return "a session"
        self._begin()
        self._number += 1
        if isinstance(event, dict):
            return self._call(AgentCall("", 0, parts=[event]), thought=True)
        if isinstance(event, AgentCall):
            return self._call(event)
        if not isinstance(event, Interruption):
            event.message_id = self._id(event.message_id)
        if isinstance(event, ToolEnd):
            return self._result(event)
        self.release()
        return self._said(event) if isinstance(event, UserMessage) else self.emit(event)

    def release(self) -> None:
        """As ``TranscriptReader``."""
        super().release()
        self._thinking = False

    def _begin(self) -> None:
        if not self._started:
            self._started = True
            self.release()
            self.tell()

    def _id(self, id_: str) -> str:
        session = self.start.session_id + self.start.agent_id
        return wide_id(session, id_) or f"{session}:{self._number}"

    def _said(self, event: UserMessage) -> str:
        if event.role == "system":
            self.start.instructions = texts_of(event.parts)
            self.emit(replace(self.start, attributes={}))
            return "part of a session: its instructions"
        event.injected = event.injected or (self._one_prompt and self._prompted)
        results = [part for part in event.parts if part["type"] == TOOL_CALL_RESPONSE]
        for number, part in enumerate(results):
            id_ = f"{event.message_id}:{number}"
            run = ToolEnd(part["id"], id_, event.time, part["response"])
            run.attributes = event.attributes
            self._result(run)
        event.parts = [part for part in event.parts if part["type"] != TOOL_CALL_RESPONSE]
        if results and not event.parts:
            return "a tool's result"
        if not event.injected:
            self._prompted = True
            self._waiting.clear()
        return self.emit(event)

    def _result(self, run: ToolEnd) -> str:
        if self._waiting and (not run.call_id or self._waiting[0] in self._nameless):
            run.call_id = self._waiting[0]
        if run.call_id in self._waiting:
            self._waiting.remove(run.call_id)
        run.error_type = "error" if run.failed else ""
        (self.held if self.held else self.events).append(run)
        return "a tool's result"

    def _call(self, call: AgentCall, *, thought: bool = False) -> str:
        if not call.parts and not call.message_id:
            return unknown("nothing said")
        call.message_id = self._id(call.message_id)
        known, joined = self.held_call, self._thinking
        is_part = known is not None and (joined or known.message_id == call.message_id)
        before = known if known is not None and is_part else AgentCall("", 0)
        call.model = call.model or before.model or self.model
        call.provider = call.provider or before.provider or self.provider
        for number, part in enumerate(call.parts, len(before.parts)):
            if part["type"] == TOOL_CALL:
                if not part.get("id"):
                    part["id"] = f"{call.message_id}:{number}"
                    self._nameless.add(part["id"])
                if part["id"] not in self._waiting:
                    self._waiting.append(part["id"])
        word = self.hold(call, joined=joined)
        self._thinking = thought
        return word


# -- messages in the form of a chat completion ------------------


def chat(
    message: WireFields,
    id_: str = "",
    time: Any = 0,
    *,
    failed: bool = False,
    attributes: dict[str, Any] | None = None,
    **of_call: Any,
) -> CodingEvent | None:
    """A message of a chat completion; ``of_call`` are fields of ``AgentCall``. None for another
    role."""
    more: dict[str, Any] = attributes or {}
    role, content, when = message.text("role"), message.get("content"), time_of(time)
    if role in ("user", "human"):
        return UserMessage(id_, when, parts_of(query(content)), attributes=more)
    if role in ("system", "developer"):
        return UserMessage(id_, when, parts_of(content), role="system")
    if role == "tool":
        ids = as_list(message.get("tool_call_ids")) or [message.get("tool_call_id")]
        call_id = ids[0] if isinstance(ids[0], str) else ""
        result = result_of(content)
        return ToolEnd(call_id, id_, when, result, failed=failed, attributes=more)
    if role != "assistant":
        return None
    thought = message.text("reasoning_content") or message.text("reasoning")
    parts = [reasoning_part(thought)] if thought else []
    parts += parts_of(content)
    parts += chat_calls(message)
    return AgentCall(id_, when, parts=parts, attributes=more, **of_call)


def query(content: Any) -> Any:
    """The user's words where the tool has put others around them; else all that there is."""
    blocks = as_list(content) or [content]
    text = fields_of(blocks[0]).text("text") if len(blocks) == 1 else ""
    found = _QUERY.match(text or (content if isinstance(content, str) else ""))
    return found[2] if found else content


def chat_calls(message: WireFields) -> list[Part]:
    """The tools that a message asks for."""
    parts: list[Part] = []
    for call in message.objects("tool_calls"):
        function = call.object("function") or call
        arguments = function.get("arguments", function.get("args", {}))
        parts.append(call_part(call.text("id"), function.text("name"), arguments))
    return parts


def chat_usage(answer: WireFields) -> TokenUsage:
    """Of a provider's answer: the cache is within the input, the reasoning within the output."""
    usage = answer.object("usage")
    return usage_of(
        usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        read=usage.object("prompt_tokens_details").get("cached_tokens"),
        written=usage.get("cache_creation_input_tokens"),
        reasoning=usage.object("completion_tokens_details").get("reasoning_tokens"),
    )
