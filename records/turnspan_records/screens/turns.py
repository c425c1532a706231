"""Turns and sessions, newest first, a page at a time: each page begins where the one before ended,
however many rows have come since. What they have in common, and when they were, is asked apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import shown_sql
from turnspan_records.sessions import TurnRow, list_sql
from turnspan_records.turn_filters import TurnListFilter

_CURSOR = re.compile(r"(\d{1,19})-(.{0,500})", re.ASCII | re.DOTALL)
_LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TurnsPage:
    """Some turns, newest first."""

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
    """Some sessions, those with the newest turns first."""

    sessions: list[SessionRow]
    next: str
    sql: str


def turns_page(
    store: Store, wanted: TurnListFilter, *, after: str = "", limit: int = 100
) -> TurnsPage:
    """The root turns that are wanted, newest first.

    Raises:
        ValueError: ``after`` is not the ``next`` of a page.
        StoreError: as ``Store.query``.
    """
    found, following, sql = _page(store, "turns", "turn", wanted, after, limit)
    turns = [
        of_row(TurnRow, row, end=row["ended"], stop_detail=row["detail"], user_message=row["said"])
        for row in found
    ]
    return TurnsPage(turns, following, sql)


def sessions_page(
    store: Store, wanted: TurnListFilter, *, after: str = "", limit: int = 100
) -> SessionsPage:
    """The sessions that have turns that are wanted, with those turns' figures. Raises as
    ``turns_page``."""
    found, following, sql = _page(store, "sessions", "session", wanted, after, limit)
    sessions = [
        of_row(SessionRow, row, end=row["ended"], user_message=row["said"]) for row in found
    ]
    return SessionsPage(sessions, following, sql)


def _page(
    store: Store, kind: str, id_: str, wanted: TurnListFilter, after: str, limit: int
) -> tuple[Sequence[Mapping[str, Any]], str, str]:
    """The rows, where the next page begins, and the SQL of these rows."""
    sql = list_sql(kind, wanted, after=bool(after))
    given = {**wanted.parameters, **(_cursor(after) if after else {}), "limit": limit}
    # One more than is shown says whether there are more.
    found = store.query(sql, {**given, "limit": limit + 1}).dicts()
    shown = shown_sql(sql, given)
    if len(found) <= limit:
        return found, "", shown
    last = found[limit - 1]
    return found[:limit], f"{last['nanoseconds']}-{last[id_]}", shown


def _cursor(after: str) -> dict[str, object]:
    found = _CURSOR.fullmatch(after)
    if found is None or int(found[1]) > _LAST:
        raise ValueError(f"{after!r} is no place in a list: give the `next` of the page before.")
    return {"before": int(found[1]), "id": found[2]}
