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
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_list, as_text, unknown_part
from turnspan_records.coding.transcripts.claude_calls import (
    ClaudeAgent,
    ReplyUnderWay,
    attached_part,
    blocks_of,
    parts_of,
    short_values,
    typed_command,
    words_of,
)
from turnspan_records.coding.transcripts.events import (
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.lines import first_value
from turnspan_records.coding.transcripts.reader import CodingTool, TranscriptReader
from turnspan_records.coding.transcripts.wire_values import (
    WireFields,
    fields_of,
    own_note,
    result_of,
    unknown,
)

_TYPES: Final = ("user", "assistant", "system", "progress", "attachment", "summary")
_NOTES: Final = (
    *("file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "mode"),
    *("permission-mode", "worktree-state", "agent-name", "bridge-session", "started"),
    *("result", "relocated", "frame-link", "atis-latch", "tag", "agent-setting"),
)
"""Lines of the tool's own that say nothing of what happened."""
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_INJECTED: Final = (
    *("<local-command-", "<bash-", "<task-notification", "<system-reminder", "Caveat:"),
)
_COMMAND: Final = ("<command-name>", "<command-message>")
"""How a command with a slash begins."""
_INTERRUPTED: Final = "[Request interrupted by user"
_REJECTED: Final = "The user doesn't want to"
_TASKS: Final = frozenset({"Task", "Agent"})
_AGENT: Final = "agent-"


class ClaudeReader(TranscriptReader):
    """Reads one file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._meta: WireFields | None = None
        self._nested = path.parent.name == "subagents"
        self._session = path.parent.parent.name if self._nested else path.stem
        self._agents: dict[str, ClaudeAgent] = {"": ClaudeAgent("")}
        self._said: SessionStart | None = None
        self._messages: dict[str, str] = {}
        """The message of each line, by the line's id; of those between the one before."""
        self._agent_of: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        """Calls that began subagents, by their prompts."""
        self._kinds: dict[str, str] = {}
        """What kinds of subagents they began."""
        self._requests: dict[str, str] = {}
        self._asked, self._lines = dict[str, int](), set[str]()
        self._boundary = WireFields()
        self._time, self._uuid, self._parent = 0, "", ""
        self._line = WireFields()
        """The one that is read: its time, its id, and the message before it."""
        self._agent = self._agents[""]

    def take(self, line: WireFields) -> str:
        """As ``TranscriptReader``."""
        kind = line.text("type")
        if not kind:
            return unknown("no type")
        if kind in _TITLES:
            return self._title(line, kind)
        if kind == "pr-link":
            self._tell(attributes={"pull_request": line.text("prUrl")})
            return "part of a session: pr-link"
        if kind in _NOTES:
            return own_note(kind)
        if kind not in _TYPES:
            return unknown(kind)
        if kind == "progress":
            return self._progress(line)
        uuid = line.text("uuid") or f"{self.path.stem}:{len(self._lines)}"
        if uuid in self._lines:
            return "a line that stands here twice"
        self._lines.add(uuid)
        self._time = line.time("timestamp") or self._time
        self._line, self._uuid, self._agent = line, uuid, self._agent_in(line, uuid)
        self._speak(self._agent)
        self._parent = self._messages.get(line.text("parentUuid"), "")
        self._messages[uuid] = self._parent
        if kind == "assistant":
            return self._assistant(line.object("message"))
        if kind == "user":
            return self._user(line.object("message"))
        if kind == "attachment":
            return self._attachment(line.object("attachment"))
        subtype = line.text("subtype")
        if subtype == "compact_boundary":
            self._flush(self._agent)
            self._boundary = line.object("compactMetadata")
            self._boundary["message_id"] = self._messages[uuid] = f"{uuid}:compaction"
            return "part of a compaction"
        return own_note(f"system {subtype}".rstrip())

    def release(self) -> None:
        """As ``TranscriptReader``."""
        self._line = WireFields()
        for agent in self._agents.values():
            if agent.reply is not None or agent.command:
                self._speak(agent)
                self._flush(agent)
                self.events += agent.whole_command()

    # -- lines of messages ------------------

    def _assistant(self, message: WireFields) -> str:
        agent, uuid, blocks = self._agent, self._uuid, blocks_of(message.get("content"))
        failed = self._line.get("isApiErrorMessage") is True
        if message.get("model") == "<synthetic>" or failed:
            self._flush(agent)
            parts = parts_of("assistant", blocks)
            self.emit(UserMessage(uuid, self._time, parts, self._parent, True, "assistant"))
            self._messages[uuid] = uuid
            if failed:
                self.emit(Interruption(self._time, "error", words_of(blocks)))
            return "an error of the API, as the tool shows it" if failed else "the tool's own words"
        request, message_id = self._line.text("requestId"), message.text("id") or uuid
        known = self._requests.setdefault(message_id, request)
        if known != request and known and request:
            message_id = f"{message_id}:{request}"
        word = "part of a model call"
        if agent.reply is None or agent.reply.message_id != message_id:
            self._flush(agent)
            self.events += agent.whole_command(answered=True)
            agent.reply = ReplyUnderWay(message_id, self._parent)
            word = "a model call"
        agent.reply.add(self._line, message, blocks, self._time)
        self._messages[uuid] = message_id
        for block in blocks:
            if block.get("type") == "tool_use":
                call_id, given = block.text("id"), block.object("input")
                self._asked[call_id] = self._time
                if block.text("name") in _TASKS:
                    self._tasks[given.text("prompt")] = call_id
                    self._kinds[call_id] = given.text("subagent_type")
        return word

    def _user(self, message: WireFields) -> str:
        line, agent, uuid, parent = self._line, self._agent, self._uuid, self._parent
        blocks = blocks_of(message.get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            self._results(results)
            blocks = [block for block in blocks if block.get("type") != "tool_result"]
            if not blocks:
                return "a tool's result"
            parent, uuid = self._messages[uuid], f"{uuid}:beside"
        if not agent.id:
            self._settle()
            self._speak(agent)
        self._flush(agent)
        text, parts = words_of(blocks), parts_of("user", blocks)
        self._messages[uuid] = uuid
        event = UserMessage(uuid, self._time, parts, parent)
        if line.get("isCompactSummary") is True:
            return self._compaction(event)
        interrupted = text.startswith(_INTERRUPTED)
        origin = as_text(line.object("origin").get("kind"))
        event.injected = (
            interrupted
            or line.get("isMeta") is True
            or text.startswith(_INJECTED)
            or origin not in ("", "human", "user")
        )
        if "content" not in message:
            event.parts, event.injected = [unknown_part(dict(line))], True
        if event.injected and not interrupted and agent.command:
            agent.command.append(event)
            return "what the tool put in"
        self.events += agent.whole_command()
        if text.startswith(_COMMAND) and not event.injected:
            event.typed = typed_command(text)
            agent.command = [event]
            return "a command of the user's"
        if interrupted:
            word = self.emit(Interruption(self._time, "user", text.strip("[]")))
            self.emit(event)
            return word
        word = self.emit(event)
        return word if "content" in message else unknown("a user's line without content")

    def _results(self, results: list[WireFields]) -> None:
        agent, parent = self._agent, self._parent
        beside = self._line.object("toolUseResult")
        agent_id = beside.text("agentId")
        for place, block in enumerate(results):
            call_id = block.text("tool_use_id")
            message_id = f"{self._uuid}:{place}" if place else self._uuid
            run = ToolEnd(call_id, message_id, self._time, result_of(block.get("content")))
            run.start, run.parent = self._asked.get(call_id, 0), parent
            run.attributes = short_values("toolUseResult", beside) if len(results) == 1 else {}
            if block.get("is_error") is True:
                rejected = as_text(run.result).startswith(_REJECTED)
                run.fail("rejected" if rejected else "")
            if agent.reply is not None and call_id in agent.reply.call_ids:
                agent.runs.append(run)
            else:
                self._flush(agent)
                self.emit(run)
            if agent_id or call_id in self._kinds:
                self._settle(call_id)
                if agent_id:
                    self._tell(agent_id=agent_id, parent_call=call_id)
                self._speak(agent)
            parent = message_id
        self._messages[self._uuid] = parent

    def _attachment(self, attachment: WireFields) -> str:
        kind, reply = attachment.text("type"), self._agent.reply
        if kind.startswith("hook_") and kind != "hook_additional_context":
            return own_note(f"attachment {kind}")
        prompt = attachment.get("prompt") if kind == "queued_command" else None
        blocks = blocks_of(prompt) if prompt else []
        parts = parts_of("user", blocks) if blocks else [attached_part(attachment)]
        event = UserMessage(self._uuid, self._time, parts, self._parent, injected=True)
        (self.events if reply is None else reply.after).append(event)
        self._messages[self._uuid] = self._uuid
        return "a user's message within the turn" if blocks else "what the tool put in"

    def _compaction(self, summary: UserMessage) -> str:
        said, self._boundary = self._boundary, WireFields()
        before, uuid = said.get("preTokens"), summary.message_id
        event = HistoryCompaction(
            said.text("message_id") or uuid,
            self._time,
            summary.parts,
            said.text("trigger"),
            before if isinstance(before, int) else None,
            summary.parent,
        )
        self._messages[uuid] = event.message_id
        segment = said.object("preservedSegment")
        last = segment.text("tailUuid")
        if last in self._messages:
            event.parent = self._messages[last]
            event.kept = self._messages.get(segment.text("headUuid"), "")
            self._messages[last] = event.message_id  # what follows it follows the summary as well
        return self.emit(event)

    # -- lines about others ------------------

    def _progress(self, line: WireFields) -> str:
        data, uuid = line.object("data"), line.text("uuid")
        kind, inner = data.text("type"), data.maybe("message")
        if uuid:
            parent = line.text("parentUuid")
            self._messages[uuid] = self._messages.get(parent, "")
            if parent in self._agent_of:
                self._agent_of[uuid] = self._agent_of[parent]
        if kind != "agent_progress" or inner is None:
            return own_note(f"progress {kind}".rstrip())
        agent_id = data.text("agentId")
        if (self.path.with_suffix("") / "subagents" / f"{_AGENT}{agent_id}.jsonl").exists():
            return "what a subagent's own file has"
        agent = self._agents.setdefault(agent_id, ClaudeAgent(agent_id))
        agent.parent_call = line.text("parentToolUseID") or agent.parent_call
        beside = {k: line[k] for k in ("sessionId", "version", "cwd") if k in line}
        time = inner.get("timestamp") or line.get("timestamp")
        nested = {"isSidechain": True, "agentId": agent_id, "timestamp": time}
        return self.take(WireFields({**beside, **inner, **nested}))

    def _title(self, line: WireFields, kind: str) -> str:
        if kind == "summary" and line.text("leafUuid") not in self._messages:
            return own_note("a summary of another session")
        self._tell(title=as_text(line.get(_TITLES[kind])))
        return "part of a session: its title"

    # -- whose lines ------------------

    def _agent_in(self, line: WireFields, uuid: str) -> ClaudeAgent:
        if line.get("isSidechain") is not True:
            return self._agents[""]
        parent = line.text("parentUuid")
        agent_id = line.text("agentId") or self._agent_of.get(parent) or uuid
        self._agent_of[uuid] = agent_id
        agent = self._agents.setdefault(agent_id, ClaudeAgent(agent_id))
        if not agent.parent_call and line.get("type") == "user":
            prompt = words_of(blocks_of(line.object("message").get("content")))
            agent.parent_call = self._tasks.get(prompt, "")
        return agent

    def _speak(self, agent: ClaudeAgent) -> None:
        """Say whose what follows is, where that is not as before."""
        line = self._line
        if not self._nested:
            self._session = line.text("sessionId") or self._session
        start = SessionStart(self._session, line.text("version"), line.text("cwd"))
        start.branch = line.text("gitBranch")
        start.agent_id, start.parent_call = agent.id, agent.parent_call
        start.parent_session = line.object("forkedFrom").text("sessionId")
        if start != self._said:
            self._said = start
            self.emit(replace(start, agent_name=self._name(agent)))

    def _name(self, agent: ClaudeAgent) -> str:
        if not agent.id:
            return ""
        meta = self.path.with_suffix(".meta.json")
        if self._nested and self._meta is None:
            self._meta = fields_of(first_value(meta) if meta.exists() else None)
        named = self._line.text("attributionAgent") or self._kinds.get(agent.parent_call, "")
        said = named or (self._meta or WireFields()).text("agentType")
        agent.name = agent.name or said or "claude-code subagent"
        return agent.name

    def _tell(self, **facts: Any) -> None:
        """Say something of a session; who speaks afterwards says so again."""
        self._said = None
        self.emit(SessionStart(self._session, **facts))

    # -- what is held back ------------------

    def _flush(self, agent: ClaudeAgent) -> None:
        """The reply is whole, and what ran beside it is known."""
        self.events += agent.whole_reply()

    def _settle(self, call_id: str = "") -> None:
        """The subagent that a call began (or each of them) is over: it says nothing more."""
        for agent in self._agents.values():
            if agent.id and agent.reply is not None and call_id in ("", agent.parent_call):
                self._speak(agent)
                self._flush(agent)


def _is_own(line: WireFields) -> bool:
    kind = line.text("type")
    if "systemPayload" in line or "parts" in line.object("message"):
        return False  # Qwen Code's, which are alike
    if kind in ("user", "assistant"):
        return "message" in line and not {"payload", "data"} & line.keys()
    if kind in ("system", "progress", "attachment"):
        return bool({"uuid", "sessionId", "attachment", "toolUseID"} & line.keys())
    return kind in _NOTES or (kind in _TITLES and ("leafUuid" in line or "sessionId" in line))


def _mains(paths: Sequence[Path]) -> Mapping[Path, Path]:
    known = set(paths)
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.name.startswith(_AGENT):
            continue
        if path.parent.name == "subagents":
            main = path.parent.parent.with_suffix(".jsonl")
        else:
            session = fields_of(first_value(path)).text("sessionId")
            main = path.with_name(f"{session}.jsonl")
        if main in known and not main.name.startswith(_AGENT):
            found[path] = main
    return found


CLAUDE_CODE: Final = CodingTool(
    *("claude-code", ClaudeReader, _is_own, (".claude/projects", ".config/claude/projects")),
    is_transcript=lambda path: path.suffix == ".jsonl",
    variable="CLAUDE_CONFIG_DIR",
    below=("projects",),
    separator=",",
    values=as_list,  # an array of lines is what some exports are
    mains=_mains,
)
