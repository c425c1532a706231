"""The lines of Claude Code's transcripts -> events."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from turnspan.content.media import digest_media
from turnspan.content.model import Part, as_dict, as_text, unknown_part
from turnspan_records.coding.transcripts.claude_calls import (
    ClaudeAgent,
    ClaudeLine,
    ReplyUnderWay,
    blocks_of,
    parts_of,
    short_values,
)
from turnspan_records.coding.transcripts.events import (
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.wire_values import (
    object_in,
    own_note,
    result_of,
    text_in,
    time_of,
    unknown,
)

KIND: Final = "claude-code"
_TYPES: Final = frozenset({"user", "assistant", "system", "progress", "attachment", "summary"})
NOTES: Final = frozenset(
    {
        *("file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "mode"),
        *("permission-mode", "worktree-state", "agent-name", "bridge-session", "started"),
        *("result", "relocated", "frame-link", "atis-latch", "tag", "agent-setting"),
    }
)
"""Lines of the tool's own that say nothing of what happened."""
TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_INJECTED: Final = (
    *("<local-command-", "<bash-", "<task-notification", "<system-reminder", "Caveat:"),
)
_COMMAND_PARTS: Final = re.compile(r"<command-(name|args)>(.*?)</command-", re.DOTALL)
_COMMAND: Final = ("<command-name>", "<command-message>")
_INTERRUPTED: Final = "[Request interrupted by user"
_REJECTED: Final = "The user doesn't want to"
_TASKS: Final = frozenset({"Task", "Agent"})


