"""What Turnspan knows of OpenTelemetry's insides: where ``runtime.otel_private`` says they are.

Where one of these goes, nothing breaks: the slower public way is taken. This tells which release of
the SDK did it, instead of a benchmark.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBasedTraceIdRatio

from support.shared import REPOSITORY
from turnspan.runtime import otel_private

SOURCE: Final = REPOSITORY / "instrument" / "turnspan" / "runtime" / "otel_private.py"


def span_of(provider: TracerProvider, **more: Any) -> Any:
    """A span that has begun."""
    return provider.get_tracer("t").start_span("s", attributes={"a": 1}, **more)


def suppression_key() -> object:
    """What suppresses instrumentation says so under it."""
    with suppress_instrumentation():
        return otel_context.get_value(otel_private.SUPPRESSION_KEY)


def span_key() -> object:
    """The current span lies under it."""
    span = trace.NonRecordingSpan(trace.INVALID_SPAN_CONTEXT)
    key = otel_private.SPAN_KEY
    assert key is not None
    return trace.set_span_in_context(span)[key] is span


def current_context_variable() -> object:
    """It holds what is attached."""
    variable = otel_private.current_context_variable()
    assert variable is not None
    token = otel_context.attach(otel_context.set_value("k", "v", otel_context.Context()))
    try:
        return variable.get() == {"k": "v"}
    finally:
        otel_context.detach(token)


def attributes_unseen_at_start() -> object:
    """The SDK's samplers and processors look at none; also behind a tracer of the API's."""
    provider = TracerProvider(sampler=ParentBasedTraceIdRatio(0.5))
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    proxy: Any = trace.ProxyTracer("t")
    proxy._real_tracer = tracer = provider.get_tracer("t")
    return otel_private.attributes_unseen_at_start(
        tracer
    ) and otel_private.attributes_unseen_at_start(proxy)


def scope_of_proxy() -> object:
    """The name that it was asked for by."""
    return otel_private.scope_of_proxy(trace.ProxyTracer("the.scope")) == "the.scope"


def set_at_once() -> object:
    """A new span takes attributes so; an ended one does not."""
    span = span_of(TracerProvider())
    assert otel_private.set_at_once(span, {"b": 2})
    span.end()
    return span.attributes == {"a": 1, "b": 2} and not otel_private.set_at_once(span, {"c": 3})


def attributes_of_ended() -> object:
    """They are no copy."""
    span = span_of(TracerProvider())
    found = otel_private.attributes_of_ended(span)
    return found == {"a": 1} and found is otel_private.attributes_of_ended(span)


def may_have_events() -> object:
    """It tells a span without any from one with some."""
    span = span_of(TracerProvider())
    assert not otel_private.may_have_events(span)
    span.add_event("e")
    return otel_private.may_have_events(span)


def may_have_links() -> object:
    """It tells a span without any from one with some."""
    link = trace.Link(trace.SpanContext(1, 1, is_remote=False))
    provider = TracerProvider()
    assert not otel_private.may_have_links(span_of(provider))
    return otel_private.may_have_links(span_of(provider, links=[link]))


class Told(SimpleSpanProcessor):
    """Counts what it is told."""

    def __init__(self) -> None:
        super().__init__(InMemorySpanExporter())
        self.ended = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Count it."""
        self.ended += 1


def remove_processor() -> object:
    """It is told no more."""
    provider, gone, stays = TracerProvider(sampler=ALWAYS_ON), Told(), Told()
    provider.add_span_processor(gone)
    provider.add_span_processor(stays)
    assert otel_private.remove_processor(provider, gone)
    span_of(provider).end()
    return (gone.ended, stays.ended) == (0, 1)


def put_processor() -> object:
    """It alone is told."""
    provider, before, only = TracerProvider(sampler=ALWAYS_ON), Told(), Told()
    provider.add_span_processor(before)
    assert otel_private.put_processor(provider, only) == (before,)
    span_of(provider).end()
    return (before.ended, only.ended) == (0, 1)


def put_back() -> object:
    """Those before are told again, and one that came meanwhile."""
    provider, before, only, later = TracerProvider(sampler=ALWAYS_ON), Told(), Told(), Told()
    provider.add_span_processor(before)
    former = otel_private.put_processor(provider, only)
    provider.add_span_processor(later)
    assert former is not None
    otel_private.put_back(provider, only, former)
    span_of(provider).end()
    return (before.ended, only.ended, later.ended) == (1, 0, 1)


