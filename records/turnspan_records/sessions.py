"""Lists of sessions and turns, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from turnspan_clickhouse.rows.tables import TurnSummary
from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import selected
from turnspan_records.access.questions import ask
from turnspan_records.access.window import Window
from turnspan_records.sql import statement
from turnspan_records.turn_filters import TurnListFilter, turn_filter

_SESSIONS: Final = {
    "project": "project",
    "session": "session",
    "last_time": "time",
    "turns": "turns",
    "calls": "calls",
    "tools": "tools",
    "cost_usd": "cost_usd",
    "last_stop": "ended",
    "first_message": "said",
}
_TURNS: Final = {
    "time": "time",
    "project": "project",
    "session": "session",
    "turn": "turn",
    "agent": "agent",
    "stop_reason": "ended",
    "rounds": "rounds",
    "tools": "tools",
    "duration_seconds": "duration",
    "cost_usd": "cost_usd",
    "user_message": "said",
}
"""What these lists show of the questions that the page asks, by the names of their columns."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in a list. ``None`` is a number that is not known."""

    project: str
    session: str
    turn: str
    time: datetime
    agent: str
    version: str
    status: str
    """``running``, ``final`` or ``interrupted``."""
    end: str
    """The stop reason without its detail; the status where it has not ended by itself."""
    stop_reason: str
    stop_detail: str
    rounds: int
    tools: int
    failed_tools: int
    duration: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    models: list[str]
    error_type: str
    user_message: str
    """Its first 240 characters."""
    reply: str
    """Its first 240 characters."""


class SessionCounts(NamedTuple):
    """What is recorded of a session, by kind."""

    session_id: str
    turns: int
    calls: int
    tools: int
    failures: int
    """Of the tools, those that failed."""


def list_sql(kind: str, wanted: TurnListFilter, *, after: bool = False) -> str:
    """The SQL of a list of ``turns`` or ``sessions``, newest first; ``after`` the page before."""
    older = statement(f"turns/older_{kind}") if after else ""
    columns = selected(TurnRow, TurnSummary, "stop_detail", "user_message")
    return statement(f"turns/{kind}", where=wanted.where, older=older, columns=columns)


def sessions(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
) -> Result:
    """The sessions with a turn in the window. Raises ``StoreError`` as ``Store.query``."""
    wanted = TurnListFilter(project, window or Window())
    return _listed(store, "sessions", wanted, limit, _SESSIONS)


def turns(
    store: Store,
    *,
    session: str = "",
    project: str = "",
    window: Window | None = None,
    filter: str = "",
    limit: int = 20,
) -> Result:
    """The root turns of the window or of one session. A ``filter`` such as ``stop:tool_failure
    agent:wiki cost>0.01`` keeps only the turns that match.

    Raises:
        ValueError: the filter is not valid; the message lists the terms.
        StoreError: as ``Store.query``.
    """
    wanted = TurnListFilter(project, window or Window(), turn_filter(filter), session)
    return _listed(store, "turns", wanted, limit, _TURNS)


def _listed(
    store: Store, kind: str, wanted: TurnListFilter, limit: int, columns: Mapping[str, str]
) -> Result:
    found = store.query(list_sql(kind, wanted), {**wanted.parameters, "limit": limit})
    if not found.names:  # of no rows
        return found
    places = [found.names.index(name) for name in columns.values()]
    rows = [tuple(row[at] for at in places) for row in found.rows]
    return Result(tuple(columns), tuple(found.types[at] for at in places), rows)


def session_of_trace(store: Store, project: str, trace_id: str) -> str:
    """The session that a trace belongs to; empty where none is known.

    Raises ``StoreError`` as ``Store.query``.
    """
    result = ask(store, "turns/session_of_trace", project=project, trace=trace_id)
    return str(result.rows[0][0]) if result.rows else ""


def counts(store: Store, project: str, session_ids: Sequence[str]) -> list[SessionCounts]:
    """How much is recorded of each of these sessions; of one that is not there, nothing.

    Raises ``StoreError`` as ``Store.query``.
    """
    result = ask(store, "turns/session_counts", project=project, ids=list(session_ids))
    return [SessionCounts(str(row[0]), *map(int, row[1:])) for row in result.rows]
