"""OpenCode's sessions: its database, its storage folder, and what ``opencode export`` writes.

Source: ``packages/opencode/src/session/session.sql.ts`` and ``message-v2.ts`` of sst/opencode (now
anomalyco/opencode; 0.1 to 1.18), and real exports of 1.2.5. From 1.2 on a session is in
``opencode.db`` (SQLite: ``session``, ``message``, ``part``), before in ``storage/session/PROJECT``,
``storage/message/SESSION`` and ``storage/part/MESSAGE``; where both have it, the database holds.

Counting: a message's ``tokens`` and the ``step-finish`` parts say the same; of several steps the
message has the last one's, and the steps are summed. ``input`` excludes the cache. The reasoning
is within ``output``, or (since 1.3) beside it: ``total`` says which. All 0 has not been counted.
A compaction is a prompt of the tool's own and the summary that answers it; the messages from
``tail_start_id`` to that prompt stay, and follow the summary.
``cost`` is in USD; with counted tokens, 0 is what was paid (a subscription).
A fork (``Session.fork``) names no parent. Its messages are copied with new ids, but with their
times, counts and texts, which tell that they are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from turnspan.content.media import digest_media
from turnspan.content.model import Part, dumps
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import call_part, parts_of
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.opencode_rows import (
    child_of,
    database_rows,
    is_database,
    is_stored,
    storage_rows,
)
from turnspan_records.coding.transcripts.reader import CodingTool, TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    count_of,
    dollars_of,
    fields_of,
    provider_name,
    result_of,
    sum_of,
    unknown,
    usage_of,
    wide_id,
)

_SESSION: Final = (
    *("id", "parentID", "directory", "title", "version", "time", "agent", "permission"),
    *("summary_diffs", "revert", "share_url"),
)
"""The last are pieces of files, and an address that opens the session."""
_PLACE: Final = ("id", "sessionID", "parentID", "role", "time", "path")
_MESSAGE: Final = (*_PLACE, "modelID", "providerID", "tokens", "cost", "finish", "error")
_PART: Final = ("id", "messageID", "sessionID", "time")
_REDACTED: Final = "REDACTED"
"""What Entire's copies have in the place of a parent."""
_SILENT: Final = ("step-start", "step-finish", "snapshot", "patch", "compaction", "retry")
"""Parts that the model neither said nor was sent."""


class OpenCodeReader(TranscriptReader):
    """Reads sessions, one after the other. A message is held back until its parts are read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._session = ""
        self._starts: dict[str, SessionStart] = {}
        self._message: WireFields | None = None
        self._parts: list[WireFields] = []
        self._children: dict[str, str] = {}
        """The calls that began sessions of subagents, by session."""
        self._trigger = ""
        """What began the compaction that the next message is the summary of."""
        self._tail = self._before = ""
        """Of it: the first message that it keeps, and the last one."""
        self._last: dict[str, str] = {}
        """The last message so far, by session."""
        self._origins: set[str] = set()
        self._began: dict[str, int] = {}
        """When sessions were made, in ns."""

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        if "migrated" in line:
            return "in the database"
        kind = next((name for name in ("session", "message", "part") if name in line), "")
        info = line.maybe(kind)
        if info is None:
            return unknown(f"{kind} without an object" if kind else "no type")
        if kind == "part":
            owner = info.get("messageID")
            if self._message is None or (owner is not None and owner != self._message.get("id")):
                return unknown("part of no message")
            self._parts.append(info)
            return "part of a message"
        self.release()
        if kind == "session":
            return self._start(info)
        session = info.text("sessionID")
        if session != self._session and session in self._starts:  # a subagent's is over
            self._session = session
            self.emit(self._starts[session])
        self._message, role = info, info.get("role")
        words = {"assistant": "a model call", "user": "a user's message"}
        return words[role] if role in ("assistant", "user") else unknown(role)

    def release(self) -> None:
        """As ``TranscriptReader``."""
        message, parts = self._message, self._parts
        self._message, self._parts = None, []
        if message is None:
            return
        id_ = wide_id(self._session, message.text("id"))
        for part in parts:
            if part.get("type") == "compaction":
                self._trigger = "auto" if part.get("auto") is True else "manual"
                self._tail = wide_id(self._session, part.text("tail_start_id"))
                self._before = self._last.get(self._session, "")
        self._last[self._session] = id_
        if message.get("role") == "user":
            said = _said(parts)
            texts = [part for part in parts if part.get("type") == "text"]
            own = not said or (bool(texts) and all(p.get("synthetic") is True for p in texts))
            event = UserMessage(id_, _time(message, "created"), said, injected=own)
            event.origin = self._origin(message, said)
            self.emit(event)
        elif message.get("role") == "assistant":
            self._assistant(id_, message, parts)

    def _start(self, info: WireFields) -> str:
        self._session = info.text("id")
        self._trigger = ""
        parent = info.text("parentID")
        start = SessionStart(self._session, info.text("version"), info.text("directory"))
        start.title = info.text("title")
        start.parent_call = self._children.get(self._session, "")
        start.attributes = info.others(*_SESSION)
        if parent not in ("", _REDACTED):
            start.parent_session, start.agent_id = parent, self._session
            start.agent_name = info.text("agent") or "subagent"
        self._starts[self._session] = start
        self._began[self._session] = _time(info, "created")
        return self.emit(start)

    def _assistant(self, id_: str, message: WireFields, parts: list[WireFields]) -> None:
        error, model = message.object("error"), message.object("model")
        failure, finish = error.text("name"), message.text("finish")
        words, created = error.object("data").text("message"), _time(message, "created")
        ended = _time(message, "completed") or max(
            created, *(part.object("time").time("end") for part in parts), 0
        )
        usage, cost = _usage(message, parts)
        call = AgentCall(
            message_id=id_,
            time=ended,
            start=created,
            provider=provider_name(message.text("providerID") or model.text("providerID")),
            model=message.text("modelID") or model.text("modelID"),
            parts=_said(parts),
            usage=usage,
            finish_reasons=(finish,) if finish else (),
            cost_usd=cost,
            error_type=failure,
            error_message=words,
            attributes=message.others(*_MESSAGE),
        )
        if "completed" in message.object("time"):
            call.origin = self._origin(message, call.parts)
        changed = [part for part in parts if part.get("type") in ("patch", "retry")]
        if changed:
            call.attributes["parts"] = [part.others(*_PART) for part in changed]
        self.emit(call)
        for part in parts:
            if part.get("type") == "tool":
                self._run(id_, part)
        if failure == "MessageAbortedError":
            self.emit(Interruption(ended, "user", words))
        is_summary = message.get("summary") is True
        if self._trigger or is_summary:
            summary = [part for part in call.parts if is_summary and part.get("type") == "text"]
            trigger, self._trigger = self._trigger or "auto", ""
            compaction = HistoryCompaction(f"{id_}:summary", ended, summary, trigger)
            if summary and self._tail:
                compaction.kept, compaction.parent = self._tail, self._before
            self._tail = ""
            self.emit(compaction)

    def _origin(self, message: WireFields, said: list[Part]) -> str:
        """What a message and its copies in forks have in common. Two sessions may begin in the same
        millisecond; a copy is older than its session."""
        if not (created := _time(message, "created")):
            return ""
        facts = [message.get(name) for name in ("role", "time", "tokens", "cost", "modelID")]
        origin = hashlib.sha256(dumps([facts, said])).hexdigest()[:32]
        if origin in self._origins and created >= self._began.get(self._session, 0):
            return ""
        self._origins.add(origin)
        return origin

    def _run(self, message: str, part: WireFields) -> None:
        """A tool's run, once it has ended."""
        state, call = part.object("state"), part.text("callID")
        status, times = state.text("status"), state.object("time")
        self._children[child_of(part)] = call
        if status in ("running", "pending"):
            return
        id_ = wide_id(message, part.text("id")) or f"{message}:{call}"
        run = ToolEnd(call, id_, times.time("end"), result_of(state.get("output")))
        run.start, run.name = times.time("start"), part.text("tool")
        attributes = state.others("status", "input", "output", "error", "time", "metadata")
        more = state.object("metadata").others()
        run.attributes = digest_media(attributes | more)
        run.error_message = state.text("error")
        if state.object("metadata").get("exit") not in (None, 0):  # of a command
            run.fail()
        if status == "error":
            run.result = result_of(state.get("error"))
            run.fail("error", run.error_message)
        self.emit(run)


