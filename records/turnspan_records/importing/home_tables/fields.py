"""A row of a home-made table, read column by column; what no record has a place for is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from decimal import Decimal
from typing import Any, Final, TypeVar

from turnspan import semconv
from turnspan_records.importing.home_tables import values
from turnspan_records.importing.home_tables.database import TableColumn
from turnspan_records.importing.home_tables.table_chunks import Row
from turnspan_records.importing.sources import Problem

T = TypeVar("T")

ID: Final = semconv.IMPORT_PREFIX + "id"
_SECOND: Final = 10**9
_ORDER: Final = 1_000
"""Nanoseconds, by which rows of one second keep their order."""


class Fields:
    """A row: each column is read once, and noted as read."""

    def __init__(
        self,
        row: Row,
        columns: Mapping[str, TableColumn],
        key: TableColumn,
        zone: tzinfo,
        problems: list[Problem],
    ) -> None:
        self._row = row
        self._columns = columns
        self._zone = zone
        self._problems = problems
        self._read = {key.name}
        self._kept: dict[str, str] = {}
        self.id = row[key.name] or ""
        """The row's key, as text."""
        self._order = int(self.id) % _ORDER if key.is_integer else 0

    def problem(self, reason: str) -> None:
        """Say what is wrong with the row, and what became of it."""
        self._problems.append(Problem(f"row {self.id}", reason))

    def text(self, name: str) -> str:
        """A text; empty for NULL and for a column that the table does not have."""
        self._read.add(name)
        return self._row.get(name) or ""

    def text_of_column(self, name: str) -> str | None:
        """As ``text``; None where the table does not have the column."""
        return self.text(name) if name in self._columns else None

    def keep(self, name: str) -> None:
        """Keep a column's value beside the record, as it is."""
        value = self._row.get(name)
        if value is not None:
            self._kept[name] = value

    def keep_as_text(self, name: str, reason: str) -> None:
        """Keep a column's value that is not what it should be, and say so."""
        self.problem(f"{name} {reason}")
        self.keep(name)

    def time(self, name: str) -> int:
        """A moment in ns since the epoch. 0, and a problem, where there is none that records can
        have: the row stands in 1970 then.

        Many tables have whole seconds. Rows of one second are set apart by less than a microsecond,
        in the order of their keys.
        """
        text = self.text(name)
        column = self._columns.get(name)
        zone = values.UTC if column is not None and column.is_instant else self._zone
        found = values.nanoseconds(text, zone) if text else None
        if found is None:
            self.keep_as_text(name, "is no time that a record can have: it stands in 1970")
            return 0
        return found if found % _SECOND else found + self._order

    def integer(self, name: str) -> int | None:
        """A count; one that is none is kept beside, and a problem."""
        return self._converted(name, values.integer, "is no count")

    def number(self, name: str) -> Decimal | None:
        """A number, likewise."""
        return self._converted(name, values.decimal, "is no number")

    def _converted(self, name: str, convert: Callable[[str], T | None], lacking: str) -> T | None:
        text = self.text(name)
        if not text:
            return None
        found = convert(text)
        if found is None:
            self.keep_as_text(name, f"{lacking}: it is kept as text")
        return found

    def json(self, name: str) -> Any:
        """A JSON value. What is no JSON, and what a value cannot say, is kept as it is as well."""
        text = self.text(name)
        if not text.strip():
            return None
        value, problem = values.parse_json(text)
        if problem:
            self.problem(f"{name} {problem}: its text is kept")
        if problem or value is None:  # the word null is not NULL
            self.keep(name)
        return value

    def not_understood(self, name: str, entries: int) -> None:
        """Entries of a JSON column are of no known shape: the column is kept."""
        if entries:
            self.keep_as_text(name, f"has {entries} entries of no known shape: its text is kept")

    def rest(self) -> dict[str, str]:
        """The columns that nobody has read, and those that are kept, under attributes' names."""
        for name, value in self._row.items():
            if name not in self._read and value is not None:
                self._kept[name] = value
        named = {semconv.IMPORT_PREFIX + name: value for name, value in self._kept.items()}
        return {ID: self.id, **named}
