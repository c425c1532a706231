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
from collections.abc import Callable
from pathlib import Path
from typing import Final

from turnspan.content.model import as_text, dumps, text_part
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import parts_of
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import CodingTool, TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    PassedOver,
    WireFields,
    count_of,
    dollars_of,
    own_note,
    provider_name,
    result_of,
    unknown,
    usage_of,
)

_STATE: Final = ("thinking_level_change", "label", "custom")
_HEADER: Final = ("type", "id", "version", "timestamp", "cwd", "parentSession")
_CALL: Final = (
    *("role", "content", "provider", "model", "usage", "stopReason", "timestamp", "errorMessage"),
)
_RUN: Final = ("role", "content", "toolCallId", "toolName", "isError", "timestamp")
_SHELL: Final = ("role", "command", "output", "timestamp")


class PiReader(TranscriptReader):
    """Reads a session, line by line; nothing is held back."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.start.session_id = _session_of(path)
        self._provider = self._model = self._thinking = ""
        self._ids: dict[str, str] = {}
        """Of entries, as the events have them."""
        self._order: list[str] = []
        """Their ids in the events, in the order of the lines; of the header none."""
        self._follows: dict[str, tuple[str, bool]] = {}
        """What an entry follows, and whether it is a message."""
        self._passed = PassedOver()
        self._id = self._parent = ""
        self._time = 0

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        kind = line.text("type")
        if kind == "session":
            self._order.append("")
            return self._header(line)
        short = line.text("id")
        seen = f"{short}@{line.get('timestamp')}".encode() if short else dumps(line)
        self._id = id_ = hashlib.sha256(seen).hexdigest()[:32]
        named = self._ids.get(line.text("parentId"), "")
        self._parent, before = self._passed.before(named), len(self.events)
        follows = named if short or not self._order else self._order[-1]
        self._follows[id_] = follows, False
        if short:
            self._ids[short] = id_
        self._order.append(id_)
        self._time = line.time("timestamp")
        word = self._entry(kind, line)
        if len(self.events) == before or kind == "session_info":
            self._passed.add(id_, self._parent)
        elif kind != "compaction":
            self._follows[id_] = follows, True
        return word

    def _header(self, header: WireFields) -> str:
        self.start.session_id = header.text("id") or self.start.session_id
        self._provider = header.text("provider")
        self._model = header.text("modelId")
        self._thinking = header.text("thinkingLevel")
        start = SessionStart(self.start.session_id, folder=header.text("cwd"))
        start.parent_session = _session_of(Path(header.text("parentSession")))
        start.attributes = header.others(*_HEADER)
        return self.emit(start)

    def _entry(self, kind: str, entry: WireFields) -> str:
        id_, time, parent = self._id, self._time, self._parent
        if kind == "message":
            return self._message(entry.object("message"))
        if kind == "compaction":
            parts = parts_of(entry.text("summary"))
            tokens, kept = entry.count("tokensBefore"), self._kept(entry)
            return self.emit(HistoryCompaction(id_, time, parts, "", tokens, parent, kept=kept))
        if kind in ("custom_message", "branch_summary"):
            parts = parts_of(entry.get("content", entry.get("summary")))
            return self.emit(UserMessage(id_, time, parts, parent, injected=True))
        if kind == "session_info":
            return self.emit(SessionStart(self.start.session_id, title=entry.text("name")))
        if kind == "model_change":
            self._provider, self._model = entry.text("provider"), entry.text("modelId")
            return own_note(kind)
        self._thinking = entry.text("thinkingLevel") or self._thinking
        return own_note(kind) if kind in _STATE else unknown(entry.get("type"))

    def _kept(self, compaction: WireFields) -> str:
        """The first message that a compaction keeps: it names an entry (version 1: its place among
        the lines) at which that begins, which may say nothing of the conversation."""
        first = self._ids.get(compaction.text("firstKeptEntryId"), "")
        place = compaction.count("firstKeptEntryIndex")
        if place is not None and place < len(self._order):
            first = self._order[place]
        kept, at = "", self._follows[self._id][0]
        for _ in self._follows if first else ():  # a broken tree may go round
            before, is_message = self._follows.get(at, ("", False))
            kept = at if is_message else kept
            if at == first:
                return kept
            at = before
        return ""

    def _message(self, message: WireFields) -> str:
        role, parts = message.text("role"), parts_of(message.get("content"))
        id_, time, parent = self._id, self._time, self._parent
        if role == "assistant":
            return self._call(message)
        if role == "toolResult":
            result = result_of(message.get("content"))
            run = ToolEnd(message.text("toolCallId"), id_, time, result, parent=parent)
            run.name, run.attributes = message.text("toolName"), message.others(*_RUN)
            if message.get("isError") is True:
                run.fail("error", as_text(result))
            return self.emit(run)
        if role == "bashExecution":
            text = f"Ran `{message.text('command')}`\n{message.text('output')}"
            part = {**text_part(text), "other": message.others(*_SHELL)}
            return self.emit(UserMessage(id_, time, [part], parent, injected=True))
        if role in ("user", "custom", "hookMessage", "system", "developer"):
            said = role if role in ("system", "developer") else "user"
            return self.emit(UserMessage(id_, time, parts, parent, role != "user", said))
        return unknown(message.get("role"))

    def _call(self, message: WireFields) -> str:
        usage, stopped = message.object("usage"), message.text("stopReason")
        call = AgentCall(
            message_id=self._id,
            time=self._time,
            start=message.time("timestamp"),
            provider=provider_name(message.text("provider") or self._provider),
            model=message.text("model") or self._model,
            parts=parts_of(message.get("content")),
            parent=self._parent,
            finish_reasons=(stopped,) if stopped else (),
            error_type="error" if stopped == "error" else "",
            error_message=message.text("errorMessage"),
            parameters={"thinking_level": self._thinking} if self._thinking else {},
            attributes=message.others(*_CALL),
        )
        if any(map(count_of, usage.values())):
            call.usage = _usage(usage)
            call.cost_usd = dollars_of(usage.object("cost").get("total"))
        word = self.emit(call)
        if stopped == "aborted":
            self.emit(Interruption(self._time, "user", call.error_message))
        return word


def _session_of(path: Path) -> str:
    """The id of the session of a file."""
    return path.stem.rpartition("_")[2]


def _usage(usage: WireFields) -> TokenUsage:
    read, written = usage.get("cacheRead"), usage.get("cacheWrite")
    output, thought = usage.get("output"), usage.get("reasoning")
    sent = (usage.get("input"), read, written)
    return usage_of(*sent, output=output, read=read, written=written, reasoning=thought)


def _is_own(value: WireFields) -> bool:
    is_header = value.get("type") == "session" and "cwd" in value and "id" in value
    return is_header and ("version" in value or "modelId" in value or "timestamp" in value)


def _in(home: str) -> Callable[[Path], bool]:
    """Their folders tell Pi and OpenClaw apart, their lines do not."""
    return lambda path: path.suffix == ".jsonl" and {home, "sessions"} <= set(path.parts)


PI: Final = CodingTool(
    *("pi", PiReader, _is_own, (".pi/agent/sessions",), _in(".pi")),
    variable="PI_CODING_AGENT_DIR",
    below=("sessions",),
)
OPENCLAW: Final = CodingTool("openclaw", PiReader, _is_own, (".openclaw/agents",), _in(".openclaw"))
