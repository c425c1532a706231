"""Cuts a log into stretches that are grouped one after the other, so that memory does not grow
with the log, and what is new is grouped with its neighbours only.

Whatever may be in one run lies in the time of its output, and an arbiter without one is given what
was logged in the window before it. So nothing is lost between two calls that are further apart
than the window. Where a log never pauses for so long, it is cut at the longest of the moments in
which nothing at all was going on: a run with an output is never cut, and one without an output is
no run here in any case.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from turnspan_llm.grouping.rows import JSON_OF_OUTPUTS, SLACK
from turnspan_llm.logs.connection import explained
from turnspan_llm.logs.logged import as_text, interval, optional_text, whole_number
from turnspan_llm.logs.responses import OpenedLog

MOST: Final = 5_000
"""Rows of a stretch, unless something was going on all the time."""
_TOGETHER: Final = 2_000
_FIRST: Final = -(2**63)
_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA cache_size = -4000;
CREATE TABLE call (database INTEGER, kind INTEGER, number INTEGER, began INTEGER, ended INTEGER,
  id TEXT, PRIMARY KEY (database, kind, number)) WITHOUT ROWID;
"""
_INDEXES: Final = """
CREATE INDEX by_time ON call (began, ended);
CREATE INDEX by_id ON call (id) WHERE id IS NOT NULL;
"""


class Stretches:
    """The times of all calls, in a file of SQLite's own that is gone when it is closed."""

    def __init__(
        self,
        sources: Sequence[OpenedLog],
        names: frozenset[str],
        window: int,
        named: frozenset[str],
        *,
        most: int | None = MOST,
    ) -> None:
        """Read when every call was.

        Args:
            sources: the databases.
            names: of consortiums, which are models in a log.
            window: microseconds that a run takes at most where its output does not say.
            named: ids of rows that are to be found by them.
            most: rows of a stretch, if it may be cut there; ``None`` cuts nowhere.
        """
        self._sources = sources
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCHEMA)
        self.models: list[set[str]] = [set() for _ in sources]
        """By database, all models that it names."""
        self._scratch.execute("BEGIN")
        for source in sources:
            for kind in range(len(source.layout.sources)):
                self._read(source, kind, names, window, named)
        self._scratch.execute("COMMIT")
        self._scratch.executescript(_INDEXES)
        self._begins = [_FIRST]
        if most is not None:
            calls = self._scratch.execute("SELECT began, ended FROM call ORDER BY began, ended")
            self._begins += cuts(calls, window, most)

    def close(self) -> None:
        """Forget the times."""
        self._scratch.close()

    def __len__(self) -> int:
        return len(self._begins)

    def rows(self, number: int) -> Iterator[tuple[int, str, list[int]]]:
        """The rows of a stretch: database, table and positions."""
        last = number + 1 == len(self._begins)
        since, until = self._begins[number], 2**63 - 1 if last else self._begins[number + 1]
        found: list[tuple[int, int, int]] = self._scratch.execute(
            "SELECT database, kind, number FROM call WHERE began >= ? AND began < ?"
            " ORDER BY database, kind, number",
            (since, until),
        ).fetchall()
        for (database, kind), rows in groupby(found, key=lambda row: row[:2]):
            table = self._sources[database].layout.sources[kind]
            yield database, table, [position for _, _, position in rows]

    def of(self, database: int, table: str, position: int) -> int | None:
        """The stretch that a row is in; ``None`` of a row that was not there."""
        kinds = self._sources[database].layout.sources
        found = self._scratch.execute(
            "SELECT began FROM call WHERE database = ? AND kind = ? AND number = ?",
            (database, kinds.index(table), position),
        ).fetchone()
        return None if found is None else bisect_right(self._begins, found[0]) - 1

    def at(self, moment: int) -> int:
        """The stretch that a moment is in, or in whose neighbourhood."""
        # What began within the slack before the first row of a stretch is in it as well.
        return bisect_right(self._begins, moment + SLACK) - 1

    def named(self, id_: str) -> tuple[int, str, int] | None:
        """Database, table and position of the row of an id that was to be found."""
        found: tuple[int, int, int] | None = self._scratch.execute(
            "SELECT database, kind, number FROM call WHERE id = ?"
            " ORDER BY database, kind DESC, number DESC LIMIT 1",
            (id_,),
        ).fetchone()
        if found is None:
            return None
        database, kind, position = found
        return database, self._sources[database].layout.sources[kind], position

    def _read(
        self,
        source: OpenedLog,
        kind: int,
        names: frozenset[str],
        window: int,
        named: frozenset[str],
    ) -> None:
        for batch in _briefly(source, source.layout.sources[kind], sorted(names), window):
            rows: list[tuple[Any, ...]] = []
            for position, id_, model, time, duration, may_be_output in batch:
                lasted = whole_number(duration)
                began, ended = interval(optional_text(time), lasted)
                if lasted is None and may_be_output and began >= 0:
                    ended = began + window
                elif ended - began > window and not may_be_output:
                    # It is in no run, or in that of an output that took as long. One duration
                    # that cannot be must not keep the rest of the log together.
                    ended = began
                self.models[source.number].add(as_text(model))
                known = as_text(id_) if named and as_text(id_) in named else None
                rows.append((source.number, kind, position, began, ended, known))
            self._scratch.executemany("INSERT INTO call VALUES (?, ?, ?, ?, ?, ?)", rows)


