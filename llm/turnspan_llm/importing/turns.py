"""Calls of a conversation -> the spans of its turns, as the application would have ended them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from turnspan import config, semconv
from turnspan.tracing.agent_recording import describe_turn
from turnspan.tracing.content_store import Fact, InferenceContent, ToolContent, TurnContent
from turnspan.tracing.endpoint import write_usage
from turnspan.turn.tool_failure import tool_failed
from turnspan.turn.turn import ToolRequest, Turn
from turnspan_llm.importing.call_fields import PREFIX, LoggedCall, ToolOutcome
from turnspan_records.importing import ids
from turnspan_records.importing.sources import Part
from turnspan_records.importing.spans import resource_of, scope_of, span_of

KIND: Final = "llm"
_SCOPE: Final = scope_of(KIND)
RESOURCE: Final = resource_of(KIND)
_DIALECT: Final = "genai"
_TOLD_WITHOUT_CONTENT: Final = frozenset({PREFIX + "response.id", PREFIX + "schema_id"})
"""Attributes that are written where content is not recorded."""

Facts = Callable[[LoggedCall, str, str, str], list[Fact]]
"""Of a call, the ids of its span and turn, and its trace's."""


def add_turns(
    part: Part, calls: list[LoggedCall], about: Mapping[str, str], facts_of: Facts
) -> None:
    """Add the spans of a conversation's calls; ``about`` is what is known of the conversation,
    ``facts_of`` what is known of a call that is no span's."""
    turns: list[list[LoggedCall]] = []
    for call in calls:
        if call.begins or not turns:
            turns.append([call])
        else:
            turns[-1].append(call)
    for place, turn in enumerate(turns):
        after = turns[place + 1][0] if place + 1 < len(turns) else None
        _OneTurn(part, turn, place == 0).write(after, about, facts_of)


