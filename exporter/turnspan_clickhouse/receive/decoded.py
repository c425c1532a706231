"""What both encodings of OTLP are read into: ``ReadableSpan`` objects as the SDK makes them."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)

from turnspan.content.model import as_list, dumps_text
from turnspan.runtime.errors import TurnspanError
from turnspan_clickhouse.receive.log_events import (
    CLAUDE_CODE,
    CODING_AGENTS,
    NOT_TAKEN,
    LogEvent,
    refusal,
)
from turnspan_clickhouse.receive.receiver_stats import LeftOutCounts

TRACES, LOGS, METRICS = "traces", "logs", "metrics"
"""The signals of OTLP."""
MAX_ATTRIBUTES = 10_000
"""Attributes kept of one span, event or link; what is over is counted on the span."""
MAX_EVENTS = 10_000
"""Events kept of one span, and links; what is over is counted on it."""
MAX_PARTS = 500_000
"""Events and links kept of one request: an empty one is two bytes there and 500 in memory."""
MAX_GROUPS = 100_000
"""Resources and scopes of one request."""
SPAN_BYTES = 2_000
"""What a span takes in memory beyond what it takes in the request: objects, and its trace's."""
MAX_DEPTH = 64
"""Levels of nested values; a request with more is malformed (protobuf's own limit is 100)."""
OLDEST = 5 * 366 * 86_400 * 10**9
NEWEST = 86_400 * 10**9
"""A span may have begun this long ago, or this far in the future, in ns.

Tables are partitioned by week, and ClickHouse refuses a block of too many partitions: one client
with a broken clock must not keep everybody's records from landing.
"""

_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_KINDS: Final = {
    2: SpanKind.SERVER,
    3: SpanKind.CLIENT,
    4: SpanKind.PRODUCER,
    5: SpanKind.CONSUMER,
}
_UNSET: Final = Status(StatusCode.UNSET)
_OK: Final = Status(StatusCode.OK)
_MAX_SHARED = 1_024
_JITTER = 2 * 10**6
"""JavaScript's clocks tell the ends of short spans in the wrong order by this much, in ns."""

T = TypeVar("T")


class MalformedOtlpError(TurnspanError):
    """A request that is not OTLP; ``str(error)`` says what is wrong."""


class RefusedSpanError(TurnspanError):
    """One span that cannot be taken; ``str(error)`` says why."""


@dataclass(frozen=True, slots=True)
class Received:
    """One span that came in; ``size`` is about what it takes in memory.

    ``end_time`` is when it ended as far as its place in the request tells: spans are sent in the
    order of their end.
    """

    span: ReadableSpan
    trace_id: str
    span_id: str
    parent_id: str
    end_time: int
    size: int


@dataclass(slots=True)
class Decoded:
    """What a request held; ``refused`` counts what cannot be taken, by reason."""

    spans: list[Received] = field(default_factory=list[Received])
    events: list[LogEvent] = field(default_factory=list[LogEvent])
    claude_code: list[LogEvent] = field(default_factory=list[LogEvent])
    coding: list[LogEvent] = field(default_factory=list[LogEvent])
    """Events that spans are to be made of: Claude Code's, and other coding agents'."""
    refused: dict[str, int] = field(default_factory=dict[str, int])
    left_out: LeftOutCounts = field(default_factory=LeftOutCounts)
    """Data points, and log records, that are no events of a kind that is kept, by their names."""
    size: int = 0
    parts: int = field(default_factory=lambda: MAX_PARTS)
    """Events and links that may still be kept."""
    groups: int = field(default_factory=lambda: MAX_GROUPS)
    completes_transcripts: bool = False
    """Whether spans in it are telemetry that completes the records of transcripts."""
    any_time: bool = False
    """Whether spans may have begun at any time: they are of a file, and nobody else's wait."""

    def share(self, number: int) -> int:
        """How many of a span's events or links are kept."""
        kept = min(number, MAX_EVENTS, self.parts)
        self.parts -= kept
        return kept

    def group(self) -> None:
        """Count a resource or a scope.

        Raises:
            MalformedError: there are too many.
        """
        self.groups -= 1
        if self.groups < 0:
            raise MalformedOtlpError(f"there are over {MAX_GROUPS:,} resources and scopes in it")

    def add(self, fields: SpanFields, resource: Resource, scope: ReceivedScope) -> None:
        """Add a span, or count it as refused."""
        try:
            one = received(fields, resource, scope, any_time=self.any_time)
        except RefusedSpanError as error:
            self._refuse(str(error))
            return
        before = self.spans[-1].end_time if self.spans else 0
        if 0 < before - one.end_time <= _JITTER:
            one = replace(one, end_time=before)
        self.spans.append(one)

    def tell(self, event: LogEvent) -> None:
        """Add an event, or count it as refused."""
        if event.name in CLAUDE_CODE:
            self.claude_code.append(event)
            return
        if event.name in CODING_AGENTS:
            self.coding.append(event)
            return
        reason = refusal(event)
        if reason == NOT_TAKEN:
            self.leave_out(event.name, reason, one_reason=True)
        elif reason:
            self._refuse(reason)
        else:
            self.events.append(event)

    def leave_out(self, name: str, reason: str, *, one_reason: bool = False) -> None:
        """Count a data point, or an event, that is not kept, by its name; the answer says the
        reason, with ``one_reason`` for all names together."""
        name = self.left_out.note(name)
        self._refuse(reason if one_reason else f"{name}: {reason}")

    def _refuse(self, reason: str) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1


