"""Everything emitted is held against the GenAI conventions: spans, metrics and events.

The scenarios run through the real SDKs against a server on loopback. An unknown ``gen_ai.*`` name,
a value of the wrong type, a required attribute missing, or one that a sampler has to see and did
not get at the span's start: each is a fault, and there are none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import APIStatusError as AnthropicError
from openai import APIStatusError as OpenAIError
from openai import AsyncOpenAI, OpenAI
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Metric
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support.conformance import Witness, event_faults, metric_faults, span_faults
from support.model_stub import ModelStub
from turnspan import config
from turnspan.tracing.state import default

TOOLS: Any = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},
]
CLAUDE_TOOLS: Any = [{"name": "look", "input_schema": {"type": "object"}}]
MESSAGES: Any = [{"role": "user", "content": "hi"}]


class Emitted:
    """Everything that is emitted, by providers of the test's own."""

    def __init__(self) -> None:
        self.witness = Witness()
        self._spans = InMemorySpanExporter()
        self.tracer_provider = TracerProvider(sampler=self.witness)
        self.tracer_provider.add_span_processor(self.witness)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meter_provider = MeterProvider([self._reader])
        self._logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self.logger_provider = LoggerProvider()
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self._logs))

    def spans(self) -> list[ReadableSpan]:
        """The spans of ours that have ended."""
        return list(self._spans.get_finished_spans())

    def metrics(self) -> list[Metric]:
        """The GenAI metrics."""
        data = self._reader.get_metrics_data()
        return [
            metric
            for resource in (data.resource_metrics if data is not None else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name.startswith("gen_ai.")
        ]

    def events(self) -> list[Any]:
        """The events."""
        return [record.log_record for record in self._logs.get_finished_logs()]

    def faults(self, *, content: bool = False) -> list[str]:
        """Everything that is wrong with anything."""
        found: list[str] = []
        for span in self.spans():
            found += span_faults(span, self.witness.given(span), content=content)
        for metric in self.metrics():
            found += metric_faults(metric)
        for event in self.events():
            found += event_faults(event.event_name, event.attributes)
        return sorted(set(found))


@pytest.fixture(scope="module")
def stub() -> Iterator[ModelStub]:
    """The model server."""
    with ModelStub() as server:
        yield server


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emitted]:
    """Record under providers of the test's own, as an application would configure it."""
    given = Emitted()
    before = config.active()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    turnspan.configure(
        exporters=[],
        tracer_provider=given.tracer_provider,
        meter_provider=given.meter_provider,
        logger_provider=given.logger_provider,
    )
    turnspan.instrument()
    yield given
    turnspan.uninstrument()
    turnspan.shutdown()
    default.provider = None
    default.metrics.use(None)
    default.logger_provider = None
    config.activate(before)
    given.tracer_provider.shutdown()
    given.meter_provider.shutdown()
    given.logger_provider.shutdown()


def ask_openai(url: str) -> None:
    """Plain, with every parameter, with tools, streamed, broken off and refused."""
    with OpenAI(base_url=f"{url}/v1", max_retries=0) as client:
        client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        client.chat.completions.create(
            model="gpt-4o",
            messages=MESSAGES,
            n=2,
            seed=7,
            stop=["x"],
            temperature=1,
            top_p=0.5,
            max_completion_tokens=50,
            frequency_penalty=0,
            presence_penalty=0.1,
            reasoning_effort="low",
            response_format={"type": "json_object"},
            service_tier="flex",
            tools=TOOLS,
        )
        list(client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True))
        for _ in client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True):
            break
        with pytest.raises(OpenAIError):
            client.chat.completions.create(model="refuse", messages=MESSAGES)
        with pytest.raises(OpenAIError):
            client.chat.completions.create(model="refuse", messages=MESSAGES, stream=True)
        client.embeddings.create(model="text-embedding-3-small", input="hi", dimensions=2)
        client.responses.create(model="gpt-4o", input="hi", reasoning={"effort": "low"})


def ask_anthropic(url: str) -> None:
    """Plain, with every parameter, with tools, streamed both ways and refused."""
    with Anthropic(base_url=url, max_retries=0) as client:
        client.messages.create(model="claude-opus-4-6", max_tokens=50, messages=MESSAGES)
        client.messages.create(
            model="claude-opus-4-6",
            max_tokens=50,
            messages=MESSAGES,
            system="be brief",
            stop_sequences=["x"],
            tools=CLAUDE_TOOLS,
            extra_body={"temperature": 1, "top_k": 5, "top_p": 0.5},
        )
        list(
            client.messages.create(
                model="claude-opus-4-6", max_tokens=50, messages=MESSAGES, stream=True
            )
        )
        with client.messages.stream(
            model="claude-opus-4-6", max_tokens=50, messages=MESSAGES
        ) as stream:
            stream.get_final_message()
        with pytest.raises(AnthropicError):
            client.messages.create(model="refuse", max_tokens=50, messages=MESSAGES)


