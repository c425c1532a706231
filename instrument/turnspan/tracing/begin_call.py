"""The beginning of a model call, before the user's function runs: its span and its request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Tracer

from turnspan import semconv
from turnspan.runtime.call_limits import LimitedCall
from turnspan.runtime.guard import errors
from turnspan.runtime.inspection import on
from turnspan.runtime.otel_private import SUPPRESSION_KEY
from turnspan.tracing import otel_fast
from turnspan.tracing.call_around import AROUND_KEY, CallAround
from turnspan.tracing.context import SESSION_KEY, TURN_KEY, scope_attributes
from turnspan.tracing.endpoint import Endpoint
from turnspan.tracing.framework_sessions import session_of
from turnspan.tracing.limited_calls import InUse, allow
from turnspan.tracing.model_call import ACTIVE_CALL, ModelCall
from turnspan.tracing.state import State, default
from turnspan.tracing.state import current as current_state

_SUPPRESSED_PLAIN: Final = "suppress_instrumentation"
_CLIENT: Final = SpanKind.CLIENT  # looking a member up calls a function, until Python 3.12


def begin(
    tracer: Tracer,
    endpoint: Endpoint,
    target: Mapping[str, Any],
    body: Mapping[str, Any],
    *,
    stream: bool,
    began: tuple[int, float] | None = None,
    limited: LimitedCall | None = None,
) -> ModelCall | None:
    """Start the span of a call about to be made, or ``None`` when it is not to be recorded.

    ``target`` holds the attributes of provider and server; ``began`` says when (``time.time_ns``,
    ``time.perf_counter``), of one that has been made already, ``limited`` what allowed that one.
    What fails after the span has begun is swallowed, what fails before is raised; callers guard.

    Raises:
        TurnspanLimitReached: the call would go beyond a limit.
    """
    outer = otel_context.get_current()
    state = current_state(outer)
    settings = state.settings
    if not settings.enabled or on():
        return None
    turn: Any = None
    session: Any = None
    if outer:
        if is_suppressed(outer):
            return None
        running = outer.get(ACTIVE_CALL)
        if isinstance(running, ModelCall) and running.covers(endpoint.operation):
            return None  # a wrapper over this SDK records the same call already
        turn, session = outer.get(TURN_KEY), outer.get(SESSION_KEY)
    rounds = endpoint.operation not in semconv.OUTSIDE_ROUNDS
    completing = endpoint.operation in semconv.COMPLETING_OPERATIONS
    concerned = turn if rounds or completing else None
    if began is None and (InUse.blocks or settings.limits is not None):
        limited = allow(outer, settings, turn, session, rounds)
    call = ModelCall(endpoint, outer, concerned, stream, state)
    call.limited = limited
    attributes = dict(target)
    endpoint.describe(body, attributes)
    _say_whose(attributes, outer, turn, session)
    around = outer.get(AROUND_KEY) if outer else None
    if isinstance(around, CallAround) and rounds:
        around.has_begun(attributes)
    if turn is not None:
        attributes[semconv.ROUND] = turn.begin_call() if rounds else turn.rounds
    model = attributes.get(semconv.REQUEST_MODEL, "")
    call.model = model
    name = f"{endpoint.operation} {model}" if model else endpoint.operation
    call.attributes = attributes
    if state is not default:
        tracer = state.like(tracer)
    if began is None:
        call.begun(otel_fast.start(tracer, name, outer, _CLIENT, attributes))
    else:
        since, call.started = began
        call.begun(tracer.start_span(name, outer, _CLIENT, attributes, start_time=since))
    try:
        if _wants_request(call, state, turn is None):
            _freeze_request(call, body)
    except BaseException as error:  # noqa: BLE001  costs the content only
        errors.record("call.freeze_request", error)
    if call.recording and (call.request is not None or state.content.active):
        state.content.open_calls[call.span] = (endpoint.dialect, call.request, None)
    return call


def _say_whose(attributes: dict[str, Any], outer: Context, turn: Any, session: Any) -> None:
    """The attributes of the turn and the session around the call."""
    if turn is not None or session is not None:
        if turn is not None:  # whose session is that of the call, whatever the request names
            attributes.pop(semconv.CONVERSATION_ID, None)
        attributes.update(scope_attributes(turn, session))
        # An attempt's session names no conversation.
        if turn is None and not session.id and semconv.CONVERSATION_ID not in attributes:
            _name_session(outer, attributes)
    elif outer and semconv.CONVERSATION_ID not in attributes:
        _name_session(outer, attributes)


def _wants_request(call: ModelCall, state: State, undecorated: bool) -> bool:
    """Whether anybody is to see what was asked."""
    settings = state.settings
    if settings.capture_content:
        return (call.recording and (state.content.active or settings.content_on_spans)) or (
            settings.emit_events and settings.content_on_events
        )
    # In memory only: whose undecorated call it is, its messages alone can tell.
    return undecorated and call.recording and state.content.active


def _name_session(outer: Context, attributes: dict[str, Any]) -> None:
    """The conversation that a framework around the call names."""
    try:
        session = session_of(outer)
    except BaseException as error:  # noqa: BLE001  costs that name only
        errors.record("call.framework_session", error)
        return
    if session:
        attributes[semconv.CONVERSATION_ID] = session


def _freeze_request(call: ModelCall, body: Mapping[str, Any]) -> None:
    request = call.endpoint.freeze(body)
    call.request = request
    turn = call.turn
    if turn is None or call.endpoint.operation in semconv.OUTSIDE_ROUNDS:
        return
    if turn.first_request is None:
        turn.first_request = (call.endpoint.dialect, request)


def is_suppressed(context: Context) -> bool:
    """Whether somebody wants nothing recorded here."""
    return bool(context.get(SUPPRESSION_KEY) or context.get(_SUPPRESSED_PLAIN))


def current_call() -> ModelCall | None:
    """The call whose SDK function is at work in this context."""
    call = otel_context.get_value(ACTIVE_CALL)
    return call if isinstance(call, ModelCall) and call.under_way else None
