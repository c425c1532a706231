"""OTLP in JSON -> spans, the events of logs, and data points of metrics.

As the OTLP specification has it: names in lowerCamelCase, ids in hex, enumerations as integers,
64-bit integers as text or numbers, other bytes in base64, unknown fields ignored. Ids in base64 and
enumerations by name, of Protobuf's own JSON, cannot be mistaken for these and are read.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event

from turnspan.content.model import as_list
from turnspan_clickhouse.receive.coding_metrics import MetricPoint, add_point
from turnspan_clickhouse.receive.decoded import (
    LOGS,
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

Object = dict[str, Any]

_KINDS: Mapping[str, int] = dict(Span.SpanKind.items())
_TEMPORALITIES: Mapping[str, int] = dict(AggregationTemporality.items())
_POINTS = ("sum", "gauge", "histogram", "exponentialHistogram", "summary")
_CODES: Mapping[str, int] = dict(Status.StatusCode.items())


def decode_json(body: bytes, shared: InternCache, signal: str = TRACES) -> Decoded:
    """What is kept of a request body: spans, the events of logs, or data points of metrics.

    Raises:
        MalformedError: it is not JSON, or a field has a value of the wrong kind.
    """
    decoded = Decoded(size=len(body))
    _READERS[signal](_request(body), decoded, shared)
    return decoded


def read_spans(request: Object, decoded: Decoded, shared: InternCache) -> None:
    """Add the spans of a request, whose JSON's size is ``decoded.size``.

    Raises:
        MalformedError: a field has a value of the wrong kind.
    """
    for resource, of_scope in _groups(request, "Spans", decoded, shared):
        scope = _shared_scope(of_scope, shared)
        spans = list(_objects(of_scope, "spans"))
        share = decoded.size // max(1, len(spans))
        for span in spans:
            decoded.add(_fields(span, share, decoded), resource, scope)


def read_events(request: Object, decoded: Decoded, shared: InternCache) -> None:
    """Add the events of a request with logs, likewise. Raises as ``read_spans``."""
    for resource, of_scope in _groups(request, "Logs", decoded, shared):
        records = list(_objects(of_scope, "logRecords"))
        share = decoded.size // max(1, len(records))
        for record in records:
            decoded.tell(_event(record, resource, share))


def _read_points(request: Object, decoded: Decoded, shared: InternCache) -> None:
    for resource, of_scope in _groups(request, "Metrics", decoded, shared):
        scope = _shared_scope(of_scope, shared)
        for metric in _objects(of_scope, "metrics"):
            for kind in _POINTS:
                data = _object(metric, kind)
                counts = kind == "sum" and data.get("isMonotonic") is True
                how = _enumerated(data, "aggregationTemporality", _TEMPORALITIES) if counts else 0
                for point in _objects(data, "dataPoints"):
                    add_point(decoded, _point(_text(metric, "name"), point, how), resource, scope)


_READERS = {TRACES: read_spans, LOGS: read_events, METRICS: _read_points}


def _groups(
    request: Object, name: str, decoded: Decoded, shared: InternCache
) -> Iterator[tuple[Resource, Object]]:
    """The objects of the scopes of a request, each with its resource."""
    for of_resource in _objects(request, f"resource{name}"):
        decoded.group()
        resource = _shared_resource(of_resource, shared)
        for of_scope in _objects(of_resource, f"scope{name}"):
            decoded.group()
            yield resource, of_scope


def _point(name: str, point: Object, temporality: int) -> MetricPoint:
    whole = point.get("asInt") is not None
    value = _integer(point, "asInt") if whole else point.get("asDouble")
    return MetricPoint(
        name,
        bounded(_attributes(point))[0],
        _integer(point, "startTimeUnixNano"),
        _integer(point, "timeUnixNano"),
        None if value is None or not temporality else _double(value),
        temporality,
        len(name),
    )


def _event(record: Object, resource: Resource, size: int) -> LogEvent:
    said = _attributes(record)
    body = _value(_object(record, "body"), 0)
    if isinstance(body, dict):
        pairs = cast("Object", body).items()
        said = {**{key: attribute(v) for key, v in pairs if v is not None}, **said}
    elif body is not None:
        said.setdefault("content", attribute(body))
    return event_of(
        _text(record, "eventName"),
        _id(record, "traceId"),
        _id(record, "spanId"),
        _integer(record, "timeUnixNano") or _integer(record, "observedTimeUnixNano"),
        said,
        resource,
        size,
    )


def _request(body: bytes) -> Object:
    request = _parsed(body)
    if not isinstance(request, dict):
        raise MalformedOtlpError("the body is not a JSON object")
    return cast("Object", request)


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as strict:
        # JavaScript writes half of a character that was cut in two; JSON's text may say that.
        if b"\\ud" not in body.lower():
            raise MalformedOtlpError(f"the body is not JSON: {strict}") from strict
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return orjson.loads(whole)
    except (ValueError, RecursionError) as error:
        raise MalformedOtlpError("the body is not JSON") from error


def _shared_resource(holder: Object, shared: InternCache) -> Resource:
    said, schema_url = _object(holder, "resource"), _text(holder, "schemaUrl")
    return shared.get(_key(b"R", said, schema_url), lambda: Resource(_attributes(said), schema_url))


def _shared_scope(holder: Object, shared: InternCache) -> ReceivedScope:
    said, schema_url = _object(holder, "scope"), _text(holder, "schemaUrl")

    def scope() -> ReceivedScope:
        return ReceivedScope.of(
            _text(said, "name"), _text(said, "version"), schema_url, _attributes(said)
        )

    return shared.get(_key(b"S", said, schema_url), scope)


def _key(kind: bytes, said: Object, schema_url: str) -> bytes:
    """What a shared object is known by."""
    try:
        return kind + orjson.dumps([said, schema_url])
    except TypeError as error:  # it reads four times as deep as it writes
        raise MalformedOtlpError("a resource or a scope is nested too deep") from error


def _fields(span: Object, size: int, decoded: Decoded) -> SpanFields:
    attributes, over = bounded(_attributes(span))
    events, links = list(_objects(span, "events")), list(_objects(span, "links"))
    few, some = decoded.share(len(events)), decoded.share(len(links))
    attributes |= dropped_counts(
        _integer(span, "droppedAttributesCount") + over,
        _integer(span, "droppedEventsCount") + len(events) - few,
        _integer(span, "droppedLinksCount") + len(links) - some,
    )
    status = _object(span, "status")
    return SpanFields(
        trace_id=_id(span, "traceId"),
        span_id=_id(span, "spanId"),
        parent_id=_id(span, "parentSpanId"),
        trace_state=_text(span, "traceState"),
        flags=_integer(span, "flags"),
        name=_text(span, "name"),
        kind=_enumerated(span, "kind", _KINDS),
        start_time=_integer(span, "startTimeUnixNano"),
        end_time=_integer(span, "endTimeUnixNano"),
        attributes=attributes,
        events=[
            Event(
                _text(event, "name"),
                bounded(_attributes(event))[0],
                _integer(event, "timeUnixNano"),
            )
            for event in events[:few]
        ],
        links=links_to(
            (
                _id(link, "traceId"),
                _id(link, "spanId"),
                _text(link, "traceState"),
                _attributes(link),
            )
            for link in links[:some]
        ),
        status_code=_enumerated(status, "code", _CODES),
        status_message=_text(status, "message"),
        size=size,
    )


def _attributes(holder: Object) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for pair in _objects(holder, "attributes"):
        value = _value(_object(pair, "value"), 0)
        if value is not None:
            attributes[_text(pair, "key")] = attribute(value)
    return attributes


def _value(said: Object, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedOtlpError(f"a value is nested deeper than {MAX_DEPTH} levels")
    for key in ("stringValue", "bytesValue"):
        if key in said:
            return _text(said, key)
    if "intValue" in said:
        return _integer(said, "intValue")
    if "boolValue" in said:
        value = said["boolValue"]
        if not isinstance(value, bool):
            raise MalformedOtlpError("boolValue is not true or false")
        return value
    if "doubleValue" in said:
        return _double(said["doubleValue"])
    if "arrayValue" in said:
        items = _objects(_object(said, "arrayValue"), "values")
        return [_value(item, depth + 1) for item in items]
    if "kvlistValue" in said:
        pairs = _objects(_object(said, "kvlistValue"), "values")
        return {_text(p, "key"): _value(_object(p, "value"), depth + 1) for p in pairs}
    return None


# -- fields ----------------------------------------------------------------------------------------


def _objects(holder: Object, key: str) -> Iterator[Object]:
    found: Any = holder.get(key)
    if found is None:
        return
    items = as_list(found)
    if items is None:
        raise MalformedOtlpError(f"{key} is not a list")
    for item in items:
        if not isinstance(item, dict):
            raise MalformedOtlpError(f"{key} holds something that is not an object")
        yield cast("Object", item)


def _object(holder: Object, key: str) -> Object:
    found: Any = holder.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise MalformedOtlpError(f"{key} is not an object")
    return cast("Object", found)


def _text(holder: Object, key: str) -> str:
    found: Any = holder.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise MalformedOtlpError(f"{key} is not text")
    return found


def _integer(holder: Object, key: str) -> int:
    found: Any = holder.get(key)
    if found is None or found == "":
        return 0
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    if isinstance(found, float) and found.is_integer():
        return int(found)
    if isinstance(found, str) and len(found) <= 24:
        try:
            return int(found)
        except ValueError:
            pass
    raise MalformedOtlpError(f"{key} is not an integer")


def _enumerated(holder: Object, key: str, names: Mapping[str, int]) -> int:
    found: Any = holder.get(key)
    return names[found] if isinstance(found, str) and found in names else _integer(holder, key)


def _double(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    known = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if isinstance(value, str):
        try:
            return known[value] if value in known else float(value)
        except ValueError:
            pass
    raise MalformedOtlpError("a double is not a number")


def _id(holder: Object, key: str) -> bytes:
    """An id's bytes; of the wrong length where it is neither, so that its span is refused."""
    said = _text(holder, key)
    try:
        return base64.b64decode(said, validate=True) if said[-1:] == "=" else bytes.fromhex(said)
    except ValueError:
        return b"?"
