"""Recordings: the life of one agent, tool, workflow or step span, from begin to end.

Everything here runs beside the user's code, on the user's thread, under a guard: it never raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from turnspan import config, semconv
from turnspan.aborts import is_abort
from turnspan.content.ledger import Content, StartedTurn, ToolContent, TurnContent, ledger
from turnspan.content.shapes import is_dict
from turnspan.content.snapshot import freeze
from turnspan.context import TURN_KEY, active_session, active_turn, scope_attributes
from turnspan.guard import guard
from turnspan.loops import ToolFact
from turnspan.outcomes import tool_failed
from turnspan.turn import Ending, Turn

_MAX_ITEMS = 10_000
_MAX_DESCRIPTION = 500

_tracer = trace.get_tracer(semconv.SCOPE_DECORATORS)


def use_tracer_provider(provider: trace.TracerProvider | None) -> None:
    """Record under this provider; ``None`` means the global one, whatever it becomes."""
    global _tracer
    _tracer = trace.get_tracer(semconv.SCOPE_DECORATORS, tracer_provider=provider)


def detach(token: object | None) -> None:
    """Take back an attached context, quietly where that was done in another task's context.

    A step of an async generator may be finished by another task (the event loop closes abandoned
    ones), where the token means nothing and nothing is current that would have to be taken back.
    OpenTelemetry's own ``detach`` logs an error then.
    """
    given: Any = token
    if hasattr(given, "var"):  # a contextvars.Token, as every runtime of OpenTelemetry's gives
        try:
            given.var.reset(given)
        except ValueError:
            return
    elif given is not None:
        otel_context.detach(given)


class SpanRecording:
    """The base: a span that is current while the user's code runs (see wrapping.Recording)."""

    __slots__ = ("_context", "_items", "_span", "_text_size")

    def __init__(self, span: Span, context: Context) -> None:
        self._span = span
        self._context = context
        self._items: list[Any] | None = None
        self._text_size = 0

    @property
    def span(self) -> Span:
        """The span; give it attributes of your own with ``set_attribute``."""
        return self._span

    def enter(self) -> object | None:
        """Make the span current."""
        with guard("recording.enter"):
            return otel_context.attach(self._context)
        return None

    def leave(self, token: object | None) -> None:
        """Make the former span current again, where this code still runs in the same context."""
        with guard("recording.leave"):
            detach(token)

    def suspend(self, token: object | None) -> None:
        """Leave at a yield; a span that the generator itself made current stays its own."""
        with guard("recording.leave"):
            if token is not None:
                self._context = otel_context.get_current()
                detach(token)

    def item(self, value: Any) -> None:
        """A generator yielded this; kept (frozen) up to 10,000 items."""
        with guard("recording.item"):
            if self._items is None:
                self._items = []
            if len(self._items) < _MAX_ITEMS:
                self._items.append(_frozen(value))

    def done(self, result: Any) -> None:
        """The code returned this."""
        with guard("recording.end"):
            self._end(result, None, "")

    def exhausted(self, result: Any) -> None:
        """A generator ran to its end."""
        with guard("recording.end"):
            self._end(result, None, "complete")

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The code raised this."""
        with guard("recording.end"):
            outcome = "cancelled" if is_abort(error) else "error"
            self._end(None, error, outcome if stream else "")

    def abandoned(self) -> None:
        """The consumer left a generator before its end."""
        with guard("recording.end"):
            self._end(None, None, "abandoned")

    def _output(self, result: Any) -> Any:
        items = self._items
        if not items:
            return result
        if all(isinstance(item, str) for item in items):
            return "".join(items)
        return items

    def _end(self, result: Any, error: BaseException | None, outcome: str) -> None:
        span = self._span
        try:
            if outcome:
                span.set_attribute(semconv.STREAM_OUTCOME, outcome)
            self._record(self._output(result), error)
            if error is not None and not is_abort(error):
                mark_error(span, error)
        finally:
            span.end()

    def _record(self, result: Any, error: BaseException | None) -> None:
        """What a kind of recording adds before its span ends."""

    def _keep(self, content: Content) -> None:
        identity = self._span.get_span_context()
        ledger.put(identity.trace_id, identity.span_id, content)


class TurnRecording(SpanRecording):
    """An agent's turn: an ``invoke_agent`` span and its Turn."""

    __slots__ = ("turn",)

    def __init__(self, span: Span, context: Context, turn: Turn) -> None:
        super().__init__(span, context)
        self.turn = turn

    def abandoned(self) -> None:
        """The consumer left: the user aborted the turn, with what had arrived as its reply."""
        with guard("recording.end"):
            self.turn.abort("GeneratorExit")
            self._end(None, None, "abandoned")

    def _record(self, result: Any, error: BaseException | None) -> None:
        turn = self.turn
        response = _frozen(result)
        if turn.response_text is None and isinstance(response, str):
            turn.response_text = response
        ending = turn.finish(error)
        span = self._span
        if not span.is_recording():
            return
        if not turn.intent and config.active().classify_intent:
            turn.intent = _classified(turn.user_message)
        span.set_attributes(turn_attributes(turn, ending))
        if config.active().capture_content:
            content = TurnContent(turn, user_message=turn.user_message, response=response)
        else:
            content = TurnContent(turn, captured=False)
        self._keep(content)


