"""Spans of what a log says, as the application that wrote it would have ended them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from turnspan import semconv
from turnspan_clickhouse.receive.decoded import Received, in_order

SCOPE: Final = "turnspan.import."
"""The scope_name of imported rows is this and the kind of log."""
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)


@lru_cache(100)
def scope_of(kind: str) -> InstrumentationScope:
    """The instrumentation scope of a kind's spans: one object a kind."""
    return InstrumentationScope(f"{SCOPE}{kind}")


def resource_of(service: str, attributes: Mapping[str, Any] | None = None) -> Resource:
    """The resource of imported spans; make it once, since rows are told apart by the object."""
    return Resource({semconv.SERVICE_NAME: service, **(attributes or {})})


@lru_cache(1_000)
def resource_of_project(kind: str, project: str) -> Resource:
    """The resource of a kind's spans in a project: one object each."""
    return resource_of(kind, {semconv.PROJECT: project})


def span_of(
    name: str,
    *,
    trace_id: int,
    span_id: int,
    start_time: int,
    end_time: int,
    attributes: Mapping[str, Any],
    resource: Resource,
    scope: InstrumentationScope,
    parent_id: int = 0,
    kind: SpanKind = SpanKind.INTERNAL,
    error: str | None = None,
    events: Sequence[Event] = (),
) -> ReadableSpan:
    """An ended span. Times are nanoseconds since the epoch; ``error``, if any, is why it failed.

    Attributes are of the GenAI conventions (``turnspan.semconv``); values that are None are left
    out.
    """
    parent = SpanContext(trace_id, parent_id, False, _SAMPLED) if parent_id else None
    return ReadableSpan(
        name,
        context=SpanContext(trace_id, span_id, False, _SAMPLED),
        parent=parent,
        resource=resource,
        attributes={key: value for key, value in attributes.items() if value is not None},
        events=events,
        kind=kind,
        status=Status() if error is None else Status(StatusCode.ERROR, error),
        start_time=start_time,
        end_time=max(start_time, end_time),
        instrumentation_scope=scope,
    )


def in_span_order(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """The spans of one trace in the order in which they end: what is inside a span before it."""
    received: list[Received] = []
    for span in spans:
        context, parent = span.context, span.parent
        assert context is not None
        ids = f"{context.trace_id:032x}", f"{context.span_id:016x}"
        parent_id = "" if parent is None else f"{parent.span_id:016x}"
        received.append(Received(span, *ids, parent_id, span.end_time or 0, size=0))
    return [one.span for one in in_order(received)]
