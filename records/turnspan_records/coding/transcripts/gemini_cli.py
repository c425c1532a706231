"""Gemini CLI's sessions, and those of Qwen Code, which is a fork of it.

Source: ``packages/core/src/services/chatRecordingService.ts`` and ``chatRecordingTypes.ts`` of
google-gemini/gemini-cli (0.9 to 0.4x) and of QwenLM/qwen-code (0.2 to 0.21), and real files of
them. Three forms:

- one JSON document, ``chats/session-<minute>-<id>.json`` (Gemini CLI before 0.40, first Qwen Code);
- its messages as lines, ``.jsonl`` (Gemini CLI from 0.40): the same message is written again when
  its tools have run, with the same tokens; ``$set`` patches the document, ``$rewindTo`` cuts it;
- records of Qwen Code from 0.5, a tree by ``uuid`` and ``parentUuid``, with Gemini's contents.

Counting: ``total = input + output + thoughts + tool`` in Gemini CLI, where ``cached`` is a part of
``input``; a message's last line holds, its tokens count once. Qwen Code has the thoughts within
``candidatesTokenCount`` or beside it, by provider: ``totalTokenCount`` says which. No costs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import Part, as_dict, as_list
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    call_part,
    parts_of,
    prompt_parts,
    reasoning_part,
    texts_of,
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
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.qwen_records import QwenRecords
from turnspan_records.coding.transcripts.wire_values import (
    NOT_AN_OBJECT,
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
    wide_id,
)

_CONTINUED: Final = "System: Please continue."
"""Sent by the tool itself where the model is to go on (``client.ts``)."""
_HEADER: Final = (
    *("sessionId", "projectHash", "messages", "history", "summary", "directories", "kind"),
    *("startTime", "start_time", "lastUpdated"),
)
_MESSAGE: Final = ("id", "timestamp", "type", "role", "content", "parts", "displayContent", "ts")
_CALL: Final = (*_MESSAGE, "thoughts", "toolCalls", "tokens", "model")
_RUN: Final = ("id", "name", "args", "result", "status", "timestamp", "displayName", "description")
_MODEL: Final = ("gemini", "model", "assistant")
_PROJECT_ROOT: Final = ".project_root"
"""A file beside ``chats`` that has the project's folder (Gemini CLI from 0.30)."""


