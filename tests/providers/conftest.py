"""Fixtures: the real SDKs, instrumented, against a model provider on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import openai
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support.model_server import ModelServer
from support.normalised import Rows, provider
from turnspan import config, recording
from turnspan.content.ledger import InferenceContent, ledger
from turnspan.ids import SecureIdGenerator
from turnspan.inference import use_tracer_provider


class Spans:
    """The spans finished so far and the content kept beside them."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(id_generator=SecureIdGenerator())
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        """In the order they ended."""
        return list(self.exporter.get_finished_spans())

    def calls(self) -> list[ReadableSpan]:
        """Those of model calls."""
        return [span for span in self.all() if span.name.startswith("chat")]

    def call(self) -> ReadableSpan:
        """The only model call."""
        (span,) = self.calls()
        return span

    def attributes(self) -> dict[str, Any]:
        """Those of the only model call."""
        return dict(self.call().attributes or {})

    def content(self, span: ReadableSpan | None = None) -> InferenceContent:
        """Take the content kept beside a model call (the only one)."""
        context = (span or self.call()).context
        assert context is not None
        content = ledger.take(context.trace_id, context.span_id)
        assert isinstance(content, InferenceContent)
        return content


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model provider of the test's own."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Both SDKs instrumented under a provider of the test's own."""
    spans = Spans()
    recording.use_tracer_provider(spans.provider)
    use_tracer_provider(spans.provider)
    ledger.attach()
    turnspan.instrument(tracer_provider=spans.provider)
    yield spans
    turnspan.uninstrument()
    ledger.detach()
    recording.use_tracer_provider(None)
    use_tracer_provider(None)
    spans.provider.shutdown()


@pytest.fixture
def rows() -> Iterator[Rows]:
    """Both SDKs and the decorators, recording into these rows."""
    rows = Rows()
    made = provider(rows)
    recording.use_tracer_provider(made)
    use_tracer_provider(made)
    ledger.attach()
    turnspan.instrument(tracer_provider=made)
    yield rows
    turnspan.uninstrument()
    ledger.detach()
    recording.use_tracer_provider(None)
    use_tracer_provider(None)
    made.shutdown()


@pytest.fixture
def settings() -> Iterator[None]:
    """Settings that the test changes with ``config.activate`` are put back."""
    before = config.active()
    yield
    config.activate(before)


@pytest.fixture
def gpt(server: ModelServer) -> Iterator[openai.OpenAI]:
    """OpenAI's client."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(server: ModelServer) -> Iterator[anthropic.Anthropic]:
    """Anthropic's client."""
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Runs coroutines in one event loop, which is closed with everything left in it."""
    made = asyncio.new_event_loop()
    yield made
    made.run_until_complete(made.shutdown_asyncgens())
    made.close()


async def drained(stream: AsyncIterator[Any]) -> list[Any]:
    """Everything that a stream gives."""
    return [item async for item in stream]
