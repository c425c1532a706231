"""What every record says about where it came from, read from a span once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from turnspan import semconv
from turnspan.content.model import dumps_text
from turnspan.content.redact import Redactor
from turnspan.content.shapes import kind_of
from turnspan_clickhouse import dialects
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.records import LlmCall, SpanRow, ToolCall

MAX_STATUS = 4_096
_MAX_KNOWN = 2_000
"""Texts of one attribute that are remembered."""
_MAX_KEYS = 2_000
_MAX_SHAPES = 1_000
_MAX_KNOWN_LENGTH = 256
_MAX_ORIGINS = 2_000

CONTENT = frozenset(
    {
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
        semconv.SYSTEM_INSTRUCTIONS,
        semconv.TOOL_DEFINITIONS,
        semconv.TOOL_CALL_ARGUMENTS,
        semconv.TOOL_CALL_RESULT,
    }
)
"""Attributes that hold content: they land as messages, definitions and columns of their own."""


_OWN_IDS = frozenset({semconv.TURN_ID, semconv.TURN_PARENT_ID})
_ID = re.compile(r"[0-9a-f]{16}(?:[0-9a-f]{16})?")
"""Ids of ours: random, so there is nothing in them to hide, and records are joined by them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The resource's share of a record; one a resource, its texts redacted."""

    service: str
    environment: str
    project: str
    resource: dict[str, str]


class Origins:
    """Origins by resource, made once each."""

    def __init__(self, project: str, redactor: Redactor) -> None:
        self._project = redactor.text(project, f"resource:{semconv.PROJECT}")
        self._redactor = redactor
        self._known: dict[int, tuple[Resource, Origin]] = {}

    def of(self, resource: Resource) -> Origin:
        """The origin of a span's resource."""
        known = self._known.get(id(resource))
        if known is None:
            # The resource is kept beside so that its id is not given to another one.
            if len(self._known) >= _MAX_ORIGINS:
                self._known.clear()
            known = (resource, self.read(resource.attributes))
            self._known[id(resource)] = known
        return known[1]

    def read(self, attributes: Mapping[str, Any]) -> Origin:
        """The origin that a resource's attributes say."""
        redactor = self._redactor
        resource = {
            redactor.key(key): redactor.text(text(value), f"resource:{key}")
            for key, value in attributes.items()
        }
        service = resource.get(semconv.SERVICE_NAME, "")
        old_environment = resource.get("deployment.environment", "")
        return Origin(
            service=service,
            environment=resource.get(semconv.DEPLOYMENT_ENVIRONMENT, old_environment),
            project=self._project or resource.get(semconv.PROJECT) or service,
            resource=resource,
        )


class _Texts(dict[str, str]):
    """An attribute's texts as they may be written, found once each."""

    def __init__(self, key: str, cleaner: Cleaner) -> None:
        super().__init__()
        self._key = key
        self._cleaner = cleaner

    def __missing__(self, value: str) -> str:
        found = self._cleaner.redactor.text(value, f"attribute:{self._key}")
        if found != value:
            self._cleaner.changes = True
        if len(value) <= _MAX_KNOWN_LENGTH:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[value] = found
        return found


