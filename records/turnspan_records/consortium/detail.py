"""What ``show`` shows of a consortium run."""

from __future__ import annotations

from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.consortium.run_detail import consortium_run
from turnspan_records.detail_types import Detail
from turnspan_records.lookup import RecordRef

_FACTS: Final = """
SELECT * EXCEPT (consortium_id) FROM consortium_run
WHERE project = {project:String} AND consortium_id = {id:String}
"""
_MEMBERS: Final = """
SELECT started_at AS time, iteration, model, instance, m.duration AS duration_seconds,
    error_type AS error, member_id AS span
FROM consortium_member AS m
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY iteration, time, span
"""
_ARBITERS: Final = """
SELECT started_at AS time, iteration, model, confidence,
    arrayStringConcat(ranking, ', ') AS ranking, i.duration AS duration_seconds,
    error_type AS error, arbiter_id AS span
FROM consortium_iteration AS i
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY iteration, time, span
"""
_CALLS: Final = """
SELECT start_time AS time, consortium_role AS role,
    if(response_model != '', response_model, request_model) AS model,
    c.duration AS duration_seconds, input_tokens, output_tokens, c.cost_usd AS cost_usd,
    error_type AS error, span_id AS span
FROM llm_call AS c
WHERE project = {project:String} AND consortium_id = {id:String}
ORDER BY time, span
"""


def consortium_detail(store: Store, found: RecordRef) -> Detail:
    """A run with its members, arbiters and calls. Raises as ``detail``."""
    asked = {"project": found.project, "id": found.id}
    run = consortium_run(store, found.project, found.id)
    made = Detail("consortium", found.id, store.query(_FACTS, asked).dicts()[0])
    texts = {"prompt": run.prompt, "final_text": run.final_text}
    made.texts = {name: text for name, text in texts.items() if text}
    made.tables["members"] = store.query(_MEMBERS, asked)
    made.tables["arbiters"] = store.query(_ARBITERS, asked)
    made.tables["model calls"] = store.query(_CALLS, asked)
    return made
