"""Lists of sessions and turns, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.turn_filters import turn_filter

_FILTER = """({project:String} = '' OR project = {project:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}"""

# A turn's cost holds that of the turns inside of it, its counts do not (SEMANTICS.md, counters).
_SESSIONS = f"""
SELECT
    project,
    session_id AS session,
    max(start_time) AS last_time,
    countIf(parent_turn_id = '') AS turns,
    sum(llm_call_count) AS calls,
    sum(tool_call_count) AS tools,
    sumIf(t.cost_usd, parent_turn_id = '') AS cost_usd,
    argMaxIf(
        if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status),
        start_time,
        parent_turn_id = ''
    ) AS last_stop,
    leftUTF8(argMinIf(user_message, start_time, parent_turn_id = ''), 240) AS first_message
FROM turn_summary AS t
WHERE session_id != '' AND {_FILTER}
GROUP BY project, session
ORDER BY last_time DESC, session
LIMIT {{limit:UInt32}}
"""

_TURNS = f"""
SELECT
    start_time AS time,
    project,
    session_id AS session,
    turn_id AS turn,
    agent_name AS agent,
    if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status) AS stop_reason,
    rounds,
    tool_call_count AS tools,
    t.duration AS duration_seconds,
    t.cost_usd AS cost_usd,
    leftUTF8(user_message, 240) AS user_message
FROM turn_summary AS t
WHERE parent_turn_id = '' AND ({{session:String}} = '' OR session_id = {{session:String}})
    AND {_FILTER}"""
_NEWEST_FIRST = """
ORDER BY time DESC, turn
LIMIT {limit:UInt32}
"""


_OF_TRACE = """
SELECT session_id FROM turn_summary
WHERE project = {project:String} AND trace_id = {trace:String} AND session_id != ''
UNION ALL
SELECT session_id FROM llm_call
WHERE project = {project:String} AND trace_id = {trace:String} AND session_id != ''
LIMIT 1
"""

_COUNTS = """
SELECT session_id, sum(turns), sum(calls), sum(tools), sum(failures)
FROM (
    SELECT session_id, 1 AS turns, 0 AS calls, 0 AS tools, 0 AS failures
    FROM turn_summary WHERE project = {project:String} AND session_id IN {ids:Array(String)}
    UNION ALL
    SELECT session_id, 0, 1, 0, 0
    FROM llm_call WHERE project = {project:String} AND session_id IN {ids:Array(String)}
    UNION ALL
    SELECT session_id, 0, 0, 1, failed
    FROM tool_call WHERE project = {project:String} AND session_id IN {ids:Array(String)}
)
GROUP BY session_id
"""


class SessionCounts(NamedTuple):
    """What is recorded of a session, by kind."""

    session_id: str
    turns: int
    calls: int
    tools: int
    failures: int
    """Of the tools, those that failed."""


def sessions(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
) -> Result:
    """The sessions that had a turn in the window. Raises ``StoreError`` as ``Store.query``."""
    return store.query(_SESSIONS, window_parameters(project, window, limit=limit))


def turns(
    store: Store,
    *,
    session: str = "",
    project: str = "",
    window: Window | None = None,
    filter: str = "",
    limit: int = 20,
) -> Result:
    """The root turns of the window, or of one session; with a ``filter`` such as
    ``stop:tool_failure agent:wiki cost>0.01`` only those that pass it.

    Raises:
        ValueError: the filter is none; the message says what there is.
        StoreError: as ``Store.query``.
    """
    chosen = turn_filter(filter)
    given = window_parameters(project, window, session=session, limit=limit, **chosen.values)
    return store.query(_TURNS + chosen.sql + _NEWEST_FIRST, given)


def session_of_trace(store: Store, project: str, trace_id: str) -> str:
    """The session that a trace belongs to; empty where none is known.

    Raises ``StoreError`` as ``Store.query``.
    """
    result = store.query(_OF_TRACE, {"project": project, "trace": trace_id})
    return str(result.rows[0][0]) if result.rows else ""


def counts(store: Store, project: str, session_ids: Sequence[str]) -> list[SessionCounts]:
    """How much is recorded of each of these sessions; of one that is not there, nothing.

    Raises ``StoreError`` as ``Store.query``.
    """
    result = store.query(_COUNTS, {"project": project, "ids": list(session_ids)})
    return [SessionCounts(str(row[0]), *map(int, row[1:])) for row in result.rows]
