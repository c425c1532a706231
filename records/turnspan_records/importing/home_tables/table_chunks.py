"""Reading a table in chunks from where an import has come to, so that no row is missed.

Rows are read in the order of their key, each chunk by a query of its own: no transaction stays open
while what was read is written, and nothing keeps the source from cleaning up. A serial key is given
when a row is inserted, not when it is committed. So the numbers that are missing among the newest
are remembered, and looked for again at the end of this import and by the next one.

A key that is no number says nothing about the order. Such a table is read in the order of time, and
from an hour before the newest row that is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from turnspan.content.model import as_dict
from turnspan_records.importing.home_tables.database import Database, TableColumn
from turnspan_records.importing.sources import SourceLogError

CHUNK_ROWS: Final = 500
CHUNK_CHARACTERS: Final = 4 * 2**20
"""A chunk is full with either."""
WINDOW: Final = 10_000
"""A row is found late if fewer keys than this were given before it was committed."""
_MAX_GAPS: Final = 500
_OVERLAP: Final = timedelta(hours=1)

Row = dict[str, str | None]


@dataclass(slots=True)
class TablePosition:
    """How far a table is read."""

    key: str = ""
    time: str = ""
    """Of the row with that key, where rows are read in the order of time."""
    gaps: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The keys that were missing, from and to."""

    def text(self) -> str:
        """As an import remembers it."""
        return json.dumps({"key": self.key, "time": self.time, "gaps": self.gaps})

    @classmethod
    def of(cls, text: str) -> TablePosition:
        """What ``text`` gave.

        Raises:
            SourceLogError: it is not of this version.
        """
        if not text:
            return cls()
        try:
            said = as_dict(json.loads(text)) or {}
            gaps = [(int(first), int(last)) for first, last in said["gaps"]]
            return cls(str(said["key"]), str(said["time"]), gaps)
        except (ValueError, KeyError, TypeError):
            raise SourceLogError(
                "how far this table was imported cannot be read. Import it with --again."
            ) from None

    def passed(self, key: int) -> None:
        """A row was read; what is missing before it may come late."""
        last = int(self.key) if self.key else key - WINDOW - 1
        if key > last + 1:
            self.gaps.append((max(last + 1, key - WINDOW), key - 1))
        while self.gaps and self.gaps[0][1] < key - WINDOW:
            del self.gaps[0]
        del self.gaps[:-_MAX_GAPS]
        self.key = str(key)

    def fill(self, keys: Sequence[int]) -> None:
        """Rows came late: they are missing no more."""
        for key in keys:
            self.gaps = [
                part
                for first, last in self.gaps
                for part in (
                    ((first, key - 1), (key + 1, last))
                    if first <= key <= last
                    else ((first, last),)
                )
                if part[0] <= part[1]
            ]


@dataclass(slots=True)
class Chunk:
    """Rows in their order, and where to go on after them."""

    rows: list[Row]
    place: str
    late: bool = False
    """They were committed after rows that follow them."""


