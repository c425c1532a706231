"""What fails, by the shape of its message; what a tool was fed, and what the model did next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.model_rule import MODEL
from turnspan_records.access.shown_sql import shown_sql
from turnspan_records.access.times import utc
from turnspan_records.access.window import Window, window_parameters

_WHERE = """({project:String} = '' OR project = {project:String})
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}"""

# What differs from one time to the next: quoted parts, ids, addresses in memory, numbers.
_QUOTED = r"""'[^']{0,200}'|"[^"]{0,200}"|`[^`]{0,200}`"""
_ID = r"\b(?:0x)?[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,}){0,4}\b"
_SHAPE = (
    "replaceRegexpAll(replaceRegexpAll(replaceRegexpAll(leftUTF8(message, 400),"
    " {quoted:String}, '…'), {id:String}, '#'), '[0-9]+(?:[.,][0-9]+)*', 'N')"
)
_PATTERNS = {"quoted": _QUOTED, "id": _ID}

_SHAPES = f"""
SELECT
    source, name, error, {_SHAPE} AS shape,
    count() AS times,
    uniqExactIf((project, turn_id), turn_id != '') AS turns,
    toUnixTimestamp64Nano(min(start_time)) AS first,
    toUnixTimestamp64Nano(max(start_time)) AS last,
    argMax((project, session_id, turn_id, span_id, leftUTF8(message, 400)), start_time) AS newest
FROM
(
    SELECT 'model call' AS source,
        {MODEL} AS name,
        toString(error_type) AS error, error_message AS message,
        project, session_id, turn_id, span_id, start_time
    FROM llm_call WHERE error_type != '' AND {_WHERE}
    UNION ALL
    SELECT 'tool', toString(name), toString(if(t.error_type != '', t.error_type, 'failed result')),
        if(t.error_message != '', t.error_message, result),
        project, session_id, turn_id, span_id, start_time
    FROM tool_call AS t WHERE failed AND {_WHERE}
    UNION ALL
    SELECT 'turn', toString(agent_name), toString(t.error_type), t.error_message,
        project, session_id, turn_id, span_id, start_time
    FROM turn_summary AS t WHERE t.error_type != '' AND parent_turn_id = '' AND {_WHERE}
)
GROUP BY source, name, error, shape
ORDER BY times DESC, source, name, error, shape
LIMIT {{limit:UInt32}}
"""
_CALLS = f"""
SELECT 'tool', toString(name) AS of, count() FROM tool_call WHERE {_WHERE} GROUP BY of
UNION ALL
SELECT 'model call', {MODEL} AS of, count()
FROM llm_call WHERE {_WHERE} GROUP BY of
"""
_AFTER = "n.start_time > f.start_time AND (n.round > f.round OR (n.round = 0 AND f.round = 0))"
_FAILED = f"name = {{tool:String}} AND failed AND turn_id != '' AND {_WHERE}"
# What the model asked for at once with the failed call, it asked for before it knew.
_NEXT = f"""
SELECT did, count() AS times, argMax((project, session_id, turn_id, span_id), began) AS newest
FROM
(
    SELECT
        f.project AS project, f.session_id AS session_id, f.turn_id AS turn_id,
        f.span_id AS span_id, any(f.start_time) AS began,
        countIf({_AFTER}) AS more,
        countIf({_AFTER} AND n.name = {{tool:String}}) AS again,
        argMinIf((n.arguments, n.failed), (n.start_time, n.span_id),
            {_AFTER} AND n.name = {{tool:String}}) AS following,
        multiIf(
            more = 0, 'no more tools',
            again = 0, 'other tools',
            following.1 = any(f.arguments), 'same call again',
            following.2, 'changed, failed again',
            'changed, worked') AS did
    FROM
    (
        SELECT project, session_id, turn_id, span_id, start_time, round, arguments
        FROM tool_call WHERE {_FAILED}
    ) AS f
    LEFT JOIN
    (
        SELECT project, turn_id, toString(name) AS name, start_time, round, arguments, failed,
            span_id
        FROM tool_call
        WHERE (project, turn_id) IN (SELECT project, turn_id FROM tool_call WHERE {_FAILED})
    ) AS n ON n.project = f.project AND n.turn_id = f.turn_id
    GROUP BY project, session_id, turn_id, span_id
)
GROUP BY did
ORDER BY times DESC, did
"""
_FED = f"""
SELECT failed, project, session_id, turn_id, span_id,
    toUnixTimestamp64Nano(start_time) AS nanoseconds, leftUTF8(arguments, 1000) AS arguments,
    leftUTF8(if(error_message != '', error_message, result), 400) AS said
FROM tool_call
WHERE name = {{tool:String}} AND {_WHERE}
ORDER BY start_time DESC, span_id
LIMIT {{each:UInt32}} BY failed
"""


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """Where one of them is."""

    project: str
    session: str
    turn: str
    span: str


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """Failures that differ in nothing but numbers, ids and quoted parts."""

    source: str
    """``model call``, ``tool`` or ``turn``."""
    name: str
    error: str
    shape: str
    times: int
    of: int | None
    """Calls of this model or tool in the window, failed or not; ``None`` of a turn."""
    turns: int
    first: datetime
    last: datetime
    example: str
    """The newest message, its first 400 characters."""
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class ErrorShapes:
    """What failed, most first."""

    shapes: list[ErrorShape]
    sql: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the model did after the failure, in a later round of the turn."""

    did: str
    """``same call again``, ``changed, worked``, ``changed, failed again``, ``other tools`` or ``no
    more tools``."""
    times: int
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class Fed:
    """What a tool was given, and what came of it."""

    failed: bool
    time: datetime
    arguments: str
    """Their first 1,000 characters."""
    said: str
    """The error or the result, its first 400 characters."""
    place: ErrorPlace


@dataclass(frozen=True, slots=True)
class ToolFailures:
    """A failing tool, looked at closely."""

    tool: str
    next_steps: list[NextStep]
    fed: list[Fed]
    """The newest calls, some that failed and some that worked."""
    sql: str


def error_shapes(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 50
) -> ErrorShapes:
    """What failed in a window. Raises ``StoreError`` as ``Store.query``."""
    calls_of = store.query(_CALLS, window_parameters(project, window)).rows
    calls = {(one[0], one[1]): int(one[2]) for one in calls_of}
    given = window_parameters(project, window, **_PATTERNS, limit=limit)
    shapes = [_shape(row, calls) for row in store.query(_SHAPES, given).dicts()]
    return ErrorShapes(shapes, shown_sql(_SHAPES, given))


def tool_failures(
    store: Store, tool: str, *, project: str = "", window: Window | None = None, each: int = 5
) -> ToolFailures:
    """What a tool was fed, and what the model did when it failed. Raises as ``error_shapes``."""
    given = window_parameters(project, window, tool=tool, each=each)
    steps = [
        NextStep(row["did"], row["times"], ErrorPlace(*row["newest"]))
        for row in store.query(_NEXT, given).dicts()
    ]
    fed = [
        Fed(
            row["failed"],
            utc(row["nanoseconds"]),
            row["arguments"],
            row["said"],
            ErrorPlace(row["project"], row["session_id"], row["turn_id"], row["span_id"]),
        )
        for row in store.query(_FED, given).dicts()
    ]
    return ToolFailures(tool, steps, fed, shown_sql(_NEXT, given))


def _shape(row: Mapping[str, Any], calls: Mapping[tuple[str, str], int]) -> ErrorShape:
    *place, example = row["newest"]
    return of_row(
        ErrorShape,
        row,
        of=calls.get((row["source"], row["name"])),
        first=utc(row["first"]),
        last=utc(row["last"]),
        example=example,
        place=ErrorPlace(*place),
    )
