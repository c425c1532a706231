"""What a store holds: rows and bytes of every table, and names of projects, sessions, agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from turnspan_clickhouse.errors import MAY_NOT, QueryError
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.access.questions import ask
from turnspan_records.access.turn_rows import open_calls, turn_rows
from turnspan_records.sql import statement


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table's size on disk; rows are counted before deduplication."""

    table: str
    rows: int
    bytes: int
    parts: int


def table_sizes(store: Store) -> list[TableSize]:
    """The record tables in their usual order, empty ones included; none where the user may not see
    their sizes.

    Raises ``StoreError`` as ``Store.query``.
    """
    rows = _parts(store, "inventory/tables")
    if rows is None:
        return []
    sizes = [TableSize(str(table).removesuffix("_local"), *figures) for table, *figures in rows]
    held = {one.table: one for one in sizes}
    names = [record.table for record in RECORDS]
    names += sorted(set(held) - set(names))
    return [held.get(name, TableSize(name, 0, 0, 0)) for name in names]


def system_log_bytes(store: Store) -> int | None:
    """Bytes of the engine's own ``system.*_log`` tables; ``None`` where the user may not see it."""
    rows = _parts(store, "inventory/system_logs")
    return None if rows is None else int(rows[0][0])


def _parts(store: Store, name: str) -> Sequence[Sequence[Any]] | None:
    try:
        return ask(store, name).rows
    except QueryError as error:
        if error.code not in MAY_NOT:
            raise
        return None


EACH = 5
"""Names of a kind at most, those that were used last."""
_PROJECTS = 200
_KINDS = (
    ("session", "session_id", "turn_summary"),
    ("agent", "agent_name", "turn_summary"),
    ("tool", "name", "tool_call"),
    ("model", "arrayJoin(models)", "turn_summary"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """A name, and the project in which it was recorded."""

    kind: str
    """``session``, ``agent``, ``tool`` or ``model``."""
    name: str
    project: str


def names(store: Store, text: str, *, project: str = "", each: int = EACH) -> list[Named]:
    """The names that have this text in them, letters large or small; none of a blank text.

    Raises ``StoreError`` as ``Store.query``.
    """
    if not text.strip():
        return []
    sql = "UNION ALL".join(
        statement("names/of_kind", kind=kind, column=column, table=table)
        for kind, column, table in _KINDS
    )
    # A name never differs between the versions of a row, so there is nothing to deduplicate.
    given = {"text": text.strip(), "project": project, "each": each}
    found = [Named(*map(str, row)) for row in store.query(sql, given, {"final": 0}).rows]
    kinds = [kind for kind, _, _ in _KINDS]
    return sorted(found, key=lambda one: kinds.index(one.kind))


def projects(store: Store) -> list[str]:
    """The names of the projects that have turns, those with the most first.

    Raises ``StoreError`` as ``Store.query``.
    """
    turns, given = turn_rows(store, "")
    # A row that was stored twice changes no name.
    sql = statement("names/projects", turns=turns)
    result = store.query(sql, {**given, "limit": _PROJECTS}, {"final": 0})
    return [str(row[0]) for row in result.rows]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What arrives in a store now."""

    running: int
    """Turns of the last week that have not ended, without those inside others."""
    last: datetime | None
    """When the newest turn or model call was written, by its writer's clock; ``None`` where there
    is none."""


_RUNNING_FOR = timedelta(days=7)


def arrivals(store: Store, project: str = "") -> Arrivals:
    """What runs and what arrived last, in one project or all. Raises ``StoreError`` as
    ``Store.query``."""
    since = datetime.now(timezone.utc) - _RUNNING_FOR
    # The question takes the newest version of a row itself: merging all of them costs more.
    result = ask(store, "inventory/arrivals", {"final": 0}, project=project, since=since)
    [(running, *written)] = result.rows
    running += [*open_calls(store, project).values()].count("running")
    return Arrivals(running, max((utc(at) for at in written if at is not None), default=None))
