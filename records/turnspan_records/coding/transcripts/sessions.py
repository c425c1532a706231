"""Which files of coding agents are read together, in which order, and which have changed."""

from __future__ import annotations

import heapq
import re
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from turnspan.content.model import as_dict
from turnspan_records.coding.transcripts.events import AgentCall, CodingEvent, SessionStart
from turnspan_records.coding.transcripts.lines import Item, is_rewritten, items_of
from turnspan_records.coding.transcripts.position import FileState, TranscriptPosition, stamp_of
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.importing.files.source_file import unreadable
from turnspan_records.importing.ids import span_id
from turnspan_records.importing.transcripts.fields import nanoseconds

_TIME: Final = re.compile(
    rb'"(?:timestamp|time|startTime|start_time|created_at|created)"\s*:\s*"?([^",}]+)'
)
_ID: Final = re.compile(rb'"(?:\w*[iI][dD]|uuid)"\s*:\s*"([^"]{1,128})"')
_HEAD: Final = 2**16


@dataclass(slots=True)
class TranscriptSession:
    """Files that are read together: a session's, and those of its subagents."""

    tool: CodingTool
    files: list[Path]
    """The session's own first."""
    time: int = 0
    """When it began, in ns."""
    written: int = 0
    newest: int = 0
    """When one of its files was last written, in s."""
    stamps: dict[Path, bytes] = field(default_factory=dict[Path, bytes])


@dataclass(frozen=True, slots=True)
class SessionBeginning:
    """What tells which sessions go on with each other."""

    session_id: str
    call: str
    """The id of the first call, the same in all of them."""
    row: str
    """The id of that call's row."""
    parent: str
    """The session that it says it goes on with; empty where it says none."""


def changed_sessions(
    files: Mapping[Path, CodingTool | None], position: TranscriptPosition
) -> list[TranscriptSession]:
    """The sessions of which a file has changed, in the order in which they began: a session comes
    before those that go on with it."""
    by_tool: dict[CodingTool, list[Path]] = {}
    for path, tool in files.items():
        if tool is not None:
            by_tool.setdefault(tool, []).append(path)
    found: list[TranscriptSession] = []
    for tool, paths in by_tool.items():
        mains = tool.mains(paths)
        sessions = {path: TranscriptSession(tool, [path]) for path in paths if path not in mains}
        for path, main in sorted(mains.items()):
            sessions[main].files.append(path)
        found += [each for each in sessions.values() if _has_changed(each, position)]
    return sorted(found, key=lambda each: (each.time, each.written, str(each.files[0])))


def _has_changed(session: TranscriptSession, position: TranscriptPosition) -> bool:
    main = session.files[0]
    try:
        session.stamps = {path: stamp_of(path) for path in session.files}
        if all(position.get(path).stamp == now for path, now in session.stamps.items()):
            return False
        session.written = modified(main)
        session.newest = max(map(modified, session.files))
        with main.open("rb") as file:
            said = _TIME.search(file.read(_HEAD))
    except FileNotFoundError:  # the tool has deleted it meanwhile
        return False
    except OSError:  # reading it says what is wrong
        return True
    began = None if said is None else nanoseconds(said[1].decode("utf-8", "replace"))
    session.time = began or session.written * 10**9
    return True


def merged(session: TranscriptSession) -> Iterator[tuple[int, Item | None]]:
    """The items of all files of a session, in the order of their times, each with the number of
    its file; None where that ends. Raises ``SourceLogError``."""
    timed = [_timed(number, session) for number in range(len(session.files))]
    return ((number, item) for _, number, item in heapq.merge(*timed, key=lambda each: each[:2]))


def _timed(number: int, session: TranscriptSession) -> Iterator[tuple[int, int, Item | None]]:
    time = 0
    for item in items_of(session.files[number], session.tool):
        value = as_dict(item.value) or {}
        if len(session.files) > 1:
            time = max(time, nanoseconds(value.get("timestamp")) or 0)
        yield time, number, item
    yield time, number, None


def events_of(session: TranscriptSession) -> Iterator[tuple[int, CodingEvent]]:
    """What happens in a session, each with the number of its file; what cannot be read is left
    out. Raises ``SourceLogError``."""
    readers = [session.tool.reader(path) for path in session.files]
    for number, item in merged(session):
        events: list[CodingEvent] = []
        if item is None:
            readers[number].end(events)
        elif not item.problem:
            with suppress(Exception):  # the import of that session has told of it
                readers[number].read(item.value, events)
        yield from ((number, event) for event in events)


def beginning_of(session: TranscriptSession) -> SessionBeginning | None:
    """How a session begins; None where it has no call."""
    session_id = parent = ""
    for _, event in events_of(TranscriptSession(session.tool, session.files[:1])):
        if isinstance(event, SessionStart):
            session_id, parent = session_id or event.session_id, parent or event.parent_session
        elif isinstance(event, AgentCall):
            row = f"{span_id(session.tool.kind, 'call', event.message_id):016x}"
            return SessionBeginning(session_id, event.origin or event.message_id, row, parent)
    return None


def sessions_beside(
    session: TranscriptSession, imported: Container[Path]
) -> Iterator[TranscriptSession]:
    """The sessions in files beside a session's (of Codex: of all days), but those that are
    ``imported`` too, that have something in common with it."""
    main = session.files[0]
    folder = main.parent
    while folder.name.isdigit():
        folder = folder.parent
    ids = _ids(main)
    for path in sorted(folder.rglob("*") if folder != main.parent else folder.iterdir()):
        if path in imported or not path.is_file() or not session.tool.is_transcript(path):
            continue
        with suppress(OSError):  # it is not imported: who imports it is told
            if not ids.isdisjoint(_ids(path)):
                yield TranscriptSession(session.tool, [path])


def _ids(path: Path) -> frozenset[bytes]:
    """What a file's head has for ids: those that go on with each other have some in common."""
    with path.open("rb") as file:
        return frozenset(_ID.findall(file.read(_HEAD)))


def state_of(path: Path, position: TranscriptPosition) -> FileState:
    """What is known of a file, if it still is the one that was known: it has not shrunk."""
    state = position.get(path)
    return state if is_rewritten(path) or path.stat().st_size >= state.size else state.anew()


def stamp(path: Path) -> bytes:
    """As ``stamp_of``. Raises ``SourceLogError``."""
    try:
        return stamp_of(path)
    except OSError as error:
        raise unreadable(path, error) from None


def modified(path: Path) -> int:
    """When a file was last written, in s."""
    return int(path.stat().st_mtime)


def rested(session: TranscriptSession) -> float:
    """How long ago one of a session's files was written, in s."""
    return time.time() - session.newest


def lines_after(path: Path, known: int) -> int:
    """About how many lines stand after so many bytes, by the length of the first ones."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:  # reading it says what is wrong
        return 0
    return max(0, size - known) // max(1, len(head) // max(1, head.count(b"\n")))
