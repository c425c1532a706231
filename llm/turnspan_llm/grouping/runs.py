"""Finds consortium runs in the logs of simonw/llm, by the keys that hold, strongest first.

A log is grouped a stretch at a time, between two pauses. Of a stretch, times and hashes of all rows
are kept; then the arbiters' prompts are read one by one, and the known texts are looked for in
them. What follows from them is decided, the rest is left to a person.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from turnspan_llm.grouping.arbiters import read_arbiters
from turnspan_llm.grouping.assembly import AssembledRun, assembled
from turnspan_llm.grouping.chains import chains, stand_in
from turnspan_llm.grouping.decisions import Decisions
from turnspan_llm.grouping.literal_rules import literal_runs
from turnspan_llm.grouping.members import iterations, members
from turnspan_llm.grouping.model import Grouping, ReviewRow, RowPlace, RunFound, Why
from turnspan_llm.grouping.rows import LogRow, LogRows, read_rows
from turnspan_llm.grouping.stretches import MOST, Stretches
from turnspan_llm.grouping.tables import TableRun, paired, saved_names, table_runs
from turnspan_llm.logs.responses import OpenedLog, opened_logs

Strategy = Literal["keys", "literal"]
Chosen = Callable[[int, str, int], bool]
WINDOW: Final = 3600.0
CONSORTIUM_DB: Final = "consortium_logs.db"
"""How llm-consortium calls its own file, which lies beside llm's log."""


def group(
    path: Path | str,
    *,
    consortium_db: Path | str | None = None,
    strategy: Strategy = "keys",
    models: Iterable[str] = (),
    window: float | None = None,
    decisions: Mapping[str, str | None] | None = None,
) -> Grouping:
    """Find the consortium runs of a log; the log is only read.

    Args:
        path: llm's log.
        consortium_db: llm-consortium's own file, which versions 0.6 and newer write.
        strategy: ``keys``, or ``literal``: the rules that people tried before, for comparison.
        models: names of consortiums beside those that the log itself tells.
        window: seconds that a run takes at most where its output does not say; one hour if not
            given.
        decisions: of a reviewer: by row id the id of the output row of the run that it belongs to,
            ``None`` if to none.

    Raises:
        LogsError: a file cannot be read.
        DecisionError: a decision is about what cannot be decided.
    """
    chosen = Decisions(decisions or {})
    literal = strategy == "literal"
    with opened_log(path, consortium_db, models=models, window=window, whole=literal) as log:
        if literal:
            return log.literal()
        grouping = _together(log.grouped(number, chosen) for number in range(len(log)))
    chosen.check(grouping)
    return grouping


def beside(path: Path) -> Path | None:
    """llm-consortium's own file in the folder of a log, if there is one."""
    found = path.parent / CONSORTIUM_DB
    return found if found.is_file() and found.resolve() != path.resolve() else None


@contextmanager
def opened_log(
    path: Path | str,
    consortium_db: Path | str | None = None,
    *,
    models: Iterable[str] = (),
    window: float | None = None,
    whole: bool = False,
) -> Generator[Log]:
    """A log that is grouped stretch by stretch; arguments and errors as of ``group``.

    Args:
        path: llm's log.
        consortium_db: llm-consortium's own file.
        models: names of consortiums.
        window: seconds that a run takes at most.
        whole: in one stretch.
    """
    microseconds = round((WINDOW if window is None else window) * 1_000_000)
    paths = [Path(one) for one in (path, consortium_db) if one is not None]
    with opened_logs(paths, OpenedLog) as sources:
        log = Log(sources, frozenset(models), microseconds, whole)
        try:
            yield log
        finally:
            log.stretches.close()


