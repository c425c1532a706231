"""The core: one model call, from before the user's function runs until its span has ended.

Providers translate (an ``Endpoint`` each), this module emits. Nothing here ever sees the user's
value on its way: the patched function calls the user's function outside every guard, keeps what it
gave in a local, and tells the ``Call`` beside it, under a guard. So what fails in here costs
telemetry only.
"""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    propagation,
    set_span_in_context,
)

from turnspan import config, metrics, semconv
from turnspan.content.ledger import InferenceContent, ledger
from turnspan.content.shapes import is_dict
from turnspan.content.snapshot import freeze
from turnspan.context import SESSION_KEY, TURN_KEY, scope_attributes
from turnspan.guard import guard
from turnspan.turn import ToolRequest, Turn, Usage

ACTIVE_CALL = otel_context.create_key("turnspan-call")
_SUPPRESSED: Final = str(getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", ""))
_SPAN_KEY: Final[str | None] = getattr(propagation, "_SPAN_KEY", None)
_SUPPRESSED_PLAIN: Final = "suppress_instrumentation"

COMPLETE: Final = "complete"
ABANDONED: Final = "abandoned"
ERROR: Final = "error"
CANCELLED: Final = "cancelled"

_FREEZE = guard("call.freeze_request")
_LOST = guard("call.lost")
_EVENT = guard("call.event")
_MESSAGE = guard("call.error_message")
_MESSAGE_LENGTH: Final = 2_000
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}")


@dataclass(slots=True)
class Facts:
    """What a response says about itself; ``attributes`` are ready for the span."""

    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    model: str = ""
    finish_reasons: list[str] = field(default_factory=list[str])
    text: str = ""
    """What the model wrote for the user to read."""
    tool_requests: list[ToolRequest] = field(default_factory=list[ToolRequest])
    """The tools that the model asked the application to run."""
    usage: Usage | None = None


class Accumulator(Protocol):
    """Folds the chunks of one stream into the response they make up."""

    done: bool
    """Whether everything that matters has arrived (a reader may stop before the last byte)."""

    def fold(self, chunk: Any) -> bool:
        """Take a chunk in; true for a chunk that carries nothing but token usage."""
        ...

    def response(self) -> dict[str, Any] | None:
        """The response as the API would have sent it unstreamed; ``None`` before any chunk."""
        ...


class Endpoint(Protocol):
    """One inference API of a provider: how its requests, responses and streams read."""

    operation: str
    dialect: str

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes, those a sampler may want included."""
        ...

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the request that no later change reaches."""
        ...

    def facts(self, response: Mapping[str, Any]) -> Facts:
        """What a frozen response says."""
        ...

    def accumulator(self) -> Accumulator:
        """A fresh accumulator for one stream."""
        ...

    def error_code(self, error: BaseException) -> Any:
        """The provider's own code of an error, if it has one."""
        ...


