"""Claude Code's transcripts: lines of JSON in ``~/.claude/projects/<folder>/<session>.jsonl``.

Learned from files of versions 1.0.0 to 2.1.220 and from the fixtures of other readers (there is no
public description). What has to be known:

- A reply is a line for each of its blocks, all with the message's id and the request's; the usage
  of the last one holds, and some versions (2.1.4 to 2.1.50) never write the final one.
- Tools' results are user messages. ``toolUseResult`` of a Task has the usage of the subagent's last
  call: it is not added.
- A subagent's lines have ``isSidechain``: in the session's file (1.0), in ``agent-<id>.jsonl``
  beside it (2.0), in ``<session>/subagents/`` (2.1), and once more in ``agent_progress`` lines.
- ``input_tokens`` is without what is read from and written to the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.media import digest_media
from turnspan.content.model import (
    Part,
    as_dict,
    as_list,
    as_text,
    dumps_text,
    text_part,
    unknown_part,
)
from turnspan.dialects import anthropic_messages
from turnspan.dialects.convert import convert_message
from turnspan_records.coding.transcripts.claude_calls import ReplyUnderWay
from turnspan_records.coding.transcripts.events import (
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolRun,
    TranscriptReader,
    UserMessage,
)
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.importing.transcripts.fields import nanoseconds

KIND: Final = "claude-code"
_TYPES: Final = frozenset({"user", "assistant", "system", "progress", "attachment", "summary"})
_NOTES: Final = frozenset(
    {
        *("file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "mode"),
        *("permission-mode", "worktree-state", "agent-name", "bridge-session", "started"),
        *("result", "relocated", "frame-link", "atis-latch", "tag", "agent-setting"),
    }
)
"""Lines of the tool's own that say nothing of what happened."""
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_INJECTED: Final = (
    "<local-command-",
    "<bash-",
    "<task-notification",
    "<system-reminder",
    "Caveat:",
)
_COMMAND: Final = ("<command-name>", "<command-message>")
_INTERRUPTED: Final = "[Request interrupted by user"
_REJECTED: Final = "The user doesn't want to"
_TASKS: Final = frozenset({"Task", "Agent"})
_MOST_OF_RESULT: Final = 4_096
"""Characters of a value of ``toolUseResult`` that is kept: longer ones repeat the result."""


class _Agent:
    """Whose lines are read: the session's own, or a subagent's."""

    def __init__(self, agent_id: str) -> None:
        self.id = agent_id
        self.parent_call = ""
        self.reply: ReplyUnderWay | None = None
        self.runs: list[ToolRun] = []
        """Results of tools that ran while their reply was being written."""
        self.command: UserMessage | None = None
        """A command with a slash: a prompt if the model answers, else the tool's own."""


