"""Which conversations of a log are to be imported, in which order.

A conversation is imported whole whenever a row of it is new. They are taken in the order of their
last rows: when one is done, so is every one whose last row is older, and a single number says how
far the import has come. The plan is in a file of SQLite's own that is gone when it is closed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from turnspan_llm.importing.position import BESIDE, LogPosition, last_rows
from turnspan_llm.importing.source import LogTables
from turnspan_llm.logs.generations import RESPONSES, TURNS
from turnspan_llm.logs.logged import as_text

_SESSION: Final = {RESPONSES: "conversation_id", TURNS: "thread_id"}
_INDEXED: Final = ("tool_responses", "tool_calls", "tool_results")
"""Tables that have no index of their responses: the plan makes one."""
_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
CREATE TABLE call (conversation TEXT, kind INTEGER, number INTEGER, id TEXT,
  PRIMARY KEY (kind, number)) WITHOUT ROWID;
CREATE TABLE fresh (conversation TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE beside (name INTEGER, response TEXT, number INTEGER,
  PRIMARY KEY (name, response, number)) WITHOUT ROWID;
"""
_ORDERED: Final = """
CREATE INDEX by_conversation ON call (conversation, kind, number);
CREATE TABLE planned AS
  SELECT conversation, max(kind) AS kind,
    max(CASE WHEN kind = (SELECT max(kind) FROM call AS c WHERE c.conversation = o.conversation)
      THEN number END) AS number, count(*) AS calls
  FROM call AS o GROUP BY conversation;
CREATE INDEX in_order ON planned (kind, number);
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversation that is to be imported."""

    session: str
    """Its id; empty for a call in no conversation."""
    rows: dict[str, list[int]]
    """Its rows, by table."""
    table: str
    """The table of its newest row."""
    last: int
    """That row."""
    id: str

    @property
    def calls(self) -> int:
        """How many calls it has."""
        return sum(len(rows) for rows in self.rows.values())


