"""What every record says about where it came from, read from a span once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode, TraceState

from turnspan import semconv
from turnspan.redaction.redactor import Redactor
from turnspan.runtime import otel_private
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.rerun_scope import session_name
from turnspan_clickhouse.normalise.attributes import Cleaner, ScopeName, SpanShape
from turnspan_clickhouse.normalise.column_values import text
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import SpanRecord

MAX_STATUS: Final = 4_096
_MAX_ORIGINS: Final = 2_000
_ERROR: Final = StatusCode.ERROR
_NO_COLUMNS: Final[frozenset[str]] = frozenset()


class RecordOrigin:
    """The resource's share of a record; one a resource, its texts redacted."""

    __slots__ = ("environment", "project", "resource", "service")

    def __init__(self, service: str, environment: str, project: str, resource: EncodedMap) -> None:
        self.service = service
        self.environment = environment
        self.project = project
        self.resource = resource


class Origins:
    """Origins by resource, made once each."""

    def __init__(self, project: str, redactor: Redactor) -> None:
        self._project = redactor.text(project, f"resource:{semconv.PROJECT}")
        self._redactor = redactor
        self._known: dict[int, tuple[Mapping[str, Any], RecordOrigin]] = {}

    def of(self, attributes: Mapping[str, Any]) -> RecordOrigin:
        """The origin that a resource's attributes say; a resource does not change."""
        known = self._known.get(id(attributes))
        if known is None:
            # The attributes are kept beside so that their id is not given to others.
            if len(self._known) >= _MAX_ORIGINS:
                self._known.clear()
            known = (attributes, self._read(attributes))
            self._known[id(attributes)] = known
        return known[1]

    def _read(self, attributes: Mapping[str, Any]) -> RecordOrigin:
        redactor = self._redactor
        resource = {
            redactor.key(key): redactor.text(text(value), f"resource:{key}")
            for key, value in attributes.items()
        }
        service = resource.get(semconv.SERVICE_NAME, "")
        old_environment = resource.get("deployment.environment", "")
        return RecordOrigin(
            service,
            resource.get(semconv.DEPLOYMENT_ENVIRONMENT, old_environment),
            self._project or resource.get(semconv.PROJECT) or service,
            EncodedMap.of(resource),
        )


@mypyc_attr(acyclic=True)
class SpanFacts:
    """A span, read once: identity, times, and its attributes."""

    __slots__ = (
        "attributes",
        "captured",
        "duration",
        "encoded",
        "end_time",
        "error_message",
        "error_type",
        "foreign",
        "key",
        "origin",
        "parent_span_id",
        "previous_id",
        "project",
        "raw",
        "scope",
        "scope_name",
        "session_id",
        "shape",
        "span",
        "span_id",
        "start_time",
        "status",
        "trace_id",
        "trace_state",
        "turn_id",
    )

    def __init__(
        self,
        span: ReadableSpan,
        origin: RecordOrigin,
        scope: ScopeName,
        attributes: dict[str, Any],
        shape: SpanShape,
        encoded: list[bytes],
    ) -> None:
        self.span = span
        self.origin = origin
        self.project = origin.project
        self.scope = scope
        self.scope_name = scope.name
        self.attributes = attributes
        self.raw = attributes
        """The attributes before redaction: for decisions and prices, never for a column."""
        self.shape = shape
        self.encoded = encoded
        """The attributes' redacted texts, as a map has them; content is empty."""
        self.captured = True
        """Whether content may be recorded."""
        self.foreign = False
        """Whether another instrumentation made the span: its attributes may hold content."""
        self.key = (0, 0)
        """Trace and span id: what the ledger knows it by."""
        self.trace_id = ""
        self.span_id = ""
        self.parent_span_id = ""
        self.trace_state = ""
        """Redacted."""
        self.status = span.status
        self.start_time = 0
        self.end_time = 0
        """When the span ended, in ns since the epoch."""
        self.duration = 0.0
        self.session_id = ""
        self.previous_id = ""
        """The response that a framework says the call goes on with."""
        self.turn_id = ""
        self.error_type = ""
        self.error_message = ""
        """Redacted; empty where content is not recorded."""

    def other_attributes(self, columns: frozenset[str]) -> EncodedMap:
        """The attributes that have no column; content of foreign spans has landed and stays out."""
        return self.shape.view(columns, self.foreign, self.captured).pairs(self.encoded)

    def all_attributes(self) -> EncodedMap:
        """What the span says, also in another package's words for content that has landed."""
        return self.shape.view(_NO_COLUMNS, False, self.captured).pairs(self.encoded)