class _Quiet(NamedTuple):
    """A moment in which nothing was going on."""

    pause: int
    """How long."""
    before: int
    """Rows of the stretch before it."""
    began: int
    """What began after it."""


def cuts(calls: Iterable[tuple[int, int]], window: int, most: int) -> Iterator[int]:
    """Where calls, in the order of their beginnings, are cut: the beginnings after the cuts."""
    busy, rows = _FIRST, 0
    quiet: list[_Quiet] = []
    for began, ended in calls:
        pause = began - busy - 2 * SLACK
        if busy < 0 <= began or (pause > window and busy >= 0):
            if rows:
                yield began
            rows, quiet = 0, []
        elif pause > 0 and busy >= 0:
            quiet.append(_Quiet(pause, rows, began))
        busy = max(busy, ended)
        rows += 1
        if rows >= most and quiet:
            late = [each for each in quiet if each.before > most // 2]
            chosen = max(late, key=lambda each: each.pause) if late else quiet[-1]
            yield chosen.began
            rows -= chosen.before
            quiet = [
                _Quiet(each.pause, each.before - chosen.before, each.began)
                for each in quiet
                if each.before > chosen.before
            ]


def _briefly(
    source: OpenedLog, table: str, names: list[str], window: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Rows without their texts. Whether one is an output is asked only where it makes a difference:
    where there is no duration, which would say how long the output's run took, or a long one."""
    there = source.layout.columns[table]

    def column(name: str) -> str:
        return f'"{name}"' if name in there else "NULL"

    time, duration, said = column("datetime_utc"), column("duration_ms"), column("response_json")
    sql = (
        f"SELECT rowid, id, model, {time}, {duration}, CASE WHEN typeof({duration}) = 'integer'"
        f" AND {duration} <= ? THEN 0 ELSE model IN (SELECT value FROM json_each(?))"
        f' OR coalesce(instr({said}, ?) > 0, 0) END FROM "{table}"'
        f" WHERE rowid > ? ORDER BY rowid LIMIT {_TOGETHER}"
    )
    after = _FIRST
    while True:
        with explained(source.path):
            parameters = (window // 1_000, json.dumps(names), JSON_OF_OUTPUTS, after)
            batch = source.connection.execute(sql, parameters).fetchall()
        if not batch:
            return
        after = batch[-1][0]
        yield batch
