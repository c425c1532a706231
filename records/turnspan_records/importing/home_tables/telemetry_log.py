"""``agent_telemetry`` as a log: its rows in their turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from turnspan_records.importing.home_tables import agent_telemetry
from turnspan_records.importing.home_tables.agent_telemetry import (
    CALL,
    SUBAGENT,
    TURN,
    TelemetryRow,
)
from turnspan_records.importing.home_tables.database import TableColumn
from turnspan_records.importing.home_tables.log import HomeTable
from turnspan_records.importing.home_tables.part import PartMaker
from turnspan_records.importing.home_tables.table_chunks import Chunk, Row
from turnspan_records.importing.home_tables.turns import Group, OpenTurn, Turns
from turnspan_records.importing.sources import Part

_SESSION, _GROUP, _TYPE = "session_id", "turn_id", "record_type"
_SKELETON: Final = (_SESSION, _GROUP, _TYPE, agent_telemetry.TIME)
_FIGURES: Final = (
    *_SKELETON,
    *("duration_ms", "model_used", "provider", "prompt_tokens", "completion_tokens"),
    *("cost_usd", "tool_calls", "tool_results"),
)
_LOOKED_UP: Final = 200
"""Values of one query."""


class AgentTelemetry(HomeTable):
    """A coding agent's log."""

    kind = agent_telemetry.KIND
    time_column = agent_telemetry.TIME
    known_columns = agent_telemetry.COLUMNS

    def parts(self, after: str) -> Iterator[Part]:
        """The rows after a position, as parts."""
        self._turns = Turns(from_the_beginning=not after)
        return super().parts(after)

    def _add(self, chunk: Chunk, maker: PartMaker) -> None:
        late = {self._key(row) for row in chunk.rows} if chunk.late else set[str]()
        joined: dict[str, OpenTurn] = {}
        if not chunk.late:
            groups = filter(None, map(_group, chunk.rows))
            self._turns.prepare(groups, lambda new: self._open_before(chunk.rows[0], new))
        for row in chunk.rows:
            read, group = self._read(row, maker), _group(row)
            turns = self._turns
            if group is None or not read.end:
                turns, group = Turns(from_the_beginning=True), (read.name, "")
            elif late:
                turns = self._around(read, row, group, late, joined)
            maker.part.seen[self.table, _add(read, turns, group)] += 1

    def _key(self, row: Row) -> str:
        return row[self._table.key.name] or ""

    def _read(self, row: Row, maker: PartMaker) -> TelemetryRow:
        return TelemetryRow(self._fields(row, maker), maker)

    def _peek(self, row: Row) -> TelemetryRow:
        """A row that is looked at because of another one: nothing is made of it."""
        return self._read(row, PartMaker(self._scopes))

    # -- what stands before ------------------

    def _open_before(self, first: Row, groups: Sequence[Group]) -> Mapping[Group, OpenTurn]:
        """The turns of these groups that are open where a row stands."""
        if self.time_column in self._columns and not first.get(self.time_column):
            return {}  # where rows are read by time, those without one stand alone
        before, moment = self._table.before(first)
        waiting: dict[Group, list[str]] = {}
        for row in self._of(groups, f" AND {before}", moment):
            group, type_ = _group(row), row.get(_TYPE)
            if group is None or not self._peek(row).end:
                continue
            if type_ == TURN:
                waiting.pop(group, None)
            elif type_ in (CALL, SUBAGENT):
                waiting.setdefault(group, []).append(self._key(row))
        return self._with_figures({g: keys for g, keys in waiting.items() if g in set(groups)})

    def _with_figures(self, waiting: Mapping[Group, Sequence[str]]) -> dict[Group, OpenTurn]:
        group_of = {key: group for group, keys in waiting.items() for key in keys}
        found: dict[Group, OpenTurn] = {}
        for row in self._among(self._table.key, list(group_of), "", (), _FIGURES):
            read, group = self._peek(row), group_of[self._key(row)]
            if group not in found:
                found[group] = OpenTurn(group[1] or read.name)
            if read.type == CALL:
                found[group].add_call(*read.figures())
        return found

    def _of(
        self, groups: Iterable[Group], condition: str, parameters: Sequence[object]
    ) -> Iterator[Row]:
        """What tells the turns of groups, each group's rows in their order."""
        named = [turn for _, turn in groups if turn]
        sessions = [session for session, turn in groups if not turn]
        for name, some in ((_GROUP, named), (_SESSION, sessions)):
            column = self._columns.get(name)
            if column is not None and some:
                unique = list(dict.fromkeys(some))
                yield from self._among(column, unique, condition, parameters, _SKELETON)

    def _among(
        self,
        column: TableColumn,
        wanted: Sequence[str],
        condition: str,
        parameters: Sequence[object],
        names: Sequence[str],
    ) -> Iterator[Row]:
        """Some columns of the rows in which a column has one of these values."""
        name = self._table.database.quoted(column.name)
        one = self._table.database.placeholder(column)
        for start in range(0, len(wanted), _LOOKED_UP):
            some = wanted[start : start + _LOOKED_UP]
            within = f"{name} IN ({', '.join([one] * len(some))}){condition}"
            columns = [self._table.key.name, *names]
            yield from self._table.where(within, [*some, *parameters], columns)

    # -- what came late ------------------

    def _around(
        self,
        read: TelemetryRow,
        row: Row,
        group: Group,
        late: set[str],
        joined: dict[str, OpenTurn],
    ) -> Turns:
        """The turn that a row joins which came later than rows that follow it.

        Those have been imported, and stay in their turns: it changes nothing of theirs. A summary
        that came late has no calls for the same reason.
        """
        turns = Turns(from_the_beginning=True)
        if read.type == TURN and not group[1]:
            return turns
        calls: list[Row] = []
        closing: Row | None = None
        passed = False
        for each in self._of([group], "", ()):
            passed = passed or self._key(each) == self._key(row)
            known = self._key(each) not in late
            if each.get(_TYPE) == TURN:
                if passed:
                    closing = each if known else None
                    break
                calls.clear()
            elif known:
                calls.append(each)
        beginning = next(iter(calls), closing)
        name = group[1] or (self._peek(beginning).name if beginning is not None else read.name)
        turn = joined.setdefault(name, OpenTurn(name, len(calls)))
        turns.begin(group, turn)
        return turns


def _group(row: Row) -> Group | None:
    """The session of a row, and its turn where the table names it; None: it stands alone."""
    session, turn = row.get(_SESSION) or "", row.get(_GROUP) or ""
    return (session, turn) if session or turn else None


def _add(read: TelemetryRow, turns: Turns, group: Group) -> str:
    """Add a row; returns what became of it."""
    begun = group[1] or read.name
    if read.type == CALL:
        return read.call(turns.open(group, begun))
    if read.type == TURN:
        return read.turn(turns.end(group, begun))
    if read.type == SUBAGENT:
        return read.turn_inside(turns.open(group, begun))
    return read.other()
