"""How far an import of a log has come, and whether the log still is the one it was then."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan_llm.importing.source import LogTables, quoted
from turnspan_llm.importing.values import read_json
from turnspan_llm.logs.logged import as_text

BESIDE: Final = (
    *("prompt_attachments", "prompt_fragments", "system_fragments"),
    *("tool_responses", "tool_calls", "tool_results"),
)
"""Tables whose rows older versions of llm write after the response that they belong to, each in a
transaction of its own."""
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """The last row of a table that is imported, by its number and id, and how many rows there were
    up to it."""

    row: int
    id: str
    rows: int


@dataclass(slots=True)
class LogPosition:
    """Where to go on: everything whose row has a higher number is new.

    SQLite gives rows their numbers as they are committed, one writer after the other, so what is
    committed later has a higher number, whatever its id says.
    """

    calls: dict[str, Mark] = field(default_factory=dict[str, Mark])
    beside: dict[str, int] = field(default_factory=dict[str, int])

    def row(self, table: str) -> int:
        """The last row of a table of calls that is imported."""
        mark = self.calls.get(table)
        return mark.row if mark is not None else -(2**63)

    def as_json(self) -> dict[str, Any]:
        """As JSON says it."""
        marks = {table: [mark.row, mark.id, mark.rows] for table, mark in self.calls.items()}
        return {"calls": marks, "beside": self.beside}

    @classmethod
    def of(cls, told: dict[str, Any]) -> LogPosition:
        """The position that JSON says; the beginning where it says none."""
        position = cls()
        for table, mark in (as_dict(told.get("calls")) or {}).items():
            fields = as_list(mark) or []
            if len(fields) == 3:
                position.calls[table] = Mark(int(fields[0]), str(fields[1]), int(fields[2]))
        for table, row in (as_dict(told.get("beside")) or {}).items():
            position.beside[table] = int(row)
        return position


def written(positions: Sequence[LogPosition]) -> str:
    """The positions in the databases of a log, as ``read`` reads them."""
    told = {"version": _VERSION, "databases": [position.as_json() for position in positions]}
    return json.dumps(told, separators=(",", ":"))


def read(text: str, databases: int) -> list[LogPosition]:
    """The positions in so many databases; the beginning where none is said."""
    told = as_dict(read_json(text))
    if told is None or told.get("version") != _VERSION:
        return [LogPosition() for _ in range(databases)]
    known = [as_dict(one) or {} for one in as_list(told.get("databases")) or []]
    return [LogPosition.of(known[n] if n < len(known) else {}) for n in range(databases)]


def holds(position: LogPosition, source: LogTables) -> bool:
    """Whether the rows before a position are where they were: else they have other numbers now
    (``VACUUM`` gives them out anew), or somebody has removed or added some."""
    for table, mark in position.calls.items():
        if not source.layout.has(table):
            return False
        there: list[tuple[Any, ...]] = source.select(
            f"SELECT id FROM {quoted(table)} WHERE rowid = ?", (mark.row,)
        )
        if [as_text(id_) for (id_,) in there] != [mark.id]:
            return False
        if source.count(table) - source.count(table, mark.row) > mark.rows:
            return False
    return True


def last_rows(source: LogTables, tables: Iterable[str]) -> dict[str, int]:
    """The numbers of the last rows of the tables that there are."""
    return {table: source.last(table) for table in tables if source.layout.has(table)}