def replace_global_provider() -> object:
    """The API gives out the new one."""
    given: Any = trace.get_tracer_provider()
    former = given if isinstance(given, TracerProvider) else None
    made: Any = TracerProvider()
    assert otel_private.replace_global_provider(former, made)
    try:
        return trace.get_tracer_provider() is made
    finally:
        none: Any = former
        assert otel_private.replace_global_provider(made, none)


def record_though_disabled() -> object:
    """A provider of an environment that disables the SDK makes spans."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_SDK_DISABLED", "true")
        provider = TracerProvider(sampler=ALWAYS_ON)
        assert not span_of(provider).is_recording()
        otel_private.record_though_disabled(provider)
        return span_of(provider).is_recording()


def globals_of_metrics() -> object:
    """The API's own."""
    return otel_private.globals_of_metrics()


def meter_provider() -> object:
    """It is among them."""
    return otel_private.METER_PROVIDER in (otel_private.globals_of_metrics() or {})


def batches_of_logs() -> object:
    """That of a batch processor."""
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter()))
    try:
        (batch,) = otel_private.batches_of_logs(provider)
        return batch.shutdown
    finally:
        provider.shutdown()


def batch_of() -> object:
    """It can be shut down in a given time."""
    batch = otel_private.batch_of(BatchSpanProcessor(InMemorySpanExporter()))
    batch.shutdown(timeout_millis=1000)
    return True


def endpoint_of() -> object:
    """As it was given."""
    exporter = OTLPSpanExporter(endpoint="http://collector.test:4318/v1/traces")
    return otel_private.endpoint_of(exporter) == "http://collector.test:4318/v1/traces"


CONFIGURE: Final = """
from opentelemetry import trace
from turnspan.runtime.otel_private import configure_sdk
configure_sdk({})
print(type(trace.get_tracer_provider()).__module__)
"""


def configure_sdk() -> object:
    """In a process of its own: it sets what is global."""
    none = dict.fromkeys(
        ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"), "none"
    )
    said = subprocess.run(
        [sys.executable, "-c", CONFIGURE],
        env={**os.environ, **none},
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.strip() == "opentelemetry.sdk.trace"


KNOWN: Final[dict[str, Callable[[], object]]] = {
    "METER_PROVIDER": meter_provider,
    "SPAN_KEY": span_key,
    "SUPPRESSION_KEY": suppression_key,
    **{
        known.__name__: known
        for known in (
            attributes_of_ended,
            attributes_unseen_at_start,
            batch_of,
            batches_of_logs,
            configure_sdk,
            current_context_variable,
            endpoint_of,
            globals_of_metrics,
            may_have_events,
            may_have_links,
            put_back,
            put_processor,
            record_though_disabled,
            remove_processor,
            replace_global_provider,
            scope_of_proxy,
            set_at_once,
        )
    },
}


@pytest.mark.parametrize("name", KNOWN)
def test_it_is_where_we_know_it(name: str) -> None:
    """In the release that is installed."""
    assert KNOWN[name]()


def test_each_part_that_we_know_is_looked_at() -> None:
    """Nothing public is in that file which is not tried above."""
    public: set[str] = set()
    for node in ast.parse(SOURCE.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            public.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            public.add(node.target.id)
    assert {name for name in public if not name.startswith("_")} == set(KNOWN)


def test_where_a_part_is_gone_the_public_way_is_taken() -> None:
    """Of objects that are built otherwise nothing is known, and nothing raises."""
    other: Any = SimpleNamespace(attributes={"a": 1})
    assert not otel_private.attributes_unseen_at_start(other)
    assert otel_private.scope_of_proxy(other) == ""
    assert not otel_private.set_at_once(other, {"b": 2})
    assert otel_private.attributes_of_ended(other) == {"a": 1}
    assert otel_private.may_have_events(other)
    assert otel_private.may_have_links(other)
    assert not otel_private.remove_processor(other, other)
    assert otel_private.put_processor(other, other) is None
    otel_private.put_back(other, other, ())
    assert not otel_private.replace_global_provider(other, other)
    otel_private.record_though_disabled(other)
    assert otel_private.batches_of_logs(other) == []
    assert otel_private.batch_of(other) is None
    assert otel_private.endpoint_of(other) == ""
