"""A log of llm's as the frame of imports reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from turnspan_records.importing.llm.accounts import Accounts
from turnspan_records.importing.llm.calls import Call
from turnspan_records.importing.llm.chains import Thread
from turnspan_records.importing.llm.common import PREFIX, Readers
from turnspan_records.importing.llm.planning import Plan, Planned
from turnspan_records.importing.llm.position import Mark, Position, holds
from turnspan_records.importing.llm.responses import Conversation, Responses
from turnspan_records.importing.llm.rest import add_rest
from turnspan_records.importing.llm.source import ROW, Source
from turnspan_records.importing.llm.turns import KIND, add_turns
from turnspan_records.importing.llm.values import Notes, as_text
from turnspan_records.importing.sources import Part, SourceLogError
from turnspan_records.llm_logs import LogsError, layout_of, opened
from turnspan_records.llm_logs.generations import RESPONSES, TURNS

_TOGETHER: Final = 50
"""Calls whose rows are read at once, unless a conversation has more."""


class LlmLog:
    """The log of one SQLite database."""

    kind = KIND

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    @property
    def identity(self) -> str:
        """The file's path: two copies of a log are two logs, whose calls have the same ids."""
        return str(self._path.absolute())

    def total(self, after: str) -> int:
        """How many rows the tables of calls have after a position, and those beside."""
        try:
            with opened(self._path) as connection:
                source = Source(connection, layout_of(connection, self._path), self._path)
                position = Position.read(after)
                calls = sum(
                    source.count(table, position.row(table)) for table in source.layout.sources
                )
                if position.calls:
                    return calls
                return sum(source.count(table) for table in _counted(source))
        except LogsError as error:
            raise SourceLogError(str(error)) from None

    def parts(self, after: str) -> Iterator[Part]:
        """The log's conversations, whole, in the order of their newest rows.

        Raises:
            SourceLogError: the log cannot be read.
        """
        try:
            with opened(self._path) as connection:
                source = Source(connection, layout_of(connection, self._path), self._path)
                yield from _Run(source, Position.read(after)).parts()
        except LogsError as error:
            raise SourceLogError(str(error)) from None


class _Run:
    """One import of a log."""

    def __init__(self, source: Source, after: Position) -> None:
        self._source = source
        self._accounts = Accounts()
        self._readers = Readers(source, self._accounts)
        self._again = bool(after.calls) and not holds(after, source)
        self._after = Position() if self._again else after
        self._reached = Position(dict(self._after.calls))
        """How far it has come; the tables beside are named once older conversations are done."""

    def parts(self) -> Iterator[Part]:
        """The parts, and in the end one that accounts for all other rows."""
        plan = Plan(self._source, self._after)
        try:
            plan.order()
            conversations = plan.conversations()
            while some := list(_taken(conversations)):
                yield from self._read(plan, some)
            rest = Part(position=self._finished(plan))
            add_rest(
                self._source, self._accounts, plan.ends | plan.beside,
                resumed=bool(self._after.calls),
            )  # fmt: skip
            rest.seen = self._accounts.part()
            yield rest
        finally:
            plan.close()

    def _read(self, plan: Plan, some: list[Planned]) -> Iterator[Part]:
        numbers = [number for each in some for number in each.rows.get(RESPONSES, [])]
        read = Responses(self._readers, numbers, plan.beside_of) if numbers else None
        for each in some:
            yield self._part(plan, each, read)

    def _part(self, plan: Plan, planned: Planned, read: Responses | None) -> Part:
        notes = Notes()
        part = Part()
        calls: list[Call] = []
        if read is not None:
            conversation = Conversation(self._readers, read, planned.session, notes)
            for number in planned.rows.get(RESPONSES, []):
                call = conversation.call(number)
                if call is not None:
                    calls.append(call)
        turns = planned.rows.get(TURNS, [])
        if turns:
            ended = calls[-1].end if calls else 0
            calls += Thread(self._readers, planned.session, notes, ended).calls(turns)
        if calls:
            add_turns(part, calls, self._about(planned.session))
        part.seen = self._accounts.part()
        part.problems = notes.problems
        part.position = self._position(plan, planned)
        return part

    def _about(self, session: str) -> dict[str, str]:
        """What the log says of a conversation."""
        about: dict[str, str] = {}
        for table in ("conversations", "threads") if session else ():
            for row in self._source.rows(table, "id", [session]):
                self._accounts.took(table, "sessions")
                for column, value in row.items():
                    if column not in (ROW, "id", "tip_message_hash") and value is not None:
                        about[f"{PREFIX}conversation.{column}"] = as_text(value)
        return about

    def _position(self, plan: Plan, planned: Planned) -> str:
        """Where to go on after a conversation: all that are older are done."""
        reached = self._reached
        if planned.last <= self._after.row(planned.table):
            return ""  # an older one, to which something was added beside its calls
        rows = plan.rows_up_to(planned.table, planned.last)
        reached.calls[planned.table] = Mark(planned.last, planned.id, rows)
        reached.beside = plan.beside
        return reached.written()

    def _finished(self, plan: Plan) -> str:
        """The position of a log that is imported."""
        self._reached.beside = plan.beside
        return self._reached.written() if self._reached.calls else ""


def _taken(conversations: Iterator[Planned]) -> Iterable[Planned]:
    """The next conversations, of some fifty calls together."""
    calls = 0
    for planned in islice(conversations, _TOGETHER):
        yield planned
        calls += planned.calls
        if calls >= _TOGETHER:
            return


def _counted(source: Source) -> list[str]:
    return [table for table in source.layout.columns if "_fts" not in table]
