"""Attributes set in one step are what the SDK would have kept, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import INVALID_SPAN, SpanKind

from turnspan.pipeline.processor import RecordProcessor
from turnspan.tracing import otel_fast

GIVEN: dict[str, Any] = {
    "kept.before": "new",
    "text": "a",
    "whole": 7,
    "real": 0.5,
    "flag": True,
    "reasons": ("stop", "length"),
}
ODD: dict[str, Any] = {
    "list": ["a", "b"],
    "mixed": (1, "a"),
    "nothing": None,
    "object": object,
    "nested": {"a": [1]},
}


def span_of(limits: SpanLimits | None = None) -> Any:
    """A span that has an attribute already."""
    provider = TracerProvider(span_limits=limits)
    return provider.get_tracer("t").start_span("s", attributes={"kept.before": "old"})


@pytest.mark.parametrize("more", [{}, *({name: value} for name, value in ODD.items())], ids=str)
@pytest.mark.parametrize(
    "limits",
    [None, SpanLimits(max_span_attributes=3), SpanLimits(max_span_attribute_length=2)],
    ids=["none", "number", "length"],
)
def test_the_same_as_the_sdk_sets(limits: SpanLimits | None, more: dict[str, Any]) -> None:
    """Whatever the values and the limits: also those that only the SDK can clean or cut."""
    ours, theirs = span_of(limits), span_of(limits)

    otel_fast.set_attributes(ours, {**GIVEN, **more})
    theirs.set_attributes({**GIVEN, **more})

    assert dict(ours.attributes) == dict(theirs.attributes)
    assert ours.dropped_attributes == theirs.dropped_attributes


def test_an_ended_span_stays_what_it_was(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK says so in its log, as it always does."""
    span = span_of()
    span.end()

    otel_fast.set_attributes(span, GIVEN)

    assert dict(span.attributes) == {"kept.before": "old"}
    assert [record.message for record in caplog.records] == ["Setting attribute on ended span."]


def test_a_span_that_is_built_otherwise_is_written_to_by_its_own_method() -> None:
    """One that records nothing, and one whose attributes lie elsewhere."""
    otel_fast.set_attributes(INVALID_SPAN, GIVEN)

    class Elsewhere:
        def __init__(self) -> None:
            self.told: dict[str, Any] = {}

        def set_attributes(self, attributes: dict[str, Any]) -> None:
            self.told.update(attributes)

    other: Any = Elsewhere()
    otel_fast.set_attributes(other, GIVEN)
    assert other.told == GIVEN


class Looks(SpanProcessor):
    """Remembers what a span said of itself when it began."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Look."""
        self.seen.append(dict(span.attributes or {}))


class ByAttribute(Sampler):
    """Drops what is of one model."""

    def should_sample(self, *args: Any, **kwargs: Any) -> SamplingResult:
        """Decide by the attributes given at the start."""
        attributes: dict[str, Any] = kwargs.get("attributes") or args[4]
        dropped = attributes.get("model") == "small"
        decision = Decision.DROP if dropped else Decision.RECORD_AND_SAMPLE
        return SamplingResult(decision, attributes)

    def get_description(self) -> str:
        """Its name."""
        return "ByAttribute"


def begun(provider: TracerProvider, **given: Any) -> Any:
    return otel_fast.start(provider.get_tracer("t"), "s", Context(), SpanKind.CLIENT, given)


@pytest.mark.parametrize(
    "sampler",
    [None, ALWAYS_ON, ParentBased(TraceIdRatioBased(1.0))],
    ids=["none", "always", "by parent"],
)
def test_a_span_begins_with_its_attributes(sampler: Sampler | None) -> None:
    """As one that the SDK began with them, whoever looks."""
    provider = TracerProvider(sampler=sampler, span_limits=SpanLimits(max_span_attribute_length=9))
    odd: dict[str, Any] = {"list": ["a", "b"], "long": "a long text", "whole": 7}
    theirs: Any = provider.get_tracer("t").start_span("s", attributes=odd)
    expected = theirs.attributes
    assert begun(provider, **odd).attributes == expected

    looks = Looks()
    provider.add_span_processor(looks)
    assert begun(provider, **odd).attributes == expected
    assert looks.seen == [dict(expected)]


def test_a_sampler_sees_the_attributes() -> None:
    """It may decide by them."""
    provider = TracerProvider(sampler=ByAttribute())
    assert not begun(provider, model="small").is_recording()
    assert begun(provider, model="large").is_recording()


def test_a_dropped_span_takes_none() -> None:
    """And nothing complains."""
    assert not begun(TracerProvider(sampler=ALWAYS_OFF), model="m").is_recording()


def test_known_processors_are_not_waited_for() -> None:
    """The SDK's own and ours let the attributes be written in one step (see otel_fast.py)."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    provider.add_span_processor(RecordProcessor(InMemorySpanExporter()))
    calls: list[int] = []
    tracer = provider.get_tracer("turnspan.test")
    start_span = tracer.start_span

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(len(args))
        return start_span(*args, **kwargs)

    tracer.start_span = counting  # type: ignore[method-assign]
    span: Any = otel_fast.start(tracer, "s", Context(), SpanKind.CLIENT, {"model": "m"})
    provider.add_span_processor(Looks())
    otel_fast.start(tracer, "s", Context(), SpanKind.CLIENT, {"model": "m"})
    provider.shutdown()

    assert span.attributes == {"model": "m"}
    assert calls == [3, 4]