class ClaudeReader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._meta: dict[str, Any] | None = None
        self._nested = path.parent.name == "subagents"
        self._session = path.parent.parent.name if self._nested else path.stem
        self._agents: dict[str, ClaudeAgent] = {"": ClaudeAgent("")}
        self._said: tuple[str, ...] = ()
        self._messages: dict[str, str] = {}
        """The message of each line, by the line's id; of those between the one before."""
        self._agent_of: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        """Calls that began subagents, by their prompts."""
        self._kinds: dict[str, str] = {}
        """What kinds of subagents they began."""
        self._asked: dict[str, int] = {}
        self._requests: dict[str, str] = {}
        self._lines: set[str] = set()
        self._boundary: dict[str, Any] = {}
        self._time = 0
        types = {"assistant": self._assistant, "user": self._user, "attachment": self._attachment}
        self._readers = types

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        line = as_dict(value)
        kind = as_text((line or {}).get("type"))
        if line is None or not kind:
            return "unknown: no type"
        if kind in TITLES:
            return self._title(line, kind, events)
        if kind == "pr-link":
            told = {"pull_request": text_in(line, "prUrl")}
            self._tell(SessionStart(self._session, attributes=told), events)
            return "part of a session: pr-link"
        if kind in NOTES:
            return own_note(kind)
        if kind not in _TYPES:
            return unknown(kind)
        if kind == "progress":
            return self._progress(line, events)
        uuid = text_in(line, "uuid") or f"{self._path.stem}:{len(self._lines)}"
        if uuid in self._lines:
            return "a line that stands here twice"
        self._lines.add(uuid)
        self._time = time_of(line.get("timestamp")) or self._time
        return self._message(line, uuid, events)

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        for agent in self._agents.values():
            if agent.reply is not None or agent.command:
                self._speak({}, agent, events)
                self._flush(agent, events)
                self._command(agent, events)

    # -- lines of messages ------------------

    def _message(self, line: dict[str, Any], uuid: str, events: list[CodingEvent]) -> str:
        agent = self._agent(line, uuid)
        self._speak(line, agent, events)
        parent = self._messages.get(text_in(line, "parentUuid"), "")
        self._messages[uuid] = parent
        read = self._readers.get(as_text(line["type"]))
        if read is not None:
            return read(ClaudeLine(line, agent, uuid, parent), events)
        subtype = text_in(line, "subtype")
        if subtype == "compact_boundary":
            self._flush(agent, events)
            self._boundary = object_in(line, "compactMetadata")
            self._messages[uuid] = f"{uuid}:compaction"
            self._boundary["message_id"] = f"{uuid}:compaction"
            return "part of a compaction"
        return own_note(f"system {subtype}".rstrip())

    def _assistant(self, at: ClaudeLine, events: list[CodingEvent]) -> str:
        line, agent, uuid, parent = at.value, at.agent, at.uuid, at.parent
        message = object_in(line, "message")
        blocks = blocks_of(message.get("content"))
        if message.get("model") == "<synthetic>" or line.get("isApiErrorMessage") is True:
            self._flush(agent, events)
            parts = parts_of("assistant", blocks)
            event = UserMessage(uuid, self._time, parts, parent, injected=True, role="assistant")
            events.append(event)
            self._messages[uuid] = uuid
            if line.get("isApiErrorMessage") is True:
                text = "\n".join(text_in(block, "text") for block in blocks)
                events.append(Interruption(self._time, "error", text))
                return "an error of the API, as the tool shows it"
            return "the tool's own words"
        request = text_in(line, "requestId")
        message_id = text_in(message, "id") or uuid
        known = self._requests.setdefault(message_id, request)
        if known != request and known and request:
            message_id = f"{message_id}:{request}"
        if agent.reply is None or agent.reply.message_id != message_id:
            self._flush(agent, events)
            self._command(agent, events, answered=True)
            agent.reply = ReplyUnderWay(message_id, parent)
            word = "a model call"
        else:
            word = "part of a model call"
        agent.reply.add(line, message, blocks, self._time)
        self._messages[uuid] = message_id
        for block in blocks:
            if block.get("type") == "tool_use":
                call_id, given = text_in(block, "id"), object_in(block, "input")
                self._asked[call_id] = self._time
                if text_in(block, "name") in _TASKS:
                    self._tasks[text_in(given, "prompt")] = call_id
                    self._kinds[call_id] = text_in(given, "subagent_type")
        return word

    def _user(self, at: ClaudeLine, events: list[CodingEvent]) -> str:
        line, agent, uuid, parent = at.value, at.agent, at.uuid, at.parent
        message = object_in(line, "message")
        blocks = blocks_of(message.get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            self._results(at, results, events)
            blocks = [block for block in blocks if block.get("type") != "tool_result"]
            if not blocks:
                return "a tool's result"
            parent, uuid = self._messages[uuid], f"{uuid}:beside"
        if not agent.id:
            self._settle(line, events)
            self._speak(line, agent, events)
        self._flush(agent, events)
        text = "\n".join(text_in(block, "text") for block in blocks if block.get("text"))
        parts = parts_of("user", blocks)
        self._messages[uuid] = uuid
        if line.get("isCompactSummary") is True:
            return self._compaction(uuid, parent, parts, events)
        interrupted = text.startswith(_INTERRUPTED)
        origin = as_text(object_in(line, "origin").get("kind"))
        event = UserMessage(uuid, self._time, parts, parent)
        event.injected = (
            interrupted
            or line.get("isMeta") is True
            or text.startswith(_INJECTED)
            or origin not in ("", "human", "user")
        )
        if "content" not in message:
            event.parts, event.injected = [unknown_part(line)], True
        if event.injected and not interrupted and agent.command:
            agent.command.append(event)
            return "what the tool put in"
        self._command(agent, events)
        if text.startswith(_COMMAND) and not event.injected:
            said = {name: words.strip() for name, words in _COMMAND_PARTS.findall(text)}
            event.typed = f"{said.get('name', '')} {said.get('args', '')}".strip()
            agent.command = [event]
            return "a command of the user's"
        if interrupted:
            events.append(Interruption(self._time, "user", text.strip("[]")))
        events.append(event)
        if "content" not in message:
            return "unknown: a user's line without content"
        if interrupted:
            return "an interruption"
        return "what the tool put in" if event.injected else "a user's message"

    def _results(
        self, at: ClaudeLine, results: list[dict[str, Any]], events: list[CodingEvent]
    ) -> None:
        line, agent, uuid, parent = at.value, at.agent, at.uuid, at.parent
        beside = object_in(line, "toolUseResult")
        agent_id = text_in(beside, "agentId")
        for place, block in enumerate(results):
            call_id = text_in(block, "tool_use_id")
            message_id = f"{uuid}:{place}" if place else uuid
            result = result_of(block.get("content"))
            failed = block.get("is_error") is True
            rejected = failed and as_text(result).startswith(_REJECTED)
            run = ToolEnd(
                call_id,
                message_id,
                self._time,
                result,
                start=self._asked.get(call_id, 0),
                parent=parent,
                failed=failed,
                error_type="rejected" if rejected else "",
                attributes=short_values("toolUseResult", beside) if len(results) == 1 else {},
            )
            if agent.reply is not None and call_id in agent.reply.call_ids:
                agent.runs.append(run)
            else:
                self._flush(agent, events)
                events.append(run)
            task = call_id in self._kinds
            if agent_id or task:
                self._settle(line, events, call_id)
            if agent_id:
                began = SessionStart(self._session, agent_id=agent_id, parent_call=call_id)
                self._tell(began, events)
            if agent_id or task:
                self._speak(line, agent, events)
            parent = message_id
        self._messages[uuid] = parent

    def _attachment(self, at: ClaudeLine, events: list[CodingEvent]) -> str:
        line, agent, uuid, parent = at.value, at.agent, at.uuid, at.parent
        attachment = object_in(line, "attachment")
        kind = text_in(attachment, "type")
        if kind.startswith("hook_") and kind != "hook_additional_context":
            return own_note(f"attachment {kind}")
        prompt = attachment.get("prompt") if kind == "queued_command" else None
        blocks = blocks_of(prompt) if prompt else []
        parts = parts_of("user", blocks) if blocks else [unknown_part(digest_media(attachment))]
        event = UserMessage(uuid, self._time, parts, parent, injected=True)
        if agent.reply is None:
            events.append(event)
        else:
            agent.reply.after.append(event)
        self._messages[uuid] = uuid
        return "a user's message within the turn" if blocks else "what the tool put in"

    def _compaction(
        self, uuid: str, parent: str, parts: list[Part], events: list[CodingEvent]
    ) -> str:
        said, self._boundary = self._boundary, {}
        before = said.get("preTokens")
        message_id = text_in(said, "message_id") or uuid
        self._messages[uuid] = message_id
        trigger = text_in(said, "trigger")
        tokens = before if isinstance(before, int) else None
        event = HistoryCompaction(message_id, self._time, parts, trigger, tokens, parent)
        segment = object_in(said, "preservedSegment")
        last = text_in(segment, "tailUuid")
        if last in self._messages:
            event.parent = self._messages[last]
            event.kept = self._messages.get(text_in(segment, "headUuid"), "")
            self._messages[last] = message_id  # what follows it follows the summary as well
        events.append(event)
        return "a compaction"

    # -- lines about others ------------------

    def _progress(self, line: dict[str, Any], events: list[CodingEvent]) -> str:
        data = object_in(line, "data")
        kind, inner = text_in(data, "type"), as_dict(data.get("message"))
        uuid = text_in(line, "uuid")
        if uuid:
            parent = text_in(line, "parentUuid")
            self._messages[uuid] = self._messages.get(parent, "")
            if parent in self._agent_of:
                self._agent_of[uuid] = self._agent_of[parent]
        if kind != "agent_progress" or inner is None:
            return own_note(f"progress {kind}".rstrip())
        agent_id = text_in(data, "agentId")
        file = self._path.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"
        if file.exists():
            return "what a subagent's own file has"
        agent = self._agents.setdefault(agent_id, ClaudeAgent(agent_id))
        agent.parent_call = text_in(line, "parentToolUseID") or agent.parent_call
        beside: dict[str, Any] = {}
        beside.update((key, line[key]) for key in ("sessionId", "version", "cwd") if key in line)
        time = inner.get("timestamp") or line.get("timestamp")
        whole = {**beside, **inner, "isSidechain": True, "agentId": agent_id, "timestamp": time}
        return self.read(whole, events)

    def _title(self, line: dict[str, Any], kind: str, events: list[CodingEvent]) -> str:
        title = as_text(line.get(TITLES[kind]))
        if kind == "summary" and text_in(line, "leafUuid") not in self._messages:
            return own_note("a summary of another session")
        self._tell(SessionStart(self._session, title=title), events)
        return "part of a session: its title"

    # -- whose lines ------------------

    def _agent(self, line: dict[str, Any], uuid: str) -> ClaudeAgent:
        if line.get("isSidechain") is not True:
            return self._agents[""]
        parent = text_in(line, "parentUuid")
        agent_id = text_in(line, "agentId") or self._agent_of.get(parent) or uuid
        self._agent_of[uuid] = agent_id
        agent = self._agents.setdefault(agent_id, ClaudeAgent(agent_id))
        if not agent.parent_call and line.get("type") == "user":
            blocks = blocks_of(object_in(line, "message").get("content"))
            text = "\n".join(text_in(block, "text") for block in blocks)
            agent.parent_call = self._tasks.get(text, "")
        return agent

    def _speak(self, line: dict[str, Any], agent: ClaudeAgent, events: list[CodingEvent]) -> None:
        """Say whose what follows is, where that is not as before."""
        forked = as_text(object_in(line, "forkedFrom").get("sessionId"))
        if not self._nested:
            self._session = text_in(line, "sessionId") or self._session
        session, branch = self._session, text_in(line, "gitBranch")
        version, folder = text_in(line, "version"), text_in(line, "cwd")
        said = (session, agent.id, agent.parent_call, forked, version, folder, branch)
        if said != self._said:
            self._said = said
            start = SessionStart(session, version, folder, branch=branch)
            start.agent_id, start.parent_call = agent.id, agent.parent_call
            start.agent_name = self._name(line, agent)
            start.parent_session = forked
            events.append(start)

    def _name(self, line: dict[str, Any], agent: ClaudeAgent) -> str:
        if not agent.id:
            return ""
        meta = self._path.with_suffix(".meta.json")
        if self._nested and self._meta is None:
            self._meta = (as_dict(first_value(meta)) if meta.exists() else None) or {}
        named = text_in(line, "attributionAgent") or self._kinds.get(agent.parent_call, "")
        said = named or as_text((self._meta or {}).get("agentType"))
        agent.name = agent.name or said or f"{KIND} subagent"
        return agent.name

    def _tell(self, start: SessionStart, events: list[CodingEvent]) -> None:
        """Say something of a session; who speaks afterwards says so again."""
        self._said = ()
        events.append(start)

    # -- what is held back ------------------

    def _flush(self, agent: ClaudeAgent, events: list[CodingEvent]) -> None:
        """The reply is whole, and what ran beside it is known."""
        reply, agent.reply = agent.reply, None
        runs, agent.runs = agent.runs, []
        if reply is not None:
            events.append(reply.call())
            events += runs
            events += reply.after

    def _settle(self, line: dict[str, Any], events: list[CodingEvent], call_id: str = "") -> None:
        """The subagent that a call began (or each of them) is over: it says nothing more."""
        for agent in self._agents.values():
            if agent.id and agent.reply is not None and call_id in ("", agent.parent_call):
                self._speak(line, agent, events)
                self._flush(agent, events)

    def _command(
        self, agent: ClaudeAgent, events: list[CodingEvent], *, answered: bool = False
    ) -> None:
        command, agent.command = agent.command, []
        if command:
            command[0].injected = not answered
            events += command