@dataclass(slots=True)
class SpanFields:
    """A span's fields as either encoding writes them; ids are raw bytes, times ns."""

    trace_id: bytes
    span_id: bytes
    name: str
    start_time: int
    end_time: int
    attributes: dict[str, Any]
    size: int
    parent_id: bytes = b""
    trace_state: str = ""
    flags: int = 0
    kind: int = 0
    events: list[Event] = field(default_factory=list[Event])
    links: list[Link] = field(default_factory=list[Link])
    status_code: int = 0
    status_message: str = ""


class InternCache:
    """Resources and scopes, the same object for the same bytes, so that they are read once."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Any] = OrderedDict()

    def get(self, key: bytes, make: Callable[[], T]) -> T:
        """The object known under the key, or a new one."""
        found: T | None = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
            if len(self._known) > _MAX_SHARED:
                self._known.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True)
class ReceivedScope:
    """An instrumentation scope, and its attributes as the span's rows are to show them."""

    scope: InstrumentationScope
    attributes: dict[str, Any]

    @classmethod
    def of(
        cls, name: str, version: str, schema_url: str, attributes: dict[str, Any]
    ) -> ReceivedScope:
        """A scope with these fields."""
        said = {f"otel.scope.{key}": value for key, value in attributes.items()}
        return cls(InstrumentationScope(name, version, schema_url), said)


def event_of(
    name: str,
    trace_id: bytes,
    span_id: bytes,
    time_ns: int,
    attributes: dict[str, Any],
    resource: Resource,
    size: int,
) -> LogEvent:
    """The event of a log record's fields; of no span where its ids are none."""
    told, _ = bounded(attributes)
    body = told.get("content")
    if isinstance(body, str) and body in CLAUDE_CODE:  # its name without the prefix is the event's
        name = body
    if told.get("event.name") in CODING_AGENTS:  # Codex's own name says where its code is
        name = ""
    name = name or str(told.pop("event.name", ""))
    whole = len(trace_id) == 16 and len(span_id) == 8 and any(trace_id) and any(span_id)
    ids = (trace_id.hex(), span_id.hex()) if whole else ("", "")
    return LogEvent(name, *ids, time_ns, told, resource, size + SPAN_BYTES)


def dropped_counts(attributes: int, events: int, links: int) -> dict[str, int]:
    """What the sender left out, under the names OpenTelemetry gives it outside of OTLP."""
    counts = {
        "otel.dropped_attributes_count": attributes,
        "otel.dropped_events_count": events,
        "otel.dropped_links_count": links,
    }
    return {key: count for key, count in counts.items() if count > 0}


