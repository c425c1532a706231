"""One reading of one of a log's databases: its conversations as parts of an import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from turnspan_llm.importing.accounts import Accounts, add_rest
from turnspan_llm.importing.call_fields import PREFIX, LoggedCall, Readers
from turnspan_llm.importing.chains import Thread
from turnspan_llm.importing.plan import Plan, Planned
from turnspan_llm.importing.position import LogPosition, Mark
from turnspan_llm.importing.responses import ResponseReader, ResponseRows
from turnspan_llm.importing.runs import RunRecords
from turnspan_llm.importing.source import ROW, LogTables
from turnspan_llm.importing.turns import add_turns
from turnspan_llm.importing.values import Notes
from turnspan_llm.logs.generations import RESPONSES, TURNS
from turnspan_llm.logs.logged import as_text
from turnspan_records.importing.sources import Part

_TOGETHER: Final = 50
"""Calls whose rows are read at once, unless a conversation has more."""


class Reading:
    """Reads a database from a position on."""

    def __init__(self, source: LogTables, after: LogPosition, label: str) -> None:
        self._source = source
        self._accounts = Accounts(label)
        self._readers = Readers(source, self._accounts)
        self.after = after
        self.resumed = bool(after.calls)
        self.plan = Plan(source, after)
        self.reached = LogPosition(dict(after.calls), after.beside)
        """How far it has come."""
        self.moved = False
        """Whether the newest part has brought it further."""

    def close(self) -> None:
        """Forget the plan."""
        self.plan.close()

    def parts(self, runs: RunRecords) -> Iterator[Part]:
        """The parts, and in the end one that accounts for all other rows."""
        conversations = self.plan.conversations()
        while some := list(_taken(conversations)):
            numbers = [number for each in some for number in each.rows.get(RESPONSES, [])]
            read = ResponseRows(self._source, numbers, self.plan.beside_of) if numbers else None
            for each in some:
                yield self._part(each, read, runs)
        self.reached.beside = self.plan.beside
        self.moved = bool(self.reached.calls)
        ends = self.plan.ends | self.plan.beside
        add_rest(self._source, self._accounts, ends, resumed=self.resumed)
        yield Part(seen=self._accounts.part())

    def _part(self, planned: Planned, read: ResponseRows | None, runs: RunRecords) -> Part:
        notes = Notes()
        part = Part()
        calls: list[LoggedCall] = []
        if read is not None:
            conversation = ResponseReader(self._readers, read, planned.session, notes)
            for number in planned.rows.get(RESPONSES, []):
                call = conversation.call(number)
                if call is not None:
                    calls.append(call)
        turns = planned.rows.get(TURNS, [])
        if turns:
            ended = calls[-1].end if calls else 0
            calls += Thread(self._readers, planned.session, notes, ended).calls(turns)
        for call in calls:
            call.consortium = runs.place(call)
        if calls:
            add_turns(part, calls, self._about(planned.session), runs.facts)
        part.seen = self._accounts.part()
        part.problems = notes.problems
        self.moved = planned.last > self.after.row(planned.table)
        if self.moved:  # else it is an older one, to which something was added beside its calls
            rows = self.plan.rows_up_to(planned.table, planned.last)
            self.reached.calls[planned.table] = Mark(planned.last, planned.id, rows)
            self.reached.beside = self.plan.beside
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


def _taken(conversations: Iterator[Planned]) -> Iterable[Planned]:
    """The next conversations, of some fifty calls together."""
    calls = 0
    for planned in islice(conversations, _TOGETHER):
        yield planned
        calls += planned.calls
        if calls >= _TOGETHER:
            return
