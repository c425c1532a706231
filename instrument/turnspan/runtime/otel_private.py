"""OpenTelemetry's insides, as far as Turnspan knows them: all of them, and nowhere else.

Each stands under a public name that says what it is for and what happens where a release has it no
more. None of them raises then; most have a public way beside them, which is slower.
``tests/emit/test_otel_internals.py`` tells which release took one away;
``tests/packaging/test_otel_private.py`` holds that no other file of ours names one.

Nothing of the SDK is imported before it is asked for: ``import turnspan`` does without it. What is
read of an object once a span is read in one function here, called as any other of ours is.

Not private, whatever their names look like: ``opentelemetry._logs`` and ``opentelemetry.sdk._logs``
are how the API and the SDK of logs are published, and ``_instrument``, ``_uninstrument`` and
``_configure`` are what instrumentors and distros are documented to define.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from importlib import import_module
from types import new_class
from typing import Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
from opentelemetry.trace import TracerProvider, propagation

from turnspan.runtime.type_guards import kind_of

# -- the context ------------------

SUPPRESSION_KEY: Final = str(getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", ""))
"""Under what a context says that nothing is to be recorded in it. Gone: empty, and only the plain
key that older instrumentations set as well is looked at."""

SPAN_KEY: Final[str | None] = getattr(propagation, "_SPAN_KEY", None)
"""Under what the current span lies, so that it goes into a context together with what is ours.
Gone: ``None``, and two copies are made of the context instead of one."""


def current_context_variable() -> ContextVar[Context] | None:
    """Where the current context is kept, so that each step of a generator sets and resets it at a
    third of the cost. Gone, or kept by somebody's own runtime: ``None``; attach and detach."""
    runtime: Any = getattr(otel_context, "_RUNTIME_CONTEXT", None)
    if kind_of(runtime) is not ContextVarsRuntimeContext:
        return None
    found: Any = getattr(runtime, "_current_context", None)
    return found if kind_of(found) is ContextVar else None


# -- tracers, samplers and processors ------------------

