"""The records of Qwen Code: lines of a tree, with Gemini's contents (``gemini_cli``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from turnspan.content.model import Message, as_dict
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    add_new,
    parts_of,
    prompt_parts,
)
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.wire_values import (
    PassedOver,
    count_of,
    object_in,
    objects_in,
    other_fields,
    own_note,
    result_of,
    sum_of,
    text_in,
    time_of,
    unknown,
    usage_of,
)

_PLACE: Final = ("sessionId", "cwd", "version", "gitBranch", "agentId", "agentName", "forkedFrom")
_RECORD: Final = (*_PLACE, "uuid", "parentUuid", "timestamp", "type", "message", "model")
_INJECTED: Final = ("notification", "cron", "background_task_completed", "goal_runtime")
_RESULT: Final = ("callId", "status", "responseParts", "error", "errorType")


class QwenRecords:
    """Reads records. A call is held back until a record of another message comes: a message may
    stand in several."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = ("",) * 6
        self._title = ""
        self._call: AgentCall | None = None
        self._passed = PassedOver()

    def read(self, record: dict[str, Any], events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        kind, subtype = text_in(record, "type"), text_in(record, "subtype")
        id_ = text_in(record, "uuid")
        parent = self._passed.before(text_in(record, "parentUuid"))
        time = time_of(record.get("timestamp"))
        message = object_in(record, "message")
        if kind == "assistant" and self._call is not None and self._call.message_id == id_:
            _extend(self._call, time, record)
            return "part of a model call"
        self.end(events)
        self._session(record, events)
        parts = parts_of(message.get("parts"))
        if kind == "user":
            own = subtype in _INJECTED
            shown = text_in(object_in(record, "systemPayload"), "displayText")
            parts = prompt_parts(shown, message.get("parts"))
            events.append(UserMessage(id_, time, parts, parent, own))
            return "what the tool put in" if own else "a user's message"
        if kind == "assistant":
            other = other_fields(record, (*_RECORD, "usageMetadata"))
            call = AgentCall(id_, time, 0, "qwen", "", [], TokenUsage(), parent, attributes=other)
            _extend(call, time, record)
            self._call = call
            return "a model call"
        if kind == "tool_result":
            events.append(_run(id_, time, parent, record))
            return "a tool's result"
        return self._system(record, events) if kind == "system" else unknown(record.get("type"))

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        if self._call is not None:
            events.append(self._call)
            self._call = None

    def _session(self, record: dict[str, Any], events: list[CodingEvent]) -> None:
        session, agent = text_in(record, "sessionId"), text_in(record, "agentId")
        forked = text_in(object_in(record, "forkedFrom"), "sessionId")
        place = (
            f"{session}:{agent}" if agent else session or self._path.stem,
            text_in(record, "version"),
            text_in(record, "cwd"),
            text_in(record, "gitBranch") or self._place[3],
            (text_in(record, "agentName") or agent) if agent else "",
            session if agent else forked,
        )
        if place != self._place:
            self._place = place
            id_, version, folder, branch, name, parent = place
            events.append(
                SessionStart(
                    id_,
                    version,
                    folder,
                    branch=branch,
                    title=self._title,
                    agent_name=name,
                    parent_session=parent,
                )
            )

    def _system(self, record: dict[str, Any], events: list[CodingEvent]) -> str:
        subtype = text_in(record, "subtype")
        payload = object_in(record, "systemPayload")
        if subtype == "custom_title":
            self._title = text_in(payload, "customTitle")
            self._place = ("",) * 6
            self._session(record, events)
            self._passed.add(text_in(record, "uuid"), text_in(record, "parentUuid"))
            return "a session"
        if subtype == "chat_compression":
            info = object_in(payload, "info")
            history = objects_in(payload, "compressedHistory")
            messages: list[Message] = [
                {
                    "role": "assistant" if message.get("role") == "model" else "user",
                    "parts": parts_of(message.get("parts")),
                }
                for message in history
            ]
            parts = parts_of(history[0].get("parts")) if history else []
            before = count_of(info.get("originalTokenCount"))
            id_, time = text_in(record, "uuid"), time_of(record.get("timestamp"))
            parent = self._passed.before(text_in(record, "parentUuid"))
            compaction = HistoryCompaction(id_, time, parts, "", before, parent)
            compaction.messages = messages
            events.append(compaction)
            return "a compaction"
        self._passed.add(text_in(record, "uuid"), text_in(record, "parentUuid"))
        return own_note(subtype or "system")


def _extend(call: AgentCall, time: int, record: dict[str, Any]) -> None:
    """What one more record says of a call."""
    add_new(call.parts, parts_of(object_in(record, "message").get("parts")))
    call.time = max(call.time, time)
    call.model = text_in(record, "model") or call.model
    counts = object_in(record, "usageMetadata")
    if not any(map(count_of, counts.values())):
        return
    thoughts = count_of(counts.get("thoughtsTokenCount"))
    sent = sum_of(counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount"))
    received = count_of(counts.get("candidatesTokenCount"))
    with_thoughts = sum_of(received, thoughts)
    if count_of(counts.get("totalTokenCount")) == sum_of(sent, with_thoughts):
        received = with_thoughts
    cached = counts.get("cachedContentTokenCount")
    call.usage = usage_of(sent, output=received, read=cached, reasoning=thoughts)


def _run(id_: str, time: int, parent: str, record: dict[str, Any]) -> ToolEnd:
    result = object_in(record, "toolCallResult")
    blocks = objects_in(object_in(record, "message"), "parts")
    responses = [object_in(block, "functionResponse") for block in blocks]
    said = next((response for response in responses if response), dict[str, Any]())
    response = as_dict(said.get("response")) or {}
    status = text_in(result, "status")
    error = object_in(result, "error")
    failed = status in ("error", "cancelled") or bool(error)
    return ToolEnd(
        call_id=text_in(result, "callId") or text_in(said, "id"),
        message_id=id_,
        time=time,
        result=result_of(response["output"] if response.keys() == {"output"} else response),
        name=text_in(said, "name"),
        parent=parent,
        failed=failed,
        error_type=(text_in(result, "errorType") or status or "error") if failed else "",
        error_message=text_in(error, "message"),
        attributes=other_fields(result, _RESULT),
    )
