"""Key 1: what the tables of llm-consortium 0.6 and newer say of its runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from turnspan_llm.grouping.chains import Allowed
from turnspan_llm.grouping.matches import settle
from turnspan_llm.grouping.rows import SLACK, LogRow, began_between
from turnspan_llm.grouping.texts import KnownText, known
from turnspan_llm.logs.connection import explained
from turnspan_llm.logs.generations import tables
from turnspan_llm.logs.logged import microseconds

_RUNS: Final = ("id", "config_name", "user_prompt", "created_at")
_MEMBERS: Final = ("run_id", "response_id", "role", "iteration")
_DECISIONS: Final = ("run_id", "iteration", "synthesis")


@dataclass(slots=True, eq=False)
class TableRun:
    """A run as the tables have it."""

    id: str
    name: str | None
    question: KnownText
    began: int
    synthesis: KnownText | None = None
    members: list[tuple[str, bool, int]] = field(default_factory=list["tuple[str, bool, int]"])
    """Row ids, whether it is an arbiter's, and the iteration."""


def saved_names(connection: sqlite3.Connection, path: Path) -> set[str]:
    """The names of the consortiums that are saved in a database."""
    with explained(path):
        if not _has(connection, "consortium_configs", ("name", "config")):
            return set()
        rows = connection.execute("SELECT name FROM consortium_configs").fetchall()
    return {str(name) for (name,) in rows}


def table_runs(connection: sqlite3.Connection, path: Path) -> list[TableRun]:
    """The runs that the tables of a database tell of."""
    with explained(path):
        if not _has(connection, "consortium_runs", _RUNS):
            return []
        if not _has(connection, "consortium_members", _MEMBERS):
            return []
        rows = connection.execute(
            f"SELECT {', '.join(_RUNS)} FROM consortium_runs ORDER BY created_at, id"
        ).fetchall()
        runs = {
            str(id_): TableRun(
                id=str(id_),
                name=None if name is None else str(name),
                question=known(str(question or "")),
                began=_time(created),
            )
            for id_, name, question, created in rows
        }
        for run, row, role, iteration in connection.execute(
            f"SELECT {', '.join(_MEMBERS)} FROM consortium_members ORDER BY run_id, response_id"
        ):
            if str(run) in runs and row is not None:
                number = iteration if isinstance(iteration, int) else 0
                runs[str(run)].members.append((str(row), role == "arbiter", number))
        _read_syntheses(connection, runs)
    return list(runs.values())


def _read_syntheses(connection: sqlite3.Connection, runs: Mapping[str, TableRun]) -> None:
    if not _has(connection, "arbiter_decisions", _DECISIONS):
        return
    rows = connection.execute(
        "SELECT run_id, synthesis FROM arbiter_decisions ORDER BY run_id, iteration"
    )
    for run, synthesis in rows:
        if str(run) in runs and isinstance(synthesis, str):
            runs[str(run)].synthesis = known(synthesis) if synthesis else None


def _has(connection: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> bool:
    return set(columns) <= set(tables(connection).get(table, ()))


def _time(created: object) -> int:
    time = microseconds(created if isinstance(created, str) else None)
    return -1 if time is None else time


@dataclass(slots=True)
class Paired:
    """The outputs of the runs of the tables."""

    outputs: dict[TableRun, LogRow] = field(default_factory=dict["TableRun", LogRow])
    open: dict[TableRun, list[LogRow]] = field(default_factory=dict["TableRun", "list[LogRow]"])


def paired(runs: list[TableRun], outputs: list[LogRow], allowed: Allowed) -> Paired:
    """Find the output row of each run: same consortium, question, time and text."""
    by_question: dict[tuple[str, KnownText], list[LogRow]] = {}
    for row in sorted(outputs, key=lambda row: row.order):
        if row.question is not None and row.began >= 0:
            by_question.setdefault((row.model, row.question), []).append(row)
    longest = {key: max(row.ended - row.began for row in of) for key, of in by_question.items()}
    wanted: dict[TableRun, list[LogRow]] = {}
    for run in runs:
        key = (run.name or "", run.question)
        if run.name is not None and key in by_question:
            since = run.began - longest[key] - SLACK
            wanted[run] = [
                row
                for row in began_between(by_question[key], since, run.began + SLACK)
                if run.began <= row.ended + SLACK
                and (run.synthesis is None or run.synthesis == row.answer)
                and allowed(row, row)
            ]
    settled = settle(wanted)
    return Paired({run: rows[0] for run, rows in settled.taken.items()}, settled.open)