class ToolRecording(SpanRecording):
    """An executed tool: an ``execute_tool`` span."""

    __slots__ = ("_arguments", "_fact", "_turn", "failure", "outcome")

    def __init__(
        self, span: Span, context: Context, turn: Turn | None, name: str, arguments: Any
    ) -> None:
        super().__init__(span, context)
        self._turn = turn
        self._arguments = arguments
        self._fact: ToolFact | None = None
        self.outcome: Any = None
        self.failure = ""
        if turn is not None:
            self._fact = turn.begin_tool(name, arguments)

    def _record(self, result: Any, error: BaseException | None) -> None:
        if result is None:
            result = self.outcome
        frozen = _frozen(result)
        failed = error is not None or bool(self.failure) or tool_failed(frozen)
        if self._turn is not None and self._fact is not None:
            self._turn.end_tool(self._fact, frozen, failed)
        span = self._span
        if not span.is_recording():
            return
        if failed:
            span.set_attribute(semconv.TOOL_FAILED, True)
        if self.failure and error is None:
            span.set_attribute(semconv.ERROR_TYPE, "tool_error")
            span.set_status(Status(StatusCode.ERROR, self.failure[:_MAX_DESCRIPTION]))
        if config.active().capture_content:
            content = ToolContent(self._arguments, frozen, self._turn)
            self._keep(content)
            if config.active().content_on_spans:
                from turnspan.content.on_span import tool_attributes

                span.set_attributes(tool_attributes(content))


def mark_error(span: Span, error: BaseException) -> None:
    """Say on a span that it ended with an exception."""
    text = name = type(error).__qualname__
    span.set_attribute(semconv.ERROR_TYPE, name)
    with guard("recording.error"):
        text = f"{name}: {error}"
    span.set_status(Status(StatusCode.ERROR, text[:_MAX_DESCRIPTION]))


def _frozen(value: Any) -> Any:
    """What a value looks like now; a marker for what cannot be read of it."""
    with guard("recording.freeze"):
        return freeze(value)
    if is_dict(value):  # the arguments of a call: the others can be read
        return {name: _readable(item) for name, item in value.items()}
    return _readable(value)


def _readable(value: Any) -> Any:
    with guard("recording.freeze"):
        return freeze(value)
    return f"<unreadable {type(value).__name__}>"


def begin_turn(
    name: str,
    version: str,
    max_rounds: int | None,
    user_message: Any,
    attributes: Mapping[str, Any],
) -> TurnRecording:
    """Start an agent's span and turn; the turn's parent is the turn around it."""
    context = otel_context.get_current()
    parent = active_turn(context)
    session = active_session(context)
    given: dict[str, Any] = {semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT}
    given.update(scope_attributes(None, session or (parent.session if parent else None)))
    if name:
        given[semconv.AGENT_NAME] = name
    if version:
        given[semconv.AGENT_VERSION] = version
    if parent is not None:
        given[semconv.TURN_PARENT_ID] = parent.id
    if max_rounds is not None:
        given[semconv.TURN_MAX_ROUNDS] = max_rounds
    if attributes:
        given.update(attributes)
    span = _tracer.start_span(
        f"invoke_agent {name}" if name else "invoke_agent",
        context,
        SpanKind.INTERNAL,
        attributes=given,
    )
    settings = config.active()
    turn = Turn(
        _turn_id(span),
        agent_name=name,
        agent_version=version,
        parent=parent,
        session=session or (parent.session if parent else None),
        max_rounds=max_rounds,
        silent_rounds_limit=settings.silent_rounds,
    )
    turn.user_message = _frozen(user_message)
    if span.is_recording():
        span.set_attribute(semconv.TURN_ID, turn.id)
        if ledger.active:
            _announce(span, turn)
    inside = otel_context.set_value(TURN_KEY, turn, trace.set_span_in_context(span, context))
    return TurnRecording(span, inside, turn)


