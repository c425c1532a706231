"""Attempts and rollouts whose process died before they ended: reported ``interrupted``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.rows.loop_tables import Attempt, Rollout
from turnspan_clickhouse.rows.record import columns
from turnspan_clickhouse.ship.interrupted_turns import INTERRUPTED
from turnspan_clickhouse.ship.retry_policy import MISSING_SCHEMA
from turnspan_clickhouse.store.client import Store

_RUNNING = {
    Attempt: """
SELECT count() FROM attempt WHERE status = 'running' AND writer IN {writers:Array(String)}
""",
    Rollout: """
SELECT count() FROM rollout WHERE status = 'running' AND writer IN {writers:Array(String)}
""",
}
# The last that is known of an attempt is the last end of a model call of it. A row that another
# process has written since (a rollout may be opened again) stays the newest: by a nanosecond.
_ENDED = """
SELECT attempt_id, max(addNanoseconds(start_time, toInt64(duration * 1e9))) AS last_end
FROM llm_call
WHERE attempt_id IN {attempts:Array(String)} AND start_time >= {since:DateTime64(9, 'UTC')}
GROUP BY attempt_id
"""
_COMPUTED = {
    "status": "{interrupted:String}",
    "written_at": "addNanoseconds(s.written_at, 1)",
    "error_message": "'the process ended before the attempt did'",
}
_DURATION = (
    "if(c.last_end > s.started_at, dateDiff('nanosecond', s.started_at, c.last_end) / 1e9, 0)"
)
_DYING = """
SELECT attempt_id, min(started_at) OVER () AS since
FROM attempt WHERE status = 'running' AND writer IN {writers:Array(String)}
"""


def interrupt_attempts(store: Store, writers: Sequence[str]) -> int:
    """Mark the running attempts and rollouts of dead writers ``interrupted``; returns how many.

    Call it when everything those writers spooled has landed; twice does nothing more. A store of
    before there were attempts has none of theirs.

    Raises:
        StoreError: as ``Store.query``.
    """
    parameters = {"writers": list(writers)}
    found = 0
    for kind, sql in _RUNNING.items():
        try:
            running = int(store.query(sql, parameters).rows[0][0])
        except QueryError as error:
            if error.code in MISSING_SCHEMA:
                return found
            raise
        if running:
            found += running
            _insert(store, kind, parameters)
    return found


def _insert(store: Store, kind: type[Attempt | Rollout], parameters: dict[str, list[str]]) -> None:
    names = [name for name, _ in columns(kind)]
    computed = dict(_COMPUTED)
    given: dict[str, object] = {**parameters, "interrupted": INTERRUPTED}
    ended = ""
    if kind is Attempt:
        dying = store.query(_DYING, parameters).rows
        computed["duration"] = _DURATION
        given["attempts"] = [str(row[0]) for row in dying]
        given["since"] = str(dying[0][1])
        ended = f"LEFT JOIN ({_ENDED}) AS c ON c.attempt_id = s.attempt_id"
    chosen = [computed.get(name, f"s.{name}") + f" AS {name}" for name in names]
    sql = f"""
INSERT INTO {kind.table} ({", ".join(names)})
SELECT {", ".join(chosen)}
FROM
(
    SELECT * FROM {kind.table} FINAL
    WHERE status = 'running' AND writer IN {{writers:Array(String)}}
) AS s
{ended}
"""
    token = hashlib.sha256("\0".join(sorted(parameters["writers"])).encode()).hexdigest()
    store.command(sql, given, {"insert_deduplication_token": f"{kind.table}-{token}", "final": 1})
