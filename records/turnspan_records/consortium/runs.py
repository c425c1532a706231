"""The list of consortium runs, newest first."""

from __future__ import annotations

from typing import Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.shown_sql import shown_sql
from turnspan_records.access.window import Window, window_parameters

# The newest ids first, from narrow columns: the view then looks up these runs only.
_RUNS: Final = """
SELECT
    started_at AS time, project, name, consortium_id AS run, r.status AS status, iterations,
    length(members) AS members, arbiter, winner, confidence, agreement, calls,
    r.cost_usd AS cost_usd, r.duration AS duration_seconds, error_type AS error
FROM consortium_run AS r
WHERE consortium_id IN
(
    SELECT consortium_id
    FROM
    (
        SELECT project, consortium_id, started_at AS at FROM consortium
        UNION ALL
        SELECT project, consortium_id, start_time FROM llm_call WHERE consortium_id != ''
    )
    WHERE ({project:String} = '' OR project = {project:String})
    GROUP BY project, consortium_id
    HAVING min(at) >= {since:DateTime64(9, 'UTC')} AND min(at) < {until:DateTime64(9, 'UTC')}
    ORDER BY min(at) DESC, consortium_id
    LIMIT {limit:UInt32}
    SETTINGS final = 0
)
AND ({project:String} = '' OR project = {project:String})
ORDER BY time DESC, run
LIMIT {limit:UInt32}
"""


def consortium_runs(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
) -> Result:
    """The runs that began in the window. Raises ``StoreError`` as ``Store.query``."""
    return store.query(_RUNS, window_parameters(project, window, limit=limit))


def consortium_runs_sql(*, project: str = "", window: Window | None = None, limit: int = 20) -> str:
    """The SQL of ``consortium_runs``, for a person to read and run."""
    return shown_sql(_RUNS, window_parameters(project, window, limit=limit))


_SESSIONS: Final = """
SELECT DISTINCT session_id FROM llm_call
WHERE project = {project:String} AND consortium_id = {run:String} AND session_id != ''
ORDER BY session_id
"""


def sessions_of(store: Store, project: str, run: str) -> list[str]:
    """The sessions of a run's calls. Raises ``StoreError`` as ``Store.query``."""
    rows = store.query(_SESSIONS, {"project": project, "run": run}, {"final": 0}).rows
    return [str(row[0]) for row in rows]