class Call:
    """One model call. Its span ends exactly once, whoever ends it first."""

    __slots__ = (
        "_inner",
        "_open",
        "_outer",
        "attributes",
        "chunks",
        "endpoint",
        "hide_usage",
        "model",
        "recording",
        "request",
        "span",
        "started",
        "stream",
        "tries",
        "turn",
    )

    def __init__(self, endpoint: Endpoint, turn: Turn | None, stream: bool) -> None:
        self._open = False
        self.endpoint = endpoint
        self.turn = turn
        self.stream = stream
        self.model = ""
        self.attributes: Mapping[str, Any] = {}
        """The span's attributes at its start."""
        self.chunks: array[float] | None = None
        """When each chunk after the first came, where anybody wants to know."""
        self.request: dict[str, Any] | None = None
        self.tries = 1
        self.hide_usage = False
        """Whether we asked for the stream's usage: the caller must not see the extra chunk."""
        self.span: Span
        self.recording = False
        self.started = time.perf_counter()
        self._outer: Context | None = None
        self._inner: Context | None = None

    def begun(self, span: Span) -> None:
        """The span has started; from here on it is the call's to end."""
        self.span = span
        self.recording = span.is_recording()
        self._open = True

    # -- around the user's function ---------------------------------------------------------------

    def enter(self) -> None:
        """Make the span current while the SDK works, so that HTTP spans become its children."""
        outer = otel_context.get_current()
        if _SPAN_KEY is not None:  # both keys in one copy of the context
            inner = Context({**outer, ACTIVE_CALL: self, _SPAN_KEY: self.span})
        else:
            within = otel_context.set_value(ACTIVE_CALL, self, outer)
            inner = set_span_in_context(self.span, within)
        self._outer = outer
        otel_context.attach(inner)
        self._inner = inner

    def leave(self) -> None:
        """Undo ``enter``. In another context than it was entered in, there is nothing to undo.

        Not by token: a coroutine closed from elsewhere would make OpenTelemetry log an error.
        """
        inner, self._inner = self._inner, None
        if inner is not None and otel_context.get_current() is inner:
            otel_context.attach(self._outer or Context())

    @property
    def under_way(self) -> bool:
        """Whether the SDK is at work on this call (a stream's reader is not)."""
        return self._inner is not None

    @property
    def listened_to(self) -> bool:
        """Whether anybody wants to know what the response says."""
        if self.recording or self.turn is not None:
            return True
        return metrics.live() or config.active().emit_events

    def fail(self, error: BaseException) -> None:
        """The user's function raised."""
        response: Any = None
        try:
            refused = getattr(error, "completion", None)  # paid for, then refused by a parser
            if refused is not None:
                response = freeze(refused)
        finally:
            self.close(response, error=error)

    def answered(self, response: Any) -> None:
        """The user's function returned this response, whole."""
        frozen: Any = None
        try:
            if self.listened_to:
                frozen = freeze(response)
        finally:
            self.close(frozen)

    # -- the end ----------------------------------------------------------------------------------

    def close(
        self,
        response: Any,
        *,
        error: BaseException | None = None,
        outcome: str = "",
        first_chunk: float | None = None,
    ) -> None:
        """Record the frozen response (and error) and end the span, once."""
        if not self._open:
            return
        self._open = False
        try:
            self._record(response, error, outcome, first_chunk)
        finally:
            try:
                self._keep(response)
            finally:
                self.span.end()

    def __del__(self) -> None:
        if self._open:  # whoever was to end it failed
            with _LOST:
                self.close(None)

    def _record(
        self, response: Any, error: BaseException | None, outcome: str, first_chunk: float | None
    ) -> None:
        facts = self.endpoint.facts(response) if is_dict(response) else Facts()
        attributes = facts.attributes
        if first_chunk is not None:
            attributes[semconv.RESPONSE_TIME_TO_FIRST_CHUNK] = first_chunk - self.started
        if self.tries > 1:
            attributes[semconv.TRIES] = self.tries
        if error is not None and not isinstance(error, Exception):
            outcome = CANCELLED
            attributes[semconv.RESPONSE_FINISH_REASONS] = ["error"]
        elif error is not None:
            outcome = outcome or (ERROR if self.stream else "")
            attributes[semconv.ERROR_TYPE] = self._error_type(error)
        if outcome:
            attributes[semconv.STREAM_OUTCOME] = outcome
        metrics.call_ended(self, facts, first_chunk)
        if config.active().emit_events:
            with _EVENT:
                self._emit(facts, response, error)
        self._tell_turn(facts, response, error)
        if self.recording:
            self.span.set_attributes(attributes)
            if isinstance(error, Exception):
                self.span.set_status(Status(StatusCode.ERROR, error_message(error)))

    def _emit(self, facts: Facts, response: Any, error: BaseException | None) -> None:
        from turnspan import events

        content: InferenceContent | None = None
        if self.request is not None and config.active().content_on_events:
            content = InferenceContent(self.endpoint.dialect, self.request, response)
        events.call_ended(self.span, {**self.attributes, **facts.attributes}, content, error)

    def _tell_turn(self, facts: Facts, response: Any, error: BaseException | None) -> None:
        turn = self.turn
        if turn is None:
            return
        if response is not None:
            turn.end_call(
                model=facts.model or self.model,
                finish_reasons=facts.finish_reasons,
                text=facts.text,
                tool_requests=facts.tool_requests,
                usage=facts.usage,
            )
        if error is not None:
            turn.fail_call()

    def _keep(self, response: Any) -> None:
        if self.request is None or not self.recording:
            return
        content = InferenceContent(self.endpoint.dialect, self.request, response, self.turn)
        identity = self.span.get_span_context()
        ledger.put(identity.trace_id, identity.span_id, content)
        if config.active().content_on_spans:
            from turnspan.content.on_span import inference_attributes

            self.span.set_attributes(inference_attributes(content))

    def _error_type(self, error: Exception) -> str:
        code = self.endpoint.error_code(error)
        if isinstance(code, str) and _CODE.fullmatch(code):
            return code
        return type(error).__qualname__