class ClaudeReader:
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._session = path.parent.parent.name if path.parent.name == "subagents" else path.stem
        self._agents: dict[str, _Agent] = {"": _Agent("")}
        self._said: tuple[str, ...] = ()
        self._messages: dict[str, str] = {}
        """The message of each line, by the line's id; of those between the one before."""
        self._agent_of: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        self._asked: dict[str, int] = {}
        self._requests: dict[str, str] = {}
        self._lines: set[str] = set()
        self._boundary: dict[str, Any] = {}
        self._time = 0

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """As ``TranscriptReader``."""
        line = as_dict(value)
        kind = as_text((line or {}).get("type"))
        if line is None or not kind:
            return "unknown: no type"
        if kind in _TITLES:
            return self._title(line, kind, events)
        if kind == "pr-link":
            self._start(line, events, attributes={"pull_request": as_text(line.get("prUrl"))})
            return "part of a session: pr-link"
        if kind in _NOTES:
            return f"the tool's own note: {kind}"
        if kind not in _TYPES:
            return f"unknown: {kind}"
        if kind == "progress":
            return self._progress(line, events)
        uuid = as_text(line.get("uuid"))
        if uuid:
            if uuid in self._lines:
                return "a line that stands here twice"
            self._lines.add(uuid)
        self._time = nanoseconds(line.get("timestamp")) or self._time
        return self._message(line, kind, uuid, events)

    def end(self, events: list[CodingEvent]) -> None:
        """As ``TranscriptReader``."""
        for agent in self._agents.values():
            if agent.reply is not None or agent.command is not None:
                self._speak({}, agent, events)
                self._flush(agent, events)
                self._command(agent, events, answered=False)

    # -- lines of messages ------------------

    def _message(
        self, line: dict[str, Any], kind: str, uuid: str, events: list[CodingEvent]
    ) -> str:
        agent = self._agent(line, uuid)
        self._speak(line, agent, events)
        parent = self._messages.get(as_text(line.get("parentUuid")), "")
        if uuid:
            self._messages[uuid] = parent
        if kind == "assistant":
            return self._assistant(line, agent, uuid, parent, events)
        if kind == "user":
            return self._user(line, agent, uuid, parent, events)
        if kind == "attachment":
            return self._attachment(line, agent, uuid, parent, events)
        subtype = as_text(line.get("subtype"))
        if subtype == "compact_boundary":
            self._flush(agent, events)
            self._boundary = as_dict(line.get("compactMetadata")) or {}
            self._messages[uuid] = f"{uuid}:compaction"
            self._boundary["message_id"] = f"{uuid}:compaction"
            return "part of a compaction"
        return f"the tool's own note: system {subtype}".rstrip()

    def _assistant(
        self,
        line: dict[str, Any],
        agent: _Agent,
        uuid: str,
        parent: str,
        events: list[CodingEvent],
    ) -> str:
        message = as_dict(line.get("message")) or {}
        blocks = _blocks(message.get("content"))
        if message.get("model") == "<synthetic>" or line.get("isApiErrorMessage") is True:
            self._flush(agent, events)
            parts = _parts("assistant", blocks)
            event = UserMessage(uuid, self._time, parts, parent, injected=True, role="assistant")
            events.append(event)
            self._messages[uuid] = uuid
            if line.get("isApiErrorMessage") is True:
                text = "\n".join(as_text(block.get("text")) for block in blocks)
                events.append(Interruption(self._time, "error", text))
                return "an error of the API, as the tool shows it"
            return "the tool's own words"
        request = as_text(line.get("requestId"))
        message_id = as_text(message.get("id")) or uuid
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
                call_id, given = as_text(block.get("id")), as_dict(block.get("input")) or {}
                self._asked[call_id] = self._time
                if block.get("name") in _TASKS:
                    self._tasks[as_text(given.get("prompt"))] = call_id
        return word

    def _user(
        self,
        line: dict[str, Any],
        agent: _Agent,
        uuid: str,
        parent: str,
        events: list[CodingEvent],
    ) -> str:
        message = as_dict(line.get("message")) or {}
        blocks = _blocks(message.get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            self._results(line, agent, uuid, parent, results, events)
            blocks = [block for block in blocks if block.get("type") != "tool_result"]
            if not blocks:
                return "a tool's result"
            parent, uuid = self._messages[uuid], f"{uuid}:beside"
        self._flush(agent, events)
        self._command(agent, events, answered=False)
        text = "\n".join(as_text(block.get("text")) for block in blocks if block.get("text"))
        parts = _parts("user", blocks)
        self._messages[uuid] = uuid
        if line.get("isCompactSummary") is True:
            return self._compaction(uuid, parent, parts, events)
        interrupted = text.startswith(_INTERRUPTED)
        if interrupted:
            events.append(Interruption(self._time, "user", text.strip("[]")))
        origin = as_text((as_dict(line.get("origin")) or {}).get("kind"))
        injected = (
            interrupted
            or line.get("isMeta") is True
            or text.startswith(_INJECTED)
            or origin not in ("", "human", "user")
        )
        event = UserMessage(uuid, self._time, parts, parent, injected=injected)
        if text.startswith(_COMMAND) and not injected:
            agent.command = event
            return "a command of the user's"
        if "content" not in message:
            events.append(
                UserMessage(uuid, self._time, [unknown_part(line)], parent, injected=True)
            )
            return "unknown: a user's line without content"
        events.append(event)
        if interrupted:
            return "an interruption"
        return "what the tool put in" if injected else "a user's message"

    def _results(
        self,
        line: dict[str, Any],
        agent: _Agent,
        uuid: str,
        parent: str,
        results: Sequence[dict[str, Any]],
        events: list[CodingEvent],
    ) -> None:
        structured = line.get("toolUseResult")
        beside = as_dict(structured) or {}
        agent_id = as_text(beside.get("agentId"))
        for place, block in enumerate(results):
            call_id = as_text(block.get("tool_use_id"))
            message_id = f"{uuid}:{place}" if place else uuid
            result = _result(block.get("content"))
            failed = block.get("is_error") is True
            rejected = failed and as_text(result).startswith(_REJECTED)
            run = ToolRun(
                call_id,
                message_id,
                self._time,
                result,
                start=self._asked.get(call_id, 0),
                parent=parent,
                failed=failed,
                error_type="rejected" if rejected else "",
                attributes=_small({"toolUseResult": beside}) if len(results) == 1 else {},
            )
            if agent.reply is not None and call_id in agent.reply.call_ids:
                agent.runs.append(run)
            else:
                self._flush(agent, events)
                events.append(run)
            if agent_id:
                self._start(line, events, agent_id=agent_id, parent_call=call_id)
                self._speak(line, agent, events)
            parent = message_id
        self._messages[uuid] = parent

    def _attachment(
        self,
        line: dict[str, Any],
        agent: _Agent,
        uuid: str,
        parent: str,
        events: list[CodingEvent],
    ) -> str:
        attachment = as_dict(line.get("attachment")) or {}
        kind = as_text(attachment.get("type"))
        if kind.startswith("hook_") and kind != "hook_additional_context":
            return f"the tool's own note: attachment {kind}"
        prompt = attachment.get("prompt") if kind == "queued_command" else None
        blocks = _blocks(prompt) if prompt else []
        parts = _parts("user", blocks) if blocks else [unknown_part(digest_media(attachment))]
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
        message_id = as_text(said.get("message_id")) or uuid
        self._messages[uuid] = message_id
        trigger = as_text(said.get("trigger"))
        tokens = before if isinstance(before, int) else None
        events.append(HistoryCompaction(message_id, self._time, parts, trigger, tokens, parent))
        return "a compaction"

    # -- lines about others ------------------

    def _progress(self, line: dict[str, Any], events: list[CodingEvent]) -> str:
        data = as_dict(line.get("data")) or {}
        kind, inner = as_text(data.get("type")), as_dict(data.get("message"))
        uuid = as_text(line.get("uuid"))
        if uuid:
            parent = as_text(line.get("parentUuid"))
            self._messages[uuid] = self._messages.get(parent, "")
            if parent in self._agent_of:
                self._agent_of[uuid] = self._agent_of[parent]
        if kind != "agent_progress" or inner is None:
            return f"the tool's own note: progress {kind}".rstrip()
        agent_id = as_text(data.get("agentId"))
        file = self._path.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"
        if file.exists():
            return "what a subagent's own file has"
        agent = self._agents.setdefault(agent_id, _Agent(agent_id))
        agent.parent_call = as_text(line.get("parentToolUseID")) or agent.parent_call
        beside: dict[str, Any] = {}
        beside.update((key, line[key]) for key in ("sessionId", "version", "cwd") if key in line)
        time = inner.get("timestamp") or line.get("timestamp")
        whole = {**beside, **inner, "isSidechain": True, "agentId": agent_id, "timestamp": time}
        return self.read(whole, events)

    def _title(self, line: dict[str, Any], kind: str, events: list[CodingEvent]) -> str:
        title = as_text(line.get(_TITLES[kind]))
        if kind == "summary" and as_text(line.get("leafUuid")) not in self._messages:
            return "the tool's own note: a summary of another session"
        self._start(line, events, title=title)
        return "part of a session: its title"

    # -- whose lines ------------------

    def _agent(self, line: dict[str, Any], uuid: str) -> _Agent:
        if line.get("isSidechain") is not True:
            return self._agents[""]
        parent = as_text(line.get("parentUuid"))
        agent_id = as_text(line.get("agentId")) or self._agent_of.get(parent) or uuid
        self._agent_of[uuid] = agent_id
        agent = self._agents.get(agent_id)
        if agent is None:
            agent = self._agents[agent_id] = _Agent(agent_id)
        if not agent.parent_call and line.get("type") == "user":
            blocks = _blocks((as_dict(line.get("message")) or {}).get("content"))
            text = "\n".join(as_text(block.get("text")) for block in blocks)
            agent.parent_call = self._tasks.get(text, "")
        return agent

    def _speak(self, line: Mapping[str, Any], agent: _Agent, events: list[CodingEvent]) -> None:
        """Say whose what follows is, where that is not as before."""
        forked = as_text((as_dict(line.get("forkedFrom")) or {}).get("sessionId"))
        session = as_text(line.get("sessionId")) or self._session
        self._session = session
        version, folder = as_text(line.get("version")), as_text(line.get("cwd"))
        branch = as_text(line.get("gitBranch"))
        said = (session, agent.id, agent.parent_call, forked, version, folder, branch)
        if said != self._said:
            self._said = said
            start = SessionStart(session, version, folder, branch=branch)
            start.agent_id, start.parent_call = agent.id, agent.parent_call
            start.agent_name = f"{KIND} subagent" if agent.id else ""
            start.parent_session = forked
            events.append(start)

    def _start(
        self,
        line: dict[str, Any],
        events: list[CodingEvent],
        *,
        agent_id: str = "",
        parent_call: str = "",
        title: str = "",
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """Say something of a session; who speaks afterwards says so again."""
        self._said = ()
        session = as_text(line.get("sessionId")) or self._session
        start = SessionStart(session, agent_id=agent_id, parent_call=parent_call, title=title)
        start.attributes = attributes or {}
        events.append(start)

    # -- what is held back ------------------

    def _flush(self, agent: _Agent, events: list[CodingEvent]) -> None:
        """The reply is whole, and what ran beside it is known."""
        reply, agent.reply = agent.reply, None
        runs, agent.runs = agent.runs, []
        if reply is not None:
            events.append(reply.call())
            events += runs
            events += reply.after

    def _command(self, agent: _Agent, events: list[CodingEvent], *, answered: bool) -> None:
        command, agent.command = agent.command, None
        if command is not None:
            command.injected = not answered
            events.append(command)


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found = [
        block if isinstance(block, dict) else {"type": "text", "text": as_text(block)}
        for block in as_list(content) or []
    ]
    return [as_dict(block) or {} for block in found]


def _parts(role: str, blocks: list[dict[str, Any]]) -> list[Part]:
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return [text_part(as_text(blocks[0]["text"]))]
    return convert_message(anthropic_messages.NAME, {"role": role, "content": blocks})["parts"]


def _result(content: Any) -> Any:
    """What a tool brought: text where it is nothing else."""
    blocks = as_list(content)
    if blocks is None:
        return content
    texts = [as_dict(block) or {} for block in blocks]
    if all(block.get("type") == "text" and isinstance(block.get("text"), str) for block in texts):
        return "\n".join(block["text"] for block in texts)
    return digest_media(blocks)


def _small(said: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The values that are short."""
    found: dict[str, Any] = {}
    for name, values in said.items():
        short: dict[str, Any] = {}
        for key, value in values.items():
            if isinstance(value, str) and len(value) > _MOST_OF_RESULT:
                continue
            reduced = digest_media(value)
            if len(dumps_text(reduced)) <= _MOST_OF_RESULT:
                short[key] = reduced
        if short:
            found[name] = dumps_text(short)
    return found


class _ClaudeCode:
    kind = KIND

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """``CLAUDE_CONFIG_DIR`` may name several, with commas between."""
        named = [each for each in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if each]
        places = [Path(each) for each in named] or [home / ".claude", home / ".config" / "claude"]
        return [place / "projects" for place in places]

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.suffix == ".jsonl"

    def is_own(self, first: Any) -> bool:
        """As ``CodingTool``."""
        line = as_dict(first) or {}
        kind = line.get("type")
        if kind in ("user", "assistant"):
            return "message" in line and not {"payload", "data"} & line.keys()
        if kind in ("system", "progress", "attachment"):
            return "uuid" in line or "sessionId" in line
        return kind in _NOTES or (kind in _TITLES and ("leafUuid" in line or "sessionId" in line))

    def reader(self, path: Path) -> TranscriptReader:
        """As ``CodingTool``."""
        return ClaudeReader(path)

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """As ``CodingTool``: an array of lines is what some exports are."""
        return as_list(value)

    def rows(self, path: Path) -> None:
        """As ``CodingTool``: files have lines."""

    def mains(self, paths: Sequence[Path]) -> Mapping[Path, Path]:
        """As ``NestedFiles``."""
        known = set(paths)
        found: dict[Path, Path] = {}
        for path in paths:
            if not path.name.startswith("agent-"):
                continue
            if path.parent.name == "subagents":
                main = path.parent.parent.with_suffix(".jsonl")
            else:
                session = as_text((as_dict(first_value(path)) or {}).get("sessionId"))
                main = path.with_name(f"{session}.jsonl")
            if main in known:
                found[path] = main
        return found


CLAUDE_CODE: Final = _ClaudeCode()
