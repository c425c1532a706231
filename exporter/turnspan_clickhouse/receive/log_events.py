"""Events of the GenAI conventions, which travel as OTLP logs and say what a span leaves out.

What a call's events say goes into the records of its span: an event of details is read as if its
attributes were the span's, messages (conventions up to 1.36) as if they were events on it. They are
sent apart from it, most often before, and wait for it here.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import StatusCode

from turnspan import semconv
from turnspan.annotations.judgments import judgment_of_evaluation, subject_kind
from turnspan.tracing.content_store import Judgment

MESSAGES: Final = frozenset(
    {
        "gen_ai.system.message",
        "gen_ai.user.message",
        "gen_ai.assistant.message",
        "gen_ai.tool.message",
        "gen_ai.choice",
    }
)
OF_SPANS: Final = MESSAGES | {semconv.EVENT_INFERENCE_DETAILS}
TAKEN: Final = OF_SPANS | {semconv.EVENT_EVALUATION}
CLAUDE_CODE: Final = frozenset(
    {
        *("claude_code.user_prompt", "claude_code.assistant_response", "claude_code.tool_result"),
        *("claude_code.api_request", "claude_code.api_error", "claude_code.tool_decision"),
    }
)
"""Events of Claude Code that become spans, or go on them."""
CODING_AGENTS: Final = frozenset(
    {
        *("codex.user_prompt", "codex.api_request", "codex.sse_event", "codex.tool_result"),
        *("gemini_cli.user_prompt", "gemini_cli.api_response", "gemini_cli.api_error"),
        *("gemini_cli.tool_call", "codex.tool_decision"),
    }
)
"""Those of Codex and Gemini CLI."""
NOT_TAKEN = "of log records only the GenAI conventions' events of content and evaluations are kept"
NO_SPAN = "the event does not say which span it belongs to"
TOO_LATE = "the event's span has landed and was let go: send logs no later than spans"
_SAID: Final = (semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES, "gen_ai.prompt")


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A log record that is an event; ids in hex, ``size`` about what it takes in memory."""

    name: str
    trace_id: str
    span_id: str
    time: int
    attributes: dict[str, Any] = field(hash=False)
    resource: Resource = field(hash=False)
    size: int

    @property
    def span(self) -> tuple[str, str]:
        """Whose event it is."""
        return self.trace_id, self.span_id


def service_of(resource: Resource) -> str:
    """The name of the service that a resource is."""
    return str(resource.attributes.get(semconv.SERVICE_NAME, ""))


def refusal(event: LogEvent) -> str:
    """Why an event cannot be taken; empty where it can."""
    if event.name not in TAKEN:
        return NOT_TAKEN
    return "" if event.span_id else NO_SPAN


def with_events(span: ReadableSpan, events: Iterable[LogEvent]) -> ReadableSpan:
    """The span with what its events say; what it says itself holds."""
    attributes: dict[str, Any] = {}
    messages = list(span.events)
    known = {(one.name, one.timestamp) for one in messages}
    for event in sorted(events, key=lambda one: one.time):
        if event.name in MESSAGES:
            if (event.name, event.time) not in known:
                messages.append(Event(event.name, event.attributes, event.time))
        else:
            attributes.update(event.attributes)
    attributes.update(span.attributes or {})
    return _with(span, attributes, messages)


def with_attributes(span: ReadableSpan, more: dict[str, Any]) -> ReadableSpan:
    """The span with more attributes."""
    return _with(span, {**(span.attributes or {}), **more}, span.events)


def as_telemetry(span: ReadableSpan) -> ReadableSpan:
    """The span as one that completes a transcript's records and is none itself: what it is of is
    the value of the mark."""
    said = dict(span.attributes or {})
    mark = said.pop(semconv.OPERATION_NAME, "")
    return _with(span, {**said, semconv.CODING_TELEMETRY: mark}, span.events)


def _with(
    span: ReadableSpan, attributes: dict[str, Any], messages: Sequence[Event]
) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=messages,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def is_silent(span: ReadableSpan) -> bool:
    """Whether it is of a model call that was answered, and says nothing of what was said."""
    attributes = span.attributes or {}
    operation = attributes.get(semconv.OPERATION_NAME)
    if operation not in semconv.INFERENCE_OPERATIONS or operation == semconv.OP_EMBEDDINGS:
        return False
    if span.status.status_code is StatusCode.ERROR:
        return False
    return not span.events and not any(key in attributes for key in _SAID)


def judgment(event: LogEvent, span: ReadableSpan | None) -> Judgment:
    """The judgment that an evaluation's event is, of its span where that is known."""
    said = event.attributes
    score: Any = said.get(semconv.EVALUATION_SCORE_VALUE)
    number = isinstance(score, (int, float)) and not isinstance(score, bool)
    return judgment_of_evaluation(
        event.resource.attributes,
        (subject_kind(span.attributes or {} if span is not None else {}), event.span_id),
        str(said.get(semconv.EVALUATION_NAME, "")),
        float(score) if number else None,
        str(said.get(semconv.EVALUATION_SCORE_LABEL) or said.get(semconv.ERROR_TYPE) or ""),
        str(said.get(semconv.EVALUATION_EXPLANATION, "")),
        event.time or time.time_ns(),
    )


class Waiting:
    """Events whose span has not come, within bounds of size and age."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._size = 0
        self._events: OrderedDict[tuple[str, str], tuple[float, list[LogEvent]]] = OrderedDict()

    def __contains__(self, span: tuple[str, str]) -> bool:
        return span in self._events

    def add(self, event: LogEvent) -> None:
        """Keep an event; the same one again does nothing."""
        _, events = self._events.setdefault(event.span, (time.monotonic(), []))
        if event not in events:
            events.append(event)
            self._size += event.size

    def take(self, span: tuple[str, str]) -> Sequence[LogEvent]:
        """The events of a span that has come."""
        _, events = self._events.pop(span, (0.0, []))
        self._size -= sum(event.size for event in events)
        return events

    def given_up(self, *, everything: bool = False) -> int:
        """Let go of those that are too old or too many; returns how many."""
        number = 0
        oldest = time.monotonic() - self._seconds
        while self._events:
            span, (since, _) = next(iter(self._events.items()))
            if not everything and since > oldest and self._size <= self._most:
                break
            number += len(self.take(span))
        return number