async def ask_both(url: str) -> None:
    """The asynchronous clients."""
    async with AsyncOpenAI(base_url=f"{url}/v1", max_retries=0) as client:
        await client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        stream = await client.chat.completions.create(
            model="gpt-4o", messages=MESSAGES, stream=True
        )
        async for _ in stream:
            pass
    async with AsyncAnthropic(base_url=url, max_retries=0) as claude:
        await claude.messages.create(model="claude-opus-4-6", max_tokens=5, messages=MESSAGES)


def ask_by_hand() -> None:
    """Calls that no instrumentor covers."""
    with turnspan.inference(provider="custom", model="m", messages="hi", top_k=3) as call:
        call.response(text="hello", input_tokens=9, output_tokens=1, cache_read_tokens=4)
    with turnspan.inference(provider="custom", model="m", server_address="models.local") as call:
        call.chunk("hel")
        call.chunk("lo")
        call.response(finish_reason="stop", model="m-2")
    with pytest.raises(TimeoutError), turnspan.inference(provider="custom", model="m"):
        raise TimeoutError


@turnspan.tool
def look(path: str) -> str:
    """Look at a file."""
    return f"contents of {path}"


@turnspan.tool("write", type="extension", call_id="call_9")
def write(path: str) -> None:
    """Fails."""
    raise OSError("disk full")


@turnspan.agent("researcher", version="3")
def research(question: str, url: str) -> str:
    """A nested agent."""
    with turnspan.step("gather"):
        ask_anthropic(url)
    with turnspan.tool("search", arguments={"q": question}) as call:
        call.fail("nothing found")
    return "done"


@turnspan.agent("outer", version="1.2", max_rounds=40)
def answer(question: str, url: str) -> str:
    """An agent that does everything."""
    ask_openai(url)
    look("/a")
    with pytest.raises(OSError):
        write("/b")
    turnspan.current_turn().set(intent="diagnose", target="a page")
    return research(question, url)


@turnspan.agent
def failing(question: str) -> str:
    """Raises."""
    raise LookupError(question)


def run(url: str) -> None:
    """Every kind of span there is, inside and outside sessions, turns and workflows."""
    with turnspan.session("session-1", user_id="user-1"), turnspan.workflow("both"):
        answer("why", url)
    with pytest.raises(LookupError):
        failing("nowhere")
    with pytest.raises(ValueError, match="stop"), turnspan.workflow():
        raise ValueError("stop")
    with turnspan.agent():
        ask_by_hand()
    ask_openai(url)
    asyncio.run(ask_both(url))


@pytest.mark.needs("openai.resources.chat.completions:Completions.create(max_completion_tokens)")
def test_everything_emitted_conforms(stub: ModelStub, emitted: Emitted) -> None:
    """Spans by their kind's table, metrics by theirs; every scenario left its spans."""
    run(stub.url)

    names = [span.name for span in emitted.spans()]
    assert {
        "chat gpt-4o",
        "chat refuse",
        "chat claude-opus-4-6",
        "chat m",
        "invoke_agent outer",
        "invoke_agent researcher",
        "invoke_agent failing",
        "invoke_agent",
        "execute_tool look",
        "execute_tool write",
        "execute_tool search",
        "invoke_workflow both",
        "invoke_workflow",
        "gather",
    } <= set(names)
    assert names.count("chat gpt-4o") >= 10
    assert len(emitted.metrics()) >= 14
    assert emitted.faults() == []
    assert emitted.events() == []


@pytest.mark.needs("openai.resources.chat.completions:Completions.create(max_completion_tokens)")
def test_content_and_events_conform(
    stub: ModelStub, emitted: Emitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With content on spans and events: JSON text there, structured here, nothing else changes."""
    monkeypatch.setenv(config.CAPTURE_ON_SPANS, "SPAN_AND_EVENT")
    config.activate(config.resolve({}))
    run(stub.url)
    turnspan.evaluation("relevance", score=0.5, label="fair", explanation="half of it")

    assert emitted.faults(content=True) == []
    spans = [span.attributes or {} for span in emitted.spans()]
    assert any("gen_ai.input.messages" in attributes for attributes in spans)
    assert any("gen_ai.tool.call.arguments" in attributes for attributes in spans)
    for attributes in spans:
        for name in ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions"):
            assert isinstance(attributes.get(name, ""), str)
    assert {event.event_name for event in emitted.events()} == {
        "gen_ai.client.inference.operation.details",
        "gen_ai.client.operation.exception",
        "gen_ai.evaluation.result",
    }
    structured = [e.attributes.get("gen_ai.output.messages", ()) for e in emitted.events()]
    assert any(isinstance(message, dict) for messages in structured for message in messages)
