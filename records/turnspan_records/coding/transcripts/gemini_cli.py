"""Gemini CLI's sessions, and those of Qwen Code, which is a fork of it.

Source: ``packages/core/src/services/chatRecordingService.ts`` and ``chatRecordingTypes.ts`` of
google-gemini/gemini-cli (0.9 to 0.61) and of QwenLM/qwen-code (0.2 to 0.21), and real files of
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
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import Message, Part, as_list, as_text
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
from turnspan_records.coding.transcripts.qwen_records import QwenRecords
from turnspan_records.coding.transcripts.reader import (
    CodingTool,
    TranscriptReader,
    is_json,
    items_in,
)
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    count_of,
    own_note,
    result_of,
    sum_of,
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
_EXIT: Final = re.compile(r"(?m)^Exit Code: (-?\d+)\s*$")
_PROJECT_ROOT: Final = ".project_root"
"""A file beside ``chats`` that has the project's folder (Gemini CLI from 0.30)."""


class GeminiReader(TranscriptReader):
    """Reads a session. A call is held back until the next message: until then it may be written
    again, with more."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.start = SessionStart("")
        self._waiting: dict[str, list[CodingEvent]] = {}
        """By message: the last call's, and what was told since."""
        self._written: set[str] = set()
        """Messages and tool runs that have been given."""
        self._order: dict[str, None] = {}
        """The messages of the conversation as it stands: a rewind cuts it."""
        self._cut = ""
        """The message that the next one follows, after a rewind."""
        self._records = QwenRecords(path)

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        if "uuid" in line:
            return self._records.read(line, self.events)
        if "$rewindTo" in line:
            return self._rewind(line.text("$rewindTo"))
        if "$set" in line:
            return self._patch(line.object("$set"))
        if "type" in line or "role" in line:
            return self._message(line)
        if "sessionId" in line or "startTime" in line or "start_time" in line:
            self._header(line)
            return "a session"
        return unknown("no type")

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        super().end(events)
        self._records.end(events)

    def release(self) -> None:
        """As ``TranscriptReader``."""
        for held in self._waiting.values():
            self.events += held
        self._written.update(self._waiting)
        self._waiting.clear()

    def _id(self, message: WireFields) -> str:
        return wide_id(self.start.session_id, message.text("id"))

    def _header(self, header: WireFields) -> None:
        start = self.start
        before = (start.session_id, start.title, start.folder)
        start.session_id = header.text("sessionId") or start.session_id or self.path.stem
        start.title = header.text("summary") or start.title
        start.folder = self._folder(header) or start.folder
        if header.get("kind") == "subagent":
            start.agent_name = "subagent"
            start.agent_id = start.session_id
            start.parent_session = self.path.parent.name
        start.attributes.update(header.others(*_HEADER))
        if before != (start.session_id, start.title, start.folder):
            self.tell()

    def _folder(self, header: WireFields) -> str:
        """The working folder: the document has only its hash, which proves a guess right."""
        wanted = header.text("projectHash")
        guesses = [name for name in as_list(header.get("directories")) or [] if wanted]
        for folder in self.path.parents[:4]:
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
        id_ = wide_id(self.start.session_id, target)
        place = order.index(id_) if id_ in self._order else 0
        self._cut = order[place - 1] if place else ""
        self._order = dict.fromkeys(order[:place])
        return own_note("rewind")

    def _patch(self, patch: WireFields) -> str:
        messages = patch.objects("messages")
        if not messages:
            self._header(patch)
            return "part of a session"
        # The history as it is sent from now on: cut and masked messages, which are known in full,
        # and in the place of those that are gone a summary, the first.
        known = [self._is_known(self._id(message)) for message in messages]
        begins, compacted, first = not self._order, False, 0
        if not (known[0] or begins):
            # What the tool put in stands at the beginning, and what it kept behind it.
            compacted, first = True, known.index(True) if True in known else len(known)
            new, ids = messages[:first], [self._id(message) for message in messages]
            event = HistoryCompaction(ids[0], time_of(new[0].get("timestamp")), [], "auto")
            event.messages = [_as_sent(message) for message in new]
            event.parts, event.kept = event.messages[0]["parts"], (*ids, "")[first]
            self._hold(ids[0], [event])
            self._written.update(ids[1:first])
        for message, is_known in zip(messages[first:], known[first:], strict=True):
            if not is_known:
                self._message(message, injected=True)
                compacted = True
        if begins:
            return "what the tool put in"
        shorter = len(messages) < len(self._order)
        return "a compaction" if compacted or shorter else "part of messages"

    def _is_known(self, id_: str) -> bool:
        return id_ in self._waiting or id_ in self._written

    def _message(self, message: WireFields, *, injected: bool = False) -> str:
        said = message.get("type")
        kind = said if isinstance(said, str) else message.text("role")
        time = time_of(message.get("timestamp") or message.get("ts"))
        content = message["content"] if "content" in message else message.get("parts")
        id_ = self._id(message) or f"{self.start.session_id}:{len(self._order)}"
        if kind == "user":
            parts = prompt_parts(message.get("displayContent"), content)
            own = injected or texts_of(parts) == _CONTINUED or not any(map(_is_said, parts))
            if id_ not in self._order:
                self.release()
                self._written.add(id_)
                self.emit(UserMessage(id_, time, parts, self._parent(id_), own))
            return "what the tool put in" if own else "a user's message"
        if kind in _MODEL and injected:  # written by the tool: no model was asked
            self._hold(id_, [UserMessage(id_, time, parts_of(content), "", True, "assistant")])
            return "what the tool put in"
        if kind in _MODEL:
            known = self._is_known(id_)
            if not known:
                self.release()
            self._hold(id_, self._call(id_, time, content, message))
            return "part of a model call" if known else "a model call"
        text = texts_of(parts_of(content))
        if kind == "error" or (kind == "info" and text.startswith("Request cancelled")):
            self._hold(id_, [Interruption(time, "error" if kind == "error" else "user", text)])
            return "an interruption"
        return own_note(kind) if kind in ("info", "warning") else unknown(said or kind)

    def _parent(self, id_: str) -> str:
        self._order[id_] = None
        cut, self._cut = self._cut, ""
        return cut

    def _hold(self, id_: str, found: list[CodingEvent]) -> None:
        if id_ not in self._written:
            self._waiting[id_] = found
            return
        for event in found:  # a late line: only what has come since
            if isinstance(event, ToolEnd) and event.message_id not in self._written:
                self._written.add(event.message_id)
                self.emit(event)

    def _call(self, id_: str, time: int, content: Any, message: WireFields) -> list[CodingEvent]:
        known = self._waiting.get(id_, [])
        before = known[0] if known and isinstance(known[0], AgentCall) else None
        calls = message.objects("toolCalls")
        parts = [*map(_thought, message.objects("thoughts")), *parts_of(content)]
        parts += [
            call_part(call.text("id"), call.text("name"), call.get("args", {}))
            for call in calls
            if not any(part.get("id") == call.get("id") for part in parts if "id" in part)
        ]
        model = AgentCall(id_, time if before is None else before.time, provider="gcp.gemini")
        model.model, model.parts = message.text("model"), parts
        model.usage = _usage(message.maybe("tokens"))
        model.parent = self._parent(id_) if before is None else before.parent
        model.attributes = message.others(*_CALL)
        runs = [_run(id_, call) for call in calls]
        return [model, *(run for run in runs if run is not None)]


