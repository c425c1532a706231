"""Recordings: the life of one workflow or step span (agents: ``agents``, tools: ``tools``).

Everything here runs beside the user's code, on the user's thread, under a guard: it never raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import Token
from typing import Any, Final, cast

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from turnspan import config, semconv
from turnspan.content.snapshot import freeze
from turnspan.metrics.measurements import WorkflowEnded
from turnspan.runtime import otel_private
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.inspection import looking
from turnspan.runtime.type_guards import is_dict, kind_of
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing import otel_fast
from turnspan.tracing.content_store import Content
from turnspan.tracing.context import active_session, active_turn, scope_attributes
from turnspan.tracing.state import State, default, within
from turnspan.tracing.state import current as current_state

_MAX_ITEMS = 10_000
MAX_DESCRIPTION = 500

INTERNAL: Final = SpanKind.INTERNAL  # looking a member up calls a function, until Python 3.12

forks: int = 0
"""How many forks lie between the first process and this one: by it a block that a forked child
unwinds knows that its parent, which began it, tells its end."""


def _after_fork() -> None:
    global forks
    forks += 1


in_child(_after_fork)


_variable: Final = otel_private.current_context_variable()
# Each step of a generator does both: by OpenTelemetry's functions they cost three times as much.
attach: Final[Callable[[Context], object]] = (
    otel_context.attach if _variable is None else _variable.set
)
"""Makes a context current; ``detach`` takes it back."""
current: Final[Callable[[], Context]] = (
    otel_context.get_current if _variable is None else _variable.get
)
"""The current context."""
_reset: Final[Callable[[Any], object]] = (
    otel_context.detach if _variable is None else _variable.reset
)


def detach(token: object | None) -> None:
    """Take back an attached context, quietly where that was done in another task's context.

    A step of an async generator may be finished by another task (the event loop closes abandoned
    ones), where the token means nothing and nothing is current that would have to be taken back.
    OpenTelemetry's own ``detach`` logs an error then.
    """
    given: Any = token
    if kind_of(token) is Token:  # as every runtime of OpenTelemetry's gives
        try:
            given.var.reset(given)
        except ValueError:
            return
    elif given is not None:
        otel_context.detach(given)


class SpanRecording:
    """The base: a span that is current while the user's code runs (see wrapping.Recording)."""

    __slots__ = ("_began", "_forks", "_items", "_state", "context", "instead", "span")

    keeps_items = False
    """Whether what a generator yields is part of what is recorded."""

    def __init__(self, span: Span, context: Context) -> None:
        self._began = time.perf_counter()
        self.span = span
        """The span; give it attributes of your own with ``set_attribute``."""
        self.context = context
        """The context inside it."""
        self.instead: Any = None
        self._state = current_state(context)
        self._items: list[Any] | None = [] if self.keeps_items else None
        self._forks = forks

    # Guarded without ``guard``, which costs as much as what it guards; a generator pays each step.

    def enter(self) -> object | None:
        """Make the span current."""
        try:
            return attach(self.context)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("recording.enter", error)
            return None

    def leave(self, token: object | None) -> None:
        """Make the former span current again, where this code still runs in the same context."""
        try:
            detach(token)
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("recording.leave", error)

    def suspend(self, token: object | None, item: Any) -> None:
        """Leave at a yield of this item, which is kept (frozen) if it is among the first 10,000; a
        span that the generator itself made current stays its own."""
        try:
            items = self._items
            if items is not None and len(items) < _MAX_ITEMS:
                items.append(item if type(item) is str else self._frozen(item))
            if token is not None:
                given: Any = token
                self.context = current()
                _reset(given)
        except ValueError:
            return  # the token is of another task's context, as in ``detach``
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("recording.suspend", error)

    def succeeded(self, result: Any) -> None:
        """The code returned this."""
        try:
            self._end(result, None, "")
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("recording.end", error)

    def exhausted(self, result: Any) -> None:
        """A generator ran to its end."""
        try:
            self._end(result, None, "complete")
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("recording.end", error)

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The code raised this."""
        with guard("recording.end"):
            outcome = "cancelled" if is_abort(error) else "error"
            self._end(None, error, outcome if stream else "")

    def abandoned(self) -> None:
        """The consumer left a generator before its end."""
        with guard("recording.end"):
            self._end(None, None, "abandoned")

    def _frozen(self, result: Any) -> Any:
        return safe_freeze(result)

    def _output(self, result: Any) -> Any:
        items = self._items
        if not items:
            return result
        try:
            return "".join(items)
        except TypeError:  # not all of them are texts
            return items

    def _end(self, result: Any, error: BaseException | None, outcome: str) -> None:
        if self._forks != forks:  # a child that unwinds: the span is its parent's, and goes on
            return
        if self._state is default:
            self._end_span(result, error, outcome)
            return
        token = attach(self.context)  # what is said of the end asks for the current recorder
        try:
            self._end_span(result, error, outcome)
        finally:
            detach(token)

    def _end_span(self, result: Any, error: BaseException | None, outcome: str) -> None:
        span = self.span
        attributes: dict[str, Any] = {semconv.STREAM_OUTCOME: outcome} if outcome else {}
        try:
            try:
                self._record(self._output(result), error, attributes)
            finally:
                otel_fast.set_attributes(span, attributes)
            if error is not None and is_abort(error):
                error = None
            if error is not None:
                mark_error(span, error, self._error_type(error))
            if self._state.metrics.enabled():
                self._measure("" if error is None else self._error_type(error))
        finally:
            if self._state.closed:
                self._state.late += 1
            span.end()

    def _error_type(self, error: BaseException) -> str:
        return type(error).__qualname__

    def _record(self, result: Any, error: BaseException | None, attributes: dict[str, Any]) -> None:
        """What a kind of recording adds before its span ends; the attributes go on the span."""

    def _measure(self, error_type: str) -> None:
        """The metrics of a kind of recording."""

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _keep(self, content: Content) -> None:
        identity = self.span.get_span_context()
        self._state.content.put(identity.trace_id, identity.span_id, content)


class WorkflowRecording(SpanRecording):
    """A workflow: an ``invoke_workflow`` span."""

    __slots__ = ("_name",)

    def __init__(self, span: Span, context: Context, name: str) -> None:
        super().__init__(span, context)
        self._name = name

    def _measure(self, error_type: str) -> None:
        span = self.span.get_span_context()
        self._state.metrics.record(WorkflowEnded(self._name, error_type, self._seconds(), span))


def mark_error(span: Span, error: BaseException, error_type: str = "") -> None:
    """Say on a span that it ended with an exception, of this type or by its class."""
    text = name = error_type or type(error).__qualname__
    span.set_attribute(semconv.ERROR_TYPE, name)
    with guard("recording.error"):
        # The masks: loaded with the first text that needs them.
        from turnspan.redaction.brief import error_text

        with looking:
            text = error_text(error, MAX_DESCRIPTION, name)
    span.set_status(Status(StatusCode.ERROR, text))


def redacted_message(message: str) -> str:
    """What an application said of a failure, as a status may say it: redacted, then cut."""
    settings = config.active()
    if not settings.capture_content:
        return ""
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.redactor import Redactor

    return Redactor(settings).beginning(message, "error", MAX_DESCRIPTION)


def safe_freeze(value: Any) -> Any:
    """What a value looks like now; a marker for what cannot be read of it. Each is read once."""
    if is_dict(value):  # the arguments of a call: one that cannot be read costs itself
        return {name: _readable(item) for name, item in _items(value)}
    return _readable(value)


_items: Final[Callable[[Any], Any]] = cast("Any", dict).items  # a subclass's own may raise


def _readable(value: Any) -> Any:
    if value is None or type(value) is str:
        return value
    try:
        return freeze(value)
    except BaseException as error:  # noqa: BLE001  an object's own methods may raise
        errors.record("recording.freeze", error)
        return f"<unreadable {type(value).__name__}>"


def context_of(state: State | None) -> Context:
    """The current context; where a recorder is named, that one is current in it."""
    return current() if state is None else within(current(), state)


def begin_span(
    span_name: str, attributes: dict[str, Any], state: State | None = None
) -> SpanRecording:
    """Start a workflow's or step's span, of this recorder, or else of the current one."""
    context = context_of(state)
    workflow = attributes.get(semconv.OPERATION_NAME) == semconv.OP_INVOKE_WORKFLOW
    name = attributes.get(semconv.AGENT_NAME) if workflow else None
    if context:
        attributes.update(scope_attributes(active_turn(context), active_session(context)))
    if name is not None:  # its own, not that of the agent around it
        attributes[semconv.AGENT_NAME] = name
        if current_state(context).settings.earlier_names:
            attributes[semconv.EARLIER[semconv.AGENT_NAME]] = name
    elif workflow:
        attributes.pop(semconv.AGENT_NAME, None)
    span = otel_fast.start(
        current_state(context).decorators, span_name, context, INTERNAL, attributes
    )
    inside = trace.set_span_in_context(span, context)
    if workflow:
        return WorkflowRecording(span, inside, name or "")
    return SpanRecording(span, inside)
