"""Redaction at the door to other backends: every text attribute is masked before it leaves.

Spans of other instrumentations pass here as well, so a secret in one of their attributes does not
reach an OTLP backend either. Runs on the exporter's thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Status

from turnspan import config
from turnspan.content.redact import Redactor
from turnspan.guard import errors


class RedactingExporter(SpanExporter):
    """Wraps an exporter; hands it spans whose texts have been through the redactor.

    Fails closed: a span that cannot be redacted is not handed on, and counted as an internal error.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._resources: dict[int, tuple[Resource, Resource]] = {}
        self.last_ok = True
        """Whether the newest export succeeded."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Redact, then export."""
        settings = config.active()
        if settings.redact is None and not settings.mask_secrets:
            result = self._exporter.export(spans)
        else:
            redactor = Redactor(settings)
            cleaned: list[ReadableSpan] = []
            for span in spans:
                try:
                    cleaned.append(self._redacted(span, redactor))
                except Exception as error:  # noqa: BLE001  a hostile value costs its span only
                    errors.record("redaction", error)
            result = self._exporter.export(cleaned) if cleaned else SpanExportResult.SUCCESS
        self.last_ok = result is SpanExportResult.SUCCESS
        return result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the wrapped exporter."""
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Shut the wrapped exporter down."""
        self._exporter.shutdown()

    def _redacted(self, span: ReadableSpan, redactor: Redactor) -> ReadableSpan:
        status = span.status
        if status.description:
            status = Status(status.status_code, redactor.text(status.description, "error"))
        return ReadableSpan(
            name=redactor.text(span.name, "span_name"),
            context=span.context,
            parent=span.parent,
            resource=self._resource(span.resource, redactor),
            attributes=redact_attributes(span.attributes, redactor),
            events=[
                Event(e.name, redact_attributes(e.attributes, redactor), e.timestamp)
                for e in span.events
            ],
            links=[Link(k.context, redact_attributes(k.attributes, redactor)) for k in span.links],
            kind=span.kind,
            status=status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _resource(self, resource: Resource, redactor: Redactor) -> Resource:
        # A process has one resource or a few; the original is kept beside so its id stays its own.
        known = self._resources.get(id(resource))
        if known is None:
            cleaned = Resource(redact_attributes(resource.attributes, redactor))
            known = self._resources[id(resource)] = (resource, cleaned)
        return known[1]


def redact_attributes(attributes: Mapping[str, Any] | None, redactor: Redactor) -> dict[str, Any]:
    """A copy of attributes in which every text has been through the redactor."""
    if not attributes:
        return {}
    return {key: _redact(key, value, redactor) for key, value in attributes.items()}


def _redact(key: str, value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value, f"attribute:{key}")
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return tuple(_redact(key, item, redactor) for item in items)
    return value
