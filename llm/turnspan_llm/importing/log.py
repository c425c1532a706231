"""A log of llm's as the frame of imports reads it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from turnspan_llm.importing.affected_runs import find_runs
from turnspan_llm.importing.conversations import Reading
from turnspan_llm.importing.position import LogPosition, holds, read, written
from turnspan_llm.importing.runs import RunRecords, Verdicts, has_runs
from turnspan_llm.importing.source import LogTables
from turnspan_llm.importing.turns import KIND
from turnspan_llm.logs.connection import opened
from turnspan_llm.logs.generations import layout_of
from turnspan_records.importing.sources import Part


class LlmLog:
    """The log in a SQLite database of llm's, and what llm-consortium has logged beside it."""

    kind = KIND
    own_projects = False

    def __init__(self, path: Path | str, consortium_db: Path | str | None = None) -> None:
        self._paths = [Path(path)]
        if consortium_db is not None:
            self._paths.append(Path(consortium_db))

    @property
    def identity(self) -> str:
        """The log's path: two copies of a log are two logs, whose calls have the same ids."""
        return str(self._paths[0].absolute())

    def total(self, after: str) -> int:
        """How many rows there are to read after a position, about."""
        positions = read(after, len(self._paths))
        with self._opened() as sources:
            return sum(_left(one, where) for one, where in zip(sources, positions, strict=True))

    def parts(self, after: str) -> Iterator[Part]:
        """The log's conversations, whole, in the order of their newest rows.

        Raises:
            LogsError: the log cannot be read.
        """
        with self._opened() as sources, ExitStack() as stack:
            positions = [
                where if holds(where, source) else LogPosition()
                for source, where in zip(sources, read(after, len(sources)), strict=True)
            ]
            labels = ["", *(f"{source.path.name}: " for source in sources[1:])]
            readings = [
                stack.enter_context(Reading(*each))
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

    @contextmanager
    def _opened(self) -> Generator[list[LogTables]]:
        with ExitStack() as stack:
            found: list[LogTables] = []
            for path in self._paths:
                connection = stack.enter_context(opened(path))
                found.append(LogTables(connection, layout_of(connection, path), path))
            yield found


def _left(source: LogTables, position: LogPosition) -> int:
    if position.calls:
        return sum(source.count(table, position.row(table)) for table in source.layout.sources)
    return sum(source.count(table) for table in source.layout.columns if "_fts" not in table)
