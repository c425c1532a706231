"""The core: one model call, from before the user's function runs until its span has ended.

Providers translate (an ``Endpoint`` each), this module emits. Nothing here ever sees the user's
value on its way: the patched function calls the user's function outside every guard, keeps what it
gave in a local, and tells the ``ModelCall`` beside it, under a guard. So what fails in here costs
telemetry only.
"""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    Status,
    StatusCode,
)

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.metrics.measurements import CallEnded
from turnspan.runtime.call_limits import LimitedCall
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import kind_of
from turnspan.tracing import otel_fast
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.context import inside_span
from turnspan.tracing.endpoint import UNFINISHED, Endpoint, ReplyFacts, describe_reply
from turnspan.tracing.provider_errors import failure_message, provider_message
from turnspan.tracing.recording import detach
from turnspan.tracing.state import State, default
from turnspan.turn.turn import TokenUsage, Turn

ACTIVE_CALL = otel_context.create_key("turnspan-call")

COMPLETE: Final = "complete"
ABANDONED: Final = "abandoned"
ERROR: Final = "error"
CANCELLED: Final = "cancelled"

_LOST = guard("call.lost")
_MEASURE = guard("metrics.call")
_EVENT = guard("call.event")
_TOLD: Final = semconv.INFERENCE_OPERATIONS - {semconv.OP_EMBEDDINGS}
"""The operations whose details an event tells; the conventions have none for the others."""
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}")