def _hex(span_id: Any) -> str:
    try:
        return str(span_id.to_bytes(8, "big").hex())  # a third of what formatting takes
    except OverflowError:  # somebody's own generator of ids
        return f"{span_id:016x}"


class SpanReader:
    """Reads finished spans."""

    def __init__(self, origins: Origins, cleaner: Cleaner) -> None:
        self._origins = origins
        self._cleaner = cleaner
        self._trace = 0
        self._trace_id = f"{0:032x}"
        self._parent = 0
        self._parent_id = f"{0:016x}"
        self._state: TraceState | None = None
        self._state_text = ""

    def read(self, span: ReadableSpan) -> SpanFacts:
        """Read a finished span. Raises ValueError for one without an identity."""
        context = span.context
        if context is None:
            raise ValueError("the span has no context")
        cleaner = self._cleaner
        attributes = otel_private.attributes_of_ended(span)
        shape = cleaner.shape(attributes)
        origin = self._origins.of(span.resource.attributes)
        scope = cleaner.scope(span.instrumentation_scope)
        facts = SpanFacts(
            span, origin, scope, attributes, shape, cleaner.encoded(attributes, shape)
        )
        # Of the tuple that a context is: its properties are functions of the interpreter.
        trace_id: Any = context[0]
        span_id: Any = context[1]
        facts.key = (trace_id, span_id)
        if trace_id != self._trace:
            self._trace, self._trace_id = trace_id, f"{trace_id:032x}"
        facts.trace_id = self._trace_id
        facts.span_id = _hex(span_id)
        parent = span.parent
        if parent is not None:
            parent_id: Any = parent[1]
            if parent_id != self._parent:  # as that of the span before, most often
                self._parent, self._parent_id = parent_id, _hex(parent_id)
            facts.parent_span_id = self._parent_id
        state = context[4]
        if state is not self._state:
            self._state = state
            header = state.to_header() if state else ""
            self._state_text = cleaner.redactor.text(header, "trace_state") if header else ""
        facts.trace_state = self._state_text
        facts.start_time = start = span.start_time or 0
        facts.end_time = end = span.end_time or start
        facts.duration = max(0, end - start) / 1e9
        session = attributes.get(semconv.SESSION_GIVEN)
        if session is None:
            session = attributes.get(semconv.CONVERSATION_ID) or attributes.get(semconv.SESSION_ID)
        facts.session_id = text(session)
        rerun = attributes.get(semconv.RERUN_ID)
        if rerun is not None:
            facts.session_id = session_name(facts.session_id, text(rerun))
        facts.turn_id = text(attributes.get(semconv.TURN_ID))
        facts.error_type = text(attributes.get(semconv.ERROR_TYPE))
        status = facts.status
        if status.status_code is _ERROR:
            facts.error_type = facts.error_type or semconv.ERROR_OTHER
            if self._cleaner.capture_content:  # what an exception says may quote the content
                said = self._said(status.description or "")
                facts.error_message = said.removeprefix(f"{facts.error_type}: ")
        return facts

    def _said(self, message: str) -> str:
        # Redacted, then cut: half a secret is one that no mask knows.
        return self._cleaner.redactor.text(message, "error")[:MAX_STATUS]

    def settle(self, facts: SpanFacts) -> None:
        """Redact what the columns say, once everything that reads raw attributes has read them."""
        cleaner = self._cleaner
        facts.raw = facts.attributes
        if facts.foreign or cleaner.changes:  # else ``encoded`` has just looked at all of them
            facts.attributes = cleaner.clean(facts.attributes)
        facts.session_id = cleaner.column(semconv.CONVERSATION_ID, facts.session_id)
        facts.scope_name = facts.scope.cleaned
        if facts.error_type:
            facts.error_type = cleaner.column(semconv.ERROR_TYPE, facts.error_type)
            if facts.foreign:
                facts.error_message = self._said(facts.error_message)
        if facts.turn_id:
            facts.turn_id = cleaner.turn_id(facts.turn_id)


def locate(row: SpanRecord, facts: SpanFacts, batch: Batch) -> None:
    """Write what the rows of spans have in common: whose, where, when, and by whom."""
    origin = facts.origin
    row.project = origin.project
    row.service = origin.service
    row.environment = origin.environment
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
