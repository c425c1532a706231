"""The pipeline: a bounded queue, counted drops, honest flushes, forks."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import Span

import turnspan
from turnspan import semconv
from turnspan.pipeline.processor import RecordProcessor
from turnspan.pipeline.record_exporter import RecordExporter
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default


class Gate(SpanExporter):
    """An exporter that waits to be let through, and fails when told to."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()
        self.result = SpanExportResult.SUCCESS
        self.names: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.entered.set()
        self.open.wait(60)
        self.names += [span.name for span in spans]
        return self.result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


def test_full_queue_drops_the_oldest_and_counts() -> None:
    """Beyond the bound spans are lost, from the oldest on, and the loss is a number."""
    gate = Gate()
    processor = RecordProcessor(gate, queue_size=10, batch_size=10, flush_interval=0.01)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("t")
    tracer.start_span("first").end()
    assert gate.entered.wait(60)

    for number in range(15):
        tracer.start_span(str(number)).end()
    gate.open.set()

    assert processor.force_flush() is False  # five are lost
    assert processor.force_flush()  # and none since
    assert gate.names == ["first", *(str(n) for n in range(5, 15))]
    assert processor.dropped() == {"queue_full": 5}
    assert processor.remaining() == 0
    provider.shutdown()


def test_flush_is_not_ok_when_the_export_failed() -> None:
    """T-12: never success when the last export failed; the spans count as dropped."""
    gate = Gate()
    gate.open.set()
    gate.result = SpanExportResult.FAILURE
    processor = RecordProcessor(gate, flush_interval=60)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    provider.get_tracer("t").start_span("x").end()

    assert processor.force_flush() is False
    assert processor.dropped() == {"export_failed": 1}
    provider.shutdown()


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("seam", ["_own_context", "_take"])
def test_the_worker_outlives_a_failure(monkeypatch: pytest.MonkeyPatch, seam: str) -> None:
    """One that not even an ``except Exception`` holds: the next flush exports what waits."""
    gate = Gate()
    gate.open.set()
    processor = RecordProcessor(gate, flush_interval=60)
    provider = TracerProvider()
    provider.add_span_processor(processor)

    def failing(self: RecordProcessor) -> None:
        raise BaseException(seam)

    with monkeypatch.context() as patched:
        patched.setattr(RecordProcessor, seam, failing)
        provider.get_tracer("t").start_span("kept").end()
        assert processor.force_flush() is False
    assert errors.counts() == {"pipeline.drain": 1}
    assert processor.force_flush()
    assert gate.names == ["kept"]
    provider.shutdown()


def test_spans_after_shutdown_are_counted() -> None:
    """Nothing is lost silently, not even what comes too late."""
    memory = InMemorySpanExporter()
    processor = RecordProcessor(memory, flush_interval=60)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    span = provider.get_tracer("t").start_span("late")
    processor.shutdown()
    span.end()

    assert processor.dropped() == {"after_shutdown": 1}


class Away(InMemorySpanExporter):
    """Takes everything but lands nothing in time, while other threads go on to record."""

    meanwhile: Span

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.meanwhile.end()
        return False


def test_what_is_recorded_while_leaving_waits_is_exported() -> None:
    """A flush that runs out of time at the interpreter's end is no reason to lose the rest."""
    away = Away()
    processor = RecordProcessor(away, flush_interval=60)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("t")
    away.meanwhile = tracer.start_span("meanwhile")
    tracer.start_span("before").end()

    assert processor.drain_at_exit() is False
    assert processor.queued() == 0
    assert [span.name for span in away.get_finished_spans()] == ["before", "meanwhile"]


def test_spans_that_are_not_sampled_are_not_kept() -> None:
    """The sampler's decision holds for records as well."""
    memory = InMemorySpanExporter()
    processor = RecordProcessor(memory, flush_interval=60)
    provider = TracerProvider(sampler=ALWAYS_OFF)
    provider.add_span_processor(processor)
    provider.get_tracer("t").start_span("x").end()

    assert processor.force_flush()
    assert memory.get_finished_spans() == ()
    provider.shutdown()


def test_spans_of_other_instrumentations_learn_their_turn() -> None:
    """A span that somebody else starts inside a turn carries the turn's id."""
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(RecordProcessor(memory, flush_interval=60))
    default.provider = provider
    try:
        with turnspan.agent("a") as turn:
            provider.get_tracer("somebody.else").start_span("theirs").end()
    finally:
        default.provider = None
    provider.force_flush()

    theirs = memory.get_finished_spans()[0]
    assert theirs.attributes == {semconv.TURN_ID: turn.id, semconv.SESSION_GIVEN: ""}
    provider.shutdown()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_child_exports_its_own_spans_only() -> None:
    """The parent's queue is the parent's; the child gets a worker of its own."""
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    processor = RecordProcessor(memory, flush_interval=60)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("t")
    tracer.start_span("parent").end()

    child = os.fork()
    if child == 0:
        status = 1
        try:
            tracer.start_span("child").end()
            flushed = processor.force_flush()
            names = [span.name for span in memory.get_finished_spans()]
            status = 0 if flushed and names == ["child"] else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert processor.force_flush()
    assert [span.name for span in memory.get_finished_spans()] == ["parent"]
    provider.shutdown()


class Broken(RecordExporter):
    """An exporter with a bug, that says what it holds."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if spans:
            raise RuntimeError("a bug")
        return SpanExportResult.SUCCESS


@pytest.mark.tests_internal_errors
def test_what_an_error_cost_is_counted_once() -> None:
    """As spans that were not exported; not as an internal error beside."""
    turnspan.configure(tracer_provider=TracerProvider(), exporters=[Broken()])
    try:
        for _ in range(3):
            with turnspan.tool("t"):
                pass
        assert turnspan.flush().dropped == {"export_failed": 3}
        assert errors.counts() == {"pipeline.export": 1}
    finally:
        turnspan.shutdown()
