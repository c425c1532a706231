"""The recording of an agent's turn: its ``invoke_agent`` span and its ``Turn``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Span

from turnspan import config, metrics, semconv, spans
from turnspan.content.ledger import StartedTurn, TurnContent, ledger
from turnspan.context import (
    TURN_KEY,
    active_session,
    active_turn,
    inside_span,
    scope_attributes,
)
from turnspan.guard import guard
from turnspan.measurements import AgentEnded
from turnspan.recording import INTERNAL, SpanRecording, frozen, tracer
from turnspan.stops import Ending
from turnspan.turn import Turn


class TurnRecording(SpanRecording):
    """An agent's turn: an ``invoke_agent`` span and its Turn."""

    __slots__ = ("turn",)

    keeps_items = True

    def __init__(self, span: Span, context: Context, turn: Turn) -> None:
        super().__init__(span, context)
        self.turn = turn

    def abandoned(self) -> None:
        """The consumer left: the user aborted the turn, with what had arrived as its reply."""
        with guard("recording.end"):
            self.turn.abort("GeneratorExit")
            self._end(None, None, "abandoned")

    def _record(self, result: Any, error: BaseException | None, attributes: dict[str, Any]) -> None:
        turn = self.turn
        response = frozen(result)
        if turn.response_text is None and isinstance(response, str):
            turn.response_text = response
        ending = turn.finish(error)
        span = self._span
        if not span.is_recording():
            return
        if not turn.intent and config.active().classify_intent:
            turn.intent = _classified(turn.user_message)
        describe_turn(turn, ending, attributes)
        if config.active().capture_content:
            content = TurnContent(turn, user_message=turn.user_message, response=response)
        else:
            content = TurnContent(turn, captured=False)
        self._keep(content)

    def _measure(self, error_type: str) -> None:
        turn = self.turn
        span = self._span.get_span_context()
        seconds = self._seconds()
        metrics.put(
            AgentEnded(turn.agent_name, error_type, seconds, turn.llm_calls, turn.tool_calls, span)
        )


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
        given[semconv.TURN_AGENT_VERSION] = version
    if parent is not None:
        given[semconv.TURN_PARENT_ID] = parent.id
    if max_rounds is not None:
        given[semconv.TURN_MAX_ROUNDS] = max_rounds
    if attributes:
        given.update(attributes)
    span_name = f"invoke_agent {name}" if name else "invoke_agent"
    span = spans.start(tracer(), span_name, context, INTERNAL, given)
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
    turn.user_message = frozen(user_message)
    if span.is_recording():
        spans.set_attributes(span, {semconv.TURN_ID: turn.id})
        if ledger.active:
            _announce(span, turn)
    return TurnRecording(span, inside_span(span, context, TURN_KEY, turn), turn)


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
            identity.trace_id,
            identity.span_id,
            parent.span_id if parent is not None else 0,
            getattr(span, "start_time", None) or 0,
            turn,
            turn.user_message if config.active().capture_content else None,
            resource.attributes if resource is not None else {},
        )
    )


def describe_turn(turn: Turn, ending: Ending, attributes: dict[str, Any]) -> None:
    """Write what a turn's span says when it ends. Usage there is an aggregate: never add it to
    calls'."""
    attributes[semconv.TURN_STOP_REASON] = ending.reason
    attributes[semconv.TURN_ROUNDS] = turn.rounds
    attributes[semconv.TURN_LLM_CALLS] = turn.llm_calls
    attributes[semconv.TURN_TOOL_CALLS] = turn.tool_calls
    attributes[semconv.TURN_TOOL_ERRORS] = turn.tool_errors
    attributes[semconv.TURN_SILENT_ROUNDS] = turn.silent_rounds
    attributes[semconv.TURN_MAX_IDENTICAL_TOOL_STREAK] = turn.max_identical_tool_streak
    attributes[semconv.TURN_NO_PROGRESS_ROUNDS] = turn.no_progress_rounds
    if ending.detail:
        attributes[semconv.TURN_STOP_DETAIL] = ending.detail
    if turn.intent:
        attributes[semconv.TURN_INTENT] = turn.intent
    if turn.chat_mode:
        attributes[semconv.TURN_CHAT_MODE] = turn.chat_mode
    if turn.task_type:
        attributes[semconv.TURN_TASK_TYPE] = turn.task_type
    if turn.target:
        attributes[semconv.TURN_TARGET] = turn.target
    if turn.models:
        attributes[semconv.TURN_MODELS] = tuple(turn.models)
    usage = turn.usage
    if usage.input_tokens is not None:
        attributes[semconv.USAGE_INPUT_TOKENS] = usage.input_tokens
    if usage.output_tokens is not None:
        attributes[semconv.USAGE_OUTPUT_TOKENS] = usage.output_tokens
    for key, value in turn.attributes.items():
        attributes[key] = value if isinstance(value, (str, bool, int, float)) else _spelled(value)


def _spelled(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001  too deep, or an object's own
        return f"<unreadable {type(value).__name__}>"


def _classified(message: Any) -> str:
    from turnspan.intent import classify_intent

    return classify_intent(message) if isinstance(message, str) else ""
