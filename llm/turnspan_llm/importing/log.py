"""A log of llm's as the frame of imports reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from turnspan_llm.grouping.model import Grouping, RowAt
from turnspan_llm.grouping.runs import Log, opened_log
from turnspan_llm.importing.conversations import Reading
from turnspan_llm.importing.position import LogPosition, holds, read, written
from turnspan_llm.importing.runs import RunRecords, Verdicts, has_runs
from turnspan_llm.importing.source import LogTables
from turnspan_llm.importing.turns import KIND
from turnspan_llm.logs.responses import opened_logs
from turnspan_records.importing.sources import Part


def find_runs(
    sources: Sequence[LogTables], readings: Sequence[Reading], verdicts: Verdicts
) -> None:
    """Find the runs of what is to be imported, and what of the rest is another one by it.

    Only stretches with something new are grouped. Such a stretch is grouped without the new rows as
    well: what comes out differently was imported differently, and is imported again.

    Raises:
        LogsError: the log cannot be read.
    """
    own = sources[1].path if len(sources) > 1 else None
    with opened_log(sources[0].path, own) as log:
        if not any(reading.resumed for reading in readings):
            for number in range(len(log)):
                verdicts.add(log.grouped(number))
            return
        _Finding(log, readings, verdicts).find()


class _Finding:
    """An import that goes on."""

    def __init__(self, log: Log, readings: Sequence[Reading], verdicts: Verdicts) -> None:
        self._log = log
        self._readings = readings
        self._verdicts = verdicts

    def find(self) -> None:
        wanted: list[set[str]] = [set() for _ in self._readings]
        touched = self._touched()
        for number in sorted(touched):
            for row in self._changed(number):
                wanted[row.database].add(row.id)
        for reading, ids in zip(self._readings, wanted, strict=True):
            if reading.resumed and ids:
                reading.plan.add_calls_of(ids)
        # A conversation of theirs may reach into other stretches; nothing is new in those.
        for number in sorted(self._touched() - touched):
            self._verdicts.add(self._log.grouped(number))

    def _touched(self) -> set[int]:
        if not all(reading.resumed for reading in self._readings):
            return set(range(len(self._log)))
        found = {
            self._log.stretches.of(database, table, position)
            for database, reading in enumerate(self._readings)
            for table, position in reading.plan.calls()
        }
        return {number for number in found if number is not None}

    def _changed(self, number: int) -> Iterator[RowAt]:
        """Group a stretch; the rows of runs that are not as they were without the new rows."""
        now = self._log.grouped(number)
        self._verdicts.add(now)
        # A row that is in no run and in no list has no influence on any.
        if all(self._known(row.database, row.table, row.position) for row in _rows(now)):
            return
        before = self._log.grouped(number, only=self._known)
        runs = {run.output.row.id: run for run in before.runs}
        for run in now.runs:
            was = runs.pop(run.output.row.id, None)
            if was != run:
                for each in (run, was) if was is not None else (run,):
                    yield from (attached.row for attached in each.rows())
        for run in runs.values():
            yield from (attached.row for attached in run.rows())

    def _known(self, database: int, table: str, position: int) -> bool:
        """Whether a row was there at the last import."""
        return position <= self._readings[database].after.row(table)


def _rows(grouping: Grouping) -> Iterator[RowAt]:
    for run in grouping.runs:
        yield from (attached.row for attached in run.rows())
    yield from (each.row for each in grouping.review)


class LlmLog:
    """The log in a SQLite database of llm's, and what llm-consortium has logged beside it."""

    kind = KIND
    own_projects = False

    def __init__(self, path: Path | str, consortium_db: Path | str | None = None) -> None:
        self._paths = [Path(file) for file in (path, consortium_db) if file is not None]

    @property
    def identity(self) -> str:
        """The log's path: two copies of a log are two logs, whose calls have the same ids."""
        return str(self._paths[0].absolute())

    def total(self, after: str) -> int:
        """How many rows there are to read after a position, about."""
        positions = read(after, len(self._paths))
        with opened_logs(self._paths, LogTables) as sources:
            return sum(_left(one, where) for one, where in zip(sources, positions, strict=True))

    def parts(self, after: str) -> Iterator[Part]:
        """The log's conversations, whole, in the order of their newest rows.

        Raises:
            LogsError: the log cannot be read.
        """
        with opened_logs(self._paths, LogTables) as sources, ExitStack() as stack:
            positions = [
                where if holds(where, source) else LogPosition()
                for source, where in zip(sources, read(after, len(sources)), strict=True)
            ]
            labels = ["", *(f"{source.path.name}: " for source in sources[1:])]
            readings = [
                stack.enter_context(closing(Reading(*each)))
                for each in zip(sources, positions, labels, strict=True)
            ]
            verdicts = stack.enter_context(closing(Verdicts()))
            if has_runs(sources) and any(reading.plan.size for reading in readings):
                find_runs(sources, readings, verdicts)
            for reading in readings:
                reading.plan.order()
            runs = RunRecords(sources, verdicts)
            for number in reversed(range(len(readings))):  # members before their output
                for part in readings[number].parts(runs):
                    positions[number] = readings[number].reached
                    if readings[number].moved:
                        part.position = written(positions)
                    yield part


def _left(source: LogTables, position: LogPosition) -> int:
    if position.calls:
        return sum(source.count(table, position.row(table)) for table in source.layout.sources)
    return sum(source.count(table) for table in source.layout.columns if "_fts" not in table)
