"""Writing attributes to a span in one step.

``Span.set_attributes`` of the SDK, and ``start_span`` alike, look at each value by its abstract
types and take a lock for each attribute: a quarter to half a microsecond apiece, a fifth of what a
whole model call may cost. Where the span is built as we know it, and the values are of the plain
types that need no cleaning, they are put where the SDK would put them, under its lock; anywhere
else the SDK does it.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.trace import (
    ProxyTracer,
    Span,
    SpanKind,
    Tracer,
    TracerProvider,
    get_tracer,
)

from turnspan.runtime.type_guards import kind_of

_PLAIN: Final = frozenset({str, int, float, bool})
_TEXT: Final = frozenset({str})

_SDK: Final = "opentelemetry.sdk.trace"
_BLIND: Final = frozenset(
    {
        (_SDK, "SpanProcessor.on_start"),
        (f"{_SDK}.export", "BatchSpanProcessor.on_start"),
        (f"{_SDK}.export", "SimpleSpanProcessor.on_start"),
        ("turnspan.pipeline.processor", "RecordProcessor.on_start"),
    }
)
"""What processors do at a span's start that looks at no attribute (ours: at none of our spans)."""
_FORWARDING: Final = frozenset({"SynchronousMultiSpanProcessor", "ConcurrentMultiSpanProcessor"})
_SAMPLERS: Final = frozenset({"StaticSampler", "TraceIdRatioBased"})
"""Samplers that decide by the trace alone, and add nothing."""
_BY_PARENT: Final = frozenset({"ParentBased", "ParentBasedTraceIdRatio"})
_DELEGATES: Final = (
    "_root",
    "_remote_parent_sampled",
    "_remote_parent_not_sampled",
    "_local_parent_sampled",
    "_local_parent_not_sampled",
)


class _Watched:
    """A sampler and the processors beside it, and whether any of them may look at attributes."""

    __slots__ = ("blind", "processors", "sampler")

    def __init__(self, sampler: Any, processors: Any, blind: bool) -> None:
        self.sampler = sampler
        self.processors = processors
        self.blind = blind


_last = _Watched(None, None, False)


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
    if attributes and _nobody_looks(tracer):
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


def remove_processor(provider: Any, processor: Any) -> bool:
    """Take a processor off a provider of the SDK's, which has no way of its own for that; whether
    it could be."""
    forwarding: Any = getattr(provider, "_active_span_processor", None)
    lock = getattr(forwarding, "_lock", None)
    known = getattr(forwarding, "_span_processors", None)
    if lock is None or type(known) is not tuple:
        return False
    with lock:
        rest = [each for each in forwarding._span_processors if each is not processor]
        forwarding._span_processors = tuple(rest)
    return True


def put_processor(provider: Any, processor: Any) -> tuple[Any, ...] | None:
    """Have a provider of the SDK's tell this processor alone of its spans; what it told before, or
    ``None`` where it could not be."""
    forwarding: Any = getattr(provider, "_active_span_processor", None)
    lock = getattr(forwarding, "_lock", None)
    known = getattr(forwarding, "_span_processors", None)
    if lock is None or type(known) is not tuple:
        return None
    with lock:
        former: tuple[Any, ...] = forwarding._span_processors
        forwarding._span_processors = (processor,)
    return former


def put_back(provider: Any, processor: Any, former: tuple[Any, ...]) -> None:
    """Undo ``put_processor``; what was added meanwhile stays."""
    forwarding: Any = provider._active_span_processor
    with forwarding._lock:
        added = [each for each in forwarding._span_processors if each is not processor]
        forwarding._span_processors = (*former, *added)


def replace_global_provider(former: Any, provider: TracerProvider) -> bool:
    """Put another provider in the place of a global one of ours; whether it could be.

    OpenTelemetry lets the global provider be set once. Tracers that somebody has kept go on to
    record under the former one.
    """
    api: Any = sys.modules["opentelemetry.trace"]
    if getattr(api, "_TRACER_PROVIDER", None) is not former:
        return False
    api._TRACER_PROVIDER = provider
    return True


def id_of(span: Span) -> str:
    """A span's id as Jaeger shows it."""
    return f"{span.get_span_context().span_id:016x}"


def _nobody_looks(tracer: Any) -> bool:
    global _last
    try:
        sampler, forwarding = tracer.sampler, tracer.span_processor
        processors = forwarding._span_processors  # a tuple, made anew when one is added
    except AttributeError:
        inner = getattr(tracer, "_tracer", None)  # the API's, made before there was a provider
        return inner is not None and inner is not tracer and _nobody_looks(inner)
    last = _last
    if last.sampler is not sampler or last.processors is not processors:
        blind = (
            kind_of(forwarding).__module__ == _SDK
            and kind_of(forwarding).__name__ in _FORWARDING
            and _decides_blindly(sampler)
            and all(_starts_blindly(each) for each in processors)
        )
        last = _last = _Watched(sampler, processors, blind)
    return last.blind


def _decides_blindly(sampler: Any) -> bool:
    kind = kind_of(sampler)
    if kind.__module__ != f"{_SDK}.sampling":
        return False
    if kind.__name__ in _BY_PARENT:
        return all(_decides_blindly(getattr(sampler, name, None)) for name in _DELEGATES)
    return kind.__name__ in _SAMPLERS


def _starts_blindly(processor: Any) -> bool:
    function = getattr(processor.on_start, "__func__", None)
    return (getattr(function, "__module__", ""), getattr(function, "__qualname__", "")) in _BLIND


def set_attributes(span: Span, attributes: dict[str, Any]) -> None:
    """Set these attributes; the same as ``span.set_attributes``, limits and all."""
    if attributes and not _set_at_once(span, attributes):
        span.set_attributes(attributes)


def _set_at_once(span: Any, attributes: dict[str, Any]) -> bool:
    """Whether they could be set so; if not, nothing was set."""
    kept: Any = getattr(span, "_attributes", None)
    if kind_of(kept) is not BoundedAttributes:
        return False
    for value in attributes.values():
        if type(value) not in _PLAIN and not _is_texts(value):
            return False
    try:
        with kept._lock:
            if kept._immutable or kept.max_value_len is not None:  # ended; or texts may be cut
                return False
            values: dict[str, Any] = kept._dict
            limit = kept.maxlen
            if limit is not None and len(values) + len(attributes) > limit:
                return False
            values.update(attributes)
    except AttributeError:  # another version of OpenTelemetry keeps them elsewhere
        return False
    return True


def _is_texts(value: Any) -> bool:
    """Whether this is a tuple of texts, the form in which the SDK keeps a sequence."""
    return kind_of(value) is tuple and _TEXT.issuperset(map(type, value))
