"""OTLP requests made by hand, in both encodings."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from turnspan.content.model import as_dict, as_list

T0 = time.time_ns() - 3_600 * 10**9
"""When hand-made spans begin: an hour ago, in ns."""
SECOND = 10**9
DELTA = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
_IDS = ("traceId", "spanId", "parentSpanId")


@dataclass(frozen=True)
class Made:
    """A span of a story; ``name`` is unique in its trace and stands for its id."""

    name: str
    parent: str = ""
    start: float = 0.0
    end: float = 1.0
    service: str = "web"
    scope: str = "my-agent"
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    events: tuple[tuple[str, dict[str, Any]], ...] = ()


def trace_id(salt: str) -> bytes:
    """The trace id of a story told under this name."""
    return hashlib.blake2b(salt.encode(), digest_size=16).digest()


def span_id(salt: str, name: str) -> bytes:
    """The id of a story's span."""
    return hashlib.blake2b(f"{salt}/{name}".encode(), digest_size=8).digest()


def request(salt: str, spans: Iterable[Made]) -> ExportTraceServiceRequest:
    """One export request with these spans of one trace."""
    made = ExportTraceServiceRequest()
    for one in spans:
        of_resource: ResourceSpans = made.resource_spans.add()
        of_resource.resource.CopyFrom(
            Resource(attributes=pairs({"service.name": one.service, "turnspan.project": "story"}))
        )
        of_scope: ScopeSpans = of_resource.scope_spans.add()
        of_scope.scope.name = one.scope
        span: Span = of_scope.spans.add()
        span.trace_id = trace_id(salt)
        span.span_id = span_id(salt, one.name)
        if one.parent:
            span.parent_span_id = span_id(salt, one.parent)
        span.name = one.name
        span.start_time_unix_nano = T0 + round(one.start * SECOND)
        span.end_time_unix_nano = T0 + round(one.end * SECOND)
        span.attributes.extend(pairs(one.attributes))
        for name, said in one.events:
            span.events.add(
                name=name, time_unix_nano=span.end_time_unix_nano, attributes=pairs(said)
            )
    return made


@dataclass(frozen=True)
class Said:
    """A log record of a story: an event on the span of this name, or on none."""

    event: str
    of: str
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    at: float = 0.0


def logs(salt: str, records: Iterable[Said], *, service: str = "web") -> ExportLogsServiceRequest:
    """One export request with these log records of one trace."""
    made = ExportLogsServiceRequest()
    of_resource = made.resource_logs.add()
    of_resource.resource.CopyFrom(
        Resource(attributes=pairs({"service.name": service, "turnspan.project": "story"}))
    )
    of_scope = of_resource.scope_logs.add()
    for one in records:
        record = of_scope.log_records.add()
        record.event_name = one.event
        record.time_unix_nano = T0 + round(one.at * SECOND)
        record.attributes.extend(pairs(one.attributes))
        if one.body is not None:
            record.body.CopyFrom(any_value(one.body))
        if one.of:
            record.trace_id = trace_id(salt)
            record.span_id = span_id(salt, one.of)
    return made


@dataclass(frozen=True)
class Count:
    """A data point of a story's monotonic sum, in seconds of the story; ``delta`` or cumulative."""

    metric: str
    value: float
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    start: float = 0.0
    at: float = 60.0
    delta: bool = True
    service: str = "claude-code"


def metrics(counts: Iterable[Count]) -> ExportMetricsServiceRequest:
    """One export request with these data points, a metric each."""
    made = ExportMetricsServiceRequest()
    for one in counts:
        of_resource = made.resource_metrics.add()
        of_resource.resource.CopyFrom(Resource(attributes=pairs({"service.name": one.service})))
        metric = of_resource.scope_metrics.add().metrics.add(name=one.metric)
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = DELTA if one.delta else CUMULATIVE
        point = metric.sum.data_points.add(attributes=pairs(one.attributes))
        point.start_time_unix_nano = T0 + round(one.start * SECOND)
        point.time_unix_nano = T0 + round(one.at * SECOND)
        if isinstance(one.value, int):
            point.as_int = one.value
        else:
            point.as_double = one.value
    return made


def as_json(
    made: ExportTraceServiceRequest | ExportLogsServiceRequest | ExportMetricsServiceRequest,
) -> bytes:
    """The request in OTLP's JSON: ids in hex, enumerations as integers."""

    def with_hex(value: Any) -> Any:
        items, fields = as_list(value), as_dict(value)
        if items is not None:
            return [with_hex(item) for item in items]
        if fields is None:
            return value
        return {
            key: base64.b64decode(item).hex() if key in _IDS else with_hex(item)
            for key, item in fields.items()
        }

    return json.dumps(with_hex(MessageToDict(made, use_integers_for_enums=True))).encode()


def pairs(attributes: dict[str, Any]) -> list[KeyValue]:
    """Attributes as OTLP has them."""
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def any_value(value: Any) -> AnyValue:
    """A value as OTLP has it."""
    items, fields = as_list(value), as_dict(value)
    if items is not None:
        return AnyValue(array_value=ArrayValue(values=map(any_value, items)))
    if fields is not None:
        return AnyValue(kvlist_value=KeyValueList(values=pairs(fields)))
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(bytes_value=value) if isinstance(value, bytes) else AnyValue(string_value=value)


def chat(name: str, parent: str, at: float, **more: Any) -> Made:
    """A model call that took 0.5 s, with 100 tokens in and 10 out."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": name}]}]
        ),
        **more.pop("attributes", {}),
    }
    return Made(name, parent, at, at + 0.5, attributes=attributes, **more)


def tool(name: str, parent: str, at: float, took: float = 0.5, **more: Any) -> Made:
    """An executed tool."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return Made(name, parent, at, at + took, attributes=attributes, **more)


def agent(name: str, parent: str, start: float, end: float, **more: Any) -> Made:
    """An agent's span."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return Made(name, parent, start, end, attributes=attributes, **more)