class GeminiCli(JsonTool):
    """Gemini CLI, or its fork Qwen Code."""

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``: in ``chats``, or in a folder of it (a subagent's)."""
        qwen = self.kind == "qwen-code"
        in_chats = "chats" in path.parts[-4:-1] and (".qwen" in path.parts) is qwen
        return super().is_transcript(path) and in_chats

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """As ``NestedFiles``: a subagent's folder has the name of the session."""
        chats = {(path.parent, path.stem[-8:]): path for path in paths}
        named = ((path, (path.parent.parent, path.parent.name[:8])) for path in paths)
        return {path: chats[key] for path, key in named if key in chats}

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        value = as_dict(first) or {}
        if "uuid" in value and "parentUuid" in value:  # as Claude Code's, but with Gemini's parts
            message = object_in(value, "message")
            return self.kind != "gemini-cli" and ("parts" in message or "systemPayload" in value)
        document = "sessionId" in value and ("projectHash" in value or "startTime" in value)
        history = "history" in value and ("start_time" in value or "lastUpdated" in value)
        return "type" not in value and (document or history)

    def reader(self, path: Path) -> GeminiReader:
        """As ``CodingTool``."""
        return GeminiReader(path)

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """As ``CodingTool``: the document without its messages, then these."""
        document = as_dict(value) or {}
        for name in ("messages", "history"):
            messages = as_list(document.get(name))
            if messages is not None:
                return [{k: v for k, v in document.items() if k != name}, *messages]
        return None


GEMINI_CLI: Final = GeminiCli(
    "gemini-cli", ".gemini/tmp", variable="GEMINI_CLI_HOME", below=".gemini/tmp"
)
QWEN_CODE: Final = GeminiCli("qwen-code", ".qwen/tmp", ".qwen/projects")


class GeminiReader:
    """Reads a session. A call is held back until the next message: until then it may be written
    again, with more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start = SessionStart("")
        self._held: dict[str, list[CodingEvent]] = {}
        """By message: the last call's, and what was told since."""
        self._written: set[str] = set()
        """Messages and tool runs that have been given."""
        self._order: dict[str, None] = {}
        """The messages of the conversation as it stands: a rewind cuts it."""
        self._cut = ""
        """The message that the next one follows, after a rewind."""
        self._records = QwenRecords(path)

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        holder = as_dict(value)
        if holder is None:
            return NOT_AN_OBJECT
        if "uuid" in holder:
            return self._records.read(holder, events)
        if "$rewindTo" in holder:
            return self._rewind(text_in(holder, "$rewindTo"))
        if "$set" in holder:
            return self._patch(object_in(holder, "$set"), events)
        if "type" in holder or "role" in holder:
            return self._message(holder, events)
        if "sessionId" in holder or "startTime" in holder or "start_time" in holder:
            self._header(holder, events)
            return "a session"
        return unknown("no type")

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        for held in self._held.values():
            events += held
        self._written.update(self._held)
        self._held.clear()
        self._records.end(events)

    def _header(self, header: dict[str, Any], events: list[CodingEvent]) -> None:
        start = self._start
        before = (start.session_id, start.title, start.folder)
        start.session_id = text_in(header, "sessionId") or start.session_id or self._path.stem
        start.title = text_in(header, "summary") or start.title
        start.folder = self._folder(header) or start.folder
        if header.get("kind") == "subagent":
            start.agent_name = "subagent"
            start.agent_id = start.session_id
            start.parent_session = self._path.parent.name
        start.attributes.update(other_fields(header, _HEADER))
        if before != (start.session_id, start.title, start.folder):
            events.append(replace(start, attributes=dict(start.attributes)))

    def _folder(self, header: dict[str, Any]) -> str:
        """The working folder: the document has only its hash, which proves a guess right."""
        wanted = text_in(header, "projectHash")
        guesses = [name for name in as_list(header.get("directories")) or [] if wanted]
        for folder in self._path.parents[:4]:
            try:
                guesses.append((folder / _PROJECT_ROOT).read_text("utf-8").strip())
            except (OSError, ValueError):
                continue
        for guess in guesses:
            if isinstance(guess, str):
                raw = guess.encode("utf-8", "replace")
                if wanted in (guess, hashlib.sha256(raw).hexdigest()):
                    return guess
        return ""

    def _rewind(self, target: str) -> str:
        order = list(self._order)
        id_ = wide_id(self._start.session_id, target)
        place = order.index(id_) if id_ in self._order else 0
        self._cut = order[place - 1] if place else ""
        self._order = dict.fromkeys(order[:place])
        return own_note("rewind")

    def _patch(self, patch: dict[str, Any], events: list[CodingEvent]) -> str:
        messages = objects_in(patch, "messages")
        if not messages:
            self._header(patch, events)
            return "part of a session"
        # The history as it is sent from now on: cut and masked messages, which are known in full,
        # and in the place of those that are gone a summary, the first.
        session = self._start.session_id
        ids = [wide_id(session, text_in(message, "id")) for message in messages]
        fresh = [m for id_, m in zip(ids, messages, strict=True) if not self._is_known(id_)]
        if fresh and fresh[0] is messages[0] and self._order:
            # What the tool put in stands at the beginning, and what it kept behind it.
            kept = next((place for place, id_ in enumerate(ids) if self._is_known(id_)), 0)
            new = messages[: kept or len(messages)]
            parts, time = parts_of(new[0].get("content")), time_of(new[0].get("timestamp"))
            compaction = HistoryCompaction(ids[0], time, parts, "auto")
            compaction.kept = ids[kept] if kept else ""
            compaction.messages = [
                {
                    "role": "user" if message.get("type") == "user" else "assistant",
                    "parts": parts_of(message.get("content")),
                }
                for message in new
            ]
            self._hold(ids[0], [compaction], events)
            self._written.update(ids[1 : len(new)])
            fresh = fresh[len(new) :]
        for message in fresh:
            self._message(message, events, injected=True)
        return "a compaction" if fresh or len(messages) < len(self._order) else "part of messages"

    def _is_known(self, id_: str) -> bool:
        return id_ in self._held or id_ in self._written

    def _message(
        self, message: dict[str, Any], events: list[CodingEvent], *, injected: bool = False
    ) -> str:
        said = message.get("type")
        kind = said if isinstance(said, str) else text_in(message, "role")
        time = time_of(message.get("timestamp") or message.get("ts"))
        content = message["content"] if "content" in message else message.get("parts")
        id_ = wide_id(self._start.session_id, text_in(message, "id")) or (
            f"{self._start.session_id}:{len(self._order)}"
        )
        if kind == "user":
            parts = prompt_parts(message.get("displayContent"), content)
            own = injected or texts_of(parts) == _CONTINUED or not any(map(_is_said, parts))
            if id_ not in self._order:
                self.end(events)
                self._written.add(id_)
                events.append(UserMessage(id_, time, parts, self._parent(id_), own))
            return "what the tool put in" if own else "a user's message"
        if kind in _MODEL and injected:  # written by the tool: no model was asked
            self._hold(
                id_, [UserMessage(id_, time, parts_of(content), "", True, "assistant")], events
            )
            return "what the tool put in"
        if kind in _MODEL:
            known = self._is_known(id_)
            if not known:
                self.end(events)
            self._hold(id_, self._call(id_, time, content, message), events)
            return "part of a model call" if known else "a model call"
        text = texts_of(parts_of(content))
        if kind == "error" or (kind == "info" and text.startswith("Request cancelled")):
            reason = "error" if kind == "error" else "user"
            self._hold(id_, [Interruption(time, reason, text)], events)
            return "an interruption"
        return own_note(kind) if kind in ("info", "warning") else unknown(said or kind)

    def _parent(self, id_: str) -> str:
        self._order[id_] = None
        cut, self._cut = self._cut, ""
        return cut

    def _hold(self, id_: str, found: list[CodingEvent], events: list[CodingEvent]) -> None:
        if id_ in self._written:  # a late line: only what has come since
            for event in found:
                if isinstance(event, ToolEnd) and event.message_id not in self._written:
                    self._written.add(event.message_id)
                    events.append(event)
            return
        self._held[id_] = found

    def _call(
        self, id_: str, time: int, content: Any, message: dict[str, Any]
    ) -> list[CodingEvent]:
        known = self._held.get(id_, [])
        before = known[0] if known and isinstance(known[0], AgentCall) else None
        calls = objects_in(message, "toolCalls")
        parts = [*map(_thought, objects_in(message, "thoughts")), *parts_of(content)]
        parts += [
            call_part(text_in(call, "id"), text_in(call, "name"), call.get("args", {}))
            for call in calls
            if not any(part.get("id") == call.get("id") for part in parts if "id" in part)
        ]
        model = AgentCall(
            message_id=id_,
            time=time if before is None else before.time,
            start=0,
            provider="gcp.gemini",
            model=text_in(message, "model"),
            parts=parts,
            usage=_usage(as_dict(message.get("tokens"))),
            parent=self._parent(id_) if before is None else before.parent,
            attributes=other_fields(message, _CALL),
        )
        runs = [_run(id_, call) for call in calls]
        return [model, *(run for run in runs if run is not None)]


def _is_said(part: Part) -> bool:
    return part["type"] not in ("tool_call_response", "tool_call")


def _thought(thought: dict[str, Any]) -> Part:
    subject, description = text_in(thought, "subject"), text_in(thought, "description")
    text = f"**{subject}**\n{description}" if subject and description else subject or description
    return reasoning_part(text, other_fields(thought, ("subject", "description")))


def _usage(tokens: dict[str, Any] | None) -> TokenUsage:
    if not tokens or not any(map(count_of, tokens.values())):
        return TokenUsage()
    thoughts = tokens.get("thoughts")
    output, cached = sum_of(tokens.get("output"), thoughts), tokens.get("cached")
    sent = (tokens.get("input"), tokens.get("tool"))
    return usage_of(*sent, output=output, read=cached, reasoning=thoughts)


def _run(message: str, call: dict[str, Any]) -> ToolEnd | None:
    """A tool's run; None while it goes on."""
    status = text_in(call, "status")
    if "result" not in call and status not in ("success", "error", "cancelled"):
        return None
    result, error = call.get("result"), ""
    for block in objects_in(call, "result"):
        response = as_dict(object_in(block, "functionResponse").get("response"))
        if response is not None:
            error = text_in(response, "error")
            result = response["output"] if response.keys() == {"output"} else response
            break
    id_ = text_in(call, "id")
    failed = status in ("error", "cancelled") or bool(error)
    return ToolEnd(
        call_id=id_,
        message_id=f"{message}:{id_}",
        time=time_of(call.get("timestamp")),
        result=result_of(result),
        name=text_in(call, "name"),
        failed=failed,
        error_type=(status if status != "success" else "error") if failed else "",
        error_message=error,
        attributes=other_fields(call, _RUN),
    )