class ModelCall:
    """One model call. Its span ends exactly once, whoever ends it first."""

    attributes: Mapping[str, Any]
    """The span's attributes at its start."""
    attempts = 0
    """Requests sent for it, where the SDK's trying again is known by these."""
    chunks: array[float] | None = None
    """When each chunk after the first came, where anybody wants to know."""
    gateway = False
    """Whether other SDKs are what makes the call, maybe by an operation of another name."""
    followed = False
    """Whether a stream's or raw response's record ends it; collected with it in any order."""
    hide_usage_chunk = False
    """Whether we asked for the stream's usage: the caller must not see the extra chunk."""
    limited: LimitedCall | None = None
    """What allowed it, where calls are limited."""
    model = ""
    end_time: int | None = None
    """When its span ends, ns since the epoch, if not just then."""
    ended_with: Mapping[str, Any] | None = None
    """The attributes of its end, where an event is to tell them."""
    recording = False
    request: dict[str, Any] | None = None
    span: Span
    tries = 1

    _back: Context
    _inner: Context | None = None
    _open = False

    def __init__(
        self, endpoint: Endpoint, outer: Context, turn: Turn | None, stream: bool, state: State
    ) -> None:
        self.endpoint = endpoint
        self.state = state
        self.turn = turn
        self.stream = stream
        self.started = time.perf_counter()
        self._outer = outer

    def begun(self, span: Span) -> None:
        """The span has started; from here on it is the call's to end."""
        self.span = span
        self.recording = span.is_recording()
        self._open = True

    def streams(self, reply: Callable[[], dict[str, Any] | None]) -> None:
        """Its reply comes in pieces; this gives it as far as it came."""
        open_calls = self.state.content.open_calls
        known = open_calls.get(self.span)
        if known is not None:
            open_calls[self.span] = (known[0], known[1], reply)

    # -- around the user's function ---------------------------------------------------------------

    def enter(self, back: Context | None = None) -> None:
        """Make the span current while the SDK works, so that HTTP spans become its children.
        ``back`` is current after ``leave``, if not the context in which the call began."""
        self._back = self._outer if back is None else back
        inner = inside_span(self.span, self._outer, ACTIVE_CALL, self)
        otel_context.attach(inner)
        self._inner = inner

    def leave(self) -> None:
        """Undo ``enter``. In another context than it was entered in, there is nothing to undo.

        Not by token: a coroutine closed from elsewhere would make OpenTelemetry log an error.
        """
        inner, self._inner = self._inner, None
        if inner is not None and otel_context.get_current() is inner:
            otel_context.attach(self._back)

    @property
    def under_way(self) -> bool:
        """Whether the SDK is at work on this call (a stream's reader is not)."""
        return self._inner is not None

    def covers(self, operation: str) -> bool:
        """Whether a call of this operation, made now, is part of this one."""
        own = self.endpoint.operation
        if not self.under_way or own == operation:
            return self.under_way
        return self.gateway and semconv.OUTSIDE_ROUNDS.isdisjoint((own, operation))

    @property
    def wants_response(self) -> bool:
        """Whether anybody wants to know what the response says."""
        if self.recording or self.turn is not None or self.limited is not None:
            return True
        return self.state.metrics.enabled() or self.state.settings.emit_events

    def failed(self, error: BaseException) -> None:
        """The user's function raised."""
        response: Any = None
        try:
            refused = getattr(error, "completion", None)  # paid for, then refused by a parser
            if refused is not None:
                response = freeze(refused)
        finally:
            self.close(response, response, error=error)

    def succeeded(self, response: Any) -> None:
        """The user's function returned this response, whole.

        Its content is frozen from the SDK's object, not from the bytes: people append that object
        to their history, and only the same form of a message lands as one.
        """
        content: Any = None
        read = response
        try:
            if self.request is not None and self.endpoint.operation != semconv.OP_EMBEDDINGS:
                content = freeze(response)
                if kind_of(content) is dict:  # says the same, and is quicker to read than a model
                    read = content
        finally:
            self.close(read, content)

    # -- the end

    def close(
        self,
        response: Any,
        content: Any = None,
        *,
        error: BaseException | None = None,
        outcome: str = "",
        first_chunk: float | None = None,
    ) -> None:
        """Record the response (or error) and end the span, once.

        ``content`` is the response to keep: frozen, or the bytes of its JSON.
        """
        if not self._open:
            return
        self._open = False
        token: object | None = None
        if self.state is not default:  # what is said of the end asks for the current recorder
            token = otel_context.attach(self._outer)
        try:
            self._record(response, error, outcome, first_chunk)
        finally:
            try:
                if self.endpoint.operation == semconv.OP_EMBEDDINGS:
                    content = None  # nothing but vectors
                if self.request is not None and self.recording:
                    self._keep(self.request, content)
                if self.state.settings.emit_events and self.endpoint.operation in _TOLD:
                    with _EVENT:
                        self._emit(content, error)
            finally:
                if self.state.closed:
                    self.state.late += 1
                try:
                    self.span.end(self.end_time)
                finally:  # only now: until then its span waits for no export
                    self.state.content.open_calls.pop(self.span, None)
                    if token is not None:
                        detach(token)

    def __del__(self) -> None:
        if self._open and not self.followed:  # whoever was to end it failed
            with _LOST:
                self.close(None)

    def _record(
        self, response: Any, error: BaseException | None, outcome: str, first_chunk: float | None
    ) -> None:
        attributes: dict[str, Any] = {}
        failed = ""
        cut = (
            self.stream
            and (self.followed or first_chunk is not None)
            and (error is not None or outcome != COMPLETE)
        )
        try:
            measured = self.state.metrics.enabled()
            if response is not None and (self.recording or measured or self.wants_response):
                self.endpoint.describe_response(response, attributes, cut=cut)
            elif cut:
                attributes[semconv.RESPONSE_FINISH_REASONS] = (UNFINISHED,)
            if first_chunk is not None:
                attributes[semconv.RESPONSE_TIME_TO_FIRST_CHUNK] = first_chunk - self.started
            if self.tries > 1:
                attributes[semconv.TRIES] = self.tries
            if error is not None:
                outcome = self._describe_error(error, outcome, attributes)
            elif semconv.ERROR_TYPE in attributes:  # the provider said so in its response
                failed = failure_message(response)
                outcome = outcome and ERROR
            if outcome:
                attributes[semconv.STREAM_OUTCOME] = outcome
            reply: ReplyFacts | None = None
            alone = self.recording and (self.request is None or not self.state.content.active)
            completing = self.endpoint.operation in semconv.COMPLETING_OPERATIONS
            told = measured or alone or completing or self.turn is not None
            if response is not None and (told or self.limited is not None):
                reply = self.endpoint.reply(response)
            if reply is not None and completing and reply.made_by is not None:
                reply.made_by.add_usage(reply.usage)
            if alone and reply is not None:  # its content will not be there to tell
                describe_reply(reply, attributes)
            if measured:
                usage = None if reply is None else reply.usage
                self._measure(attributes, usage, first_chunk)
            if self.limited is not None:
                usage = None if reply is None else reply.usage
                self.limited.ended({**self.attributes, **attributes}, usage)
            if self.turn is not None:
                self._tell(self.turn, reply, error, attributes)
            if self.state.settings.emit_events:
                self.ended_with = attributes
        finally:
            if self.recording:
                if self.state.settings.earlier_names:
                    for name in attributes.keys() & semconv.EARLIER.keys():
                        attributes[semconv.EARLIER[name]] = attributes[name]
                otel_fast.set_attributes(self.span, attributes)
                if error is not None and isinstance(error, Exception):
                    failed = provider_message(error)
                if failed:
                    self.span.set_status(Status(StatusCode.ERROR, failed))

    def _measure(
        self, attributes: dict[str, Any], usage: TokenUsage | None, first_chunk: float | None
    ) -> None:
        with _MEASURE:
            span = self.span.get_span_context()
            self.state.metrics.record(
                CallEnded(
                    self.attributes, attributes, usage, self.started, first_chunk, self.chunks, span
                )
            )

    def _describe_error(
        self, error: BaseException, outcome: str, attributes: dict[str, Any]
    ) -> str:
        """Write an error's attributes; returns the outcome that it makes."""
        if isinstance(error, Exception):
            attributes[semconv.ERROR_TYPE] = self._error_type(error)
            return outcome or (ERROR if self.stream else "")
        attributes.setdefault(semconv.RESPONSE_FINISH_REASONS, (UNFINISHED,))
        return CANCELLED

    def _tell(
        self,
        turn: Turn,
        reply: ReplyFacts | None,
        error: BaseException | None,
        attributes: Mapping[str, Any],
    ) -> None:
        rounds = self.endpoint.operation not in semconv.OUTSIDE_ROUNDS
        if reply is not None:
            turn.end_call(
                model=reply.model or self.model,
                finish_reasons=reply.finish_reasons,
                text=reply.text,
                tool_requests=reply.tool_requests,
                usage=reply.usage if rounds else None,
                refused=reply.refused,
            )
        if not rounds and reply is None:
            return  # it failed to fetch what goes on all the same
        pending: Any = getattr(self.endpoint, "pending", None)
        if pending is not None and semconv.RESPONSE_STATUS in attributes:
            pending[attributes.get(semconv.RESPONSE_ID)] = turn
        if error is not None or semconv.ERROR_TYPE in attributes:
            turn.fail_call(str(attributes.get(semconv.ERROR_TYPE, "")))

    def _emit(self, content: Any, error: BaseException | None) -> None:
        # Only where events are emitted.
        from turnspan.tracing import events

        kept: InferenceContent | None = None
        settings = self.state.settings
        if self.request is not None and settings.capture_content and settings.content_on_events:
            kept = InferenceContent(self.endpoint.dialect, self.request, content)
        events.call_ended(self.span, {**self.attributes, **(self.ended_with or {})}, kept, error)

    def _keep(self, request: dict[str, Any], response: Any) -> None:
        settings = self.state.settings
        content = InferenceContent(
            self.endpoint.dialect,
            request,
            response,
            self.turn,
            captured=settings.capture_content,
        )
        identity = self.span.get_span_context()
        self.state.content.put(identity.trace_id, identity.span_id, content)
        if settings.content_on_spans and settings.capture_content:
            # Only where content goes on spans or events.
            from turnspan.tracing.content_attributes import inference_attributes

            self.span.set_attributes(inference_attributes(content))

    def _error_type(self, error: Exception) -> str:
        code = self.endpoint.error_code(error)
        if isinstance(code, str) and _CODE.fullmatch(code):
            return code
        return type(error).__qualname__