_SDK: Final = "opentelemetry.sdk.trace"
_IGNORE_ATTRIBUTES: Final = frozenset(
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


_last: tuple[Any, Any, bool] = (None, None, False)
"""A sampler and the processors beside it, and whether none of them looks at attributes."""


def attributes_unseen_at_start(tracer: Any) -> bool:
    """Whether nobody looks at what a span of this tracer begins with, so that it can be written
    right after. Gone: no; the SDK writes it, one attribute at a time."""
    global _last
    try:
        sampler, forwarding = tracer.sampler, tracer.span_processor
        processors = forwarding._span_processors  # a tuple, made anew when one is added
    except AttributeError:
        inner = getattr(tracer, "_tracer", None)  # the API's, made before there was a provider
        return inner is not None and inner is not tracer and attributes_unseen_at_start(inner)
    last_sampler, last_processors, unseen = _last
    if last_sampler is not sampler or last_processors is not processors:
        unseen = (
            kind_of(forwarding).__module__ == _SDK
            and kind_of(forwarding).__name__ in _FORWARDING
            and _sampler_ignores(sampler)
            and all(_processor_ignores(each) for each in processors)
        )
        _last = (sampler, processors, unseen)
    return unseen


def _sampler_ignores(sampler: Any) -> bool:
    kind = kind_of(sampler)
    if kind.__module__ != f"{_SDK}.sampling":
        return False
    if kind.__name__ in _BY_PARENT:
        return all(_sampler_ignores(getattr(sampler, name, None)) for name in _DELEGATES)
    return kind.__name__ in _SAMPLERS


def _processor_ignores(processor: Any) -> bool:
    function = getattr(processor.on_start, "__func__", None)
    place = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
    return place in _IGNORE_ATTRIBUTES


def scope_of_proxy(tracer: Any) -> str:
    """The scope of a tracer of the API's own, which was made before there was a provider. Gone:
    empty; in a process of several recorders its spans are those of our decorators."""
    return str(getattr(tracer, "_instrumenting_module_name", ""))


# -- spans ------------------

_PLAIN: Final = frozenset({str, int, float, bool})
_TEXT: Final = frozenset({str})


def set_at_once(span: Any, attributes: dict[str, Any]) -> bool:
    """Put attributes where the SDK would put them, under its lock; whether it could be: if not,
    nothing was set. Gone: it cannot, and the SDK sets them, one at a time."""
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


def attributes_of_ended(span: Any) -> dict[str, Any]:
    """The attributes of a span that has ended, not to be changed: behind the SDK's wrapper, which
    takes a microsecond for each look, they are a plain dictionary. Gone: a copy."""
    bounded = getattr(span, "_attributes", None)
    plain = getattr(bounded, "_dict", None)
    if isinstance(plain, dict):
        return cast("dict[str, Any]", plain)
    return dict(span.attributes or {})


def may_have_events(span: Any) -> bool:
    """Whether to ask for a span's events, of which the SDK makes a new tuple for each look. Gone:
    always."""
    return _may_have_any(getattr(span, "_events", None))


def may_have_links(span: Any) -> bool:
    """Whether to ask for a span's links; as for its events."""
    return _may_have_any(getattr(span, "_links", None))


def _may_have_any(found: Any) -> bool:
    if found is None:
        return True
    return len(getattr(found, "_dq", found)) > 0  # the length of the SDK's list: a call of Python


# -- providers of tracers ------------------


def _forwarding(provider: Any) -> Any:
    """What a provider of the SDK's tells of its spans; ``None`` where it is built otherwise."""
    found: Any = getattr(provider, "_active_span_processor", None)
    known = getattr(found, "_span_processors", None)
    return found if type(known) is tuple and hasattr(found, "_lock") else None


def remove_processor(provider: Any, processor: Any, former: tuple[Any, ...] = ()) -> bool:
    """Take a processor off a provider of the SDK's, which has no way of its own for that, and put
    former ones before the rest; whether it could be. Gone: it stays, and is still told of spans
    after its shutdown."""
    forwarding = _forwarding(provider)
    if forwarding is None:
        return False
    with forwarding._lock:
        rest = [each for each in forwarding._span_processors if each is not processor]
        forwarding._span_processors = (*former, *rest)
    return True


def put_processor(provider: Any, processor: Any) -> tuple[Any, ...] | None:
    """Have a provider of the SDK's tell this processor alone of its spans; what it told before.
    Gone: ``None``, and a test's spans of the application's own tracers go where they went."""
    forwarding = _forwarding(provider)
    if forwarding is None:
        return None
    with forwarding._lock:
        former: tuple[Any, ...] = forwarding._span_processors
        forwarding._span_processors = (processor,)
    return former


def put_back(provider: Any, processor: Any, former: tuple[Any, ...]) -> None:
    """Undo ``put_processor``; what was added meanwhile stays."""
    remove_processor(provider, processor, former)


def replace_global_provider(former: Any, provider: TracerProvider) -> bool:
    """Put another provider in the place of a global one of ours; whether it could be. Gone: it
    could not; what asks for the global one records under the former.

    OpenTelemetry lets the global provider be set once. Tracers that somebody has kept go on to
    record under the former one.
    """
    api: Any = sys.modules["opentelemetry.trace"]
    if getattr(api, "_TRACER_PROVIDER", None) is not former:
        return False
    api._TRACER_PROVIDER = provider
    return True


def record_though_disabled(provider: Any) -> None:
    """Have a provider of the SDK's make spans where ``OTEL_SDK_DISABLED`` says otherwise. Gone: a
    test's recording in such an environment is empty."""
    vars(provider)["_disabled"] = False


# -- metrics, logs and exporters ------------------

METER_PROVIDER: Final = "_METER_PROVIDER"
"""Under what the global MeterProvider lies in ``globals_of_metrics``; ``None``: nobody set one."""


def globals_of_metrics() -> dict[str, Any] | None:
    """The variables of the module that keeps the global MeterProvider, so that whether there is one
    is asked without a call; ``None`` before it is imported, by whoever sets one. Gone: without that
    name, or empty; ``get_meter_provider`` says it, which reads the environment each time."""
    found = sys.modules.get("opentelemetry.metrics._internal")
    if found is not None:
        return vars(found)
    return {} if "opentelemetry.metrics" in sys.modules else None


def batches_of_logs(provider: Any) -> list[Any]:
    """The batches of a LoggerProvider of the SDK's, to be shut down in a given time. Gone: none,
    and its own handler at the exit waits as long as it likes."""
    several = getattr(provider, "_multi_log_record_processor", None)
    found = map(batch_of, getattr(several, "_log_record_processors", ()))
    return [batch for batch in found if batch is not None]


def batch_of(processor: Any) -> Any:
    """The batch of a batch processor, which can be shut down in a given time. Gone: ``None``; the
    processor is shut down in its own."""
    return getattr(processor, "_batch_processor", None)


def endpoint_of(exporter: Any) -> str:
    """Where an OTLP exporter sends to, for a line in the log. Gone: empty; its class is named."""
    return str(getattr(exporter, "_endpoint", ""))


# -- opentelemetry-instrument ------------------


def configure_sdk(given: dict[str, Any]) -> None:
    """Set up what the environment asks for, as ``opentelemetry-instrument`` does without a distro.
    Raises what that raises, and where it is gone, ImportError or AttributeError; callers tell the
    user, and record spans alone."""
    base: Any = import_module("opentelemetry.sdk._configuration")._OTelSDKConfigurator
    own: Any = new_class("SdkConfigurator", (base,))  # as it asks: it is not to be made itself
    own().configure(**given)