def received(
    fields: SpanFields, resource: Resource, scope: ReceivedScope, *, any_time: bool = False
) -> Received:
    """The span of these fields.

    Raises:
        RefusedError: it has no identity, or a time that no store can take.
    """
    if len(fields.trace_id) != 16 or not any(fields.trace_id):
        raise RefusedSpanError("the trace id is not 16 bytes that are not all zero")
    if len(fields.span_id) != 8 or not any(fields.span_id):
        raise RefusedSpanError("the span id is not 8 bytes that are not all zero")
    if len(fields.parent_id) not in (0, 8):
        raise RefusedSpanError("the parent's span id is not 8 bytes")
    start = fields.start_time or fields.end_time
    _check_time(start, any_time)
    end = max(start, min(fields.end_time, start + 2**62))
    parent = None
    if any(fields.parent_id):
        remote = bool(fields.flags & _HAS_IS_REMOTE and fields.flags & _IS_REMOTE)
        parent = _context(fields.trace_id, fields.parent_id, remote=remote)
    if scope.attributes:
        fields.attributes.update(scope.attributes)
    span = ReadableSpan(
        fields.name,
        context=_context(
            fields.trace_id, fields.span_id, flags=fields.flags, state=fields.trace_state
        ),
        parent=parent,
        resource=resource,
        attributes=fields.attributes,
        events=fields.events,
        links=fields.links,
        kind=_KINDS.get(fields.kind, SpanKind.INTERNAL),
        status=_status(fields.status_code, fields.status_message),
        start_time=start,
        end_time=end,
        instrumentation_scope=scope.scope,
    )
    return Received(
        span=span,
        trace_id=fields.trace_id.hex(),
        span_id=fields.span_id.hex(),
        parent_id=fields.parent_id.hex() if parent is not None else "",
        end_time=end,
        size=fields.size + SPAN_BYTES,
    )


def links_to(said: Iterable[tuple[bytes, bytes, str, dict[str, Any]]]) -> list[Link]:
    """Links by trace, span, state and attributes, without those that lead nowhere."""
    return [
        Link(_context(trace_id, span_id, state=state, remote=True), bounded(attributes)[0])
        for trace_id, span_id, state, attributes in said
        if len(trace_id) == 16 and len(span_id) == 8
    ]


def attribute(value: Any) -> Any:
    """A value as a span's attribute holds it: a primitive, a tuple of one kind, else JSON text.

    Nested values become text so that every reader of attributes, the redactor first, sees them.
    """
    items = as_list(value)
    if items is not None:
        kinds: set[Any] = {type(item) for item in items}
        if len(kinds) <= 1 and kinds <= {str, int, float, bool}:
            return tuple(items)
        return dumps_text(items)
    return dumps_text(value) if isinstance(value, dict) else value


def bounded(attributes: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The attributes that are kept, and how many are not."""
    over = len(attributes) - MAX_ATTRIBUTES
    if over <= 0:
        return attributes, 0
    return dict(list(attributes.items())[:MAX_ATTRIBUTES]), over


def _check_time(start: int, any_time: bool) -> None:
    if any_time:
        if not 0 < start < 2**62:
            raise RefusedSpanError("it has no start time")
        return
    now = time.time_ns()
    if not now - OLDEST <= start <= now + NEWEST:
        raise RefusedSpanError("the start time is over five years ago or a day in the future")


def _context(
    trace_id: bytes, span_id: bytes, *, flags: int = 0, state: str = "", remote: bool = False
) -> SpanContext:
    return SpanContext(
        int.from_bytes(trace_id, "big"),
        int.from_bytes(span_id, "big"),
        is_remote=remote,
        trace_flags=TraceFlags(flags & 0xFF),
        trace_state=TraceState.from_header([state]) if state else None,
    )


def _status(code: int, message: str) -> Status:
    if code == 2:
        return Status(StatusCode.ERROR, message or None)
    return _OK if code == 1 else _UNSET


def in_order(spans: Sequence[Received]) -> list[Received]:
    """Children before their parents, and what ended first first: the order in which spans end.

    Whose parent is not there comes in the order of its end.
    """
    if len(spans) == 1:
        return list(spans)
    known = {one.span_id for one in spans}
    children: dict[str, list[Received]] = {}
    for one in sorted(spans, key=lambda each: each.end_time):
        inside = one.parent_id in known and one.parent_id != one.span_id
        children.setdefault(one.parent_id if inside else "", []).append(one)
    ordered: list[Received] = []
    stack = [(one, False) for one in reversed(children.pop("", []))]
    while stack:
        one, entered = stack.pop()
        if entered:
            ordered.append(one)
            continue
        stack.append((one, True))
        stack.extend((child, False) for child in reversed(children.pop(one.span_id, [])))
    for circle in children.values():  # each other's parents: no order is right
        ordered.extend(circle)
    return ordered


def derived_id(*parts: str) -> bytes:
    """An id of 16 bytes that is the same for the same parts, and for no others."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()
