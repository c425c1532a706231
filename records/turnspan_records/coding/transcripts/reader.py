"""What a coding agent's reader owes: the page for whoever adds one. ``pi`` is a short example.

A tool is a ``CodingTool`` in ``tools.TOOLS``: where its transcripts are, which files are its own,
and the ``TranscriptReader`` that makes events of their lines. A module's docstring names the source
and the versions that it was learned from, and the tool's rule of counting. A reader

- says of every value what became of it (``take``): the word of the event that was made of it, ``a
  part of ...``, ``own_note`` where it tells of the tool alone, ``unknown`` with its type else;
- gives a call once, when all of it is known: lines of one message go through ``hold``; its usage is
  that of the request, repeated nowhere, None where the tool does not count;
- gives a message the same id in every file that repeats it, and no two sessions the same one
  (``wide_id``); a tool's result has the id of the call that it answers;
- says whose what follows is by a ``SessionStart`` before it: of a subagent, a fork, another folder;
- keeps what no field of an event has among its attributes (``WireFields.others``), and of media
  only the hash (``content_parts``, ``result_of``), which is found in plain dictionaries;
- takes values of any type in any field: it reads them by ``WireFields`` and ``wire_values``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import add_new
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    CodingEvent,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.wire_values import NOT_AN_OBJECT, WireFields, fields_of

_WORDS: Final[dict[type[Any], str]] = {
    SessionStart: "a session",
    AgentCall: "a model call",
    ToolEnd: "a tool's result",
    HistoryCompaction: "a compaction",
    Interruption: "an interruption",
}


class TranscriptReader:
    """Reads one transcript from its beginning, and holds what it needs of the lines before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.start = SessionStart(path.stem)
        """The session, as far as it is known."""
        self.events: list[CodingEvent] = []
        """What has happened by the value that is read."""
        self.held: list[CodingEvent] = []
        """A call that may grow yet, and what ran meanwhile."""

    def read(self, value: Any, events: list[CodingEvent]) -> str:
        """Read the next line (or item, or row), and add what has happened by it.

        Returns:
            What became of the line, for the report. Every line is counted under one of these.
        """
        line = as_dict(value)
        if line is None:
            return NOT_AN_OBJECT
        self.events = events
        return self.take(WireFields(line))

    def take(self, line: WireFields) -> str:
        """As ``read``: what a tool's reader says for itself."""
        raise NotImplementedError

    def end(self, events: list[CodingEvent]) -> None:
        """The transcript is over as far as it is written: add what was held back."""
        self.events = events
        self.release()

    def emit(self, event: CodingEvent) -> str:
        """Something has happened; what became of its line."""
        self.events.append(event)
        if isinstance(event, UserMessage):
            return "what the tool put in" if event.injected else "a user's message"
        return _WORDS[type(event)]

    def tell(self) -> str:
        """Say what is known of the session."""
        return self.emit(replace(self.start, attributes=dict(self.start.attributes)))

    @property
    def held_call(self) -> AgentCall | None:
        """The call that is held back."""
        call = self.held[0] if self.held else None
        return call if isinstance(call, AgentCall) else None

    def hold(self, call: AgentCall, *, joined: bool = False) -> str:
        """A call, or what a further line says of the one that is held back: they have the same
        message, or are ``joined``."""
        known = self.held_call
        if known is None or not (joined or known.message_id == call.message_id):
            self.release()
            self.held.append(call)
            return "a model call"
        add_new(known.parts, call.parts)
        known.time = max(known.time, call.time)
        known.model = call.model or known.model
        known.provider = call.provider or known.provider
        known.usage = known.usage if call.usage == TokenUsage() else call.usage
        known.cost_usd = known.cost_usd if call.cost_usd is None else call.cost_usd
        known.finish_reasons = call.finish_reasons or known.finish_reasons
        known.attributes.update(call.attributes)
        return "part of a model call"

    def release(self) -> None:
        """What was held back is whole."""
        self.events += self.held
        self.held = []


def is_json(path: Path) -> bool:
    """Whether a file's name is one of lines of JSON, or of a document."""
    return path.suffix in (".json", ".jsonl")


def items_in(*names: str) -> Callable[[Any], Sequence[Any] | None]:
    """A document's items: those of its first field that is a list, behind the rest of it."""

    def items(value: Any) -> Sequence[Any] | None:
        document = as_dict(value) or {}
        for name in names:
            messages = as_list(document.get(name))
            if messages is not None:
                return [{k: v for k, v in document.items() if k != name}, *messages]
        return None

    return items


@dataclass(frozen=True, slots=True)
class CodingTool:
    """A coding agent, and how it keeps its transcripts."""

    kind: str
    """As ``turnspan import`` calls it: ``claude-code``."""
    reader: Callable[[Path], TranscriptReader]
    """A reader for the transcript of a file."""
    own: Callable[[WireFields], bool]
    """As ``is_own``, of an object."""
    places: tuple[str, ...] = ()
    """Its folders below the user's home."""
    is_transcript: Callable[[Path], bool] = is_json
    """Whether a file in those folders is a transcript, by its name."""
    variable: str = ""
    """The environment variable that names another base."""
    below: tuple[str, ...] = ("",)
    """Its folders below that base."""
    separator: str = "\0"
    """What stands between several bases."""
    values: Callable[[Any], Sequence[Any] | None] = lambda value: None
    """The items of a document in their order; None: it is one item, or the file has lines."""
    rows: Callable[[Path], Iterator[Any] | None] = lambda path: None
    """What a reader takes of a file that is no JSON itself: a database's rows (read as they are
    now, while the tool writes; its ``-wal`` file is newer than it), lines of Markdown, a document
    that stands in several files. One file may have several sessions. None: the file is JSON."""
    mains: Callable[[Sequence[Path]], Mapping[Path, Path]] = lambda paths: {}
    """Of the files of subagents among paths, the file of the session they work for, which is among
    them as well. Both are read together."""

    def is_own(self, first: Any) -> bool:
        """Whether a file is its transcript, by the value of its first line (a document: of it)."""
        values = as_list(first)
        return self.own(fields_of(values[0] if values else first))

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """Where it keeps them, of this user."""
        named = environment.get(self.variable, "") if self.variable else ""
        bases = [Path(base) for base in named.split(self.separator) if base]
        if bases:
            return [base / below for base in bases for below in self.below]
        return [home / place for place in self.places]
