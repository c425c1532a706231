"""OTLP in protobuf -> spans, the events of logs, and data points of metrics."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event

from turnspan_clickhouse.receive.coding_metrics import MetricPoint, add_point
from turnspan_clickhouse.receive.decoded import (
    LOGS,
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    METRICS,
    TRACES,
    Decoded,
    InternCache,
    MalformedOtlpError,
    ReceivedScope,
    SpanFields,
    attribute,
    bounded,
    dropped_counts,
    event_of,
    links_to,
)
from turnspan_clickhouse.receive.log_events import LogEvent

_SCALARS = frozenset({"string_value", "bool_value", "int_value", "double_value"})


def decode_protobuf(body: bytes, shared: InternCache, signal: str = TRACES) -> Decoded:
    """What is kept of a request body: spans, the events of logs, or data points of metrics.

    Raises:
        MalformedError: it is no export request of this signal.
    """
    decoded = Decoded(size=len(body))
    kind, name, read = _REQUESTS[signal]
    try:
        request = kind.FromString(body)
    except DecodeError as error:
        what = "trace" if signal == TRACES else signal
        raise MalformedOtlpError(
            f"the body is not an OTLP {what} export request in protobuf"
        ) from error
    for of_resource in getattr(request, f"resource_{name}"):
        decoded.group()
        resource = _shared_resource(of_resource, shared)
        for of_scope in getattr(of_resource, f"scope_{name}"):
            decoded.group()
            read(of_scope, resource, decoded, shared)
    return decoded


def _read_spans(of_scope: Any, resource: Resource, decoded: Decoded, shared: InternCache) -> None:
    scope = _shared_scope(of_scope, shared)
    for span in of_scope.spans:
        decoded.add(_fields(span, decoded), resource, scope)


def _read_events(of_scope: Any, resource: Resource, decoded: Decoded, _: InternCache) -> None:
    for record in of_scope.log_records:
        decoded.tell(_event(record, resource))


def _read_points(of_scope: Any, resource: Resource, decoded: Decoded, shared: InternCache) -> None:
    scope = _shared_scope(of_scope, shared)
    for metric in of_scope.metrics:
        kind = metric.WhichOneof("data")
        data: Any = getattr(metric, kind) if kind is not None else None
        counts = kind == "sum" and data.is_monotonic
        how = data.aggregation_temporality if counts else 0
        for point in () if data is None else data.data_points:
            add_point(decoded, _point(metric.name, point, how), resource, scope)


_REQUESTS: dict[str, tuple[Any, str, Callable[..., None]]] = {
    TRACES: (ExportTraceServiceRequest, "spans", _read_spans),
    LOGS: (ExportLogsServiceRequest, "logs", _read_events),
    METRICS: (ExportMetricsServiceRequest, "metrics", _read_points),
}
"""By signal: the request, how its lists are called, and what reads a scope's."""


def _point(name: str, point: Any, temporality: int) -> MetricPoint:
    kind = point.WhichOneof("value") if temporality else None
    return MetricPoint(
        name,
        bounded(_attributes(point.attributes))[0],
        point.start_time_unix_nano,
        point.time_unix_nano,
        None if kind is None else float(getattr(point, kind)),
        temporality,
        point.ByteSize(),
    )


def _event(record: LogRecord, resource: Resource) -> LogEvent:
    said = _attributes(record.attributes)
    kind = record.body.WhichOneof("value")
    if kind == "kvlist_value":
        said = {**_attributes(record.body.kvlist_value.values), **said}
    elif kind is not None:
        said.setdefault("content", attribute(_value(record.body, 0)))
    return event_of(
        record.event_name,
        record.trace_id,
        record.span_id,
        record.time_unix_nano or record.observed_time_unix_nano,
        said,
        resource,
        record.ByteSize(),
    )


def _fields(span: Span, decoded: Decoded) -> SpanFields:
    over = max(0, len(span.attributes) - MAX_ATTRIBUTES)
    attributes = _attributes(span.attributes[:MAX_ATTRIBUTES] if over else span.attributes)
    events, links = decoded.share(len(span.events)), decoded.share(len(span.links))
    dropped = (
        span.dropped_attributes_count + over,
        span.dropped_events_count + len(span.events) - events,
        span.dropped_links_count + len(span.links) - links,
    )
    if any(dropped):
        attributes |= dropped_counts(*dropped)
    return SpanFields(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_span_id,
        trace_state=span.trace_state,
        flags=span.flags,
        name=span.name,
        kind=span.kind,
        start_time=span.start_time_unix_nano,
        end_time=span.end_time_unix_nano,
        attributes=attributes,
        events=[
            Event(event.name, bounded(_attributes(event.attributes))[0], event.time_unix_nano)
            for event in span.events[:events]
        ],
        links=links_to(
            (link.trace_id, link.span_id, link.trace_state, _attributes(link.attributes))
            for link in span.links[:links]
        ),
        status_code=span.status.code,
        status_message=span.status.message,
        size=span.ByteSize(),
    )


def _shared_resource(holder: Any, shared: InternCache) -> Resource:
    said, schema_url = holder.resource, holder.schema_url
    key = b"R" + said.SerializeToString() + schema_url.encode()
    return shared.get(key, lambda: Resource(_attributes(said.attributes), schema_url))


def _shared_scope(holder: Any, shared: InternCache) -> ReceivedScope:
    said, schema_url = holder.scope, holder.schema_url
    key = b"S" + said.SerializeToString() + schema_url.encode()
    return shared.get(
        key,
        lambda: ReceivedScope.of(said.name, said.version, schema_url, _attributes(said.attributes)),
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for pair in pairs:
        said = pair.value
        kind = said.WhichOneof("value")
        if kind in _SCALARS:
            attributes[pair.key] = getattr(said, kind)
        elif kind is not None:
            attributes[pair.key] = attribute(_value(said, 0))
    return attributes


def _value(said: AnyValue, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedOtlpError(f"a value is nested deeper than {MAX_DEPTH} levels")
    kind = said.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item, depth + 1) for item in said.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value, depth + 1) for pair in said.kvlist_value.values}
    if kind == "bytes_value":
        return base64.b64encode(said.bytes_value).decode()
    return getattr(said, kind) if kind in _SCALARS else None
