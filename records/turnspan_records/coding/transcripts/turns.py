"""Events of a transcript -> turns, model calls and tool calls, a part for each turn of the user.

Ids are made of the tool and the message's own id: a message that stands in two files is one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath, PureWindowsPath
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan import semconv
from turnspan.content.model import TOOL_CALL, TOOL_CALL_RESPONSE, Message, as_text, dumps_text
from turnspan_records.coding.transcripts.coding_turn import AwaitedTool, CodingTurn
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.history import (
    HistoryEntry,
    SessionHistory,
    SessionMessages,
)
from turnspan_records.importing import ids
from turnspan_records.importing.sources import Part

ALL_DONE: Final = 2**62
"""More turns than a session has: a builder makes no rows of any."""
_KEPT_RESULTS: Final = 4_096
"""Tool calls of earlier turns whose results may still come."""


@dataclass(slots=True)
class AgentThread:
    """What one agent of a transcript says: the tool itself, or a subagent."""

    start: SessionStart
    turn: CodingTurn | None = None
    last: HistoryEntry | None = None
    time: int = 0

    @property
    def nested(self) -> bool:
        """Whether it is a subagent's."""
        return bool(self.start.agent_id or self.start.parent_call)


@dataclass(slots=True)
class TurnBuilder:
    """Makes turns of the events of one transcript, with its subagents' files."""

    kind: str
    """The tool's."""
    done: int = 0
    """So many turns of the user are in the store already, and are not made again."""
    elsewhere: set[str] = field(default_factory=set[str])
    """Ids of messages that stand in the file of another session, which is theirs."""
    time: int = 0
    """Of what says no time and has none before it, in ns."""
    live: bool = False
    """Whether what is unfinished goes on (``running``), or was cut short."""
    turns: int = 0
    """Turns of the user that have begun."""
    repeated: int = 0
    """How many of them, from the first on, are of another session."""
    untimed: bool = False
    """Whether something had no time at all."""
    messages: dict[str, int] = field(default_factory=dict[str, int])
    """Prompts and calls, in their order, with their times."""
    withheld: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """By session, the ids of rows that are an earlier session's."""
    alone: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """By session, the rows (and traces) of its subagents' files where its own is not there."""
    _origins: dict[str, str] = field(default_factory=dict[str, str])
    """Of messages that have one, in which session it was first."""
    _threads: dict[tuple[str, str], AgentThread] = field(
        default_factory=dict[tuple[str, str], AgentThread]
    )
    _current: dict[int, AgentThread] = field(default_factory=dict[int, AgentThread])
    _main: AgentThread | None = None
    _entries: dict[str, HistoryEntry] = field(default_factory=dict[str, HistoryEntry])
    _asked: dict[str, AwaitedTool] = field(default_factory=dict[str, AwaitedTool])
    """By the ids of tool calls."""
    _histories: dict[str, SessionHistory] = field(default_factory=dict[str, SessionHistory])
    _over: list[CodingTurn] = field(default_factory=list[CodingTurn])
    _root: CodingTurn | None = None
    _alone: AgentThread | None = None
    """A subagent whose turns are nobody's."""

    def add(self, event: CodingEvent, file: int = 0) -> bool | None:
        """Take an event; whether it is of a message that is not known already (None: of none).
        ``file`` is the number of the file it stands in: each goes on with the agent it spoke of
        last."""
        if isinstance(event, SessionStart):
            self._begin(event, file)
            return None
        thread = self._current.get(file)
        if thread is None:
            thread = self._begin(SessionStart(""), file)
        if isinstance(event, Interruption):
            self._interrupt(thread, event)
            return None
        known = self._entries.get(event.message_id) if event.message_id else None
        if known is not None:
            thread.last = known
            if isinstance(event, UserMessage | AgentCall):
                self.alone.setdefault(thread.start.session_id, set()).update(self._rows(event))
            return False
        self._moment(thread, event.time)
        if isinstance(event, UserMessage | AgentCall) and event.origin:
            session = thread.start.session_id
            first = self._origins.setdefault(event.origin, session)
            if first != session or event.origin in self.elsewhere:
                self.elsewhere.add(event.message_id)
        if isinstance(event, UserMessage):
            self._user(thread, event)
        elif isinstance(event, AgentCall):
            self._call(thread, event)
        elif isinstance(event, ToolEnd):
            self._tool(thread, event)
        else:
            self._compaction(thread, event)
        return event.message_id not in self.elsewhere

    def parts(self) -> Iterator[tuple[int, Part]]:
        """The turns of the user that are over, and not in the store: number (from 1) and part."""
        over, self._over = self._over, []
        for turn in over:
            if turn.recorded:
                yield turn.number, turn.part()

    def end(self) -> Iterator[tuple[int, Part]]:
        """The transcript is over as far as it is written: also turns that have not ended."""
        self._close_root(last=True)
        yield from self.parts()

    # -- where an event belongs ------------------

    def _begin(self, start: SessionStart, file: int) -> AgentThread:
        key = (start.session_id, start.agent_id or start.parent_call)
        thread = self._threads.get(key)
        if thread is None and start.agent_id and start.parent_call:
            thread = self._threads.get((start.session_id, start.parent_call))
        if thread is None:
            thread = AgentThread(start)
        else:
            thread.start = _merged(thread.start, start)
            if thread.turn is not None:
                thread.turn.session, thread.turn.project = self._facts(thread)
        self._threads[key] = thread
        self._current[file] = thread
        return thread

    def _moment(self, thread: AgentThread, time: int) -> None:
        thread.time = time or (thread.time + 1 if thread.time else self._first_time())

    def _first_time(self) -> int:
        known = [thread.time for thread in self._threads.values() if thread.time]
        self.untimed = self.untimed or not known
        return max(known, default=self.time)

    def _before(self, thread: AgentThread, parent: str) -> HistoryEntry | None:
        before = self._entries.get(parent) if parent else None
        if before is None:
            return thread.last
        call = before if before.call is None else before.call
        return call.last_result or before

    def _enter(
        self,
        thread: AgentThread,
        message_id: str,
        before: HistoryEntry | None,
        messages: Sequence[Message],
        kept: Sequence[SessionMessages] = (),
    ) -> HistoryEntry:
        """What stands in the history from now on: messages, and those that were kept."""
        for said in (SessionMessages(messages, thread.time), *kept):
            before = thread.last = HistoryEntry(before, said)
        entry = thread.last
        assert entry is not None
        if message_id:
            self._entries[message_id] = entry
        return entry

    def _open(self, thread: AgentThread, prompt: UserMessage) -> CodingTurn:
        """Begin a turn of a thread."""
        facts, root = self._facts(thread), self._root
        if not thread.nested or root is None or self._alone is thread:
            self._close_root()
            self._alone = thread if thread.nested else None  # its session's file is not there
            thread.turn = self._open_root(thread, prompt, facts)
            return thread.turn
        asked = self._asked.get(thread.start.parent_call)
        asking = root if asked is None else asked.turn
        around = asking if asking.root is root else root
        turn = CodingTurn(self.kind, facts, prompt, thread.time, asked=self._asked, around=around)
        turn.parent_turn_id = asking.turn_id
        self.alone.setdefault(thread.start.session_id, set()).add(self._trace(prompt))
        turn.number, turn.recorded, turn.foreign = root.number, root.recorded, root.foreign
        root.nested.append(turn)
        thread.turn = turn
        return turn

    def _open_root(
        self, thread: AgentThread, prompt: UserMessage, facts: tuple[SessionStart, str]
    ) -> CodingTurn:
        self.turns += 1
        turn = self._root = CodingTurn(self.kind, facts, prompt, thread.time, asked=self._asked)
        turn.number = self.turns
        turn.foreign = prompt.message_id in self.elsewhere
        if turn.foreign:
            self._withhold(turn)
        turn.recorded = self.turns > self.done and not turn.foreign
        if turn.foreign and self.repeated == self.turns - 1:
            self.repeated += 1
        return turn

    def _close_root(self, *, last: bool = False) -> None:
        root, self._root = self._root, None
        if root is None:
            return
        for turn in (*reversed(root.nested), root):
            turn.close(unfinished="" if not last else "running" if self.live else "interrupted")
        for thread in self._threads.values():
            if thread.turn is not None and thread.turn.root is root:
                thread.turn = None
        late = {key: asked for key, asked in self._asked.items() if not asked.answered}
        self._asked.clear()  # in place: the turns have it
        self._asked.update(list(late.items())[-_KEPT_RESULTS:])
        self._over.append(root)

    def _running(self, thread: AgentThread, message_id: str) -> CodingTurn:
        """The turn that a call or a tool is of; where no prompt is known, one without."""
        turn = thread.turn
        if turn is None:
            prompt = UserMessage(f"{message_id}:turn", thread.time, [])
            return self._open(thread, prompt)
        if not turn.foreign or message_id in self.elsewhere:
            return turn
        # The other session's turn goes on here, in its own way.
        return self._open(thread, replace(turn.prompt, message_id=f"{message_id}:turn"))

    def _trace(self, prompt: UserMessage) -> str:
        return f"{ids.trace_id(self.kind, 'turn', prompt.message_id):032x}"

    def _row(self, *parts: object) -> str:
        return f"{ids.span_id(self.kind, *parts):016x}"

    def _rows(self, event: UserMessage | AgentCall) -> list[str]:
        """The rows of a prompt, or of a call and the tools that it asks for."""
        if isinstance(event, UserMessage):
            return [self._row("turn", event.message_id)]
        tools = [as_text(p.get("id")) for p in event.parts if p.get("type") == TOOL_CALL]
        named = [self._row("tool", event.message_id, tool) for tool in tools]
        return [self._row("call", event.message_id), *named]

    def _withhold(self, turn: CodingTurn, *rows: str) -> None:
        """Rows, and the turn that they would be in, are an earlier session's."""
        found = self.withheld.setdefault(turn.session.session_id, set())
        found.update(rows)
        if turn.foreign:
            found.update((turn.turn_id, self._trace(turn.root.prompt)))

    # -- the kinds of events ------------------

    def _user(self, thread: AgentThread, event: UserMessage) -> None:
        before = self._before(thread, event.parent)
        message = {"role": event.role, "parts": event.parts}
        if not event.injected:
            self._open(thread, event)
            self.messages[event.origin or event.message_id] = thread.time
        self._enter(thread, event.message_id, before, [message] if event.parts else [])

    def _call(self, thread: AgentThread, event: AgentCall) -> None:
        before = self._before(thread, event.parent)
        began = before.content.when if before is not None else thread.time
        turn = self._running(thread, event.message_id)
        self.messages[event.origin or event.message_id] = thread.time
        message = {"role": "assistant", "parts": event.parts}
        entry = self._enter(thread, event.message_id, before, [message] if event.parts else [])
        history = self._histories.setdefault(thread.start.session_id, SessionHistory())
        elsewhere = event.message_id in self.elsewhere
        if elsewhere:
            if not turn.turn.rounds:  # all of it stands elsewhere, also if its prompt has a new id
                turn.recorded, turn.foreign = False, True
            self._withhold(turn, *self._rows(event))
        if turn.recorded and not elsewhere:
            turn.call(event, min(event.start or began, thread.time), thread.time, history, entry)
        else:
            if turn.number <= self.done and not elsewhere:
                history.know(thread.start.instructions)
                entry.know()
            turn.ask(event, thread.time)

    def _tool(self, thread: AgentThread, event: ToolEnd) -> None:
        before = self._before(thread, event.parent)
        asked = self._asked.get(event.call_id)
        if asked is None or asked.turn.closed:
            turn = self._running(thread, event.message_id or event.call_id)
        else:
            turn = asked.turn
        if turn.recorded and event.message_id not in self.elsewhere:
            turn.tool(event, thread.time)
        elif asked is not None:
            asked.answered = True
        part = {"type": TOOL_CALL_RESPONSE, "id": event.call_id, "response": event.result}
        message = {"role": "tool", "parts": [part]}
        entry = self._enter(thread, event.message_id, before, [message])
        if before is not None:
            call = before if before.call is None else before.call
            entry.call = call
            call.last_result = entry

    def _compaction(self, thread: AgentThread, event: HistoryCompaction) -> None:
        turn = self._running(thread, event.message_id)
        summary = [{"role": "user", "parts": event.parts}] if event.parts else []
        before, first = self._before(thread, event.parent), self._entries.get(event.kept)
        if messages := event.messages or summary:
            kept = before.since(first) if before is not None and first is not None else []
            self._enter(thread, event.message_id, None, messages, kept)
        else:  # no one knows what is left: what was there is
            self._enter(thread, event.message_id, before, [])
        if turn.recorded:
            turn.compaction(event, thread.time)

    def _interrupt(self, thread: AgentThread, event: Interruption) -> None:
        self._moment(thread, event.time)
        if thread.turn is not None:
            thread.turn.interrupt(event, thread.time)

    # -- what a turn says of its session ------------------

    def _facts(self, thread: AgentThread) -> tuple[SessionStart, str]:
        """The session, with what is known of those around it, and its project."""
        start, main = thread.start, self._main
        if main is None or (not thread.nested and main.start.session_id != start.session_id):
            main = self._main = thread
        around, first = main.start, next(iter(self._threads.values()), thread).start
        folder, repository = start.folder or around.folder, start.repository or around.repository
        version = start.version or around.version
        name = repository_name(first.repository) or folder_name(first.folder or folder)
        attributes: dict[str, Any] = {
            semconv.CODING_TOOL: self.kind,
            semconv.WORKING_DIRECTORY: folder,
            semconv.VCS_REPOSITORY_URL: repository,
            semconv.VCS_REPOSITORY_NAME: repository_name(repository) or name,
            semconv.VCS_HEAD_NAME: start.branch or around.branch,
            semconv.VCS_HEAD_REVISION: start.commit or around.commit,
            semconv.CODING_TITLE: start.title,
            semconv.CODING_FORKED_FROM: "" if thread.nested else start.parent_session,
        }
        for key, value in start.attributes.items():
            plain = value if isinstance(value, (str, bool, int, float)) else dumps_text(value)
            attributes[semconv.IMPORT_PREFIX + key] = plain
        known = {key: value for key, value in attributes.items() if value not in ("", None)}
        agent = start.agent_name or self.kind
        said = replace(start, agent_name=agent, version=version, attributes=known)
        return said, name or self.kind


def _merged(known: SessionStart, said: SessionStart) -> SessionStart:
    """What a session's start says after another one."""
    attributes: Mapping[str, Any] = {**known.attributes, **said.attributes}
    values = {name: getattr(said, name) or getattr(known, name) for name in _TEXTS}
    return SessionStart(attributes=dict(attributes), **values)


_TEXTS: Final = tuple(name for name in SessionStart.__slots__ if name != "attributes")


def repository_name(url: str) -> str:
    """The last part of a repository's address, without ``.git``."""
    try:
        path = urlsplit(url).path or url
    except ValueError:
        path = url
    return as_text(path).rstrip("/").replace(":", "/").rsplit("/", 1)[-1].removesuffix(".git")


def folder_name(folder: str) -> str:
    """The name of a working folder, of either kind of system."""
    path = PureWindowsPath(folder) if "\\" in folder else PurePath(folder)
    return path.name