class Shape:
    """The keys of spans of one kind, in their order: which texts there are, and under what name."""

    __slots__ = ("known", "names", "others", "spoken")

    def __init__(self, keys: tuple[str, ...], cleaner: Cleaner) -> None:
        self.names = [cleaner.redactor.key(key) for key in keys]
        self.known = [None if key in CONTENT else cleaner.known(key) for key in keys]
        self.others: dict[frozenset[str], list[str]] = {}
        self.spoken: dict[str, bool] = {}

    def without(self, columns: frozenset[str]) -> list[str]:
        """The names that are none of these."""
        found = self.others.get(columns)
        if found is None:
            pairs = zip(self.names, self.known, strict=True)
            found = [name for name, known in pairs if name not in columns and known is not None]
            self.others[columns] = found
        return found

    def is_spoken(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """Whether a dialect of another package speaks like this: its scope and keys tell."""
        found = self.spoken.get(scope)
        if found is None:
            if len(self.spoken) >= _MAX_SHAPES:
                self.spoken.clear()
            found = self.spoken[scope] = dialects.detect(scope, attributes) is not None
        return found


class Cleaner:
    """Attributes, redacted. Spans of one kind have the same keys, and their values repeat."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.capture_content = redactor.settings.capture_content
        self.changes = False
        """Whether redaction has changed any attribute yet."""
        self._known: dict[str, _Texts] = {}
        self._shapes: dict[tuple[str, ...], Shape] = {}

    def known(self, key: str) -> _Texts:
        """What has been redacted of an attribute."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MAX_KEYS:
                self._known.clear()
                self._shapes.clear()
            found = self._known[key] = _Texts(key, self)
        return found

    def texts(self, attributes: Mapping[str, Any], shape: Shape) -> dict[str, str]:
        """Every attribute but content as redacted text."""
        texts: dict[str, str] = {}
        for name, known, (key, value) in zip(
            shape.names, shape.known, attributes.items(), strict=True
        ):
            if known is None:
                continue
            kind = kind_of(value)
            if kind is str:
                texts[name] = known[value]
            elif kind is int or kind is float or kind is bool:
                texts[name] = text(value)
            else:
                kept = self._value(key, value)
                if kept is not value and kept != value:
                    self.changes = True
                texts[name] = text(kept)
        return texts

    def shape(self, attributes: Mapping[str, Any]) -> Shape:
        """The shape of a span's attributes."""
        keys = tuple(attributes)
        shape = self._shapes.get(keys)
        if shape is None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[keys] = Shape(keys, self)
        return shape

    def clean(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes for the columns: all redacted but content; the same object if nothing is.

        Content keeps its place: the columns it goes to redact it. So do the ids that we made.
        """
        changed: dict[str, Any] = {}
        found: Any
        for key, value in attributes.items():
            kind = kind_of(value)
            if kind is int or kind is float or kind is bool or key in CONTENT:
                continue
            if kind is str:
                if key in _OWN_IDS and _ID.fullmatch(value):
                    continue
                found = self.known(key)[value]
            else:
                found = self._value(key, value)
            if found != value:
                changed[key] = found
        return {**attributes, **changed} if changed else attributes

    def column(self, key: str, value: str) -> str:
        """One text as a column may say it; ``key`` is the attribute it stands for."""
        return self.known(key)[value] if value else ""

    def _value(self, key: str, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        items: list[Any] = list(cast("Iterable[Any]", value))
        kept = self.redactor.value(items, f"attribute:{key}")
        return cast("Any", value) if kept is items else kept


@dataclass(slots=True)
class SpanFacts:
    """A span, read once: identity, times, and its attributes."""

    span: ReadableSpan
    origin: Origin
    attributes: Mapping[str, Any]
    texts: dict[str, str]
    """The attributes but content as redacted texts."""
    shape: Shape
    project: str
    trace_id: str
    span_id: str
    parent_span_id: str
    start_time: int
    duration: float
    session_id: str
    turn_id: str
    scope_name: str
    error_type: str
    error_message: str
    """Redacted; empty where content is not recorded."""
    raw: Mapping[str, Any]
    """The attributes before redaction: for decisions and prices, never for a column."""
    foreign: bool = False
    """Whether another instrumentation made the span: its attributes may hold content."""

    @property
    def end_time(self) -> int:
        """When the span ended, in ns since the epoch."""
        return self.span.end_time or self.start_time


def _attributes(span: ReadableSpan) -> Mapping[str, Any]:
    # An ended span's attributes no longer change; behind the SDK's wrapper, which takes a
    # microsecond for each look, they are a plain dictionary.
    bounded = getattr(span, "_attributes", None)
    plain = getattr(bounded, "_dict", None)
    if isinstance(plain, dict):
        return cast("dict[str, Any]", plain)
    return dict(span.attributes or {})


def read(span: ReadableSpan, origins: Origins, cleaner: Cleaner) -> SpanFacts:
    """Read a finished span. Raises ValueError for one without an identity."""
    context = span.context
    if context is None:
        raise ValueError("the span has no context")
    attributes = _attributes(span)
    get = attributes.get
    origin = origins.of(span.resource)
    shape = cleaner.shape(attributes)
    start = span.start_time or 0
    parent, scope, status = span.parent, span.instrumentation_scope, span.status
    error_type = text(get(semconv.ERROR_TYPE))
    error_message = ""
    if status.status_code is StatusCode.ERROR:
        error_type = error_type or "_OTHER"
        if cleaner.capture_content:  # what an exception says may quote the content
            # Redacted, then cut: half a secret is one that no mask knows.
            said = cleaner.redactor.text(status.description or "", "error")[:MAX_STATUS]
            error_message = said.removeprefix(f"{error_type}: ")
    return SpanFacts(
        span,
        origin,
        attributes,
        cleaner.texts(attributes, shape),
        shape,
        origin.project,
        f"{context.trace_id:032x}",
        f"{context.span_id:016x}",
        f"{parent.span_id:016x}" if parent is not None else "",
        start,
        max(0, (span.end_time or start) - start) / 1e9,
        text(get(semconv.CONVERSATION_ID) or get(semconv.SESSION_ID)),
        text(get(semconv.TURN_ID)),
        scope.name if scope is not None else "",
        error_type,
        error_message,
        attributes,
    )


def identify(row: LlmCall | ToolCall | SpanRow, facts: SpanFacts, batch: Batch) -> None:
    """Write what the rows of a call, a tool and any span say alike: whose, where, when."""
    row.project = facts.project
    row.service = facts.origin.service
    row.environment = facts.origin.environment
    row.session_id = facts.session_id
    row.turn_id = facts.turn_id
    row.trace_id = facts.trace_id
    row.span_id = facts.span_id
    row.parent_span_id = facts.parent_span_id
    row.start_time = facts.start_time
    row.duration = facts.duration
    row.scope_name = facts.scope_name
    row.writer = batch.writer
    row.written_at = batch.written_at


def settle(facts: SpanFacts, cleaner: Cleaner) -> None:
    """Redact what the columns say, once everything that reads raw attributes has read them."""
    facts.raw = facts.attributes
    if facts.foreign or cleaner.changes:  # else ``texts`` has just looked at all of them
        facts.attributes = cleaner.clean(facts.attributes)
    facts.session_id = cleaner.column(semconv.CONVERSATION_ID, facts.session_id)
    facts.scope_name = cleaner.column("otel.scope.name", facts.scope_name)
    facts.error_type = cleaner.column(semconv.ERROR_TYPE, facts.error_type)
    if facts.turn_id and not _ID.fullmatch(facts.turn_id):
        facts.turn_id = cleaner.column(semconv.TURN_ID, facts.turn_id)


def text(value: Any) -> str:
    """An attribute's value as a column's text; empty for none."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return dumps_text(value)
    if isinstance(value, int) and value.bit_length() > 64:  # Python writes 4,300 digits at most
        return dumps_text(value).strip('"')
    return str(value)


def agent_version(attributes: Mapping[str, Any]) -> str:
    """The agent's version: by our name, or by the conventions' for remote agents."""
    ours = attributes.get(semconv.TURN_AGENT_VERSION)
    return text(ours if ours is not None else attributes.get(semconv.AGENT_VERSION))


def integer(value: Any) -> int | None:
    """A count, or None for what is not one."""
    if type(value) is int and 0 <= value < 2**63:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**63 else None
