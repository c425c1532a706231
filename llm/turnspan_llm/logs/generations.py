"""Which generation of llm's storage a log has, known by its tables and columns.

Not by a version: plug-ins copy single tables, and a log that was migrated holds old rows in the
old tables and new ones in the new.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from turnspan_llm.logs.connection import LogsError

RESPONSES: Final = "responses"
"""llm 0.31 and older: one row a call; since 0.26 with tables of tools."""
TURNS: Final = "turns"
"""llm 0.32 and newer, over a tree of ``messages`` and their ``parts``; what was logged before stays
in ``responses``."""
_NEEDED: Final = {
    RESPONSES: {"id", "model", "prompt", "response"},
    TURNS: {"id", "model", "parent_message_hash", "tip_message_hash"},
    "messages": {"hash", "parent_hash", "role"},
    "parts": {"message_hash", "position", "type", "text"},
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a log and their columns."""

    columns: Mapping[str, tuple[str, ...]]
    """By table, in the table's order."""
    sources: tuple[str, ...]
    """The tables that hold a row a call, the older first."""

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is such a table, with all of these columns."""
        return table in self.columns and set(columns) <= set(self.columns[table])


def layout_of(connection: sqlite3.Connection, path: Path | str) -> Layout:
    """The layout of a log.

    Raises:
        LogsError: it has not the tables of any generation.
    """
    columns = tables(connection)
    old = _complete(columns, RESPONSES)
    new = all(_complete(columns, table) for table in (TURNS, "messages", "parts"))
    if not old and not new:
        raise LogsError(f"{path} is no log of llm's: {_lacks(columns)}.")
    return Layout(columns, (RESPONSES,) * old + (TURNS,) * new)


def tables(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """All ordinary tables and their columns."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return {str(name): _columns(connection, str(name)) for (name,) in rows.fetchall()}


def _columns(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return tuple(str(name) for (name,) in rows)


def _complete(columns: Mapping[str, tuple[str, ...]], table: str) -> bool:
    return _NEEDED[table] <= set(columns.get(table, ()))


def _lacks(columns: Mapping[str, tuple[str, ...]]) -> str:
    if "log" in columns and RESPONSES not in columns:
        return "its table `log` is that of llm 0.4 and older, run `llm logs` of a newer llm once"
    if RESPONSES in columns:
        gone = sorted(_NEEDED[RESPONSES] - set(columns[RESPONSES]))
        return f"its table `responses` has no column {', '.join(gone)}"
    return "it has neither a table `responses` nor `turns`, see `llm logs path`"
