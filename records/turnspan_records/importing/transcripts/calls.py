"""Calls of a model, and what tools brought after the last of a transcript -> spans and contents, as
the instrumented SDK would have given them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanKind

from turnspan import semconv
from turnspan.content.model import TOOL_CALL, TOOL_CALL_RESPONSE, Message, Part
from turnspan.dialects.convert import convert_message
from turnspan.providers.hosts import provider_of
from turnspan.tracing.content_store import Content, InferenceContent, ToolContent
from turnspan.tracing.endpoint import Endpoint
from turnspan_records.importing.spans import span_of
from turnspan_records.importing.transcripts.fields import Object


@dataclass(frozen=True, slots=True)
class SpanOrigin:
    """What all spans of a kind have in common."""

    provider: str
    settled: bool
    """Whether a person has said so: then no host says otherwise."""
    resource: Resource
    scope: InstrumentationScope


@dataclass(slots=True)
class TranscriptCall:
    """One call, with its ids."""

    endpoint: Endpoint
    request: Object
    response: Object | None
    trace_id: int
    span_id: int
    start: int
    end: int
    session: str = ""
    error: str = ""
    message: str = ""
    host: str = ""
    """The server, where the log says it."""
    beside: Object = field(default_factory=Object)
    """Attributes that the log says beside the bodies; what the bodies say goes before them."""

    def span_and_content(self, origin: SpanOrigin) -> tuple[ReadableSpan, Content]:
        """Its span, and what was said."""
        attributes: dict[str, Any] = {**self.beside, semconv.PROVIDER_NAME: origin.provider}
        if self.host:
            attributes[semconv.SERVER_ADDRESS] = self.host
            if not origin.settled:
                attributes[semconv.PROVIDER_NAME] = provider_of(self.host, origin.provider)
        self.endpoint.describe(self.request, attributes)
        if self.response is not None:
            self.endpoint.describe_response(self.response, attributes)
        if self.session:
            attributes[semconv.CONVERSATION_ID] = self.session
        if self.error:
            attributes[semconv.ERROR_TYPE] = self.error
        model = attributes.get(semconv.REQUEST_MODEL) or attributes.get(semconv.RESPONSE_MODEL)
        failed = attributes.get(semconv.ERROR_TYPE)
        operation = self.endpoint.operation
        span = span_of(
            f"{operation} {model}" if model else operation,
            trace_id=self.trace_id,
            span_id=self.span_id,
            start_time=self.start,
            end_time=self.end,
            attributes=attributes,
            resource=origin.resource,
            scope=origin.scope,
            kind=SpanKind.CLIENT,
            error=None if failed is None else self.message or str(failed),
        )
        response = None if operation == semconv.OP_EMBEDDINGS else self.response
        return span, InferenceContent(self.endpoint.dialect, self.request, response)


@dataclass(frozen=True, slots=True)
class LastResult:
    """What a tool brought that no later request has."""

    call_id: str
    name: str
    arguments: Any
    value: Any


def last_results(dialect: str, answer: Any, after: Sequence[Any]) -> tuple[list[LastResult], int]:
    """The results that were asked for, and how many of the messages bring anything else."""
    calls = _parts(convert_message(dialect, answer), TOOL_CALL)
    asked = {str(call.get("id")): call for call in calls}
    found: list[LastResult] = []
    others = 0
    for raw in after:
        message = convert_message(dialect, raw)
        brought = _parts(message, TOOL_CALL_RESPONSE)
        known = [part for part in brought if str(part.get("id")) in asked]
        others += len(known) < len(message["parts"])
        for part in known:
            call_id = str(part["id"])
            call = asked[call_id]
            name = str(call.get("name") or "")
            found.append(LastResult(call_id, name, call.get("arguments"), part.get("response")))
    return found, others


def _parts(message: Message, kind: str) -> list[Part]:
    return [part for part in message["parts"] if part.get("type") == kind]


def told_result(
    origin: SpanOrigin, result: LastResult, ids: tuple[int, int], when: int, session: str
) -> tuple[ReadableSpan, Content]:
    """A tool's span, and what it was given and brought; ``ids`` are the trace's and its own."""
    span = span_of(
        f"{semconv.OP_EXECUTE_TOOL} {result.name}",
        trace_id=ids[0],
        span_id=ids[1],
        start_time=when,
        end_time=when,
        attributes={
            semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
            semconv.TOOL_NAME: result.name,
            semconv.TOOL_CALL_ID: result.call_id,
            semconv.CONVERSATION_ID: session,
        },
        resource=origin.resource,
        scope=origin.scope,
    )
    return span, ToolContent(result.arguments, result.value)
