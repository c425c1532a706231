"""Fixtures: the real SDKs, instrumented, against a model provider on loopback."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import openai
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support.google_sdk import genai
from support.normalised import Landed
from turnspan import config
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.testing import ModelServer, record
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default


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
        content = default.content.take(context.trace_id, context.span_id)
        assert isinstance(content, InferenceContent)
        return content


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model provider of the test's own."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Both SDKs instrumented under a provider of the test's own."""
    spans = Spans()
    default.provider = spans.provider
    default.content.attach()
    turnspan.instrument(tracer_provider=spans.provider)
    yield spans
    turnspan.uninstrument()
    default.content.detach()
    default.provider = None
    spans.provider.shutdown()


@pytest.fixture
def rows() -> Iterator[Landed]:
    """Both SDKs and the decorators, recording in memory."""
    with record() as recorded:
        yield Landed(recorded.rows)


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
def google(server: ModelServer) -> Any:
    """The client of Google's own API."""
    return genai.Client(api_key="k", http_options={"base_url": server.url})


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Runs coroutines in one event loop, which is closed with everything left in it."""
    made = asyncio.new_event_loop()
    yield made
    made.run_until_complete(_left_behind())
    made.run_until_complete(made.shutdown_asyncgens())
    made.close()


async def _left_behind() -> None:
    """What closes the streams that nobody holds any more."""
    gc.collect()
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=10)


async def drained(stream: AsyncIterator[Any]) -> list[Any]:
    """Everything that a stream gives."""
    return [item async for item in stream]