class _OneTurn:
    """A turn on its way into a part."""

    def __init__(self, part: Part, calls: list[LoggedCall], first: bool) -> None:
        self._part = part
        self._calls = calls
        self._first = first
        self._captured = config.active().capture_content
        root = calls[0]
        self._trace = ids.trace_id(KIND, root.id)
        self._span = ids.span_id(KIND, "turn", root.id)
        self._turn = Turn(f"{self._span:016x}")
        self._given: dict[str, Any] = {
            semconv.CONVERSATION_ID: root.session,
            semconv.TURN_ID: self._turn.id,
        }
        self._ended = root.start

    def write(self, after: LoggedCall | None, about: Mapping[str, str], facts_of: Facts) -> None:
        """Add the spans of the turn, its own last; ``after`` is the call that begins the next."""
        previous: LoggedCall | None = None
        for call in self._calls:
            # What a turn's first call brings was executed in the turn before, if there is one.
            if previous is not None or self._first:
                self._tools(call, previous, call.start)
            self._call(call)
            span = f"{ids.span_id(KIND, call.id):016x}"
            self._part.facts += facts_of(call, span, self._turn.id, f"{self._trace:032x}")
            previous = call
        if after is not None:
            self._tools(after, previous, 0)
        self._end(about)

    def _call(self, call: LoggedCall) -> None:
        turn = self._turn
        attributes: dict[str, Any] = {
            semconv.OPERATION_NAME: semconv.OP_CHAT,
            semconv.REQUEST_MODEL: call.model,
            **self._given,
            semconv.ROUND: turn.begin_call(),
            semconv.RESPONSE_MODEL: call.response_model or None,
            semconv.RESPONSE_ID: call.response_id or None,
            semconv.RESPONSE_FINISH_REASONS: tuple(call.finish_reasons) or None,
            **self._kept(call.attributes),
        }
        write_usage(call.usage, attributes)
        if "schema" in call.parameters:
            attributes[semconv.OUTPUT_TYPE] = "json"
        if call.consortium is not None:
            attributes[semconv.CONSORTIUM_ID] = call.consortium.consortium_id
            attributes[semconv.CONSORTIUM_ROLE] = call.consortium.role
            attributes[semconv.CONSORTIUM_ITERATION] = call.consortium.iteration
        turn.end_call(
            model=call.response_model or call.model,
            finish_reasons=call.finish_reasons,
            text=call.text,
            tool_requests=call.requests,
            usage=call.usage,
        )
        span = self._add(
            f"chat {call.model}",
            ids.span_id(KIND, call.id),
            (call.start, call.end),
            attributes,
            SpanKind.CLIENT,
        )
        request = {**call.parameters, "messages": call.messages}
        if call.tools:
            request["tools"] = call.tools
        content = InferenceContent(_DIALECT, request, call.reply, captured=self._captured)
        self._part.contents.append((span, content))
        self._ended = max(self._ended, call.end)

    def _tools(self, call: LoggedCall, asked_by: LoggedCall | None, until: int) -> None:
        """What ran between a call and the next, ``until`` which it may have taken."""
        requests = list(asked_by.requests) if asked_by is not None else []
        began = asked_by.end if asked_by is not None else call.start
        for place, outcome in enumerate(call.outcomes):
            _, name, arguments = _request_of(outcome, requests)
            # A nanosecond apart, so that they stand in the order in which they were asked for.
            start = began + place
            self._tool(outcome, outcome.name or name, arguments, (start, max(start, until)))

    def _tool(
        self, outcome: ToolOutcome, name: str, arguments: Any, times: tuple[int, int]
    ) -> None:
        turn = self._turn
        failed = bool(outcome.exception)
        fact = turn.begin_tool(name, arguments, outcome.call_id)
        turn.end_tool(fact, outcome.output, failed)
        attributes: dict[str, Any] = {
            semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
            semconv.TOOL_NAME: name,
            semconv.TOOL_TYPE: "function",
            semconv.TOOL_CALL_ID: outcome.call_id or None,
            **self._given,
            semconv.ROUND: turn.rounds or None,
            semconv.TOOL_FAILED: failed or tool_failed(outcome.output) or None,
            **self._kept(outcome.attributes),
        }
        if failed:
            attributes[semconv.ERROR_TYPE] = outcome.exception.partition(":")[0].strip()[:200]
        span = self._add(
            f"execute_tool {name}",
            ids.span_id(KIND, "tool", outcome.key),
            times,
            attributes,
            SpanKind.INTERNAL,
            outcome.exception or None,
        )
        if self._captured:
            self._part.contents.append((span, ToolContent(arguments, outcome.output)))
        self._ended = max(self._ended, times[1])

    def _end(self, about: Mapping[str, str]) -> None:
        turn, root = self._turn, self._calls[0]
        turn.user_message = root.user_text or None
        attributes: dict[str, Any] = {
            semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
            **self._given,
            **self._kept(about),
        }
        describe_turn(turn, turn.finish(None), attributes)
        span = self._add(
            "invoke_agent", self._span, (root.start, self._ended), attributes, SpanKind.INTERNAL
        )
        said = turn.user_message if self._captured else None
        content = TurnContent(turn, captured=self._captured, user_message=said)
        self._part.contents.append((span, content))

    def _add(
        self,
        name: str,
        span_id: int,
        times: tuple[int, int],
        attributes: dict[str, Any],
        kind: SpanKind,
        error: str | None = None,
    ) -> ReadableSpan:
        span = span_of(
            name,
            trace_id=self._trace,
            span_id=span_id,
            start_time=times[0],
            end_time=times[1],
            attributes=attributes,
            resource=RESOURCE,
            scope=_SCOPE,
            parent_id=0 if span_id == self._span else self._span,
            kind=kind,
            error=error,
        )
        self._part.spans.append(span)
        return span

    def _kept(self, told: Mapping[str, str]) -> Mapping[str, str]:
        """What the log says beside: most of it may quote what was said."""
        if self._captured:
            return told
        return {key: value for key, value in told.items() if key in _TOLD_WITHOUT_CONTENT}


def _request_of(outcome: ToolOutcome, requests: list[ToolRequest]) -> ToolRequest:
    """What the model asked for that came to this: by the call's id, else by the tool's name."""
    for place, request in enumerate(requests):
        if outcome.call_id and request[0] == outcome.call_id:
            return requests.pop(place)
    for place, request in enumerate(requests):
        if request[1] == outcome.name and not (outcome.call_id and request[0]):
            return requests.pop(place)
    return outcome.call_id, outcome.name, None
