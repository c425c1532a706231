"""What ``show`` shows of an attempt, a rollout, a lineage and an artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.detail_types import Detail
from turnspan_records.lookup import RecordRef
from turnspan_records.messages import load_definitions

_ATTEMPT = "SELECT * FROM attempt WHERE project = {project:String} AND attempt_id = {id:String}"
_ROLLOUT = (
    "SELECT * EXCEPT (tried) FROM rollout_current"
    " WHERE project = {project:String} AND rollout_id = {id:String}"
)
_LINEAGE = (
    "SELECT * FROM lineage_current WHERE project = {project:String} AND lineage_id = {id:String}"
)
_ARTIFACT = (
    "SELECT * EXCEPT (content), lower(hex(content)) AS content_hash FROM artifact"
    " WHERE project = {project:String} AND artifact_id = {id:String}"
)
_CALLS_OF = """
SELECT start_time AS time, turn_id AS turn, round,
    if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND attempt_id = {id:String}
    AND start_time >= subtractHours({since:DateTime64(9, 'UTC')}, 1)
ORDER BY time, span
"""
_ATTEMPTS_OF = """
SELECT started_at AS time, a.status AS status, model, a.duration AS duration_seconds,
    error_type AS error, attempt_id AS attempt
FROM attempt AS a WHERE project = {project:String} AND rollout_id = {id:String}
ORDER BY time, attempt
"""
_ROLLOUTS_OF = """
SELECT started_at AS time, cycle, task, status, length(attempts) AS tries,
    duration AS duration_seconds, rollout_id AS rollout
FROM rollout_current WHERE project = {project:String} AND lineage_id = {id:String}
ORDER BY cycle, time, rollout
"""
# Said after a call and not inside it, it is taken to be of the turn's last call before it.
_CALL_OF = """
SELECT argMax(span_id, start_time) AS call FROM llm_call
WHERE project = {project:String} AND session_id = {session:String} AND turn_id = {turn:String}
    AND start_time <= {created:DateTime64(9, 'UTC')}
"""


def _attempt(store: Store, found: RecordRef) -> Detail:
    facts = _row(store, found, _ATTEMPT)
    texts = {name: str(facts.pop(name)) for name in ("input", "output")}
    made = Detail("attempt", found.id, facts, {name: text for name, text in texts.items() if text})
    since = {**_of(found), "since": f"{facts['started_at']:%Y-%m-%d %H:%M:%S}"}
    made.tables["model calls"] = store.query(_CALLS_OF, since)
    return made


def _rollout(store: Store, found: RecordRef) -> Detail:
    made = Detail("rollout", found.id, _row(store, found, _ROLLOUT))
    made.tables["attempts"] = store.query(_ATTEMPTS_OF, _of(found))
    return made


def _lineage(store: Store, found: RecordRef) -> Detail:
    made = Detail("lineage", found.id, _row(store, found, _LINEAGE))
    made.tables["rollouts"] = store.query(_ROLLOUTS_OF, _of(found))
    return made


def _artifact(store: Store, found: RecordRef) -> Detail:
    facts = _row(store, found, _ARTIFACT)
    hash_ = str(facts.pop("content_hash"))
    if facts["turn_id"] and not facts["call_id"]:
        where = {
            **_of(found),
            "session": facts["session_id"],
            "turn": facts["turn_id"],
            "created": f"{facts['created_at']:%Y-%m-%d %H:%M:%S.%f}",
        }
        facts["call_id"] = str(store.query(_CALL_OF, where).rows[0][0])
    text = load_definitions(store, found.project, [hash_]).get(hash_, "")
    return Detail("artifact", found.id, facts, {"text": text} if text else {})


LOADERS: Final[Mapping[str, Callable[[Store, RecordRef], Detail]]] = {
    "attempt": _attempt,
    "rollout": _rollout,
    "lineage": _lineage,
    "artifact": _artifact,
}
"""What loads a record's detail, by its kind."""


def _of(found: RecordRef) -> dict[str, Any]:
    return {"project": found.project, "id": found.id}


def _row(store: Store, found: RecordRef, sql: str) -> dict[str, Any]:
    rows = store.query(sql, _of(found)).dicts()
    if not rows:
        raise KeyError(found.id)
    return rows[0]