def _time(message: WireFields, name: str) -> int:
    return message.object("time").time(name)


def _said(parts: list[WireFields]) -> list[Part]:
    """What a message says, by its parts."""
    said: list[Part] = []
    for part in parts:
        kind = part.get("type")
        if kind == "tool":
            arguments = part.object("state").get("input", {})
            said.append(call_part(part.text("callID"), part.text("tool"), arguments))
        elif kind not in _SILENT and part.get("ignored") is not True:
            said += parts_of([{k: v for k, v in part.items() if k not in _PART}])
    return said


def _usage(message: WireFields, parts: list[WireFields]) -> tuple[TokenUsage, Decimal | None]:
    steps = [part.object("tokens") for part in parts if part.get("type") == "step-finish"]
    counts = [_counts(step) for step in steps if step]
    tokens = message.object("tokens")
    if len(counts) < 2 and any(count_of(c) for c in (*tokens.values(), tokens.get("cache"))):
        counts = [_counts(tokens)]
    usage = TokenUsage()
    for count in counts:
        usage.add(count)
    if not (usage.input_tokens or usage.output_tokens):
        return TokenUsage(), None
    return usage, dollars_of(message.get("cost"))


def _counts(tokens: WireFields) -> TokenUsage:
    cache = tokens.object("cache")
    read, written = cache.get("read"), cache.get("write")
    sent = sum_of(tokens.get("input"), read, written)
    received, thought = tokens.get("output"), tokens.get("reasoning")
    total = tokens.count("total")
    if total is not None and total == sum_of(sent, received, thought):
        received = sum_of(received, thought)
    return usage_of(sent, output=received, read=read, written=written, reasoning=thought)


def _items(value: Any) -> Sequence[Any] | None:
    """An export's session, messages and parts."""
    document = fields_of(value)
    if "messages" not in document or "info" not in document:
        return None
    items: list[Any] = [{"session": document["info"]}]
    for message in document.objects("messages"):
        items.append({"message": message.get("info")})
        items += [{"part": part} for part in message.objects("parts")]
    return items


def _rows(path: Path) -> Iterator[Any] | None:
    """Those of the database, or a session's in the storage folder. Raises ``SourceLogError``."""
    if is_database(path):
        return database_rows(path)
    return storage_rows(path) if is_stored(path) else None


def _is_own(value: WireFields) -> bool:
    info = value.object("info") or value.object("session") or value
    return "projectID" in info or ("directory" in info and "id" in info)


OPENCODE: Final = CodingTool(
    *("opencode", OpenCodeReader, _is_own, (".local/share/opencode",)),
    is_transcript=lambda path: is_database(path) or is_stored(path),
    variable="XDG_DATA_HOME",
    below=("opencode",),
    values=_items,
    rows=_rows,
)
