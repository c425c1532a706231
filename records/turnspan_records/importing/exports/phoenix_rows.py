"""What Phoenix exports: spans and annotations, of its REST API, as data frames, as JSON lines
(https://arize.com/docs/phoenix: ``get_spans_dataframe``, ``/v1/projects/{id}/spans``)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan_records.importing.exports.exported_rows import Row, listed, mapping, structure, text
from turnspan_records.importing.spans import resource_of, span_of
from turnspan_records.importing.transcripts.fields import hex_number, nanoseconds, opened

KIND: Final = "phoenix"
RESOURCE: Final = resource_of(KIND)
_SCOPE: Final = InstrumentationScope(KIND)
SPAN_KIND: Final = "openinference.span.kind"
_ATTRIBUTES: Final = "attributes."
_AS_TEXT: Final = frozenset(
    {"metadata", "llm.prompt_template.variables", "tool.parameters", "llm.invocation_parameters"}
)
"""What is JSON in a text when a span is sent; Phoenix reads some of it."""
_MAX_DEPTH: Final = 64
_INDEX: Final = "__index__"
"""What a data frame's row is known by: pandas does not write what it calls that."""
_COLUMNS: Final = frozenset(
    {"start_time", "annotator_kind", "result.score", "result.label", "score", "label"}
)
"""Of these one is in every data frame of spans, annotations or evaluations."""
_NUMBER: Final = ("intValue", "int_value")


@dataclass(slots=True)
class PhoenixSpan:
    """One span, its ids and when it began, in ns."""

    trace_id: int
    span_id: int
    start: int
    attributes: Row
    span: ReadableSpan


@dataclass(slots=True)
class PhoenixAnnotation:
    """What was said of a span, a trace or a session."""

    row: Row
    span_id: int = 0
    trace_id: int = 0
    session: str = ""


@dataclass(slots=True)
class NotTaken:
    """A row that is one of these and lacks what it is known by."""

    why: str


def exported(value: Any) -> Iterator[PhoenixSpan | PhoenixAnnotation | NotTaken]:
    """The rows of a line: one, those of a page of the API, or those of a data frame's columns."""
    line = as_dict(value)
    if line is None:
        for each in as_list(value) or []:
            yield from exported(each)
    elif (frame := _frame(line)) is not None:
        for row in frame:
            yield from exported(row)
    elif as_list(line.get("data")) is not None:
        yield from exported(line["data"])
    elif "start_time" in line or "start_time_unix_nano" in line or "startTimeUnixNano" in line:
        yield _span(line)
    elif line.keys() & {"annotator_kind", "result", "result.score", "result.label"}:
        yield _annotation(line)
    elif line.keys() & {"score", "label"} and line.keys() & {"context.span_id", "span_id", _INDEX}:
        yield _annotation(line)  # an evaluation as a data frame


def _frame(line: Row) -> list[Row] | None:
    """The rows of a data frame as pandas writes it: by columns (its default), by index, split."""
    names = as_list(line.get("columns"))
    if names is not None:
        data = [as_list(row) or [] for row in as_list(line.get("data")) or []]
        index = as_list(line.get("index")) or range(len(data))
        return [
            {_INDEX: key, **dict(zip(map(str, names), row, strict=False))}
            for key, row in zip(index, data, strict=False)
        ]
    columns: dict[str, Row] = {}
    for name, value in line.items():
        column = as_dict(value)
        if column is None:
            return None
        columns[name] = column
    if columns.keys() & _COLUMNS:
        keys = dict.fromkeys(key for column in columns.values() for key in column)
        return [
            {_INDEX: key, **{name: each[key] for name, each in columns.items() if key in each}}
            for key in keys
        ]
    if columns and all(row.keys() & _COLUMNS for row in columns.values()):
        return [{_INDEX: key, **row} for key, row in columns.items()]
    return None


