"""A span as a backend received it: one small model for every way of looking."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ("unset", "ok", "error")


@dataclass(frozen=True)
class SeenSpan:
    """What arrived. Ids are lowercase hex; ``parent`` is empty for a root span."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent: str
    status: str
    start: int
    end: int
    scope: str
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]


@dataclass(frozen=True)
class SeenTrace:
    """The spans of one trace."""

    spans: tuple[SeenSpan, ...]

    def names(self) -> list[str]:
        """The spans' names, by start time."""
        return [span.name for span in sorted(self.spans, key=lambda span: span.start)]

    def one(self, name: str) -> SeenSpan:
        """The only span of this name."""
        found = [span for span in self.spans if span.name == name]
        assert len(found) == 1, f"{len(found)} spans named {name!r} among {self.names()}"
        return found[0]

    def children(self, parent: SeenSpan) -> list[SeenSpan]:
        """The spans directly under one, by start time."""
        below = [span for span in self.spans if span.parent == parent.span_id]
        return sorted(below, key=lambda span: span.start)


def from_base64(text: str) -> str:
    """An id of protobuf's own JSON mapping, as hex."""
    return base64.b64decode(text).hex()


def from_hex(text: str) -> str:
    """An id of OTLP's JSON mapping, which is hex already."""
    return text.lower()


def spans_of(export: Mapping[str, Any], read_id: Callable[[str], str]) -> Iterator[SeenSpan]:
    """The spans of an ``ExportTraceServiceRequest`` or ``TracesData`` in either JSON mapping."""
    for resource_spans in export.get("resourceSpans", []):
        resource = _attributes(resource_spans.get("resource", {}))
        for scope_spans in resource_spans.get("scopeSpans", []):
            scope = scope_spans.get("scope", {}).get("name", "")
            for span in scope_spans.get("spans", []):
                yield SeenSpan(
                    name=span["name"],
                    kind=_enum(span.get("kind", 0), "SPAN_KIND_", _KINDS),
                    trace_id=read_id(span["traceId"]),
                    span_id=read_id(span["spanId"]),
                    parent=read_id(span.get("parentSpanId", "")),
                    status=_enum(span.get("status", {}).get("code", 0), "STATUS_CODE_", _STATUSES),
                    start=int(span["startTimeUnixNano"]),
                    end=int(span["endTimeUnixNano"]),
                    scope=scope,
                    attributes=_attributes(span),
                    resource=resource,
                )


def _enum(value: int | str, prefix: str, names: tuple[str, ...]) -> str:
    return value.removeprefix(prefix).lower() if isinstance(value, str) else names[value]


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {item["key"]: _value(item.get("value", {})) for item in holder.get("attributes", [])}


def _value(value: Mapping[str, Any]) -> Any:
    kind: str = next(iter(value), "")
    inner: Any = value.get(kind)
    if kind == "intValue":
        return int(inner)
    if kind == "doubleValue":
        return float(inner)
    if kind == "arrayValue":
        return [_value(item) for item in inner.get("values", [])]
    if kind == "kvlistValue":
        return _attributes({"attributes": inner.get("values", [])})
    return inner
