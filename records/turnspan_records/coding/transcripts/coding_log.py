"""The transcripts of coding agents as a log to import: files that grow, are copied, go on with each
other, and are deleted after some weeks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from turnspan.content.model import as_dict, as_text
from turnspan.runtime.guard import errors
from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.telemetry_join import TelemetryJoin
from turnspan_records.coding.transcripts.events import CodingEvent
from turnspan_records.coding.transcripts.lines import Item, is_rewritten, items_of
from turnspan_records.coding.transcripts.position import (
    BEGINNING,
    NO_FAMILY,
    FileState,
    TranscriptPosition,
    family_of,
    key_of,
)
from turnspan_records.coding.transcripts.reader import CodingTool
from turnspan_records.coding.transcripts.sessions import (
    SessionBeginning,
    TranscriptSession,
    beginning_of,
    changed_sessions,
    earlier_beside,
    events_of,
    in_order,
    lines_after,
    merged,
    modified,
    rested,
    stamp,
    state_of,
)
from turnspan_records.coding.transcripts.turns import TurnBuilder
from turnspan_records.coding.transcripts.wire_values import unknown
from turnspan_records.importing.sources import Part, Problem, SourceLogError

_AGAIN: Final = "a message of the session before"
_NOT_JSON: Final = "not understood: see the problems"
_WAITS: Final = "still being written: it waits"
_SHOWN: Final = 200
_POSITION_EVERY: Final = 8 * 2**20
"""Bytes that are read between two positions: one names every file."""
_RELATIVES: Final = 200_000
"""Messages that are remembered of sessions for those that go on with them."""
LIVE_SECONDS: Final = 3600
"""How long after its last line a turn that has not ended is said to run."""
_ALL: Final = 2**62


class CodingLog:
    """Transcripts of one or more tools. ``SourceLog`` says what its methods are for.

    Args:
        kind: as ``turnspan import`` calls it.
        identity: which folders or files they are.
        files: what is imported, each with the tool that wrote it; None: no tool that is known.
        live: whether turns that have not ended go on (``running``), where a file was written within
            the last hour, or were cut short.
        alone: those of ``files`` that were named themselves: what they repeat of files beside them
            is theirs, as if the folder was imported.
    """

    own_projects = True

    def __init__(
        self,
        kind: str,
        identity: str,
        files: Mapping[Path, CodingTool | None],
        *,
        live: bool = False,
        alone: Container[Path] = (),
    ) -> None:
        self._alone = alone
        self.kind = kind
        self.identity = identity
        self._files = files
        self._live = live
        self._read = 0
        self._changed: list[TranscriptSession] | None = None
        self._relatives: dict[Path, tuple[SessionBeginning | None, list[str]]] = {}
        """How sessions begin that others go on with, and their messages: each is read once."""

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
        changed = self._sessions(position)
        ranks = {key: rank for rank, key in enumerate(position.files)}
        families = self._families(position, {path for each in changed for path in each.files})
        changed.sort(key=lambda s: ranks.get(key_of(s.files[0]), len(ranks)))
        begun = [(each, _beginning(each)) for each in changed]
        known = [one for one in begun if key_of(one[0].files[0]) in ranks]
        for session, first in (*known, *in_order(begun[len(known) :])):
            main = session.files[0]
            rank = ranks.get(key_of(main), len(ranks))
            try:
                family = NO_FAMILY if first is None else family_of(first.call)
                if position.get(main).family not in (NO_FAMILY, family):  # it was written anew
                    position.set(main, BEGINNING)
                earlier = [other for at, other in families.get(family, ()) if at <= rank]
                if first and main in self._alone and position.get(main).family == NO_FAMILY:
                    earlier += earlier_beside(session, first, self._files)
                elsewhere = self._elsewhere(session, first, earlier, position.get(main).repeated)
                yield from self._session(session, position, family, elsewhere)
            except (OSError, SourceLogError) as error:  # deleted meanwhile, perhaps
                yield Part(problems=[Problem(str(main), str(error).rstrip("."))])
                continue
            if family != NO_FAMILY:
                families.setdefault(family, []).append((rank, session))
        self._changed = None
        self._relatives.clear()
        yield Part(position=str(position))

    def complete(self, store: Store) -> None:
        """Take from the agents' telemetry what it measures."""
        TelemetryJoin().join(store)

    # -- which files ------------------

    def _sessions(self, position: TranscriptPosition) -> list[TranscriptSession]:
        if self._changed is None:
            self._changed = changed_sessions(self._files, position)
        return self._changed

    def _families(
        self, position: TranscriptPosition, changed: set[Path]
    ) -> dict[bytes, list[tuple[int, TranscriptSession]]]:
        """The sessions that have not changed, by what they begin with, each with its place among
        all that were imported: what stands in two is the first one's."""
        ranks = {key: rank for rank, key in enumerate(position.files)}
        found: dict[bytes, list[tuple[int, TranscriptSession]]] = {}
        for path, tool in self._files.items():
            family = position.get(path).family
            if tool is not None and family != NO_FAMILY and path not in changed:
                known = TranscriptSession(tool, [path])
                found.setdefault(family, []).append((ranks[key_of(path)], known))
        return found

    def _unknown(self, position: TranscriptPosition) -> Iterator[Part]:
        """The lines of files that no known tool wrote."""
        for path, tool in self._files.items():
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

    def _elsewhere(
        self,
        session: TranscriptSession,
        first: SessionBeginning | None,
        family: Sequence[TranscriptSession],
        repeated: int,
    ) -> frozenset[str]:
        """The messages of a session that stand in one that was imported before, and the first
        ``repeated``, which stood in one that may be gone."""
        found = set(_message_ids(session)[:repeated] if repeated else ())
        for other in family:
            path = other.files[0]
            if path not in self._relatives:
                if sum(len(ids) for _, ids in self._relatives.values()) >= _RELATIVES:
                    self._relatives.clear()
                self._relatives[path] = beginning_of(other), _message_ids(other)
            beginning, ids = self._relatives[path]
            if first is None or beginning is None or beginning.session_id == first.session_id:
                continue  # the same session: its rows are the same
            found.update(ids)
        return frozenset(found)

    # -- a session ------------------

    def _session(
        self,
        session: TranscriptSession,
        position: TranscriptPosition,
        family: bytes,
        elsewhere: frozenset[str],
    ) -> Iterator[Part]:
        tool, main = session.tool, session.files[0]
        states = [state_of(path, position) for path in session.files]
        base = states[0].time or modified(main)
        builder = TurnBuilder(
            tool.kind,
            done=states[0].turns,
            elsewhere=elsewhere,
            time=base * 10**9,
            live=self._live and rested(session) < LIVE_SECONDS,
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
            for part in self._made(builder, position, main, base):
                yield _with(count, part)
        turns = max(states[0].turns, builder.turns - 1, builder.repeated)
        yield from (
            _with(count, part) for part in self._made(builder, position, main, base, last=True)
        )
        lines, time = not is_rewritten(main), base if builder.untimed else 0
        own = (n for n, id_ in enumerate(builder.message_ids, 1) if id_ in elsewhere)
        for path, end in zip(session.files, ends, strict=True):
            position.set(path, FileState(session.stamps[path], NO_FAMILY, end, 0))
        state = FileState(session.stamps[main], family, ends[0], turns if lines else 0, time)
        position.set(main, replace(state, repeated=max(own, default=0)))
        self._place(count, position)
        yield count

    def _made(
        self,
        builder: TurnBuilder,
        position: TranscriptPosition,
        main: Path,
        base: int,
        *,
        last: bool = False,
    ) -> Iterator[Part]:
        """The parts of turns that are over."""
        for number, part in builder.end() if last else builder.parts():
            if number < builder.turns and self._read >= _POSITION_EVERY and not is_rewritten(main):
                known, time = position.get(main), base if builder.untimed else 0
                position.set(main, replace(known.anew(), size=known.size, turns=number, time=time))
                self._place(part, position)
            yield part

    def _place(self, part: Part, position: TranscriptPosition) -> None:
        if self._read >= _POSITION_EVERY:
            self._read = 0
            part.position = str(position)


def _beginning(session: TranscriptSession) -> SessionBeginning | None:
    with suppress(OSError, SourceLogError):  # its import says what is wrong
        return beginning_of(session)
    return None


def _message_ids(session: TranscriptSession) -> list[str]:
    """Of its prompts and calls, in their order."""
    builder = TurnBuilder(session.tool.kind, done=_ALL)
    for number, event in events_of(session):
        builder.add(event, number)
    return builder.message_ids


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