def _span(line: Row) -> PhoenixSpan | NotTaken:
    context = mapping(line, "context")
    ids = {
        name: line.get(f"context.{name}") or context.get(name) or line.get(name)
        for name in ("trace_id", "span_id")
    }
    trace_id = hex_number(ids["trace_id"] or line.get("traceId"), 32)
    span_id = hex_number(ids["span_id"] or line.get("spanId") or line.get(_INDEX), 16)
    if trace_id is None or span_id is None:
        return NotTaken("a span without a trace's and its own id in hexadecimal digits")
    start = _time(line, "start_time", "startTimeUnixNano")
    if start is None:
        return NotTaken("a span that does not say when it began")
    parent = line.get("parent_id") or line.get("parent_span_id") or line.get("parentSpanId")
    status = mapping(line, "status")
    code = line.get("status_code", status.get("code"))
    said = text(line, "status_message") or text(status, "message")
    attributes = _attributes(line)
    span = span_of(
        text(line, "name"),
        trace_id=trace_id,
        span_id=span_id,
        parent_id=hex_number(parent, 16) or 0,
        start_time=start,
        end_time=_time(line, "end_time", "endTimeUnixNano") or start,
        attributes=attributes,
        resource=RESOURCE,
        scope=_SCOPE,
        error=said if code in ("ERROR", 2) else None,
        events=_events(line),
    )
    return PhoenixSpan(trace_id, span_id, start, attributes, span)


def _time(line: Row, name: str, otlp: str) -> int | None:
    said = line.get(name)
    if said is None:
        said = line.get(f"{name}_unix_nano", line.get(otlp))
    return nanoseconds(said)


def _attributes(line: Row) -> Row:
    found: Row = {}
    kind = text(line, "span_kind")
    if kind and kind != "UNKNOWN":
        found[SPAN_KIND] = kind
    found |= _told(structure(line, "attributes"))
    for name, value in line.items():
        if name.startswith(_ATTRIBUTES):
            _flatten(value, name.removeprefix(_ATTRIBUTES), found, 0)
    return found


def _flatten(value: Any, name: str, found: Row, depth: int) -> None:
    """Write a value as the attributes that it was sent as: a key a leaf, lists by their places."""
    if value is None or value in ([], {}) or (isinstance(value, float) and math.isnan(value)):
        return
    fields, items = as_dict(value), as_list(value)
    if fields is not None and (name in _AS_TEXT or depth > _MAX_DEPTH):
        found[name] = dumps_text(fields)
    elif fields is not None:
        for key, each in fields.items():
            _flatten(each, f"{name}.{key}" if name else str(key), found, depth + 1)
    elif items is None:
        found[name] = value
    elif any(as_dict(each) is not None for each in items):
        for place, each in enumerate(items):
            _flatten(each, f"{name}.{place}", found, depth + 1)
    else:
        kinds: set[Any] = {type(each) for each in items}
        plain = len(kinds) == 1 and kinds <= {str, int, float, bool}
        found[name] = tuple(items) if plain else dumps_text(items)


def _told(attributes: Any) -> Row:
    """Attributes as OTLP has them, in pairs, or by name."""
    found: Row = {}
    pairs = as_list(attributes)
    if pairs is None:
        _flatten(as_dict(attributes) or {}, "", found, 0)
    for each in pairs or []:
        pair = as_dict(each) or {}
        value = _of_otlp(as_dict(pair.get("value")) or {}, 0)
        if value is not None:
            found[str(pair.get("key"))] = value
    return found


def _of_otlp(said: Row, depth: int) -> Any:
    for name, value in said.items():
        if value is None or depth > _MAX_DEPTH:
            continue
        if name in _NUMBER:
            return int(value)
        if name.startswith("array"):
            values = as_list((as_dict(value) or {}).get("values")) or []
            return tuple(_of_otlp(as_dict(each) or {}, depth + 1) for each in values)
        return value
    return None


def _events(line: Row) -> list[Event]:
    found: list[Event] = []
    for said in listed(line, "events"):
        event = as_dict(opened(said)) or {}
        attributes = _told(event.get("attributes"))
        when = nanoseconds(event.get("timestamp", event.get("time_unix_nano")))
        found.append(Event(text(event, "name"), attributes, when or 0))
    return found


def _annotation(line: Row) -> PhoenixAnnotation | NotTaken:
    found = PhoenixAnnotation(line)
    index = line.get(_INDEX)
    span = line.get("span_id") or line.get("context.span_id") or index
    found.span_id = hex_number(span, 16) or 0
    found.trace_id = hex_number(line.get("trace_id") or index, 32) or 0
    found.session = text(line, "session_id")
    if not found.span_id and not found.trace_id and not found.session:
        return NotTaken(
            "an annotation that does not say of what (where a data frame's index did, save it with"
            " to_json() alone or as Parquet, or after reset_index())"
        )
    return found