def begin(
    tracer: Tracer,
    endpoint: Endpoint,
    target: Mapping[str, Any],
    body: Mapping[str, Any],
    *,
    stream: bool,
) -> Call | None:
    """Start the span of a call about to be made, or ``None`` when it is not to be recorded.

    ``target`` holds the attributes of provider and server. What fails after the span has begun
    is swallowed, what fails before is raised; callers guard.
    """
    settings = config.active()
    if not settings.enabled:
        return None
    outer = otel_context.get_current()
    if outer.get(_SUPPRESSED) or outer.get(_SUPPRESSED_PLAIN):
        return None
    running = outer.get(ACTIVE_CALL)
    if (
        isinstance(running, Call)
        and running.under_way
        and running.endpoint.operation == endpoint.operation
    ):
        return None  # a wrapper over this SDK records the same call already
    turn: Any = outer.get(TURN_KEY)
    call = Call(endpoint, turn, stream)
    attributes = dict(target)
    endpoint.describe(body, attributes)
    session: Any = outer.get(SESSION_KEY)
    if turn is not None or session is not None:
        attributes.update(scope_attributes(turn, session))
    if turn is not None:
        attributes[semconv.ROUND] = turn.begin_call()
    model = attributes.get(semconv.REQUEST_MODEL, "")
    call.model = model
    name = f"{endpoint.operation} {model}" if model else endpoint.operation
    call.attributes = attributes
    call.begun(tracer.start_span(name, outer, SpanKind.CLIENT, attributes))
    wanted = call.recording and (ledger.active or settings.content_on_spans)
    on_event = settings.emit_events and settings.content_on_events
    if settings.capture_content and (wanted or on_event):
        with _FREEZE:
            _freeze_request(call, body)
    return call


def _freeze_request(call: Call, body: Mapping[str, Any]) -> None:
    request = call.endpoint.freeze(body)
    call.request = request
    turn = call.turn
    if turn is not None and turn.first_request is None:
        turn.first_request = (call.endpoint.dialect, request)


def current_call() -> Call | None:
    """The call whose SDK function is at work in this context."""
    call = otel_context.get_value(ACTIVE_CALL)
    return call if isinstance(call, Call) and call.under_way else None


def error_message(error: BaseException) -> str:
    """An error's text for the span's status, redacted; its type alone where that fails."""
    with _MESSAGE:
        from turnspan.content.redact import error_text

        return error_text(error, _MESSAGE_LENGTH)
    return type(error).__qualname__


def usage_attributes(usage: Usage, attributes: dict[str, Any]) -> None:
    """Write the known token counts."""
    if usage.input_tokens is not None:
        attributes[semconv.USAGE_INPUT_TOKENS] = usage.input_tokens
    if usage.output_tokens is not None:
        attributes[semconv.USAGE_OUTPUT_TOKENS] = usage.output_tokens
    if usage.cache_read_tokens is not None:
        attributes[semconv.USAGE_CACHE_READ_INPUT_TOKENS] = usage.cache_read_tokens
    if usage.cache_write_tokens is not None:
        attributes[semconv.USAGE_CACHE_WRITE_INPUT_TOKENS] = usage.cache_write_tokens
    if usage.reasoning_tokens is not None:
        attributes[semconv.USAGE_REASONING_OUTPUT_TOKENS] = usage.reasoning_tokens
