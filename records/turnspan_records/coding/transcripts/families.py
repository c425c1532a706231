"""Which sessions go on with each other, and whose is what stands in several of them.

A fork, or a session resumed under another id, begins with the messages of its parent. They are the
parent's, whatever was imported first and whatever was missing then: a session goes before those
that name it as their parent, and before any that name one where it names none. Of two that name
none, that one goes first which went on first by itself, or did not; where both were imported
before, it stays as it was. What a later one has recorded meanwhile is withdrawn.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, ToolCall, TurnSummary
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.coding.transcripts.position import (
    BEGINNING,
    NO_FAMILY,
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
    events_of,
    sessions_beside,
)
from turnspan_records.coding.transcripts.turns import ALL_DONE, TurnBuilder
from turnspan_records.importing import ids
from turnspan_records.importing.sources import SourceLogError
from turnspan_records.keeping.keys import Tables

_REMEMBERED: Final = 200_000
"""Messages that are remembered of sessions for those that go on with them."""
_TOGETHER: Final = 1_000
"""Ids that one statement names."""
_AT_ONCE: Final = {"mutations_sync": 2}


@dataclass(slots=True)
class SessionKin:
    """A session, for those that have messages in common with it."""

    session_id: str
    parent: str
    messages: dict[str, int] = field(default_factory=dict[str, int])
    """Its prompts and calls, in their order, with their times in ns."""
    file: Path | None = None
    """Its own; None where that is gone, and the store has the session."""

    def own_since(self, other: SessionKin) -> int:
        """When it went on by itself, in ns; 0: it did not."""
        since = 0
        for message, time in self.messages.items():
            since = 0 if message in other.messages else since or time or 1
        return since


class SessionFamilies:
    """The sessions of an import, and those that they have messages in common with.

    Args:
        files: as ``CodingLog``.
        position: how far they were imported; it gets a place for each that is new.
        alone: as ``CodingLog``.
    """

    def __init__(
        self,
        files: Mapping[Path, CodingTool | None],
        position: TranscriptPosition,
        alone: Container[Path],
    ) -> None:
        self._files = files
        self._position = position
        self._alone = alone
        self._beginnings: dict[Path, SessionBeginning | None] = {}
        self._members: dict[bytes, list[TranscriptSession | SessionKin]] = {}
        """By family, in the order in which what stands in several of them is theirs."""
        self._stored: dict[str, list[SessionKin]] = {}
        """By the row of a first call, the sessions that the store has of it."""
        self._known: dict[Path, SessionKin] = {}
        """Each file is read once."""
        self.remade: set[Path] = set()
        """Files that are imported from their beginning: some of it is an earlier session's."""
        self.withdrawn: dict[str, set[str]] = {}
        """By session, the ids of rows (and traces of spans) that are not its own any more."""

    # -- which sessions ------------------

    def begin(self, changed: Sequence[TranscriptSession]) -> list[str]:
        """Read how sessions begin; the rows of the first calls of those that are new."""
        firsts: list[str] = []
        for session in changed:
            main = session.files[0]
            self._beginnings[main] = first = _beginning(session)
            if first is not None and self._position.get(main).family == NO_FAMILY:
                firsts.append(first.row)
        return firsts

    def ask(self, store: Store, firsts: Sequence[str]) -> None:
        """Learn which sessions of the store begin alike. Raises ``StoreError``."""
        for at in range(0, len(firsts), _TOGETHER):
            some = firsts[at : at + _TOGETHER]
            found: dict[str, SessionKin] = {}
            for session, row, time, parent in ask(store, "coding/alike_sessions", firsts=some).rows:
                kin = found.setdefault(session, SessionKin(session, ""))
                kin.messages[row], kin.parent = int(time), kin.parent or parent
            for kin in found.values():
                for first in kin.messages.keys() & set(some):
                    self._stored.setdefault(first, []).append(kin)

    def ordered(self, changed: Sequence[TranscriptSession]) -> list[TranscriptSession]:
        """Those that are to be imported: the changed ones, in the order of the position, and others
        of which an earlier session has something now."""
        position, ranks = self._position, {key: n for n, key in enumerate(self._position.files)}
        changed = sorted(changed, key=lambda s: ranks.get(key_of(s.files[0]), len(ranks)))
        self._known_members({each.files[0]: each for each in changed})
        grown: set[bytes] = set()
        for session in changed:
            main = session.files[0]
            first, known = self._beginnings[main], position.get(main).family
            family = NO_FAMILY if first is None else family_of(first.call)
            if known not in (NO_FAMILY, family):  # it was written anew
                position.set(main, BEGINNING)
            if first is None:
                position.place(main, None)
                continue
            if known != family:
                self._insert(family, session, first)
            grown.add(family)
        for family in sorted(grown):
            self._remake(self._members[family], {each.files[0] for each in changed})
        if not self.remade:
            return changed
        again = changed_sessions(self._files, position)
        self.begin([each for each in again if each.files[0] not in self._beginnings])
        ranks = {key: n for n, key in enumerate(position.files)}
        return sorted(again, key=lambda s: ranks.get(key_of(s.files[0]), len(ranks)))

    def family(self, session: TranscriptSession) -> bytes:
        """The family of one of them."""
        first = self._beginnings[session.files[0]]
        return NO_FAMILY if first is None else family_of(first.call)

    def elsewhere(self, session: TranscriptSession) -> frozenset[str]:
        """The messages of a session that are an earlier one's, and those that were one's whose file
        may be gone. Raises ``SourceLogError``."""
        members, at = self._around(session)
        repeated = self._position.get(session.files[0]).repeated
        found = set(list(messages_of(session)[1])[:repeated] if repeated else ())
        return frozenset(found | self._earlier(members, at) if at else found)

    def withdraw_after(self, session: TranscriptSession, rows: set[str]) -> None:
        """What later sessions that are not imported now (their files are gone, or only beside it)
        have of a session's rows is not theirs."""
        members, at = self._around(session)
        for later in members[at + 1 :]:
            if isinstance(later, SessionKin):
                self.take_back({later.session_id: rows})
            elif later.files[0] not in self._files:
                shared = set(self._kin(session).messages)
                builder = TurnBuilder(later.tool.kind, done=ALL_DONE, elsewhere=shared)
                self.take_back(_built(builder, later).withheld)

    def take_back(self, rows: Mapping[str, set[str]]) -> None:
        """Rows are not their sessions' any more."""
        for session, these in rows.items():
            self.withdrawn.setdefault(session, set()).update(these)

    def withdraw(self, store: Store) -> None:
        """Delete the rows that are not their sessions' any more. Raises ``StoreError``."""
        tables = Tables(store)
        for session, rows in self.withdrawn.items():
            left: dict[str, bool] = {}
            calls = ask(store, "coding/session_calls", session=session).rows
            for call, turn in calls:
                left[turn] = left.get(turn, False) or call not in rows
            rows |= {turn for turn, stays in left.items() if turn and not stays}
            these, whose = sorted(rows), f"unhex('{session.encode('utf-8', 'replace').hex()}')"
            for record in (LlmCall, ToolCall, TurnSummary, SpanRow):
                key = "turn_id" if record is TurnSummary else "span_id"
                for at in range(0, len(these), _TOGETHER):
                    named = ", ".join(f"'{one}'" for one in these[at : at + _TOGETHER])
                    named = f"({key} IN ({named}) OR trace_id IN ({named}))"
                    condition = f"session_id = {whose} AND {named}"
                    sql = f"SELECT 1 FROM {tables.everywhere(record)} WHERE {condition} LIMIT 1"
                    if store.query(sql, None, {"final": 0}).rows:
                        store.command(tables.deletion(record, condition), None, _AT_ONCE)

    # -- their order ------------------

    def _known_members(self, changed: Mapping[Path, TranscriptSession]) -> None:
        """The sessions that were imported before, in that order."""
        by_key = {key_of(path): path for path, tool in self._files.items() if tool is not None}
        for key, state in self._position.files.items():
            path = by_key.get(key)
            if path is None or state.family == NO_FAMILY:
                continue
            first = self._beginnings.get(path)
            if path in changed and (first is None or family_of(first.call) != state.family):
                continue
            tool = self._files[path]
            assert tool is not None
            known = changed.get(path) or TranscriptSession(tool, [path])
            self._members.setdefault(state.family, []).append(known)

    def _insert(self, family: bytes, session: TranscriptSession, first: SessionBeginning) -> None:
        main = session.files[0]
        members = self._members.setdefault(family, [])
        if main in self._alone:
            others = sessions_beside(session, self._files)
            alike = [one for one in others if (b := _beginning(one)) and b.call == first.call]
            for other in alike:
                self._put(members, other)
        named = {kin.session_id for kin in map(self._kin, members)} if members else set[str]()
        for kin in self._stored.get(first.row, ()):
            if kin.session_id not in (*named, first.session_id):
                self._translate(kin, [session, *members])
                self._put(members, kin)
        at = self._put(members, session)
        later = (_file(each) for each in members[at + 1 :])
        files = self._position.files
        before = next((path for path in later if path and key_of(path) in files), None)
        self._position.place(main, before)

    def _put(self, members: list[Any], new: TranscriptSession | SessionKin) -> int:
        at = len(members)
        if members:
            kin = self._kin(new)
            parents = {one.session_id: one.parent for one in map(self._kin, [*members, new])}
            later = (n for n, one in enumerate(members) if _precedes(kin, self._kin(one), parents))
            at = next(later, at)
        members.insert(at, new)
        return at

    def _translate(self, kin: SessionKin, others: Sequence[TranscriptSession | SessionKin]) -> None:
        """The store has the ids of rows in the place of messages."""
        known: dict[str, str] = {}
        for other in others:
            if isinstance(other, TranscriptSession):
                for message in self._kin(other).messages:
                    for what in ("turn", "call"):
                        known[f"{ids.span_id(other.tool.kind, what, message):016x}"] = message
        kin.messages = {known.get(row, row): time for row, time in kin.messages.items()}

    def _remake(
        self, members: Sequence[TranscriptSession | SessionKin], changed: Container[Path]
    ) -> None:
        """Import those anew that have recorded what is an earlier one's."""
        news = False
        for at, member in enumerate(members):
            path = _file(member)
            if path is None:
                continue
            known = self._position.get(path)
            if news and known.family != NO_FAMILY:
                theirs = self._earlier(members, at)
                ours = enumerate(self._kin(member).messages, 1)
                if max((n for n, one in ours if one in theirs), default=0) > known.repeated:
                    self._position.set(path, known.anew())
                    self.remade.add(path)
            news = news or path in changed

    def _earlier(self, members: Sequence[TranscriptSession | SessionKin], at: int) -> set[str]:
        """What the members before one have; another file of its session has the same rows."""
        own = self._kin(members[at]).session_id
        before = [kin for kin in map(self._kin, members[:at]) if kin.session_id != own]
        return set[str]().union(*(kin.messages for kin in before))

    def _around(
        self, session: TranscriptSession
    ) -> tuple[Sequence[TranscriptSession | SessionKin], int]:
        """The family of a session, and its place in that."""
        members, main = self._members.get(self.family(session), ()), session.files[0]
        return members, next((n for n, each in enumerate(members) if _file(each) == main), 0)

    def _kin(self, member: TranscriptSession | SessionKin) -> SessionKin:
        if isinstance(member, SessionKin):
            return member
        path = member.files[0]
        if path not in self._known:
            # The last one: a family is gone through from its first session, again and again.
            while sum(len(kin.messages) for kin in self._known.values()) >= _REMEMBERED:
                self._known.popitem()
            self._known[path] = SessionKin("", "", file=path)
            with suppress(OSError, SourceLogError):  # deleted meanwhile: it has nothing in common
                start, messages = messages_of(TranscriptSession(member.tool, [path]))
                self._known[path] = SessionKin(*start, messages, path)
        return self._known[path]


