"""Turns and sessions, newest first, a page at a time: each page begins where the one before ended,
however many rows have come since. What they have in common, and when they were, is asked apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.shown_sql import shown_sql
from turnspan_records.access.times import utc
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.rows import dollars
from turnspan_records.turn_filters import END, TurnFilter

_ROOTS = """t.parent_turn_id = ''
    AND ({project:String} = '' OR project = {project:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}"""
_CURSOR = re.compile(r"(\d{1,19})-(.{0,500})", re.ASCII | re.DOTALL)
_LAST = 2**63 - 1
_BEFORE = "(fromUnixTimestamp64Nano({before:Int64}), {id:String})"


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


@dataclass(frozen=True, slots=True)
class TurnListFilter:
    """Which root turns."""

    project: str = ""
    window: Window = field(default_factory=Window)
    filter: TurnFilter = field(default_factory=TurnFilter)

    @property
    def where(self) -> str:
        """The conditions on ``turn_summary AS t``."""
        return _ROOTS + self.filter.sql

    @property
    def parameters(self) -> dict[str, object]:
        """What the conditions are given."""
        return window_parameters(self.project, self.window, **self.filter.values)


# First which turns they are, with what it takes to tell; the rest is read for those few only.
_PAGE = """
WITH page AS
    (
        SELECT start_time FROM turn_summary AS t
        WHERE {where}{older}
        ORDER BY start_time DESC, turn_id DESC
        LIMIT {{limit:UInt32}}
    )
SELECT
    project, session_id, turn_id, toUnixTimestamp64Nano(start_time) AS nanoseconds,
    agent_name, agent_version, t.status AS status, {end} AS ended,
    t.stop_reason AS stop_reason, leftUTF8(t.stop_detail, 240) AS detail,
    rounds, tool_call_count, tool_error_count, t.duration AS duration, t.cost_usd AS cost_usd,
    t.input_tokens AS input_tokens, t.output_tokens AS output_tokens, models,
    t.error_type AS error_type, leftUTF8(user_message, 240) AS said,
    leftUTF8(response_text, 240) AS reply
FROM turn_summary AS t
WHERE start_time IN (SELECT start_time FROM page) AND {where}{older}
ORDER BY start_time DESC, turn_id DESC
LIMIT {{limit:UInt32}}
"""

# A turn's cost holds that of the turns inside of it, its counts do not (SEMANTICS.md, counters):
# those are counted with the root turn of their trace.
_SESSIONS = """
WITH page AS
    (
        SELECT project, session_id, max(start_time) AS newest FROM turn_summary AS t
        WHERE session_id != '' AND {where}
        GROUP BY project, session_id{older}
        ORDER BY newest DESC, session_id DESC
        LIMIT {{limit:UInt32}}
    )
SELECT
    project, session_id,
    toUnixTimestamp64Nano(maxIf(start_time, parent_turn_id = '')) AS nanoseconds,
    countIf(parent_turn_id = '') AS turns,
    sum(llm_call_count) AS calls, sum(tool_call_count) AS tools,
    sum(tool_error_count) AS failed_tools, sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
    argMaxIf({end}, (start_time, turn_id), parent_turn_id = '') AS ended,
    countIf({end} NOT IN ('completed', 'running') AND parent_turn_id = '') AS problems,
    leftUTF8(argMinIf(user_message, (start_time, turn_id), parent_turn_id = ''), 240) AS said
FROM
(
    SELECT *, ({where}) AS wanted,
        max(wanted) OVER (PARTITION BY project, session_id, trace_id) AS with_wanted
    FROM turn_summary AS t
    WHERE (project, session_id) IN (SELECT project, session_id FROM page)
) AS t
WHERE wanted OR (parent_turn_id != '' AND with_wanted)
GROUP BY project, session_id
ORDER BY nanoseconds DESC, session_id DESC
"""
_OLDER_TURNS = f"\n    AND (start_time, turn_id) < {_BEFORE}"
_OLDER_SESSIONS = f"\n        HAVING (newest, session_id) < {_BEFORE}"


def turns_page(
    store: Store, wanted: TurnListFilter, *, after: str = "", limit: int = 100
) -> TurnsPage:
    """The root turns that are wanted, newest first.

    Raises:
        ValueError: ``after`` is not the ``next`` of a page.
        StoreError: as ``Store.query``.
    """
    found, following, sql = _page(store, (_PAGE, _OLDER_TURNS, "turn_id"), wanted, after, limit)
    return TurnsPage([_turn(row) for row in found], following, sql)


def sessions_page(
    store: Store, wanted: TurnListFilter, *, after: str = "", limit: int = 100
) -> SessionsPage:
    """The sessions that have turns that are wanted, with those turns' figures. Raises as
    ``turns_page``."""
    kind = (_SESSIONS, _OLDER_SESSIONS, "session_id")
    found, following, sql = _page(store, kind, wanted, after, limit)
    return SessionsPage([_session(row) for row in found], following, sql)


def _page(
    store: Store, kind: tuple[str, str, str], wanted: TurnListFilter, after: str, limit: int
) -> tuple[Sequence[Mapping[str, Any]], str, str]:
    """The rows, where the next page begins, and the SQL of these rows."""
    question, older, id_ = kind
    sql = question.format(where=wanted.where, end=END, older=older if after else "")
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


def _turn(row: Mapping[str, Any]) -> TurnRow:
    return of_row(
        TurnRow,
        row,
        session=row["session_id"],
        turn=row["turn_id"],
        time=utc(row["nanoseconds"]),
        agent=row["agent_name"],
        version=row["agent_version"],
        end=row["ended"],
        stop_detail=row["detail"],
        tools=row["tool_call_count"],
        failed_tools=row["tool_error_count"],
        duration=row["duration"],
        cost_usd=dollars(row["cost_usd"]),
        models=list(row["models"]),
        user_message=row["said"],
    )


def _session(row: Mapping[str, Any]) -> SessionRow:
    return of_row(
        SessionRow,
        row,
        session=row["session_id"],
        time=utc(row["nanoseconds"]),
        cost_usd=dollars(row["cost_usd"]),
        end=row["ended"],
        user_message=row["said"],
    )
