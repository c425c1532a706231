"""Lists of sessions and turns, newest first unless they are sorted otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from turnspan_clickhouse.rows.tables import TurnSummary
from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import selected, utc
from turnspan_records.access.keyset import ListOrder, SortKey, list_order, number, text
from turnspan_records.access.questions import ask
from turnspan_records.access.turn_rows import turn_rows
from turnspan_records.access.window import Window, as_parameter
from turnspan_records.sql import statement
from turnspan_records.turn_filters import COLUMNS, NUMBERS, TurnListFilter, turn_filter

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

_STARTED: Final = SortKey("start_time", "time")
_TURN_TIES: Final = (_STARTED, SortKey("turn_id", "text"), SortKey("t.project", "text"))
TURN_SORTS: Final[Mapping[str, SortKey]] = {
    "time": _STARTED,
    **{name: text(column) for name, (_, column) in COLUMNS.items()},
    **{name: number(column) for name, (_, column) in NUMBERS.items()},
    "message": text("leftUTF8(user_message, 240)"),
}
"""What turns are sorted by: what they are filtered by, as far as a turn has one value of it."""

_LAST: Final = SortKey("time", "time")
_SESSION_TIES: Final = (_LAST, SortKey("session", "text"), SortKey("project", "text"))
SESSION_SORTS: Final[Mapping[str, SortKey]] = {
    "time": _LAST,
    "session": text("session"),
    "project": text("project"),
    "stop": text("ended"),
    "turns": number("turns"),
    "calls": number("calls"),
    "tools": number("tools"),
    "failures": number("failed_tools"),
    "problems": number("problems"),
    "cost": number("cost_usd"),
    "message": text("said"),
}
"""What sessions are sorted by: the time of the last turn, and the columns of their list."""

_COUNTED: Final = tuple(SESSION_SORTS[name] for name in ("calls", "tools", "failures"))
"""What turns inside of others have, too."""

NEWEST: Final = "-time"
_WEEKS: Final = 64
"""Weeks at most in which the newest are looked for before all are looked at."""
_FEW: Final = 100_000
"""Turns of which all are looked at at once."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in a list. ``None`` is a number that is not known."""

    project: str
    session: str
    turn: str
    trace_id: str
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
    calls: int
    tools: int
    failed_tools: int
    duration: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    models: list[str]
    user_id: str
    service: str
    environment: str
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


def list_rows(
    store: Store,
    kind: Literal["turns", "sessions"],
    wanted: TurnListFilter,
    sort: str = "",
    after: str = "",
    *,
    limit: int,
) -> tuple[Result, str, dict[str, object]]:
    """The rows of a list, the SQL that gives them, and its parameters. Their column ``place`` makes
    the cursor of the rows that follow (``turnspan_records.access.keyset``).

    Of many turns the newest are looked for in the last week, then further back.

    Raises:
        ValueError: nothing is sorted so, or ``after`` is no cursor of this list.
        StoreError: as ``Store.query``.
    """
    every, of_calls = turn_rows(store, wanted.project)
    sql, given = list_sql(kind, every, wanted, sort, after)
    given |= {**of_calls, "limit": limit, "recent": as_parameter(wanted.window.since)}
    if (sort.strip() or NEWEST) == NEWEST:
        [(first, last, turns)] = ask(store, "turns/extent", {"final": 0}).rows
        before = given.get("place0", last)
        end = min(utc(before if isinstance(before, int) else last), wanted.window.until)
        begin = max(utc(first), wanted.window.since)
        weeks = 1
        while turns > _FEW and weeks <= _WEEKS and (since := end - timedelta(weeks=weeks)) > begin:
            recent = {**given, "recent": as_parameter(since)}
            found = store.query(sql, recent)
            if len(found.rows) >= limit:
                return found, sql, recent
            # As far as half as much again needs at this rate: what was read is read again.
            seen = len(found.rows)
            weeks *= max(4, 3 * limit // (2 * seen)) if seen else 16
    return store.query(sql, given), sql, given


def list_sql(
    kind: Literal["turns", "sessions"],
    turns: str,
    wanted: TurnListFilter,
    sort: str = "",
    after: str = "",
) -> tuple[str, dict[str, object]]:
    """The SQL of a list over these rows with its parameters, but for ``limit`` and ``recent``."""
    if kind == "turns":
        order = list_order(sort, TURN_SORTS, _TURN_TIES, default=NEWEST)
        columns = selected(TurnRow, TurnSummary, "stop_detail", "user_message")
        return _list_sql(kind, wanted, order, after, "AND ", turns=turns, columns=columns)
    order = list_order(sort, SESSION_SORTS, _SESSION_TIES, default=NEWEST)
    figures = statement("turns/_session_figures", turns=turns, where=wanted.where)
    if order.key in _COUNTED:
        figures = statement("turns/_session_counts", where=wanted.where, figures=figures)
    return _list_sql(kind, wanted, order, after, "", turns=turns, figures=figures)


def _list_sql(
    kind: str, wanted: TurnListFilter, order: ListOrder, after: str, joint: str, **parts: str
) -> tuple[str, dict[str, object]]:
    condition, given = order.after(after) if after else ("" if joint else "true", {})
    older = condition and f"{joint}{condition}"
    parts |= {"where": wanted.where, "older": older, "order": order.sql, "place": order.place}
    return statement(f"turns/{kind}", **parts), {**wanted.parameters, **given}


def sessions(
    store: Store,
    *,
    project: str = "",
    window: Window | None = None,
    sort: str = "",
    limit: int = 20,
) -> Result:
    """The sessions with a turn in the window, by default those with the newest turns first. A
    ``sort`` is one of ``SESSION_SORTS``, with ``-`` before it for the largest first.

    Raises:
        ValueError: nothing is sorted so; the message lists what there is.
        StoreError: as ``Store.query``.
    """
    wanted = TurnListFilter(project, window or Window())
    return _listed(list_rows(store, "sessions", wanted, sort, limit=limit)[0], _SESSIONS)


def turns(
    store: Store,
    *,
    session: str = "",
    project: str = "",
    window: Window | None = None,
    filter: str = "",
    sort: str = "",
    limit: int = 20,
) -> Result:
    """The root turns of the window or of one session. A ``filter`` such as ``stop:tool_failure
    agent:wiki cost>0.01`` keeps only the turns that match. A ``sort`` such as ``-cost`` is one of
    ``TURN_SORTS``, with ``-`` before it for the largest first.

    Raises:
        ValueError: the filter or the sort is not valid; the message lists what there is.
        StoreError: as ``Store.query``.
    """
    wanted = TurnListFilter(project, window or Window(), turn_filter(filter), session)
    return _listed(list_rows(store, "turns", wanted, sort, limit=limit)[0], _TURNS)


def _listed(found: Result, columns: Mapping[str, str]) -> Result:
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
