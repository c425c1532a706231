"""Langfuse's traces and observations -> the spans that its own SDK would have sent.

The attributes are those of its SDK, which the dialect of such spans reads.
"""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from turnspan import semconv
from turnspan.content.model import as_dict, dumps_text
from turnspan_clickhouse.foreign_dialects import base, langfuse
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import (
    Row,
    listed,
    mapping,
    number,
    structure,
    text,
)
from turnspan_records.importing.spans import resource_of, span_of
from turnspan_records.importing.transcripts.fields import hex_number, nanoseconds

KIND: Final = "langfuse"
SCOPE: Final = InstrumentationScope(KIND)
_OBSERVATION: Final = "langfuse.observation."


@lru_cache(1_000)
def resource(environment: str) -> Resource:
    """The resource of an environment's spans, always the same one."""
    named = {semconv.DEPLOYMENT_ENVIRONMENT: environment} if environment else None
    return resource_of(KIND, named)


def trace_number(trace_id: str) -> int:
    """A trace's id: Langfuse's own where it is one of OpenTelemetry's or a UUID."""
    return hex_number(trace_id.replace("-", ""), 32) or ids.trace_id(KIND, trace_id)


def span_number(trace_id: str, observation_id: str) -> int:
    """An observation's id, likewise."""
    return hex_number(observation_id, 16) or ids.span_id(KIND, trace_id, observation_id)


def root_number(trace_id: str) -> int:
    """The id of the span of a trace that has no observation around all others."""
    return ids.span_id(KIND, trace_id, "trace")


def times_of(row: Row) -> tuple[int, int] | None:
    """When an observation began and ended, in ns; None where it does not say when it began."""
    start = nanoseconds(row.get("start_time"))
    if start is None:
        return None
    end = nanoseconds(row.get("end_time"))
    return start, max(start, end if end is not None else start)


def observation_span(row: Row, trace: Row, root: int) -> ReadableSpan | None:
    """The span of an observation; None where it does not say when it began.

    ``root`` is the parent of those that have none; 0 where they are roots.
    """
    times = times_of(row)
    if times is None:
        return None
    trace_id, identity = text(row, "trace_id") or text(row, "id"), text(row, "id")
    parent = text(row, "parent_observation_id")
    parent_id = span_number(trace_id, parent) if parent and parent != trace_id else root
    failed = text(row, "level").upper() == "ERROR"
    attributes = {
        **_of_trace(trace, row),
        "langfuse.observation.id": identity,
        langfuse.TYPE: (text(row, "type") or "span").lower(),
        f"{_OBSERVATION}level": text(row, "level") or None,
        f"{_OBSERVATION}status_message": text(row, "status_message") or None,
        f"{_OBSERVATION}input": _written(row, "input"),
        f"{_OBSERVATION}output": _written(row, "output"),
        **_of_model(row),
        **_metadata(row, f"{_OBSERVATION}metadata"),
    }
    return span_of(
        text(row, "name") or text(row, "type").lower() or "observation",
        trace_id=trace_number(trace_id),
        span_id=span_number(trace_id, identity),
        parent_id=parent_id,
        start_time=times[0],
        end_time=times[1],
        attributes=attributes,
        resource=resource(text(row, "environment") or text(trace, "environment")),
        scope=SCOPE,
        error=text(row, "status_message") if failed else None,
    )


def trace_span(row: Row, start: int, end: int) -> ReadableSpan:
    """The span of a trace itself, around its observations."""
    return span_of(
        text(row, "name") or "trace",
        trace_id=trace_number(text(row, "id")),
        span_id=root_number(text(row, "id")),
        start_time=start,
        end_time=end,
        attributes={
            **_of_trace(row, row),
            langfuse.TYPE: "span",
            "langfuse.trace.input": _written(row, "input"),
            "langfuse.trace.output": _written(row, "output"),
            **_metadata(row, "langfuse.trace.metadata"),
        },
        resource=resource(text(row, "environment")),
        scope=SCOPE,
    )


def usage_of(row: Row) -> Row:
    """The counts of an observation, in Langfuse's buckets; of old exports only these two."""
    told = mapping(row, "usage_details") or mapping(row, "provided_usage_details")
    counts = {name: number(value) for name, value in told.items()}
    old = mapping(row, "usage")
    for bucket, names in (
        ("input", ("prompt_tokens", "input_usage")),
        ("output", ("completion_tokens", "output_usage")),
    ):
        if not told:
            counts[bucket] = next(
                (found for name in names if (found := number(row.get(name))) is not None),
                number(old.get(bucket)),
            )
    return {name: int(count) for name, count in counts.items() if count is not None}


def costs_of(row: Row) -> Row:
    """What an observation has cost, in US dollars."""
    told = mapping(row, "cost_details") or mapping(row, "provided_cost_details")
    total = row.get("total_cost", row.get("calculated_total_cost"))
    return {**({} if total is None else {"total": total}), **told}


def _of_trace(trace: Row, row: Row) -> Row:
    tags = listed(trace, "tags") or listed(row, "tags") or listed(row, "trace_tags")
    return {
        semconv.SESSION_ID: text(trace, "session_id") or text(row, "session_id") or None,
        semconv.USER_ID: text(trace, "user_id") or text(row, "user_id") or None,
        "langfuse.trace.id": text(trace, "id") or text(row, "trace_id"),
        "langfuse.trace.name": text(trace, "name") or text(row, "trace_name") or None,
        "langfuse.trace.tags": tuple(str(tag) for tag in tags) or None,
        "langfuse.release": text(trace, "release") or text(row, "release") or None,
        "langfuse.version": text(row, "version") or text(trace, "version") or None,
    }


def _of_model(row: Row) -> Row:
    usage, costs = usage_of(row), costs_of(row)
    parameters = structure(row, "model_parameters")
    first = nanoseconds(row.get("completion_start_time"))
    version = row.get("prompt_version")
    return {
        f"{_OBSERVATION}model.name": text(row, "model") or text(row, "provided_model_name") or None,
        f"{_OBSERVATION}model.parameters": dumps_text(parameters) if parameters else None,
        f"{_OBSERVATION}usage_details": dumps_text(usage) if usage else None,
        f"{_OBSERVATION}cost_details": dumps_text(costs) if costs else None,
        f"{_OBSERVATION}completion_start_time": None if first is None else _iso(first),
        f"{_OBSERVATION}prompt.name": text(row, "prompt_name") or None,
        f"{_OBSERVATION}prompt.version": None if version is None else str(version),
    }


def _metadata(row: Row, prefix: str) -> Row:
    said = structure(row, "metadata")
    fields = as_dict(said)
    if fields is None:
        return {} if said is None else {prefix: base.text(said)}
    items = fields.items()
    return {f"{prefix}.{key}": base.text(value) for key, value in items if value is not None}


def _written(row: Row, name: str) -> str | None:
    value = row.get(name)
    return None if value is None else base.text(value)


def _iso(when: int) -> str:
    return datetime.fromtimestamp(when / 1e9, timezone.utc).isoformat()
