"""The records of Qwen Code: lines of a tree, with Gemini's contents (``gemini_cli``)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from turnspan.content.model import as_dict
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import parts_of, prompt_parts
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    PassedOver,
    WireFields,
    count_of,
    own_note,
    result_of,
    sum_of,
    unknown,
    usage_of,
)

_PLACE: Final = ("sessionId", "cwd", "version", "gitBranch", "agentId", "agentName", "forkedFrom")
_RECORD: Final = (*_PLACE, "uuid", "parentUuid", "timestamp", "type", "message", "model")
_INJECTED: Final = ("notification", "cron", "background_task_completed", "goal_runtime")
_RESULT: Final = ("callId", "status", "responseParts", "error", "errorType")


class QwenRecords(TranscriptReader):
    """Reads records. A call is held back until a record of another message comes: a message may
    stand in several."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._place = ("",) * 6
        self._title = ""
        self._passed = PassedOver()

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        kind, subtype = line.text("type"), line.text("subtype")
        id_, time = line.text("uuid"), line.time("timestamp")
        parent = self._passed.before(line.text("parentUuid"))
        held = self.held_call
        if kind == "assistant" and held is not None and held.message_id == id_:
            return self.hold(_call(id_, time, line))
        self.release()
        self._session(line)
        if kind == "user":
            own = subtype in _INJECTED
            shown = line.object("systemPayload").text("displayText")
            parts = prompt_parts(shown, line.object("message").get("parts"))
            return self.emit(UserMessage(id_, time, parts, parent, own))
        if kind == "assistant":
            call = _call(id_, time, line)
            call.parent = parent
            call.attributes = line.others(*_RECORD, "usageMetadata")
            return self.hold(call)
        if kind == "tool_result":
            return self.emit(_run(id_, time, parent, line))
        if kind == "system" and subtype == "chat_compression":
            return self._compaction(id_, time, parent, line.object("systemPayload"))
        if kind != "system":
            return unknown(line.get("type"))
        self._passed.add(id_, line.text("parentUuid"))
        if subtype == "custom_title":
            self._title = line.object("systemPayload").text("customTitle")
            self._place = ("",) * 6
            self._session(line)
            return "a session"
        return own_note(subtype or "system")

    def _session(self, record: WireFields) -> None:
        session, agent = record.text("sessionId"), record.text("agentId")
        forked = record.object("forkedFrom").text("sessionId")
        place = (
            f"{session}:{agent}" if agent else session or self.path.stem,
            record.text("version"),
            record.text("cwd"),
            record.text("gitBranch") or self._place[3],
            (record.text("agentName") or agent) if agent else "",
            session if agent else forked,
        )
        if place != self._place:
            self._place = place
            start = SessionStart(*place[:3], branch=place[3], title=self._title)
            start.agent_name, start.parent_session = place[4:]
            self.emit(start)

    def _compaction(self, id_: str, time: int, parent: str, payload: WireFields) -> str:
        before = payload.object("info").count("originalTokenCount")
        event = HistoryCompaction(id_, time, [], "", before, parent)
        for message in payload.objects("compressedHistory"):
            role = "assistant" if message.get("role") == "model" else "user"
            event.messages.append({"role": role, "parts": parts_of(message.get("parts"))})
        event.parts = event.messages[0]["parts"] if event.messages else []
        return self.emit(event)


def _call(id_: str, time: int, record: WireFields) -> AgentCall:
    """What a record says of a call."""
    parts = parts_of(record.object("message").get("parts"))
    return AgentCall(
        id_, time, provider="qwen", model=record.text("model"), parts=parts, usage=_usage(record)
    )


def _usage(record: WireFields) -> TokenUsage:
    counts = record.object("usageMetadata")
    if not any(map(count_of, counts.values())):
        return TokenUsage()
    thoughts = counts.count("thoughtsTokenCount")
    sent = sum_of(counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount"))
    received = counts.count("candidatesTokenCount")
    with_thoughts = sum_of(received, thoughts)
    if counts.count("totalTokenCount") == sum_of(sent, with_thoughts):
        received = with_thoughts
    cached = counts.get("cachedContentTokenCount")
    return usage_of(sent, output=received, read=cached, reasoning=thoughts)


def _run(id_: str, time: int, parent: str, record: WireFields) -> ToolEnd:
    result = record.object("toolCallResult")
    blocks = record.object("message").objects("parts")
    responses = [block.object("functionResponse") for block in blocks]
    said = next((response for response in responses if response), WireFields())
    response = as_dict(said.get("response")) or {}
    status, error = result.text("status"), result.object("error")
    run = ToolEnd(result.text("callId") or said.text("id"), id_, time, None, parent=parent)
    run.result = result_of(response["output"] if response.keys() == {"output"} else response)
    run.name, run.error_message = said.text("name"), error.text("message")
    run.attributes = result.others(*_RESULT)
    if status in ("error", "cancelled") or error:
        run.fail(result.text("errorType") or status or "error", run.error_message)
    return run
