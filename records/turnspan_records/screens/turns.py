"""Turns and sessions in any order, a page at a time: each page begins where the one before ended,
however many rows have come since. What they have in common, and when they were, is asked apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.keyset import cursor
from turnspan_records.access.questions import shown_sql
from turnspan_records.sessions import TurnRow, list_rows
from turnspan_records.turn_filters import TurnListFilter


@dataclass(frozen=True, slots=True)
class TurnsPage:
    """Some turns, in the order that was asked for."""

    turns: list[TurnRow]
    next: str
    """What to give as ``after`` for those that follow; empty where there are none."""
    sql: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a list, of the turns that match."""

    project: str
    session: str
    time: datetime
    """When the last of them began."""
    turns: int
    calls: int
    tools: int
    failed_tools: int
    cost_usd: float | None
    end: str
    """How the last one ended."""
    problems: int
    """Turns that ended otherwise than ``completed`` and are not running."""
    user_message: str
    """What was said first, its first 240 characters."""


@dataclass(frozen=True, slots=True)
class SessionsPage:
    """Some sessions, in the order that was asked for."""

    sessions: list[SessionRow]
    next: str
    sql: str


def turns_page(
    store: Store, wanted: TurnListFilter, *, sort: str = "", after: str = "", limit: int = 100
) -> TurnsPage:
    """The root turns that are wanted, newest first, or by one of ``sessions.TURN_SORTS``.

    Raises:
        ValueError: nothing is sorted so, or ``after`` is not the ``next`` of a page of this order.
        StoreError: as ``Store.query``.
    """
    found, following, sql = _page(store, "turns", wanted, sort, after, limit)
    turns = [
        of_row(TurnRow, row, end=row["ended"], stop_detail=row["detail"], user_message=row["said"])
        for row in found
    ]
    return TurnsPage(turns, following, sql)


def sessions_page(
    store: Store, wanted: TurnListFilter, *, sort: str = "", after: str = "", limit: int = 100
) -> SessionsPage:
    """The sessions that have turns that are wanted, with those turns' figures, those with the
    newest turns first, or by one of ``sessions.SESSION_SORTS``. Raises as ``turns_page``."""
    found, following, sql = _page(store, "sessions", wanted, sort, after, limit)
    sessions = [
        of_row(SessionRow, row, end=row["ended"], user_message=row["said"]) for row in found
    ]
    return SessionsPage(sessions, following, sql)


def _page(
    store: Store,
    kind: Literal["turns", "sessions"],
    wanted: TurnListFilter,
    sort: str,
    after: str,
    limit: int,
) -> tuple[Sequence[Mapping[str, Any]], str, str]:
    """The rows, where the next page begins, and the SQL of these rows."""
    # One more than is shown says whether there are more.
    rows, sql, given = list_rows(store, kind, wanted, sort, after, limit=limit + 1)
    found = rows.dicts()
    following = cursor(found[limit - 1]["place"]) if len(found) > limit else ""
    return found[:limit], following, shown_sql(sql, {**given, "limit": limit})
