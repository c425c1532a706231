"""Pi's sessions, and OpenClaw's, which are of the same family.

Source: ``packages/coding-agent/docs/session.md`` and ``src/core/session-manager.ts`` of
badlogic/pi-mono (session versions 1 to 3, 0.7 to 0.5x), real files and fixtures. A line is an entry
of a tree by ``id`` and ``parentId``; version 1 is a list without ids, and its header may be newer
than the messages that follow it.

Counting: each assistant message is one call, those of abandoned branches too (they were paid).
``input`` excludes ``cacheRead`` and ``cacheWrite``; ``totalTokens`` is the sum of all four;
``cost.total`` is in USD. An aborted message whose counts are all 0 has not been counted.

A compaction keeps the messages from ``firstKeptEntryId`` on: they follow the summary.

An id of 8 digits is of one session, but a fork copies its entries as they are: with its time an
entry is known in both. In version 1 an entry's whole line is its id.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import Part, as_dict, as_text, dumps, text_part
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import parts_of
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.wire_values import (
    NOT_AN_OBJECT,
    PassedOver,
    count_of,
    dollars_of,
    object_in,
    other_fields,
    own_note,
    provider_name,
    result_of,
    text_in,
    time_of,
    unknown,
    usage_of,
)

_STATE: Final = ("thinking_level_change", "label", "custom")
_HEADER: Final = ("type", "id", "version", "timestamp", "cwd", "parentSession")
_MESSAGE: Final = ("role", "content", "provider", "model", "usage", "stopReason", "timestamp")
_CALL: Final = (*_MESSAGE, "errorMessage")
_RUN: Final = ("role", "content", "toolCallId", "toolName", "isError", "timestamp")
_SHELL: Final = ("role", "command", "output", "timestamp")


class Pi(JsonTool):
    """Pi, or OpenClaw: their folders tell them apart, their lines do not."""

    suffixes = (".jsonl",)

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        home = ".openclaw" if self.kind == "openclaw" else ".pi"
        return super().is_transcript(path) and {home, "sessions"} <= set(path.parts)

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        value = as_dict(first) or {}
        is_header = value.get("type") == "session" and "cwd" in value and "id" in value
        return is_header and ("version" in value or "modelId" in value or "timestamp" in value)

    def reader(self, path: Path) -> PiReader:
        """As ``CodingTool``."""
        return PiReader(path)


PI: Final = Pi("pi", ".pi/agent/sessions", variable="PI_CODING_AGENT_DIR", below="sessions")
OPENCLAW: Final = Pi("openclaw", ".openclaw/agents")


class PiReader:
    """Reads a session, line by line; nothing is held back."""

    def __init__(self, path: Path) -> None:
        self._session = path.stem.rpartition("_")[2]
        self._provider = ""
        self._model = ""
        self._thinking = ""
        self._ids: dict[str, str] = {}
        """Of entries, as the events have them."""
        self._order: list[str] = []
        """Their ids in the events, in the order of the lines; of the header none."""
        self._follows: dict[str, tuple[str, bool]] = {}
        """What an entry follows, and whether it is a message."""
        self._passed = PassedOver()

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        entry = as_dict(value)
        if entry is None:
            return NOT_AN_OBJECT
        kind = text_in(entry, "type")
        if kind == "session":
            self._order.append("")
            return self._header(entry, events)
        short = text_in(entry, "id")
        seen = f"{short}@{entry.get('timestamp')}".encode() if short else dumps(entry)
        id_ = hashlib.sha256(seen).hexdigest()[:32]
        named = self._ids.get(text_in(entry, "parentId"), "")
        parent, before = self._passed.before(named), len(events)
        follows = named if short or not self._order else self._order[-1]
        self._follows[id_] = follows, False
        if short:
            self._ids[short] = id_
        self._order.append(id_)
        word = self._entry(kind, entry, id_, parent, events)
        if len(events) == before or kind == "session_info":
            self._passed.add(id_, parent)
        elif kind != "compaction":
            self._follows[id_] = follows, True
        return word

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""

    def _header(self, header: dict[str, Any], events: list[CodingEvent]) -> str:
        self._session = text_in(header, "id") or self._session
        self._provider = text_in(header, "provider")
        self._model = text_in(header, "modelId")
        self._thinking = text_in(header, "thinkingLevel")
        forked = Path(text_in(header, "parentSession")).stem.rpartition("_")[2]
        attributes = other_fields(header, _HEADER)
        events.append(
            SessionStart(
                self._session,
                folder=text_in(header, "cwd"),
                parent_session=forked,
                attributes=attributes,
            )
        )
        return "a session"

    def _entry(
        self, kind: str, entry: dict[str, Any], id_: str, parent: str, events: list[CodingEvent]
    ) -> str:
        time = time_of(entry.get("timestamp"))
        if kind == "message":
            message = object_in(entry, "message")
            return self._message(message, id_, time, parent, events)
        if kind == "compaction":
            parts = parts_of(text_in(entry, "summary"))
            tokens = count_of(entry.get("tokensBefore"))
            kept = self._kept(entry, id_)
            events.append(HistoryCompaction(id_, time, parts, "", tokens, parent, kept=kept))
            return "a compaction"
        if kind in ("custom_message", "branch_summary"):
            parts = parts_of(entry.get("content", entry.get("summary")))
            events.append(UserMessage(id_, time, parts, parent, injected=True))
            return "what the tool put in"
        if kind == "session_info":
            events.append(SessionStart(self._session, title=text_in(entry, "name")))
            return "a session"
        if kind == "model_change":
            self._provider = text_in(entry, "provider")
            self._model = text_in(entry, "modelId")
            return own_note(kind)
        self._thinking = text_in(entry, "thinkingLevel") or self._thinking
        return own_note(kind) if kind in _STATE else unknown(entry.get("type"))

    def _kept(self, compaction: dict[str, Any], id_: str) -> str:
        """The first message that a compaction keeps: it names an entry (version 1: its place among
        the lines) at which that begins, which may say nothing of the conversation."""
        first = self._ids.get(text_in(compaction, "firstKeptEntryId"), "")
        place = count_of(compaction.get("firstKeptEntryIndex"))
        if place is not None and place < len(self._order):
            first = self._order[place]
        kept, at = "", self._follows[id_][0]
        for _ in self._follows if first else ():  # a broken tree may go round
            before, is_message = self._follows.get(at, ("", False))
            kept = at if is_message else kept
            if at == first:
                return kept
            at = before
        return ""

    def _message(
        self, message: dict[str, Any], id_: str, time: int, parent: str, events: list[CodingEvent]
    ) -> str:
        role = text_in(message, "role")
        parts = parts_of(message.get("content"))
        if role == "assistant":
            self._call(message, id_, time, parent, parts, events)
            return "a model call"
        if role == "toolResult":
            failed = message.get("isError") is True
            result = result_of(message.get("content"))
            run = ToolEnd(text_in(message, "toolCallId"), id_, time, result, parent=parent)
            run.name = text_in(message, "toolName")
            run.failed = failed
            run.error_type = "error" if failed else ""
            run.error_message = as_text(result) if failed else ""
            run.attributes = other_fields(message, _RUN)
            events.append(run)
            return "a tool's result"
        if role == "bashExecution":
            text = f"Ran `{text_in(message, 'command')}`\n{text_in(message, 'output')}"
            part = {**text_part(text), "other": other_fields(message, _SHELL)}
            events.append(UserMessage(id_, time, [part], parent, injected=True))
            return "what the tool put in"
        if role in ("user", "custom", "hookMessage", "system", "developer"):
            own = role != "user"
            said = role if role in ("system", "developer") else "user"
            events.append(UserMessage(id_, time, parts, parent, own, said))
            return "what the tool put in" if own else "a user's message"
        return unknown(message.get("role"))

    def _call(
        self,
        message: dict[str, Any],
        id_: str,
        time: int,
        parent: str,
        parts: list[Part],
        events: list[CodingEvent],
    ) -> None:
        usage = object_in(message, "usage")
        stopped = text_in(message, "stopReason")
        counted = any(map(count_of, usage.values()))
        cost = dollars_of(object_in(usage, "cost").get("total")) if counted else None
        failed = stopped == "error"
        call = AgentCall(
            message_id=id_,
            time=time,
            start=time_of(message.get("timestamp")),
            provider=provider_name(text_in(message, "provider") or self._provider),
            model=text_in(message, "model") or self._model,
            parts=parts,
            usage=_usage(usage) if counted else TokenUsage(),
            parent=parent,
            finish_reasons=(stopped,) if stopped else (),
            cost_usd=cost,
            error_type="error" if failed else "",
            error_message=text_in(message, "errorMessage"),
            attributes=other_fields(message, _CALL),
        )
        if self._thinking:
            call.parameters["thinking_level"] = self._thinking
        events.append(call)
        if stopped == "aborted":
            events.append(Interruption(time, "user", call.error_message))


def _usage(usage: dict[str, Any]) -> TokenUsage:
    read, written = usage.get("cacheRead"), usage.get("cacheWrite")
    output, thought = usage.get("output"), usage.get("reasoning")
    sent = (usage.get("input"), read, written)
    return usage_of(*sent, output=output, read=read, written=written, reasoning=thought)