def messages_of(session: TranscriptSession) -> tuple[tuple[str, str], dict[str, int]]:
    """Of a session, its id and its parent's, and its prompts and calls in their order, each with
    its time in ns. Raises ``SourceLogError``."""
    first = beginning_of(session)
    start = ("", "") if first is None else (first.session_id, first.parent)
    return start, _built(TurnBuilder(session.tool.kind, done=ALL_DONE), session).messages


def _built(builder: TurnBuilder, session: TranscriptSession) -> TurnBuilder:
    for number, event in events_of(session):
        builder.add(event, number)
    return builder


def _precedes(one: SessionKin, other: SessionKin, parents: Mapping[str, str]) -> bool:
    """Whether what stands in both is the first one's."""
    if one.session_id in _line(other, parents):
        return True
    if other.session_id in _line(one, parents):
        return False
    if bool(one.parent) != bool(other.parent):
        return not one.parent
    mine, theirs = one.own_since(other), other.own_since(one)
    return (mine, one.session_id) < (theirs, other.session_id)


def _line(kin: SessionKin, parents: Mapping[str, str]) -> Iterator[str]:
    """A session's parent, and the parents of that."""
    parent, seen = kin.parent, {kin.session_id}
    while parent and parent not in seen:
        seen.add(parent)
        yield parent
        parent = parents.get(parent, "")


def _file(member: TranscriptSession | SessionKin) -> Path | None:
    return member.file if isinstance(member, SessionKin) else member.files[0]


def _beginning(session: TranscriptSession) -> SessionBeginning | None:
    with suppress(OSError, SourceLogError):  # its import says what is wrong
        return beginning_of(session)
    return None
