"""One model call: its facts, the messages of its request and of its answer, its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.messages import known_hash, load_messages
from turnspan_records.screens.cost import CostParts, cost_of_row
from turnspan_records.screens.outline_types import Head
from turnspan_records.screens.previews import head_of

_CALL = """
SELECT *, toUnixTimestamp64Nano(start_time) AS time,
    arrayMap(h -> lower(hex(h)), input_messages) AS inputs,
    arrayMap(h -> lower(hex(h)), output_messages) AS outputs,
    lower(hex(system_prompt)) AS system, lower(hex(tool_definitions)) AS tools,
    lower(hex(context_assembled)) AS context
FROM llm_call WHERE project = {project:String} AND span_id = {span:String} LIMIT 1
"""
_ORDER = """
SELECT groupArray(span_id) AS spans FROM (
    SELECT span_id FROM llm_call
    WHERE project = {project:String} AND session_id = {session:String}
        AND (session_id != '' OR trace_id = {trace:String})
    ORDER BY start_time, span_id
)
"""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A column or attribute with its value as text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class CallScreen:
    """A model call. ``number`` is its place among the ``calls`` of its session, from 1; ``before``
    and ``after`` are its neighbours there, empty where there is none. ``system``, ``tools`` and
    ``context`` are hashes of definitions."""

    project: str
    span_id: str
    session_id: str
    trace_id: str
    turn_id: str
    agent_name: str
    start_time: datetime
    duration: float
    time_to_first_chunk: float | None
    model: str
    provider: str
    round: int
    tries: int
    finish_reasons: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    tokens_estimated: bool
    cost_usd: Decimal | None
    error_type: str
    error_message: str
    response_text: str
    response_thoughts: str
    request_parameters: str
    inputs: tuple[Head, ...]
    outputs: tuple[Head, ...]
    system: str
    tools: str
    context: str
    number: int
    calls: int
    before: str
    after: str
    cost: CostParts
    facts: tuple[NamedValue, ...]
    attributes: tuple[NamedValue, ...]


_FACTS = (
    *("operation", "request_model", "response_model", "response_id", "stream", "stream_outcome"),
    *("agent_version", "service", "environment", "scope_name", "consortium_id", "lineage_id"),
    *("rollout_id", "attempt_id"),
)


def call_screen(store: Store, project: str, span_id: str) -> CallScreen:
    """A model call.

    Raises:
        KeyError: there is no such call.
        StoreError: as ``Store.query``.
    """
    rows = store.query(_CALL, {"project": project, "span": span_id}).dicts()
    if not rows:
        raise KeyError(span_id)
    row = rows[0]
    scope = str(row["session_id"] or row["trace_id"])
    known = load_messages(store, project, scope, [*row["inputs"], *row["outputs"]])
    order = _neighbours(store, row)
    at = order.index(span_id)
    return of_row(
        CallScreen,
        row,
        start_time=utc(row["start_time"]),
        model=str(row["response_model"] or row["request_model"]),
        finish_reasons=tuple(row["finish_reasons"]),
        tokens_estimated=bool(row["tokens_estimated"]),
        inputs=tuple(head_of(one, known.get(one)) for one in row["inputs"]),
        outputs=tuple(head_of(one, known.get(one)) for one in row["outputs"]),
        system=known_hash(row["system"]),
        tools=known_hash(row["tools"]),
        context=known_hash(row["context"]),
        number=at + 1,
        calls=len(order),
        before=order[at - 1] if at else "",
        after=order[at + 1] if at + 1 < len(order) else "",
        cost=cost_of_row(row),
        facts=tuple(
            NamedValue(name, str(row[name])) for name in _FACTS if row[name] not in ("", None)
        ),
        attributes=tuple(NamedValue(str(k), str(v)) for k, v in sorted(row["attributes"].items())),
    )


def _neighbours(store: Store, row: Mapping[str, Any]) -> list[str]:
    parameters = {
        "project": row["project"],
        "session": row["session_id"],
        "trace": row["trace_id"],
    }
    return list(store.query(_ORDER, parameters).rows[0][0])
