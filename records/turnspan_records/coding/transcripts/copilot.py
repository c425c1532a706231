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
from typing import Final

from turnspan.content.model import as_text
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import (
    call_part,
    parts_of,
    prompt_parts,
    reasoning_part,
)
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
    WireFields,
    count_of,
    own_note,
    result_of,
    unknown,
    wide_id,
)

_SESSION_USAGE: Final = "session_usage"
_STATE: Final = (
    *("hook", "permission", "assistant", "session", "subagent", "skill", "system", "tool"),
)
"""The first words of types that say something of the tool; others are unknown."""
_PLACE: Final = ("sessionId", "copilotVersion", "context", "version", "startTime", "resumeTime")
_MESSAGE: Final = (
    *("messageId", "model", "content", "toolRequests", "reasoningText", "outputTokens"),
    *("parentToolCallId", "encryptedContent", "reasoningOpaque"),
)
_REQUEST: Final = ("toolCallId", "name", "arguments", "type")
_RUN: Final = ("toolCallId", "success", "result", "error", "parentToolCallId", "model", "turnId")


class CopilotReader(TranscriptReader):
    """Reads a session. A call is held back until another line tells something: a long message
    stands in several lines."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.start = SessionStart(path.parent.name if path.name == "events.jsonl" else path.stem)
        self._agents: dict[str, str] = {}
        """Subagents' names, by the tool call that began them."""
        self._agent = ""
        """The call whose subagent the last event was of."""
        self._reasoning = ""
        self._started: dict[str, tuple[int, str]] = {}
        """When tools have begun, and their names, by call."""
        self._model = self._id = ""
        self._time = 0

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        kind, data = line.text("type"), line.object("data")
        self._time = line.time("timestamp")
        self._id = wide_id(self.start.session_id, line.text("id"))
        if kind == "assistant.message":
            return self._message(data)
        if kind.startswith("tool.execution_"):
            return self._tool(kind, data)
        if kind in ("user.message", "system.message", "system.notification"):
            return self._said(kind, data)
        if kind.startswith("session.") or kind == "abort":
            return self._session(kind, data)
        if kind == "assistant.reasoning":
            self._reasoning = data.text("content")
            return "part of a model call"
        if kind.startswith("subagent."):
            self._agents[data.text("toolCallId")] = data.text("agentName")
        known = kind.partition(".")[0] in _STATE
        return own_note(kind) if known else unknown(line.get("type"))

    def _within(self, data: WireFields) -> None:
        """Go over to the session of a subagent, or back."""
        self.release()
        agent, start = data.text("parentToolCallId"), self.start
        if agent == self._agent:
            return
        self._agent = agent
        if not agent:
            self.tell()
            return
        name = self._agents.get(agent) or "subagent"
        nested = SessionStart(start.session_id, start.version, agent_name=name, parent_call=agent)
        nested.parent_session = start.session_id
        self.emit(nested)

    def _session(self, kind: str, data: WireFields) -> str:
        start = self.start
        self._model = data.text("newModel") or data.text("selectedModel") or self._model
        if kind in ("session.start", "session.resume"):
            context = data.object("context")
            start.session_id = data.text("sessionId") or start.session_id
            start.version = data.text("copilotVersion") or start.version
            start.folder = context.text("cwd") or start.folder
            repository, host = context.text("repository"), context.text("repositoryHost")
            if repository:
                start.repository = f"https://{host}/{repository}" if host else repository
            start.branch = context.text("branch") or start.branch
            start.commit = context.text("headCommit") or start.commit
            start.attributes.update(data.others(*_PLACE))
        elif kind == "session.shutdown":
            ended = sum(name.startswith(_SESSION_USAGE) for name in start.attributes)
            usage = f"{_SESSION_USAGE}_{ended + 1}" if ended else _SESSION_USAGE  # resumed since
            start.attributes[usage] = dict(data.object("modelMetrics"))
            start.attributes.update(data.others("modelMetrics"))
        elif kind in ("abort", "session.error"):
            self._within(data)
            text = data.text("message") or data.text("reason")
            return self.emit(Interruption(self._time, "user" if kind == "abort" else "error", text))
        elif kind in ("session.truncation", "session.compaction_complete"):
            self._within(data)
            summary = parts_of(data.text("summaryContent"))
            before = data.get("preCompactionTokens", data.get("preTruncationTokensInMessages"))
            compaction = HistoryCompaction(self._id, self._time, summary, "auto", count_of(before))
            return self.emit(compaction)
        else:
            return own_note(kind)
        self._within(WireFields())
        return self.tell()

    def _said(self, kind: str, data: WireFields) -> str:
        self._within(data)
        if kind == "system.message":
            self.start.instructions = data.text("content")
            self.emit(replace(self.start, attributes={}))
            return "part of a session: its instructions"
        content = data.get("content")
        parts = prompt_parts(content, data.get("transformedContent") or content)
        parts += parts_of(data.objects("attachments"))
        own = kind != "user.message"
        return self.emit(UserMessage(self._id, self._time, parts, injected=own))

    def _message(self, data: WireFields) -> str:
        message = wide_id(self.start.session_id, data.text("messageId")) or self._id
        known = self.held_call
        if known is None or known.message_id != message:
            self._within(data)
            known = None
        reasoning, self._reasoning = data.text("reasoningText") or self._reasoning, ""
        parts = [reasoning_part(reasoning)] if reasoning else []
        parts += parts_of(data.get("content"))
        parts += [
            call_part(
                request.text("toolCallId"),
                request.text("name"),
                request.get("arguments", {}),
                request.others(*_REQUEST),
            )
            for request in data.objects("toolRequests")
        ]
        before = None if known is None else known.usage.output_tokens
        written = max(data.count("outputTokens") or 0, before or 0)
        model = data.text("model") or ("" if known is not None else self._model)
        call = AgentCall(message, self._time, 0, "github_copilot", model, parts)
        call.usage = TokenUsage(output_tokens=written or None)
        call.attributes = data.others(*_MESSAGE)
        return self.hold(call)

    def _tool(self, kind: str, data: WireFields) -> str:
        call = data.text("toolCallId")
        if kind != "tool.execution_complete":
            self._started.setdefault(call, (self._time, data.text("toolName")))
            return "part of a tool's result"
        self._within(data)
        start, name = self._started.pop(call, (0, ""))
        result, error = data.object("result"), data.object("error")
        run = ToolEnd(call, self._id, self._time, None, start, name)
        run.result = result_of(result.get("content", data.get("result")))
        run.attributes = data.others(*_RUN) | result.others("content")
        if data.get("success") is False:
            said = as_text(result.get("content"))
            run.fail(error.text("code") or "error", error.text("message") or said)
        return self.emit(run)


def _is_events(path: Path) -> bool:
    old = path.parent.name in ("session-state", "history-session-state")
    return path.suffix == ".jsonl" and (path.name == "events.jsonl" or old)


def _is_copilots(value: WireFields) -> bool:
    return value.get("type") == "session.start" and "copilotVersion" in value.object("data")


COPILOT: Final = CodingTool(
    *("copilot", CopilotReader, _is_copilots, (".copilot/session-state",), _is_events),
    variable="COPILOT_HOME",
    below=("session-state",),
)
