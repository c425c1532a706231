"""Fixtures of the emitting side: a provider of its own and the spans it finished."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from turnspan import config
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.content_store import Content
from turnspan.tracing.state import default


class Spans:
    """The spans finished so far, by name, and the content kept beside them."""

    def __init__(self, exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
        self._exporter = exporter
        self.provider = provider

    def all(self) -> tuple[ReadableSpan, ...]:
        """In the order they ended."""
        return self._exporter.get_finished_spans()

    def names(self) -> list[str]:
        """Their names, in the order they ended."""
        return [span.name for span in self.all()]

    def one(self, name: str) -> ReadableSpan:
        """The only span of this name."""
        found = [span for span in self.all() if span.name == name]
        assert len(found) == 1, f"{len(found)} spans named {name!r} among {self.names()}"
        return found[0]

    def content(self, span: ReadableSpan) -> Content | None:
        """Take the content kept beside a span."""
        assert span.context is not None
        return default.content.take(span.context.trace_id, span.context.span_id)


@pytest.fixture
def spans() -> Iterator[Spans]:
    """A provider of the test's own; our decorators record under it."""
    config.activate(config.resolve({}, {}))
    exporter = InMemorySpanExporter()
    provider = TracerProvider(id_generator=SecureIdGenerator())
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    _record_under(provider)
    default.content.attach()
    yield Spans(exporter, provider)
    default.content.detach()
    _record_under(None)
    provider.shutdown()


@pytest.fixture
def threads() -> Iterator[None]:
    """Threads carry turns, as after ``turnspan.instrument()`` in an application."""
    turnspan.instrument()
    yield
    turnspan.uninstrument()


def _record_under(provider: TracerProvider | None) -> None:
    default.provider = provider
