"""Rows of a log as dictionaries, read in short pieces: a writer waits for none of them long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from turnspan_llm.logs.connection import explained
from turnspan_llm.logs.responses import OpenedLog

Row = dict[str, Any]
ROW: Final = "rowid of the row"
"""Under this name a row has its number: no column is called so."""
_MANY: Final = 5_000
_TOGETHER: Final = 400
"""Values that one question has; SQLite takes 999."""


class LogTables(OpenedLog):
    """An opened log. Every question is answered whole before the next: no lock is held between."""

    def select(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A question's rows.

        Raises:
            LogsError: the log cannot be read.
        """
        with explained(self.path):
            return self.connection.execute(sql, parameters).fetchall()

    def _number(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """The number that answers a question; 0 for NULL."""
        rows = self.select(sql, parameters)
        return int(rows[0][0] or 0) if rows else 0

    def rows(self, table: str, column: str, values: Iterable[Any]) -> Iterator[Row]:
        """The whole rows of a table in which a column has one of these values, in their order."""
        if not self.layout.has(table) or (column != "rowid" and not self.layout.has(table, column)):
            return
        columns = self.layout.columns[table]
        names = ", ".join(quoted(name) for name in columns)
        wanted = list(values)
        for start in range(0, len(wanted), _TOGETHER):
            some = wanted[start : start + _TOGETHER]
            marks = ", ".join("?" * len(some))
            where = column if column == "rowid" else quoted(column)
            sql = (
                f"SELECT rowid, {names} FROM {quoted(table)} WHERE {where} IN ({marks})"
                " ORDER BY rowid"
            )
            for values_ in self.select(sql, some):
                yield dict(zip((ROW, *columns), values_, strict=True))

    def brief(self, table: str, ids: Sequence[str], column: str) -> Iterator[tuple[Any, ...]]:
        """The numbers and a column of the rows with these ids; one that is not there is NULL."""
        if not self.layout.has(table, "id"):
            return
        name = quoted(column) if self.layout.has(table, column) else "NULL"
        for start in range(0, len(ids), _TOGETHER):
            some = ids[start : start + _TOGETHER]
            marks = ", ".join("?" * len(some))
            sql = f'SELECT rowid, {name} FROM {quoted(table)} WHERE "id" IN ({marks})'
            yield from self.select(sql, some)

    def ranges(
        self, table: str, columns: Sequence[str], after: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The numbers and some columns of all rows after one, so many at once."""
        names = "".join(f", {quoted(name)}" for name in columns)
        sql = f"SELECT rowid{names} FROM {quoted(table)} WHERE rowid > ? ORDER BY rowid LIMIT ?"
        while True:
            rows = self.select(sql, (after, _MANY))
            if not rows:
                return
            yield rows
            after = rows[-1][0]

    def last(self, table: str) -> int:
        """The number of a table's last row."""
        return self._number(f"SELECT max(rowid) FROM {quoted(table)}")

    def count(self, table: str, after: int | None = None) -> int:
        """How many rows a table has, after a row if one is given."""
        sql = f"SELECT count(*) FROM {quoted(table)}"
        if after is None:
            return self._number(sql)
        return self._number(f"{sql} WHERE rowid > ?", (after,))


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
