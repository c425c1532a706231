"""Events: model calls, their exceptions and evaluations as log records."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import get_current_span

import turnspan
from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.tracing import events
from turnspan.tracing.state import default

SECRET = "sk-proj-" + "a1B2c3D4" * 6


class Logged:
    """A logger provider of the test's own and what it received."""

    def __init__(self) -> None:
        self._exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self.provider = LoggerProvider()
        self.provider.add_log_record_processor(SimpleLogRecordProcessor(self._exporter))

    def all(self) -> list[ReadableLogRecord]:
        """The records so far."""
        return list(self._exporter.get_finished_logs())

    def names(self) -> list[str | None]:
        """Their event names."""
        return [record.log_record.event_name for record in self.all()]

    def one(self, name: str) -> Any:
        """The only record of this name."""
        found = [r.log_record for r in self.all() if r.log_record.event_name == name]
        assert len(found) == 1, self.names()
        return found[0]


@pytest.fixture
def logged() -> Iterator[Logged]:
    """Events go to a provider of the test's own."""
    given = Logged()
    default.logger_provider = given.provider
    yield given
    default.logger_provider = None
    given.provider.shutdown()


@pytest.fixture
def tracing() -> Iterator[TracerProvider]:
    """Spans of calls recorded by hand go to a provider that samples them."""
    provider = TracerProvider()
    default.provider = provider
    yield provider
    default.provider = None
    provider.shutdown()


@pytest.fixture
def settings() -> Iterator[None]:
    """Whatever the test configures is undone."""
    before = config.active()
    yield
    config.activate(before)


def environ(**variables: str) -> None:
    """Put the settings of an environment in force."""
    config.activate(config.resolve({}, variables))


def call() -> None:
    """One model call with a secret in what it says."""
    with turnspan.inference(
        provider="p", model="m", temperature=0.5, messages=f"my key is {SECRET}"
    ) as inference:
        inference.response(text="hello", input_tokens=3, output_tokens=1, finish_reason="stop")


def test_nothing_is_emitted_unless_asked_for(
    logged: Logged, tracing: TracerProvider, settings: None
) -> None:
    """By default, and with content on spans only, there are no events."""
    for mode in ("", "NO_CONTENT", "SPAN_ONLY"):
        environ(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=mode)
        call()

    assert logged.names() == []


def test_a_calls_details_without_content(
    logged: Logged, tracing: TracerProvider, settings: None
) -> None:
    """EMIT_EVENT alone: the span's attributes as a DEBUG record of its trace, no content."""
    environ(OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT="true")
    call()

    event = logged.one("gen_ai.client.inference.operation.details")

    assert event.severity_number.value == 5
    assert event.trace_id and event.span_id
    assert dict(event.attributes) == {
        "gen_ai.provider.name": "p",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 1,
    }


@pytest.mark.parametrize("sampled", [True, False])
def test_content_on_events_is_structured_and_redacted(
    logged: Logged, tracing: TracerProvider, settings: None, sampled: bool
) -> None:
    """EVENT_ONLY: messages as the schema's objects, sampled or not, secrets masked."""
    if not sampled:
        default.provider = TracerProvider(sampler=ALWAYS_OFF)
    environ(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="EVENT_ONLY")
    call()

    attributes = logged.one("gen_ai.client.inference.operation.details").attributes

    asked, said = attributes["gen_ai.input.messages"][0], attributes["gen_ai.output.messages"][0]
    assert (asked["role"], said["role"]) == ("user", "assistant")
    assert said["parts"][0] == {"type": "text", "content": "hello"}
    assert asked["parts"][0]["content"].startswith("my key is ")
    assert SECRET not in str(attributes)


def test_no_content_where_content_is_off(
    logged: Logged, tracing: TracerProvider, settings: None
) -> None:
    """One switch turns content off everywhere, events included."""
    config.activate(
        config.resolve(
            {"capture_content": False},
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"},
        )
    )
    call()

    attributes = logged.one("gen_ai.client.inference.operation.details").attributes
    assert "gen_ai.input.messages" not in attributes
    assert attributes["gen_ai.usage.input_tokens"] == 3


def test_an_exception_is_an_event_of_its_own(
    logged: Logged, tracing: TracerProvider, settings: None
) -> None:
    """WARN, with type, message and stack trace, redacted, beside the call's details."""
    environ(OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT="true")
    with pytest.raises(ConnectionError), turnspan.inference(provider="p", model="m"):
        raise ConnectionError(f"refused {SECRET}")

    assert len(logged.all()) == 2
    event = logged.one("gen_ai.client.operation.exception")
    assert event.severity_number.value == 13
    assert event.attributes["exception.type"] == "ConnectionError"
    assert event.attributes["exception.message"].startswith("refused ")
    assert "Traceback" in event.attributes["exception.stacktrace"]
    assert event.attributes["gen_ai.request.model"] == "m"
    assert SECRET not in str(dict(event.attributes))
    details = logged.one("gen_ai.client.inference.operation.details")
    assert details.attributes["error.type"] == "ConnectionError"


def test_an_evaluation_belongs_to_the_current_span(logged: Logged, tracing: TracerProvider) -> None:
    """Without any switch: whoever calls it wants it. Texts are redacted."""
    with tracing.get_tracer("test").start_as_current_span("judge"):
        current = get_current_span().get_span_context()
        turnspan.evaluation("relevance", score=1, label="pass", explanation=f"quotes {SECRET}")

    event = logged.one("gen_ai.evaluation.result")

    assert (event.trace_id, event.span_id) == (current.trace_id, current.span_id)
    assert event.attributes["gen_ai.evaluation.name"] == "relevance"
    assert event.attributes["gen_ai.evaluation.score.value"] == 1.0
    assert type(event.attributes["gen_ai.evaluation.score.value"]) is float
    assert event.attributes["gen_ai.evaluation.score.label"] == "pass"
    assert SECRET not in event.attributes["gen_ai.evaluation.explanation"]


def test_an_evaluation_of_a_span_that_has_ended(logged: Logged, tracing: TracerProvider) -> None:
    """By the span's identity, from anywhere, with the response's id."""
    span = tracing.get_tracer("test").start_span("answer")
    span.end()
    turnspan.evaluation("tone", label="rude", response_id="resp_1", span=span.get_span_context())

    event = logged.one("gen_ai.evaluation.result")

    assert event.span_id == span.get_span_context().span_id
    assert event.attributes["gen_ai.response.id"] == "resp_1"


@pytest.mark.tests_internal_errors
def test_an_evaluation_never_raises(logged: Logged, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be recorded is logged once and left out."""
    with caplog.at_level(logging.WARNING, logger="turnspan"):
        turnspan.evaluation("relevance", score="high")  # type: ignore[arg-type]

    assert logged.names() == []
    assert errors.counts() == {"evaluation": 1}
    assert "turnspan.evaluation cannot use what it was given" in caplog.text
    errors.reset()


def test_without_a_provider_nothing_happens(tracing: TracerProvider, settings: None) -> None:
    """The API's own provider takes nothing, so nothing is converted for it."""
    environ(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="EVENT_ONLY")
    call()
    turnspan.evaluation("relevance", score=1.0)

    assert events.logger() is None
    assert errors.counts() == {}
