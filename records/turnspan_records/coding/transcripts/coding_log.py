"""The transcripts of coding agents as a log to import: files that grow, are copied, go on with each
other, and are deleted after some weeks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from turnspan.content.model import as_dict, as_text
from turnspan.runtime.guard import errors
from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.telemetry_join import TelemetryJoin
from turnspan_records.coding.transcripts.events import CodingEvent
from turnspan_records.coding.transcripts.families import SessionFamilies
from turnspan_records.coding.transcripts.lines import Item, is_rewritten, items_of
from turnspan_records.coding.transcripts.position import (
    NO_FAMILY,
    FileState,
    TranscriptPosition,
)
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.sessions import (
    TranscriptSession,
    changed_sessions,
    events_of,
    lines_after,
    merged,
    modified,
    rested,
    stamp,
    state_of,
)
from turnspan_records.coding.transcripts.turns import ALL_DONE, TurnBuilder
from turnspan_records.coding.transcripts.wire_values import unknown
from turnspan_records.importing.sources import Part, Problem, SourceLogError

_AGAIN: Final = "a message of the session before"
_NOT_JSON: Final = "not understood: see the problems"
_WAITS: Final = "still being written: it waits"
_SHOWN: Final = 200
_POSITION_EVERY: Final = 8 * 2**20
"""Bytes that are read between two positions: one names every file."""
LIVE_SECONDS: Final = 3600
"""How long after its last line a turn that has not ended is said to run."""


@dataclass(slots=True)
class CodingLog:
    """Transcripts of one or more tools. ``SourceLog`` says what its methods are for."""

    own_projects = True
    kind: str
    """As ``turnspan import`` calls it."""
    identity: str
    """Which folders or files they are."""
    files: Mapping[Path, CodingTool | None]
    """What is imported, each with the tool that wrote it; None: no tool that is known."""
    live: bool
    """Whether turns that have not ended go on (``running``), where a file was written within the
    last hour, or were cut short."""
    alone: Container[Path]
    """Those of ``files`` that were named themselves: what they repeat of files beside them is
    theirs, as if the folder was imported."""
    _read: int = 0
    _changed: list[TranscriptSession] | None = None

    def again(self, position: str) -> str:
        """The position from which all is imported anew; times that no file says stay."""
        return str(TranscriptPosition.of(position).again())

    def total(self, after: str) -> int:
        """About how many lines are new, by the length of each file's first ones."""
        position = TranscriptPosition.of(after)
        paths = [path for session in self._sessions(position) for path in session.files]
        return sum(lines_after(path, position.get(path).size) for path in paths)

    def parts(self, after: str) -> Iterator[Part]:
        """The turns of the user that are new or have grown, session by session."""
        position = TranscriptPosition.of(after)
        yield from self._unknown(position)
        families = SessionFamilies(self.files, position, self.alone)
        if firsts := families.begin(self._sessions(position)):
            yield Part(ask=lambda store: families.ask(store, firsts))
        remade: dict[Path, FileState] = {}
        for session in families.ordered(self._sessions(position)):
            main = session.files[0]
            try:
                yield from self._session(session, position, families)
            except (OSError, SourceLogError) as error:  # deleted meanwhile, perhaps
                yield Part(problems=[Problem(str(main), str(error).rstrip("."))])
                continue
            if main in families.remade:  # it is, when what it had recorded is withdrawn
                remade[main] = position.get(main)
                position.set(main, remade[main].anew())
        self._changed = None
        yield Part(position=str(position))
        if not families.withdrawn:
            return
        for main, state in remade.items():
            position.set(main, state)
        yield Part(ask=families.withdraw, position=str(position))

    def complete(self, store: Store) -> None:
        """Take from the agents' telemetry what it measures."""
        TelemetryJoin().join(store)

    # -- which files ------------------

    def _sessions(self, position: TranscriptPosition) -> list[TranscriptSession]:
        if self._changed is None:
            self._changed = changed_sessions(self.files, position)
        return self._changed

    def _unknown(self, position: TranscriptPosition) -> Iterator[Part]:
        """The lines of files that no known tool wrote."""
        for path, tool in self.files.items():
            if tool is not None or position.get(path).stamp == (now := stamp(path)):
                continue
            part, size, before = Part(), 0, position.get(path).size
            for item in items_of(path):
                if not item.waits:
                    size = item.end or item.number
                    kind = as_text((as_dict(item.value) or {}).get("type")) or "no type"
                    word = _NOT_JSON if item.problem else unknown(kind)
                    part.seen[path.name, word] += size > before
            why = "no coding agent that is known wrote it, and nothing of it was imported"
            part.problems.append(Problem(str(path), why))
            position.set(path, FileState(now, NO_FAMILY, size, 0))
            yield part

    # -- a session ------------------

    def _session(
        self,
        session: TranscriptSession,
        position: TranscriptPosition,
        families: SessionFamilies,
    ) -> Iterator[Part]:
        tool, main = session.tool, session.files[0]
        states = [state_of(path, position) for path in session.files]
        base, elsewhere = states[0].time or modified(main), families.elsewhere(session)
        done, rows = _turns_done(session, states), set[str]()
        builder = TurnBuilder(
            tool.kind,
            done=done,
            elsewhere=set(elsewhere),
            time=base * 10**9,
            live=self.live and rested(session) < LIVE_SECONDS,
        )
        readers = [tool.reader(path) for path in session.files]
        ends, count = [0] * len(readers), Part()
        """What was counted since the last turn."""
        repeats = bool(elsewhere)
        for number, item in merged(session):
            events: list[CodingEvent] = []
            if item is None:
                readers[number].end(events)
                for event in events:
                    builder.add(event, number)
                continue
            is_new = (item.end or item.number) > states[number].size
            if item.waits:  # it is read again when its end is there
                count.seen[tool.kind, _WAITS] += is_new
                continue
            self._read += max(0, item.end - ends[number])
            ends[number], word, problem = item.end or item.number, _NOT_JSON, item.problem
            if not problem:
                try:
                    word = readers[number].read(item.value, events)
                except Exception as error:  # noqa: BLE001  a line of any shape costs only itself
                    errors.record(f"import {tool.kind}", error)
                    problem = f"it cannot be read ({error!r})"
            if problem and is_new:
                count.problems.append(_problem(session.files[number], item, problem))
            fresh = [builder.add(event, number) for event in events]
            repeats = repeats and True not in fresh
            known = repeats or (False in fresh and True not in fresh)
            if known and not word.startswith(("unknown", _NOT_JSON)):
                word = _AGAIN
            if is_new:
                count.seen[tool.kind, word] += 1
            for part in self._made(builder, position, main):
                rows.update(_rows(part))
                yield _with(count, part)
        turns = max(states[0].turns, builder.turns - 1, builder.repeated)
        for part in self._made(builder, position, main, last=True):
            rows.update(_rows(part))
            yield _with(count, part)
        families.withdraw_after(session, rows)
        families.take_back(builder.withheld)
        if any(state.family != NO_FAMILY for state in states[1:]):  # it was imported by itself
            families.take_back(builder.alone)
        lines, time = not is_rewritten(main), base if builder.untimed else 0
        own = (n for n, message in enumerate(builder.messages, 1) if message in elsewhere)
        for path, end in zip(session.files, ends, strict=True):
            position.set(path, FileState(session.stamps[path], NO_FAMILY, end, 0))
        family = families.family(session)
        state = FileState(session.stamps[main], family, ends[0], turns if lines else 0, time)
        position.set(main, replace(state, repeated=max(own, default=0)))
        self._place(count, position)
        yield count

    def _made(
        self, builder: TurnBuilder, position: TranscriptPosition, main: Path, *, last: bool = False
    ) -> Iterator[Part]:
        """The parts of turns that are over."""
        for number, part in builder.end() if last else builder.parts():
            if number < builder.turns and self._read >= _POSITION_EVERY and not is_rewritten(main):
                known, time = position.get(main), builder.time if builder.untimed else 0
                known = replace(known.anew(), size=known.size, turns=number, time=time // 10**9)
                position.set(main, known)
                self._place(part, position)
            yield part

    def _place(self, part: Part, position: TranscriptPosition) -> None:
        if self._read >= _POSITION_EVERY:
            self._read = 0
            part.position = str(position)


def _turns_done(session: TranscriptSession, states: Sequence[FileState]) -> int:
    """Turns of a session that are in the store: a subagent's file may come later than they did."""
    done = states[0].turns
    new = {number for number, state in enumerate(states) if not state.size}
    if not (done and new):
        return done
    builder = TurnBuilder(session.tool.kind, done=ALL_DONE)
    for number, event in events_of(session):
        builder.add(event, number)
        if number in new:
            return min(done, max(0, builder.turns - 1))
    return done


def _rows(part: Part) -> Iterator[str]:
    """The ids of a part's rows."""
    return (f"{span.context.span_id:016x}" for span in part.spans if span.context is not None)


def _problem(path: Path, item: Item, why: str) -> Problem:
    shown = as_text(item.value) or repr(item.value)
    if isinstance(item.value, bytes):
        shown = item.value.decode("utf-8", "replace").strip()
    return Problem(f"{path}:{item.number}", f"{why}, and was left out: {shown[:_SHOWN]}")


def _with(count: Part, part: Part) -> Part:
    """A part with what was counted until it was over."""
    part.seen.update(count.seen)
    part.problems += count.problems
    count.seen, count.problems = Counter(), []
    return part