class Table:
    """A table and how it is asked: what the columns of queries are, and their order."""

    def __init__(
        self,
        database: Database,
        name: str,
        columns: list[TableColumn],
        key: TableColumn,
        time: TableColumn | None,
    ) -> None:
        self.database = database
        self.name = name
        """As SQL has it."""
        self.columns = columns
        self.key = key
        self.time = time
        self._limit = CHUNK_ROWS

    @property
    def by_number(self) -> bool:
        """Whether the key's order is that in which rows were inserted."""
        return self.key.is_integer

    def total(self, place: TablePosition) -> int:
        """How many rows come after a place."""
        where, parameters = self._after(place)
        sql = f"SELECT count(*) FROM {self.name}{where}"
        with closing(self.database.rows(sql, parameters)) as found:
            return int(next(found)[0] or 0)

    def chunks(self, place: TablePosition) -> Iterator[Chunk]:
        """What comes after a place, which moves on, and what came late."""
        if not self.by_number:
            yield from self._in_order_of_time(place)
            return
        yield from self._late(place)
        while rows := self._read(lambda: self._after(place), place):
            yield Chunk(rows, place.text())
        yield from self._late(place)

    def where(self, condition: str, parameters: Sequence[object], names: list[str]) -> list[Row]:
        """The named columns of rows under a condition, in their order."""
        chosen = [column for column in self.columns if column.name in names]
        sql = f"SELECT {self._texts(chosen)} FROM {self.name} WHERE {condition} ORDER BY "
        with closing(self.database.rows(sql + self._order(), parameters)) as found:
            return [_row(chosen, values) for values in found]

    def before(self, row: Row) -> tuple[str, list[object]]:
        """The condition that holds for the rows before one that has a time."""
        key = self.database.quoted(self.key.name)
        if self.by_number or self.time is None:
            return f"{key} < %s", [self._parameter(row[self.key.name])]
        moment = row[self.time.name]
        return self._beyond("<", self.time), [moment, moment, row[self.key.name]]

    def _beyond(self, sign: str, column: TableColumn) -> str:
        """The condition on rows that stand before or behind one, by time and key."""
        time, key = self.database.quoted(column.name), self.database.quoted(self.key.name)
        at, then = self.database.placeholder(column), self.database.placeholder(self.key)
        return f"({time} {sign} {at} OR ({time} = {at} AND {key} {sign} {then}))"

    def _parameter(self, key: str | None) -> object:
        return int(key or 0) if self.by_number else key

    def _order(self) -> str:
        """With the table's name: a bare name would be that of the text which is selected."""
        key = f"{self.name}.{self.database.quoted(self.key.name)}"
        if self.by_number or self.time is None:
            return key
        return f"{self.name}.{self.database.quoted(self.time.name)}, {key}"

    def _texts(self, columns: list[TableColumn]) -> str:
        return ", ".join(self.database.text_of(column) for column in columns)

    def _after(self, place: TablePosition) -> tuple[str, list[object]]:
        key = self.database.quoted(self.key.name)
        if self.by_number or self.time is None:
            if not place.key:
                return "", []
            then = "%s" if self.by_number else self.database.placeholder(self.key)
            return f" WHERE {key} > {then}", [self._parameter(place.key)]
        time = self.database.quoted(self.time.name)
        if place.time and place.key:
            parameters: list[object] = [place.time, place.time, place.key]
            return f" WHERE {self._beyond('>', self.time)}", parameters
        if place.time:
            return f" WHERE {time} >= {self.database.placeholder(self.time)}", [place.time]
        return f" WHERE {time} IS NOT NULL", []

    def _in_order_of_time(self, place: TablePosition) -> Iterator[Chunk]:
        """From a little before; then the rows without a time, of which nobody knows which are
        new."""
        place.key = ""
        place.time = _earlier(place.time) if place.time and self.time is not None else ""
        while rows := self._read(lambda: self._after(place), place):
            yield Chunk(rows, place.text())
        if self.time is None:
            return
        key, missing = self.database.quoted(self.key.name), TablePosition()
        then = self.database.placeholder(self.key)
        without = f" WHERE {self.database.quoted(self.time.name)} IS NULL"

        def after() -> tuple[str, list[object]]:
            return (
                (f"{without} AND {key} > {then}", [missing.key]) if missing.key else (without, [])
            )

        while rows := self._read(after, missing):
            yield Chunk(rows, place.text())

    def _late(self, place: TablePosition) -> Iterator[Chunk]:
        """The rows whose keys were missing."""
        key = self.database.quoted(self.key.name)
        for first, last in list(place.gaps):
            reached = TablePosition(key=str(first - 1))

            def after(
                reached: TablePosition = reached, last: int = last
            ) -> tuple[str, list[object]]:
                return f" WHERE {key} > %s AND {key} <= %s", [int(reached.key), last]

            while rows := self._read(after, reached):
                place.fill([int(row[self.key.name] or 0) for row in rows])
                yield Chunk(rows, place.text(), late=True)

    def _read(
        self, after: Callable[[], tuple[str, list[object]]], place: TablePosition
    ) -> list[Row]:
        """The next chunk; the place moves on behind it.

        Where it ends depends on its rows alone, so that an import which goes on in the middle reads
        the same chunks. How many rows are asked for at once depends on the rows before: what is
        left of a query that is given up has to be thrown away.
        """
        rows: list[Row] = []
        size = 0
        while True:
            asked, got = min(self._limit, CHUNK_ROWS - len(rows)), 0
            with closing(self._asked(*after(), asked)) as found:
                for row in found:
                    got += 1
                    rows.append(row)
                    self._pass(row, place)
                    size += sum(len(text) for text in row.values() if text)
                    if size >= CHUNK_CHARACTERS:
                        self._limit = max(1, 2 * got)
                        return rows
            self._limit = min(CHUNK_ROWS, 2 * self._limit)
            if got < asked or len(rows) >= CHUNK_ROWS:
                return rows

    def _pass(self, row: Row, place: TablePosition) -> None:
        key = row[self.key.name] or ""
        if self.by_number:
            place.passed(int(key))
            return
        place.key = key
        place.time = (row[self.time.name] or "") if self.time is not None else ""

    def _asked(self, where: str, parameters: Sequence[object], rows: int) -> Generator[Row]:
        sql = (
            f"SELECT {self._texts(self.columns)} FROM {self.name}{where}"
            f" ORDER BY {self._order()} LIMIT {rows}"
        )
        with closing(self.database.rows(sql, parameters)) as found:
            for values in found:
                yield _row(self.columns, values)


def _row(columns: list[TableColumn], values: tuple[str | None, ...]) -> Row:
    return {column.name: value for column, value in zip(columns, values, strict=True)}


def _earlier(time: str) -> str:
    """A time as a database writes it, less what a transaction may have taken."""
    head, zone = (time[:19], time[-3:]) if time[-3:-2] in ("+", "-") else (time[:19], "")
    try:
        return f"{datetime.fromisoformat(head) - _OVERLAP}{zone}"
    except (ValueError, OverflowError):  # infinity, or a zero date
        return time
