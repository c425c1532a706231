"""Sessions of GitHub Copilot CLI.

Source: real files of 1.0.64 to 1.0.68, fixtures of 0.0.420 to 1.0.77, and
mkellerman/bmad-mcp-server ``docs/copilot-cli-session-analysis.md``. ``session-state/<id>`` has
``events.jsonl`` (before: ``<id>.jsonl``): lines ``{type, data, id, timestamp, parentId}``.

Counting: a message has only ``outputTokens``. Input, cache and reasoning tokens stand in
``session.shutdown`` alone, by model, for the whole session: they are attributes of the session
(``session_usage``), never shared out among calls. A request's price is in premium
requests, no currency. A message with words and 0 tokens has not been counted.

The requests of an ``assistant.message`` and the ``tool.execution_*`` lines tell of the same calls.
What a subagent does stands in its session's file, with ``parentToolCallId``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_text
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    add_new,
    call_part,
    parts_of,
    prompt_parts,
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
from turnspan_records.coding.transcripts.json_tool import JsonTool
from turnspan_records.coding.transcripts.wire_values import (
    NOT_AN_OBJECT,
    count_of,
    object_in,
    objects_in,
    other_fields,
    own_note,
    result_of,
    text_in,
    time_of,
    unknown,
    wide_id,
)

_SESSION_USAGE: Final = "session_usage"
_PROVIDER: Final = "github_copilot"
_STATE: Final = (
    "hook",
    "permission",
    "assistant",
    "session",
    "subagent",
    "skill",
    "system",
    "tool",
)
"""The first words of types that say something of the tool; others are unknown."""
_PLACE: Final = ("sessionId", "copilotVersion", "context", "version", "startTime", "resumeTime")
_MESSAGE: Final = ("messageId", "model", "content", "toolRequests", "reasoningText", "outputTokens")
_HIDDEN: Final = ("parentToolCallId", "encryptedContent", "reasoningOpaque")
_REQUEST: Final = ("toolCallId", "name", "arguments", "type")
_RUN: Final = ("toolCallId", "success", "result", "error", "parentToolCallId", "model", "turnId")


class CopilotCli(JsonTool):
    """GitHub Copilot CLI."""

    suffixes = (".jsonl",)

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        parent = path.parent
        old = parent.name in ("session-state", "history-session-state")
        return super().is_transcript(path) and (path.name == "events.jsonl" or old)

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        value = as_dict(first) or {}
        return value.get("type") == "session.start" and "copilotVersion" in object_in(value, "data")

    def reader(self, path: Path) -> CopilotReader:
        """As ``CodingTool``."""
        return CopilotReader(path)


COPILOT: Final = CopilotCli(
    "copilot", ".copilot/session-state", variable="COPILOT_HOME", below="session-state"
)


class CopilotReader:
    """Reads a session. A call is held back until another line tells something: a long message
    stands in several lines."""

    def __init__(self, path: Path) -> None:
        named = path.parent.name if path.name == "events.jsonl" else path.stem
        self._start = SessionStart(named)
        self._agents: dict[str, str] = {}
        """Subagents' names, by the tool call that began them."""
        self._agent = ""
        """The call whose subagent the last event was of."""
        self._call: AgentCall | None = None
        self._reasoning = ""
        self._started: dict[str, tuple[int, str]] = {}
        """When tools have begun, and their names, by call."""
        self._model = ""

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        line = as_dict(value)
        if line is None:
            return NOT_AN_OBJECT
        kind = text_in(line, "type")
        data = object_in(line, "data")
        time = time_of(line.get("timestamp"))
        id_ = wide_id(self._start.session_id, text_in(line, "id"))
        if kind == "assistant.message":
            return self._message(data, id_, time, events)
        if kind.startswith("tool.execution_"):
            return self._tool(kind, data, id_, time, events)
        if kind in ("user.message", "system.message", "system.notification"):
            return self._said(kind, data, id_, time, events)
        if kind.startswith("session.") or kind == "abort":
            return self._session(kind, data, id_, time, events)
        if kind == "assistant.reasoning":
            self._reasoning = text_in(data, "content")
            return "part of a model call"
        if kind.startswith("subagent."):
            self._agents[text_in(data, "toolCallId")] = text_in(data, "agentName")
        known = kind.partition(".")[0] in _STATE
        return own_note(kind) if known else unknown(line.get("type"))

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        if self._call is not None:
            events.append(self._call)
            self._call = None

    def _within(self, data: dict[str, Any], events: list[CodingEvent]) -> None:
        """Go over to the session of a subagent, or back."""
        self.end(events)
        agent = text_in(data, "parentToolCallId")
        if agent == self._agent:
            return
        self._agent = agent
        start = self._start
        if not agent:
            events.append(replace(start, attributes=dict(start.attributes)))
            return
        events.append(
            SessionStart(
                start.session_id,
                start.version,
                agent_name=self._agents.get(agent) or "subagent",
                parent_session=start.session_id,
                parent_call=agent,
            )
        )

    def _session(
        self, kind: str, data: dict[str, Any], id_: str, time: int, events: list[CodingEvent]
    ) -> str:
        start = self._start
        self._model = text_in(data, "newModel") or text_in(data, "selectedModel") or self._model
        if kind in ("session.start", "session.resume"):
            context = object_in(data, "context")
            start.session_id = text_in(data, "sessionId") or start.session_id
            start.version = text_in(data, "copilotVersion") or start.version
            start.folder = text_in(context, "cwd") or start.folder
            repository, host = text_in(context, "repository"), text_in(context, "repositoryHost")
            if repository:
                start.repository = f"https://{host}/{repository}" if host else repository
            start.branch = text_in(context, "branch") or start.branch
            start.commit = text_in(context, "headCommit") or start.commit
            start.attributes.update(other_fields(data, _PLACE))
        elif kind == "session.shutdown":
            ended = sum(name.startswith(_SESSION_USAGE) for name in start.attributes)
            usage = f"{_SESSION_USAGE}_{ended + 1}" if ended else _SESSION_USAGE  # resumed since
            start.attributes[usage] = object_in(data, "modelMetrics")
            start.attributes.update(other_fields(data, ("modelMetrics",)))
        elif kind in ("abort", "session.error"):
            self._within(data, events)
            reason = "user" if kind == "abort" else "error"
            text = text_in(data, "message") or text_in(data, "reason")
            events.append(Interruption(time, reason, text))
            return "an interruption"
        elif kind in ("session.truncation", "session.compaction_complete"):
            self._within(data, events)
            parts = parts_of(text_in(data, "summaryContent"))
            before = data.get("preCompactionTokens", data.get("preTruncationTokensInMessages"))
            events.append(HistoryCompaction(id_, time, parts, "auto", count_of(before)))
            return "a compaction"
        else:
            return own_note(kind)
        self._within({}, events)
        events.append(replace(start, attributes=dict(start.attributes)))
        return "a session"

    def _said(
        self, kind: str, data: dict[str, Any], id_: str, time: int, events: list[CodingEvent]
    ) -> str:
        self._within(data, events)
        if kind == "system.message":
            self._start.instructions = text_in(data, "content")
            events.append(replace(self._start, attributes={}))
            return "part of a session: its instructions"
        content = data.get("content")
        parts = prompt_parts(content, data.get("transformedContent") or content)
        parts += parts_of(objects_in(data, "attachments"))
        own = kind != "user.message"
        events.append(UserMessage(id_, time, parts, injected=own))
        return "what the tool put in" if own else "a user's message"

    def _message(self, data: dict[str, Any], id_: str, time: int, events: list[CodingEvent]) -> str:
        message = wide_id(self._start.session_id, text_in(data, "messageId")) or id_
        call = self._call if self._call and self._call.message_id == message else None
        said = "part of a model call" if call is not None else "a model call"
        if call is None:
            self._within(data, events)
            model = text_in(data, "model") or self._model
            call = AgentCall(message, time, 0, _PROVIDER, model, [], TokenUsage())
        reasoning = text_in(data, "reasoningText") or self._reasoning
        self._reasoning = ""
        parts = [reasoning_part(reasoning)] if reasoning else []
        parts += parts_of(data.get("content"))
        parts += [
            call_part(
                text_in(request, "toolCallId"),
                text_in(request, "name"),
                request.get("arguments", {}),
                other_fields(request, _REQUEST),
            )
            for request in objects_in(data, "toolRequests")
        ]
        add_new(call.parts, parts)
        call.time = time
        written = max(count_of(data.get("outputTokens")) or 0, call.usage.output_tokens or 0)
        call.usage = TokenUsage(output_tokens=written or None)
        call.attributes.update(other_fields(data, (*_MESSAGE, *_HIDDEN)))
        self._call = call
        return said

    def _tool(
        self, kind: str, data: dict[str, Any], id_: str, time: int, events: list[CodingEvent]
    ) -> str:
        call = text_in(data, "toolCallId")
        if kind != "tool.execution_complete":
            self._started.setdefault(call, (time, text_in(data, "toolName")))
            return "part of a tool's result"
        self._within(data, events)
        start, name = self._started.pop(call, (0, ""))
        result, error = object_in(data, "result"), object_in(data, "error")
        failed = data.get("success") is False
        said = as_text(result.get("content"))
        events.append(
            ToolEnd(
                call_id=call,
                message_id=id_,
                time=time,
                result=result_of(result.get("content", data.get("result"))),
                start=start,
                name=name,
                failed=failed,
                error_type=(text_in(error, "code") or "error") if failed else "",
                error_message=(text_in(error, "message") or said) if failed else "",
                attributes=other_fields(data, _RUN) | other_fields(result, ("content",)),
            )
        )
        return "a tool's result"