def _as_sent(message: WireFields) -> Message:
    role = "user" if message.get("type") == "user" else "assistant"
    return {"role": role, "parts": parts_of(message.get("content"))}


def _is_said(part: Part) -> bool:
    return part["type"] not in ("tool_call_response", "tool_call")


def _thought(thought: WireFields) -> Part:
    subject, description = thought.text("subject"), thought.text("description")
    text = f"**{subject}**\n{description}" if subject and description else subject or description
    return reasoning_part(text, thought.others("subject", "description"))


def _usage(tokens: WireFields | None) -> TokenUsage:
    if not tokens or not any(map(count_of, tokens.values())):
        return TokenUsage()
    thoughts = tokens.get("thoughts")
    output, cached = sum_of(tokens.get("output"), thoughts), tokens.get("cached")
    sent = (tokens.get("input"), tokens.get("tool"))
    return usage_of(*sent, output=output, read=cached, reasoning=thoughts)


def _run(message: str, call: WireFields) -> ToolEnd | None:
    """A tool's run; None while it goes on."""
    status = call.text("status")
    if "result" not in call and status not in ("success", "error", "cancelled"):
        return None
    result, error = call.get("result"), ""
    for block in call.objects("result"):
        response = block.object("functionResponse").maybe("response")
        if response is not None:
            error = response.text("error")
            result = response["output"] if response.keys() == {"output"} else dict(response)
            break
    id_, time = call.text("id"), call.time("timestamp")
    run = ToolEnd(id_, f"{message}:{id_}", time, result_of(result), name=call.text("name"))
    run.attributes, run.error_message = call.others(*_RUN), error
    codes = _EXIT.findall(as_text(run.result)) if run.name == "run_shell_command" else []
    if status in ("error", "cancelled") or error or codes[-1:] not in ([], ["0"]):
        run.fail(status if status in ("error", "cancelled") else "error", error)
    return run


def _mains(paths: Sequence[Path]) -> Mapping[Path, Path]:
    """A subagent's folder has the name of the session."""
    chats = {(path.parent, path.stem[-8:]): path for path in paths}
    named = ((path, (path.parent.parent, path.parent.name[:8])) for path in paths)
    return {path: chats[key] for path, key in named if key in chats}


def _is_document(value: WireFields) -> bool:
    document = "sessionId" in value and ("projectHash" in value or "startTime" in value)
    history = "history" in value and ("start_time" in value or "lastUpdated" in value)
    return "type" not in value and (document or history)


def _is_geminis(value: WireFields) -> bool:
    return not ("uuid" in value and "parentUuid" in value) and _is_document(value)


def _is_qwens(value: WireFields) -> bool:
    if "uuid" in value and "parentUuid" in value:  # as Claude Code's, but with Gemini's parts
        return "parts" in value.object("message") or "systemPayload" in value
    return _is_document(value)


def _in_chats(*, qwen: bool) -> Callable[[Path], bool]:
    """In ``chats``, or in a folder of it (a subagent's)."""
    return lambda path: (
        is_json(path) and "chats" in path.parts[-4:-1] and (".qwen" in path.parts) is qwen
    )


GEMINI_CLI: Final = CodingTool(
    *("gemini-cli", GeminiReader, _is_geminis, (".gemini/tmp",), _in_chats(qwen=False)),
    variable="GEMINI_CLI_HOME",
    below=(".gemini/tmp",),
    values=items_in("messages", "history"),
    mains=_mains,
)
QWEN_CODE: Final = CodingTool(
    *("qwen-code", GeminiReader, _is_qwens, (".qwen/tmp", ".qwen/projects")),
    is_transcript=_in_chats(qwen=True),
    values=items_in("messages", "history"),
    mains=_mains,
)