class Log:
    """The databases of a log, opened."""

    def __init__(
        self, sources: list[OpenedLog], models: frozenset[str], window: int, whole: bool
    ) -> None:
        self._sources = sources
        self._window = window
        runs = [run for source in sources for run in table_runs(source.connection, source.path)]
        told = (run.name for run in runs if run.name is not None)
        saved = (saved_names(source.connection, source.path) for source in sources)
        self._names = models.union(*saved, told)
        self._named = frozenset(row for run in runs for row, _, _ in run.members)
        most = None if whole else MOST
        self.stretches = Stretches(sources, self._names, window, self._named, most=most)
        self._runs: dict[int, list[TableRun]] = {}
        for run in runs:
            self._runs.setdefault(self.stretches.at(run.began), []).append(run)

    def __len__(self) -> int:
        return len(self.stretches)

    def grouped(
        self, number: int, chosen: Decisions | None = None, only: Chosen | None = None
    ) -> Grouping:
        """What is in one stretch; the stretches together are the whole.

        Args:
            number: of the stretch.
            chosen: what a reviewer decided.
            only: says of database, table and position whether a row counts.
        """
        chosen = Decisions({}) if chosen is None else chosen
        rows = self._read(number, self._named, only)
        by_id: dict[str, LogRow] = {}
        for each in reversed(rows):
            by_id.update(each.by_id)
        chosen.saw(by_id)
        runs = self._runs.get(number, [])
        self._add_named(runs, by_id)
        return assembled(self._found(rows, runs, by_id, chosen))

    def literal(self) -> Grouping:
        """By the rules that people tried before."""
        return literal_runs(self._sources[0], self._read(0, None)[0], self._window)

    def _read(
        self, number: int, named: frozenset[str] | None, only: Chosen | None = None
    ) -> list[LogRows]:
        stretch: list[list[tuple[str, list[int]]]] = [[] for _ in self._sources]
        for database, table, positions in self.stretches.rows(number):
            if only is not None:
                positions = [each for each in positions if only(database, table, each)]
            stretch[database].append((table, positions))
        found: list[LogRows] = []
        for source, some in zip(self._sources, stretch, strict=True):
            rows = read_rows(source, some, self._names, self._window, named)
            rows.models = self.stretches.models[source.number]
            found.append(rows)
        return found

    def _add_named(self, runs: list[TableRun], by_id: dict[str, LogRow]) -> None:
        """Rows that a table names and whose times say that they are elsewhere."""
        for run in runs:
            for id_, _, _ in run.members:
                place = None if id_ in by_id else self.stretches.named(id_)
                if place is not None:
                    database, table, position = place
                    some = [(table, [position])]
                    read = read_rows(
                        self._sources[database], some, self._names, self._window, self._named
                    )
                    by_id.update(read.by_id)

    def _found(
        self,
        databases: list[LogRows],
        runs: list[TableRun],
        by_id: dict[str, LogRow],
        chosen: Decisions,
    ) -> AssembledRun:
        outputs = [row for rows in databases for row in rows.outputs]
        pairs = paired(runs, outputs, chosen.allowed)
        placed = set(pairs.outputs.values()) | {row for rows in pairs.open.values() for row in rows}
        rows = databases[0]
        rows.outputs = [row for row in rows.outputs if row not in placed]
        rows.arbiters = [row for row in rows.arbiters if row.id not in self._named]
        rows.members = [row for row in rows.members if row.id not in self._named]
        arbiters = read_arbiters(self._sources[0], rows, self._window)
        found = chains(rows.outputs, arbiters, chosen.allowed)
        stand_in(found, rows.members)
        places = iterations(found.by_output.values(), arbiters, self._window)
        theirs = members(places, rows.models, chosen.allowed)
        return AssembledRun(databases, pairs, by_id, found, theirs)


def _together(stretches: Iterable[Grouping]) -> Grouping:
    runs: list[RunFound] = []
    review: list[ReviewRow] = []
    places: dict[str, RowPlace] = {}
    seen = 0
    for each in stretches:
        runs += each.runs
        review += each.review
        places.update(each.places)
        seen += each.seen
    # A table may have put a row into a run whose time is in another stretch.
    review = [each for each in review if each.why is not Why.ORPHAN or each.row.id not in places]
    review.sort(key=lambda each: (each.row.began, each.row.id, each.why.value))
    return Grouping(tuple(runs), tuple(review), places, seen)