class Plan:
    """What is new in a log after a position."""

    def __init__(self, source: LogTables, after: LogPosition) -> None:
        self._source = source
        self._after = after
        self._tables: tuple[str, ...] = source.layout.sources
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCHEMA)
        self.beside = last_rows(source, BESIDE)
        """The last rows of the tables beside, read before anything else: what is written to them
        later is looked at by the next import."""
        self.ends: dict[str, int] = last_rows(source, self._tables)
        self._counted = {table: self._before(table) for table in self._tables}
        self._find()

    def close(self) -> None:
        """Forget the plan."""
        self._scratch.close()

    def add_calls_of(self, ids: Iterable[str]) -> None:
        """Import the conversations of these responses as well."""
        self._scratch.execute("BEGIN")
        self._add_conversations_of(list(ids))
        self._complete()
        self._scratch.execute("COMMIT")

    def order(self) -> None:
        """The plan is complete."""
        self._scratch.execute("BEGIN")
        for statement in _ORDERED.split(";"):
            self._scratch.execute(statement)
        self._scratch.execute("COMMIT")

    @property
    def size(self) -> int:
        """How many calls are to be imported."""
        return int(self._scratch.execute("SELECT count(*) FROM call").fetchone()[0])

    def calls(self) -> Iterator[tuple[str, int]]:
        """Table and number of every call that is to be imported."""
        for kind, number in self._scratch.execute("SELECT kind, number FROM call"):
            yield self._tables[int(kind)], int(number)

    def conversations(self) -> Iterator[Planned]:
        """The conversations to be imported, in the order of their newest rows."""
        planned = self._scratch.execute(
            "SELECT conversation, kind, number FROM planned ORDER BY kind, number"
        )
        for conversation, kind, last in planned:
            rows: dict[str, list[int]] = {}
            id_ = ""
            found = self._scratch.execute(
                "SELECT kind, number, id FROM call WHERE conversation = ? ORDER BY kind, number",
                (conversation,),
            )
            for of, number, id_ in found:  # noqa: B007  the last one's id is used
                rows.setdefault(self._tables[int(of)], []).append(int(number))
            session = "" if conversation.startswith("\0") else conversation
            yield Planned(session, rows, self._tables[int(kind)], int(last), id_)

    def rows_up_to(self, table: str, last: int) -> int:
        """How many rows a table has up to one that is not before the one last asked about."""
        before, rows = self._counted[table]
        found = self._scratch.execute(
            "SELECT count(*) FROM call WHERE kind = ? AND number > ? AND number <= ?",
            (self._tables.index(table), before, last),
        )
        rows += int(found.fetchone()[0])
        self._counted[table] = (last, rows)
        return rows

    def beside_of(self, table: str, responses: Iterable[str]) -> list[int]:
        """The rows of a table that belong to these responses."""
        name = _INDEXED.index(table)
        return [
            number
            for response in responses
            for (number,) in self._scratch.execute(
                "SELECT number FROM beside WHERE name = ? AND response = ?", (name, response)
            )
        ]

    def _before(self, table: str) -> tuple[int, int]:
        """The last row that is imported, and how many there are up to it."""
        last = self._after.row(table)
        if table not in self._after.calls:
            return last, 0
        return last, self._source.count(table) - self._source.count(table, last)

    def _find(self) -> None:
        self._scratch.execute("BEGIN")
        for kind, table in enumerate(self._tables):
            self._add_rows(kind, table, self._after.row(table), everything=True)
        if self._after.calls:
            self._add_late_ones()
            self._complete()
        for name, table in enumerate(_INDEXED):
            if self._source.layout.has(table, "response_id"):
                for rows in self._source.ranges(table, ("response_id",), -(2**63)):
                    self._scratch.executemany(
                        "INSERT OR IGNORE INTO beside VALUES (?, ?, ?)",
                        ((name, as_text(response), number) for number, response in rows),
                    )
        self._scratch.execute("COMMIT")

    def _add_rows(self, kind: int, table: str, after: int, *, everything: bool) -> None:
        """Take in the rows of a table: all after one, or those of the conversations that are
        fresh."""
        session = _SESSION[table]
        named = self._source.layout.has(table, session)
        columns = ("id", session) if named else ("id",)
        for rows in self._source.ranges(table, columns, after):
            found = [
                (_key(kind, number, more[0] if more else None), kind, number, as_text(id_))
                for number, id_, *more in rows
            ]
            if everything:
                self._add_fresh(row[0] for row in found)
            else:
                found = [row for row in found if self._is_fresh(row[0])]
            self._scratch.executemany("INSERT OR IGNORE INTO call VALUES (?, ?, ?, ?)", found)

    def _is_fresh(self, conversation: str) -> bool:
        found = self._scratch.execute("SELECT 1 FROM fresh WHERE conversation = ?", (conversation,))
        return found.fetchone() is not None

    def _add_late_ones(self) -> None:
        """Responses beside which rows were written after they were imported."""
        late: set[str] = set()
        for table in BESIDE:
            if self._source.layout.has(table, "response_id"):
                after = self._after.beside.get(table, 0)
                for rows in self._source.ranges(table, ("response_id",), after):
                    late.update(as_text(response) for _, response in rows)
        self._add_conversations_of(list(late))

    def _add_conversations_of(self, ids: Iterable[str]) -> None:
        for kind, table in enumerate(self._tables):
            found = self._source.brief(table, list(ids), _SESSION[table])
            self._add_fresh(_key(kind, number, conversation) for number, conversation in found)

    def _add_fresh(self, keys: Iterable[str]) -> None:
        self._scratch.executemany(
            "INSERT OR IGNORE INTO fresh VALUES (?)", ((key,) for key in keys)
        )

    def _complete(self) -> None:
        """Take in the older rows of conversations that have new ones."""
        fresh = self._scratch.execute("SELECT count(*) FROM fresh").fetchone()[0]
        if not fresh:
            return
        for kind, table in enumerate(self._tables):
            self._add_rows(kind, table, -(2**63), everything=False)


def _key(kind: int, number: int, conversation: Any) -> str:
    """What a conversation is known by in the plan; a call in none is one of its own."""
    return as_text(conversation) or f"\0{kind} {number}"