def _turn_id(span: Span) -> str:
    identity = span.get_span_context().span_id
    if not identity:  # no SDK configured: the turn still needs an identity for its own children
        import os

        return os.urandom(8).hex()
    return f"{identity:016x}"


def _announce(span: Span, turn: Turn) -> None:
    identity = span.get_span_context()
    parent = getattr(span, "parent", None)
    resource = getattr(span, "resource", None)
    ledger.announce(
        StartedTurn(
            trace_id=identity.trace_id,
            span_id=identity.span_id,
            parent_span_id=parent.span_id if parent is not None else 0,
            start_time=getattr(span, "start_time", None) or 0,
            turn=turn,
            user_message=turn.user_message if config.active().capture_content else None,
            resource=resource.attributes if resource is not None else {},
        )
    )


def begin_tool(
    name: str,
    *,
    call_id: str,
    description: str,
    tool_type: str,
    arguments: Any,
    attributes: Mapping[str, Any],
) -> ToolRecording:
    """Start a tool's span; ``arguments`` are frozen here, before the tool can change them."""
    context = otel_context.get_current()
    turn = active_turn(context)
    given: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
        semconv.TOOL_NAME: name,
        semconv.TOOL_TYPE: tool_type,
    }
    given.update(scope_attributes(turn, active_session(context)))
    frozen = _frozen(arguments)
    if not call_id and turn is not None:
        call_id = turn.requested_call_id(name, frozen)
    if call_id:
        given[semconv.TOOL_CALL_ID] = call_id
    if description:
        given[semconv.TOOL_DESCRIPTION] = description
    if turn is not None:
        given[semconv.ROUND] = turn.rounds
    if attributes:
        given.update(attributes)
    span = _tracer.start_span(f"execute_tool {name}", context, SpanKind.INTERNAL, attributes=given)
    inside = trace.set_span_in_context(span, context)
    return ToolRecording(span, inside, turn, name, frozen)


def begin_span(span_name: str, attributes: dict[str, Any]) -> SpanRecording:
    """Start a workflow's or step's span."""
    context = otel_context.get_current()
    attributes.update(scope_attributes(active_turn(context), active_session(context)))
    span = _tracer.start_span(span_name, context, SpanKind.INTERNAL, attributes=attributes)
    return SpanRecording(span, trace.set_span_in_context(span, context))


def turn_attributes(turn: Turn, ending: Ending) -> dict[str, Any]:
    """What a turn's span says when it ends. Usage there is an aggregate: never add it to calls'."""
    attributes: dict[str, Any] = {
        semconv.TURN_STOP_REASON: ending.reason,
        semconv.TURN_ROUNDS: turn.rounds,
        semconv.TURN_LLM_CALLS: turn.llm_calls,
        semconv.TURN_TOOL_CALLS: turn.tool_calls,
        semconv.TURN_TOOL_ERRORS: turn.tool_errors,
        semconv.TURN_SILENT_ROUNDS: turn.silent_rounds,
        semconv.TURN_MAX_IDENTICAL_TOOL_STREAK: turn.max_identical_tool_streak,
        semconv.TURN_NO_PROGRESS_ROUNDS: turn.no_progress_rounds,
    }
    optional = (
        (semconv.TURN_STOP_DETAIL, ending.detail),
        (semconv.TURN_INTENT, turn.intent),
        (semconv.TURN_CHAT_MODE, turn.chat_mode),
        (semconv.TURN_TASK_TYPE, turn.task_type),
        (semconv.TURN_TARGET, turn.target),
        (semconv.USAGE_INPUT_TOKENS, turn.usage.input_tokens),
        (semconv.USAGE_OUTPUT_TOKENS, turn.usage.output_tokens),
        (semconv.REQUEST_MODEL, turn.models[0] if len(turn.models) == 1 else None),
    )
    attributes.update({key: value for key, value in optional if value or value == 0})
    for key, value in turn.attributes.items():
        attributes[key] = value if isinstance(value, (str, bool, int, float)) else str(value)
    return attributes


def _classified(message: Any) -> str:
    from turnspan.intent import classify_intent

    return classify_intent(message) if isinstance(message, str) else ""
