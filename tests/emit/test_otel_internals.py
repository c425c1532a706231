"""What Turnspan knows of OpenTelemetry's insides, each with what it is used for.

Where one of these goes, nothing breaks: the slower public way is taken. This tells which release of
the SDK did it, instead of a benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from importlib import import_module
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import propagation


def current_context() -> object:
    """``tracing.recording``: a generator's steps set and reset the context's own variable."""
    runtime = vars(otel_context)["_RUNTIME_CONTEXT"]
    assert type(runtime) is ContextVarsRuntimeContext
    return type(vars(runtime)["_current_context"]) is ContextVar


def key_of_the_current_span() -> object:
    """``tracing.context``: the span and the turn go into the context in one copy."""
    span = trace.NonRecordingSpan(trace.INVALID_SPAN_CONTEXT)
    key = vars(propagation)["_SPAN_KEY"]
    return trace.set_span_in_context(span)[key] is span


def key_of_suppression() -> object:
    """``tracing.begin_call``: what is suppressed is not recorded."""
    return isinstance(vars(otel_context)["_SUPPRESS_INSTRUMENTATION_KEY"], str)


def processors_of_a_provider() -> object:
    """``tracing.otel_fast``: whether a processor looks at attributes; and taking ours off again."""
    provider: Any = TracerProvider()
    added: object = SimpleSpanProcessor(InMemorySpanExporter())
    provider.add_span_processor(added)
    forwarding = provider._active_span_processor
    with forwarding._lock:
        return bool(forwarding._span_processors == (added,))


def attributes_of_a_span() -> object:
    """``tracing.otel_fast`` writes them in one step, ``normalise.span_facts`` reads them so."""
    span: Any = TracerProvider().get_tracer("t").start_span("s", attributes={"a": 1})
    kept = span._attributes
    assert type(kept) is BoundedAttributes
    inside = vars(kept)
    with inside["_lock"]:
        return dict(inside["_dict"]) == {"a": 1}


def parts_of_a_tracer() -> object:
    """``tracing.otel_fast``: its sampler and its processors."""
    tracer: Any = TracerProvider().get_tracer("t")
    return tracer.sampler is not None and tracer.span_processor is not None


def the_apis_tracer() -> object:
    """``tracing.otel_fast``: the SDK's tracer inside one that was made before there was one."""
    proxy = trace.ProxyTracer("t")
    return "_instrumenting_module_name" in vars(proxy) and hasattr(proxy, "_tracer")


def the_global_provider() -> object:
    """``tracing.otel_fast``: one of ours may be replaced by the next one."""
    return "_TRACER_PROVIDER" in vars(trace)


def the_global_meters() -> object:
    """``metrics.sink``: asking whether there is a MeterProvider costs an attribute."""
    return "_METER_PROVIDER" in vars(import_module("opentelemetry.metrics._internal"))


def batches_of_logs() -> object:
    """``pipeline.other_backends``: a backend of logs that is away is waited for no longer."""
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter()))
    several: Any = vars(provider)["_multi_log_record_processor"]
    (processor,) = several._log_record_processors
    try:
        return "_batch_processor" in vars(processor)
    finally:
        provider.shutdown()


KNOWN: tuple[Callable[[], object], ...] = (
    current_context,
    key_of_the_current_span,
    key_of_suppression,
    processors_of_a_provider,
    attributes_of_a_span,
    parts_of_a_tracer,
    the_apis_tracer,
    the_global_provider,
    the_global_meters,
    batches_of_logs,
)


@pytest.mark.parametrize("part", KNOWN, ids=lambda part: part.__name__)
def test_it_is_where_we_know_it(part: Callable[[], object]) -> None:
    """In the release that is installed."""
    assert part()
