"""Writing attributes to a span in one step.

``Span.set_attributes`` of the SDK, and ``start_span`` alike, look at each value by its abstract
types and take a lock for each attribute: a quarter to half a microsecond apiece, a fifth of what a
whole model call may cost. Where the span is built as we know it, and the values are of the plain
types that need no cleaning, they are put where the SDK would put them, under its lock; anywhere
else the SDK does it.
"""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    ProxyTracer,
    ProxyTracerProvider,
    Span,
    SpanKind,
    Tracer,
    TracerProvider,
    get_tracer,
    get_tracer_provider,
)

from turnspan.runtime import otel_private, rerun_scope
from turnspan.runtime.guard import logger

_NOT_CONFIGURED: Final = (
    "Turnspan records nothing: call turnspan.configure() when the application starts, or start it "
    "with `opentelemetry-instrument` (docs/configuration.md)."
)


class Unconfigured:
    """Spans that nobody makes, as the application has not configured anything: said once."""

    def __init__(self) -> None:
        self.spans = 0
        self.over = False
        """Whether somebody has begun to record: what is not made from then on is meant not to."""

    def look(self, tracer: Tracer) -> None:
        """Before a span: count one that will not be made. Never raises."""
        if type(tracer) is not ProxyTracer:  # isinstance() asks an abstract class, for 0.2 us
            return
        if not isinstance(get_tracer_provider(), ProxyTracerProvider):
            return
        self.spans += 1
        if self.spans == 1:
            logger.warning(_NOT_CONFIGURED)


unconfigured = Unconfigured()


def start(
    tracer: Tracer,
    name: str,
    context: Context,
    kind: SpanKind,
    attributes: dict[str, Any],
    id_key: str = "",
) -> Span:
    """Start a span of ours with these attributes; the same as ``tracer.start_span``.

    They are written right after it has begun where nobody could have seen them before: the sampler
    and every processor's ``on_start`` are known not to look. ``id_key`` is the attribute, if any,
    that says the span's own id (lowercase hex).
    """
    if not unconfigured.over:
        unconfigured.look(tracer)
    rerun = rerun_scope.scope
    if rerun is not None:
        for key, value in rerun.attributes.items():
            attributes.setdefault(key, value)
    if attributes and otel_private.attributes_unseen_at_start(tracer):
        span = tracer.start_span(name, context, kind)
        if id_key:
            attributes[id_key] = id_of(span)
        set_attributes(span, attributes)
        return span
    span = tracer.start_span(name, context, kind, attributes)
    if id_key:
        set_attributes(span, {id_key: id_of(span)})
    return span


def tracer_of(scope: str, provider: TracerProvider | None, version: str | None = None) -> Tracer:
    """A tracer of this provider; of the global one, whatever it becomes, where that is ``None``."""
    try:
        return get_tracer(scope, version, provider)
    except Exception:  # noqa: BLE001  OTEL_PYTHON_TRACER_PROVIDER names none: ``configure`` says so
        return ProxyTracer(scope, version)


def id_of(span: Span) -> str:
    """A span's id as Jaeger shows it."""
    return f"{span.get_span_context().span_id:016x}"


def set_attributes(span: Span, attributes: dict[str, Any]) -> None:
    """Set these attributes; the same as ``span.set_attributes``, limits and all."""
    if attributes and not otel_private.set_at_once(span, attributes):
        span.set_attributes(attributes)
