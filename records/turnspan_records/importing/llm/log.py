"""A log of llm's as the frame of imports reads it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from turnspan_records.importing.llm.finding import find_runs
from turnspan_records.importing.llm.position import Position, holds, read, written
from turnspan_records.importing.llm.reading import Reading
from turnspan_records.importing.llm.runs import Runs, has_runs
from turnspan_records.importing.llm.source import Source
from turnspan_records.importing.llm.turns import KIND
from turnspan_records.importing.llm.verdicts import Verdicts
from turnspan_records.importing.sources import Part, SourceLogError
from turnspan_records.llm_logs import LogsError, layout_of, opened


class LlmLog:
    """The log in a SQLite database of llm's, and what llm-consortium has logged beside it."""

    kind = KIND

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
        with _errors(), self._opened() as sources:
            return sum(_left(one, where) for one, where in zip(sources, positions, strict=True))

    def parts(self, after: str) -> Iterator[Part]:
        """The log's conversations, whole, in the order of their newest rows.

        Raises:
            SourceLogError: the log cannot be read.
        """
        with _errors(), self._opened() as sources, ExitStack() as stack:
            positions = [
                where if holds(where, source) else Position()
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
            runs = Runs(sources, verdicts)
            for number in reversed(range(len(readings))):  # members before their output
                for part in readings[number].parts(runs):
                    positions[number] = readings[number].reached
                    if readings[number].moved:
                        part.position = written(positions)
                    yield part

    @contextmanager
    def _opened(self) -> Generator[list[Source]]:
        with ExitStack() as stack:
            found: list[Source] = []
            for path in self._paths:
                connection = stack.enter_context(opened(path))
                found.append(Source(connection, layout_of(connection, path), path))
            yield found


def _left(source: Source, position: Position) -> int:
    if position.calls:
        return sum(source.count(table, position.row(table)) for table in source.layout.sources)
    return sum(source.count(table) for table in source.layout.columns if "_fts" not in table)


@contextmanager
def _errors() -> Generator[None]:
    try:
        yield
    except LogsError as error:
        raise SourceLogError(str(error)) from None
