"""Executed tools: their spans, and what runs inside them may know of them.

Everything here runs beside the user's code, under a guard of the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from turnspan import semconv
from turnspan.metrics.measurements import ToolEnded
from turnspan.tracing import otel_fast
from turnspan.tracing.content_store import ToolContent
from turnspan.tracing.context import (
    TOOL_KEY,
    active_session,
    active_turn,
    inside_span,
    scope_attributes,
)
from turnspan.tracing.recording import (
    INTERNAL,
    SpanRecording,
    context_of,
    redacted_message,
    safe_freeze,
)
from turnspan.tracing.state import State
from turnspan.tracing.state import current as current_state
from turnspan.tracing.tool_answers import class_of
from turnspan.turn.loop_detector import ExecutedTool
from turnspan.turn.tool_failure import tool_failed
from turnspan.turn.turn import Turn

_TOOL_ERROR: Final = "tool_error"
_PLAIN: Final = frozenset({dict, type(None)})
"""Types of results that the recorded text tells."""
_NO_ATTRIBUTES: Final[Mapping[str, Any]] = {}


class OpenTool:
    """A tool being executed, for what runs inside it (an MCP call) to know and to enrich."""

    __slots__ = (
        "arguments",
        "asked",
        "call_id",
        "fact",
        "failure",
        "kind",
        "name",
        "span",
        "turn",
    )

    def __init__(
        self,
        span: Span,
        turn: Turn | None,
        name: str,
        kind: str,
        arguments: Any,
        call_id: str = "",
    ) -> None:
        self.kind = kind
        self.span = span
        self.turn = turn
        self.name = name
        self.arguments = arguments
        self.call_id = call_id
        self.asked = False
        """Whether a rerun was asked for its result."""
        self.failure = ""
        """How it failed, where it did not raise."""
        self.fact: ExecutedTool | None = None
        if turn is not None:
            self.fact = turn.begin_tool(name, arguments, call_id)

    def is_called(self, name: str, arguments: Any) -> None:
        """What it executes has another name (it is a dispatcher of tools), or these arguments."""
        self.name, self.arguments = name, arguments
        if self.fact is not None:
            self.fact.name, self.fact.arguments = name, arguments


class ToolRecording(SpanRecording):
    """An executed tool: an ``execute_tool`` span."""

    __slots__ = ("error_type", "outcome", "tool")

    keeps_items = True

    def __init__(self, context: Context, tool: OpenTool) -> None:
        super().__init__(tool.span, context)
        self.tool = tool
        self.outcome: Any = None
        self.error_type = ""
        """What its exception is called, where not by its class."""

    def _record(self, result: Any, error: BaseException | None, attributes: dict[str, Any]) -> None:
        if result is None:
            result = self.outcome
        tool, outcome = self.tool, safe_freeze(result)
        failed = error is not None or bool(tool.failure) or tool_failed(outcome)
        if tool.turn is not None and tool.fact is not None:
            tool.turn.end_tool(tool.fact, outcome, failed)
        span = self.span
        if not span.is_recording():
            return
        if failed:
            attributes[semconv.TOOL_FAILED] = True
        if type(result) not in _PLAIN:
            kind = class_of(result)
            if kind:
                attributes[semconv.TOOL_RESULT_CLASS] = kind
        if tool.failure and error is None:
            attributes[semconv.ERROR_TYPE] = _TOOL_ERROR
            span.set_status(Status(StatusCode.ERROR, redacted_message(tool.failure)))
        settings = self._state.settings
        if settings.capture_content:
            content = ToolContent(tool.arguments, outcome, tool.turn)
            self._keep(content)
            if settings.content_on_spans:
                # Only where content goes on spans or events.
                from turnspan.tracing.content_attributes import tool_attributes

                span.set_attributes(tool_attributes(content))

    def _error_type(self, error: BaseException) -> str:
        return self.error_type or super()._error_type(error)

    def _measure(self, error_type: str) -> None:
        tool = self.tool
        agent = "" if tool.turn is None else tool.turn.agent_name
        error_type = error_type or (_TOOL_ERROR if tool.failure else "")
        span = self.span.get_span_context()
        self._state.metrics.record(
            ToolEnded(tool.name, tool.kind, agent, error_type, self._seconds(), span)
        )


def begin_tool(
    name: str,
    *,
    call_id: str = "",
    description: str = "",
    tool_type: str = "function",
    arguments: Any,
    attributes: Mapping[str, Any] = _NO_ATTRIBUTES,
    state: State | None = None,
) -> ToolRecording:
    """Start a tool's span, of this recorder, or else of the current one; ``arguments`` are frozen
    here, before the tool can change them."""
    context = context_of(state)
    given = dict(attributes)
    if description:
        given[semconv.TOOL_DESCRIPTION] = description
    tool = open_tool(
        current_state(context).decorators,
        f"execute_tool {name}",
        INTERNAL,
        context,
        name,
        arguments=safe_freeze(arguments),
        call_id=call_id,
        tool_type=tool_type,
        attributes=given,
    )
    return ToolRecording(inside_tool(tool, context), tool)


def open_tool(
    using: Tracer,
    span_name: str,
    kind: SpanKind,
    context: Context,
    name: str,
    *,
    arguments: Any,
    call_id: str = "",
    tool_type: str = "function",
    attributes: Mapping[str, Any],
) -> OpenTool:
    """Start a tool's span and count it in its turn. ``arguments`` are frozen already."""
    turn: Turn | None = None
    given: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
        semconv.TOOL_NAME: name,
        semconv.TOOL_TYPE: tool_type,
    }
    if context:
        turn = active_turn(context)
        given.update(scope_attributes(turn, active_session(context)))
    if not call_id and turn is not None:
        call_id = turn.requested_call_id(name, arguments)
    if call_id:
        given[semconv.TOOL_CALL_ID] = call_id
    if turn is not None:
        given[semconv.ROUND] = turn.rounds
    given.update(attributes)
    span = otel_fast.start(using, span_name, context, kind, given)
    return OpenTool(span, turn, name, tool_type, arguments, call_id)


def inside_tool(tool: OpenTool, context: Context) -> Context:
    """The context within a tool: its span is current, and it can be found."""
    return inside_span(tool.span, context, TOOL_KEY, tool)
