"""The recording of an agent's turn: its ``invoke_agent`` span and its ``Turn``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span

from turnspan import semconv
from turnspan.metrics.measurements import AgentEnded
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.inspection import looking
from turnspan.runtime.value_exceptions import delivered
from turnspan.tracing import handed, otel_fast
from turnspan.tracing.content_store import StartedTurn, TurnContent
from turnspan.tracing.context import (
    TURN_KEY,
    active_session,
    active_turn,
    inside_span,
    scope_attributes,
)
from turnspan.tracing.recording import INTERNAL, SpanRecording, context_of, safe_freeze
from turnspan.tracing.state import State
from turnspan.tracing.state import current as current_state
from turnspan.turn.stop_reasons import Ending
from turnspan.turn.turn import Turn

_NO_ID: Final = "0" * 16


class TurnRecording(SpanRecording):
    """An agent's turn: an ``invoke_agent`` span and its Turn."""

    __slots__ = ("_began_in", "turn")

    keeps_items = True

    def __init__(self, span: Span, context: Context, turn: Turn) -> None:
        super().__init__(span, context)
        self.turn = turn
        self._began_in = turn.session

    def abandoned(self) -> None:
        """The consumer left: the user aborted the turn, with what had arrived as its reply."""
        with guard("recording.end"):
            self.turn.abort("GeneratorExit")
            self._end(None, None, "abandoned")

    def _record(self, result: Any, error: BaseException | None, attributes: dict[str, Any]) -> None:
        turn = self.turn
        if turn.response_text is None:  # else the application has said what it answers
            turn.response_text = self._frozen(result)
        ending = turn.finish(error)
        if handed.running():
            handed.turn_ended(turn)
        span = self.span
        if not span.is_recording():
            return
        settings = self._state.settings
        if settings.classify_intent:
            _classify(turn)
        describe_turn(turn, ending, attributes)
        if turn.session is not self._began_in:
            attributes.update(scope_attributes(None, turn.session))
        if settings.capture_content:
            content = TurnContent(turn, user_message=turn.user_message)
        else:
            content = TurnContent(turn, captured=False)
        self._keep(content)

    def _frozen(self, result: Any) -> Any:
        if result is None or type(result) is str:
            return result
        # Only for an answer that is no text.
        from turnspan.tracing.answer import freeze_answer

        try:
            with looking:
                return freeze_answer(result)
        except BaseException as error:  # noqa: BLE001  an object's own methods may raise
            errors.record("recording.freeze", error)
            return f"<unreadable {type(result).__name__}>"

    def _measure(self, error_type: str) -> None:
        turn = self.turn
        span = self.span.get_span_context()
        seconds = self._seconds()
        self._state.metrics.record(
            AgentEnded(turn.agent_name, error_type, seconds, turn.llm_calls, turn.tool_calls, span)
        )


def begin_turn(
    name: str,
    version: str,
    max_rounds: Any,
    user_message: Any,
    attributes: Mapping[str, Any],
    state: State | None = None,
) -> TurnRecording:
    """Start an agent's span and turn, of this recorder, or else of the current one; the turn's
    parent is the turn around it."""
    context = context_of(state)
    state = current_state(context)
    parent = active_turn(context)
    session = active_session(context) or (None if parent is None else parent.session)
    given: dict[str, Any] = {semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT}
    if session is not None:
        given.update(scope_attributes(None, session))
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
    span = otel_fast.start(state.decorators, span_name, context, INTERNAL, given, semconv.TURN_ID)
    settings = state.settings
    turn = Turn(
        otel_fast.id_of(span),
        agent_name=name,
        agent_version=version,
        parent=parent,
        session=session,
        max_rounds=max_rounds,
        silent_rounds_limit=settings.silent_rounds,
    )
    turn.user_message = safe_freeze(user_message)
    if turn.id == _NO_ID:  # no SDK configured: its own children still need to tell it by something
        turn.id = os.urandom(8).hex()
    elif state.content.active and span.is_recording():
        _announce(state, span, turn)
    return TurnRecording(span, inside_span(span, context, TURN_KEY, turn), turn)


def _announce(state: State, span: Span, turn: Turn) -> None:
    identity = span.get_span_context()
    parent = getattr(span, "parent", None)
    resource = getattr(span, "resource", None)
    state.content.tell(
        StartedTurn(
            identity.trace_id,
            identity.span_id,
            parent.span_id if parent is not None else 0,
            getattr(span, "start_time", None) or 0,
            turn,
            turn.user_message if state.settings.capture_content else None,
            resource.attributes if resource is not None else {},
        )
    )


def describe_turn(turn: Turn, ending: Ending, attributes: dict[str, Any]) -> None:
    """Write what a turn's span says when it ends. Usage there is an aggregate: never add it to
    calls'."""
    told: Any = turn  # what an application says of its turn may be of any type
    attributes[semconv.TURN_STOP_REASON] = ending.reason
    attributes[semconv.TURN_ROUNDS] = told.rounds
    attributes[semconv.TURN_LLM_CALLS] = told.llm_calls
    attributes[semconv.TURN_TOOL_CALLS] = told.tool_calls
    attributes[semconv.TURN_TOOL_ERRORS] = told.tool_errors
    attributes[semconv.TURN_SILENT_ROUNDS] = told.silent_rounds
    attributes[semconv.TURN_MAX_IDENTICAL_TOOL_STREAK] = told.max_identical_tool_streak
    attributes[semconv.TURN_NO_PROGRESS_ROUNDS] = told.no_progress_rounds
    if ending.detail:
        attributes[semconv.TURN_STOP_DETAIL] = ending.detail
    if told.intent:
        attributes[semconv.TURN_INTENT] = told.intent
    if told.chat_mode:
        attributes[semconv.TURN_CHAT_MODE] = told.chat_mode
    if told.task_type:
        attributes[semconv.TURN_TASK_TYPE] = told.task_type
    if told.target:
        attributes[semconv.TURN_TARGET] = told.target
    if told.models:
        attributes[semconv.TURN_MODELS] = tuple(told.models)
    usage = told.usage
    if usage.input_tokens is not None:
        attributes[semconv.USAGE_INPUT_TOKENS] = usage.input_tokens
    if usage.output_tokens is not None:
        attributes[semconv.USAGE_OUTPUT_TOKENS] = usage.output_tokens
    for key, value in told.attributes.items():
        attributes[key] = value if isinstance(value, (str, bool, int, float)) else _spelled(value)


def _spelled(value: Any) -> str:
    try:
        with looking:
            return str(value)
    except BaseException as error:
        if delivered(error):
            raise
        return f"<unreadable {type(value).__name__}>"


def _classify(turn: Any) -> None:
    # Only where intents are asked for.
    from turnspan.turn.intent import classify_intent

    if not turn.intent and isinstance(turn.user_message, str):
        turn.intent = classify_intent(turn.user_message)
