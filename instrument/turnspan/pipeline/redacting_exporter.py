"""Redaction at the door to other backends: every text attribute is masked before it leaves.

Spans of other instrumentations pass here as well, so a secret in one of their attributes does not
reach an OTLP backend either. Runs on the exporter's thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status, TraceState

from turnspan import config
from turnspan.config import Settings
from turnspan.redaction.content_keys import event_without_content, without_content
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.guard import errors


class RedactingExporter(SpanExporter):
    """Wraps an exporter; hands it spans whose texts have been through the redactor.

    Fails closed: a span that cannot be redacted is not handed on, and counted as an internal error.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._resources: dict[int, tuple[Resource, Resource]] = {}
        self._settings: Settings | None = None
        self._redactor = Redactor(config.active())
        self.failed = 0
        """Spans that the wrapped exporter has refused."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Redact, then export."""
        settings = config.active()
        if settings is not self._settings:
            self._settings, self._redactor = settings, Redactor(settings)
            self._resources.clear()
        cleaned: Sequence[ReadableSpan] = spans
        if self._redactor.active or not settings.capture_content:
            cleaned = []
            for span in spans:
                try:
                    cleaned.append(self._redacted(span, self._redactor, settings.capture_content))
                except BaseException as error:  # noqa: BLE001  a hostile value costs its span only
                    errors.record("redaction", error)
        if not cleaned:
            return SpanExportResult.SUCCESS
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(cleaned)
        finally:
            if result is not SpanExportResult.SUCCESS:
                self.failed += len(cleaned)
        return result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the wrapped exporter."""
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Shut the wrapped exporter down."""
        self._exporter.shutdown()

    def _redacted(self, span: ReadableSpan, redactor: Redactor, content: bool) -> ReadableSpan:
        status = span.status
        if status.description:
            said = redactor.text(status.description, "error") if content else None
            status = Status(status.status_code, said)
        attributes: Mapping[str, Any] = span.attributes or {}
        events = [(e.name, e.attributes or {}, e.timestamp) for e in span.events]
        if not content:
            attributes = without_content(attributes)
            events = [(name, event_without_content(name, a), when) for name, a, when in events]
        return ReadableSpan(
            name=redactor.text(span.name, "span_name"),
            context=None if span.context is None else _context(span.context, redactor),
            parent=span.parent,
            resource=self._resource(span.resource, redactor),
            attributes=redactor.attributes(attributes),
            events=[
                Event(redactor.text(name, "event"), redactor.attributes(a), when)
                for name, a, when in events
            ],
            links=[
                Link(_context(k.context, redactor), redactor.attributes(k.attributes))
                for k in span.links
            ],
            kind=span.kind,
            status=status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=_scope(span.instrumentation_scope, redactor),
        )

    def _resource(self, resource: Resource, redactor: Redactor) -> Resource:
        # A process has one resource or a few; the original is kept beside so its id stays its own.
        known = self._resources.get(id(resource))
        if known is None:
            cleaned = Resource(redactor.attributes(resource.attributes))
            known = self._resources[id(resource)] = (resource, cleaned)
        return known[1]


def _context(context: SpanContext, redactor: Redactor) -> SpanContext:
    if not context.trace_state:
        return context
    state = redactor.text(context.trace_state.to_header(), "trace_state")
    kept = TraceState.from_header([state])
    return SpanContext(
        context.trace_id, context.span_id, context.is_remote, context.trace_flags, kept
    )


def _scope(scope: InstrumentationScope | None, redactor: Redactor) -> InstrumentationScope | None:
    if scope is None or not scope.attributes:
        return scope
    attributes = redactor.attributes(scope.attributes)
    return InstrumentationScope(scope.name, scope.version, scope.schema_url, attributes)
