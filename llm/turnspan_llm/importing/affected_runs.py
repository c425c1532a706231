"""Finds the runs of what is to be imported, and what of the rest is another one by it.

Only the stretches of the log that have something to be imported are grouped. Where a row is new,
its stretch is grouped without the new rows as well: what comes out differently was imported
differently, and is imported again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnspan_llm.grouping.model import Grouping, RowAt
from turnspan_llm.grouping.runs import Log, opened_log
from turnspan_llm.importing.conversations import Reading
from turnspan_llm.importing.runs import Verdicts
from turnspan_llm.importing.source import LogTables


def find_runs(
    sources: Sequence[LogTables], readings: Sequence[Reading], verdicts: Verdicts
) -> None:
    """Find them, and complete what is to be imported.

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
