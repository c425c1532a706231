"""Spans of other instrumentations, taken as if they were ours: current names, content beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from turnspan import semconv
from turnspan.content.model import CallContent, last_user_text
from turnspan.dialects.convert import describe_reply
from turnspan.redaction.content_keys import without_content
from turnspan.tracing.content_store import Content, ToolContent, TurnContent
from turnspan.turn.turn import Turn
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import ForeignCall, ForeignSpan
from turnspan_clickhouse.normalise.attributes import CONTENT
from turnspan_clickhouse.normalise.column_values import text
from turnspan_clickhouse.normalise.span_facts import SpanFacts


def adopt(facts: SpanFacts, capture_content: bool) -> Content | None:
    """Read a span whose content is not in the ledger; returns it, if it may be recorded.

    What its dialect says is put into ``facts.attributes`` under the current convention's names, for
    the columns; ``facts.encoded`` keeps the span's own attributes. Both are without content where
    that is not to be recorded.
    """
    scope = facts.scope_name
    if scope.startswith(semconv.SCOPE_PREFIX):
        return _own_content(facts) if capture_content else None
    if not facts.shape.is_spoken(scope, facts.attributes):
        if not capture_content:
            _forget_content(facts)
        return None
    span = _foreign_span(facts)
    call = foreign_dialects.read(span)
    if call is None:
        if not capture_content:
            _forget_content(facts)
        return None
    facts.foreign = True
    facts.attributes = {**facts.attributes, **call.canonical()}
    if call.kind == foreign_dialects.TOOL:
        facts.attributes[semconv.TOOL_CALL_ID] = call.tool_call_id
    if semconv.SESSION_GIVEN not in facts.raw:
        facts.session_id = facts.session_id or call.conversation_id
    # What its status does not say; the message is redacted and cut when the facts are settled.
    if call.error_type:
        if facts.error_type in ("", semconv.ERROR_OTHER):
            facts.error_type = call.error_type
        if capture_content:
            facts.error_message = facts.error_message or call.error_message
    elif facts.error_type == semconv.ERROR_OTHER:
        exception = foreign_dialects.raised(span.events)
        if exception is not None:
            facts.error_type = text(exception.get(semconv.EXCEPTION_TYPE)) or semconv.ERROR_OTHER
    if not capture_content:
        _forget_content(facts)
        return None
    return _turn_content(call) if call.kind == foreign_dialects.AGENT else call.content()


def _foreign_span(facts: SpanFacts) -> ForeignSpan:
    start = facts.span.start_time or 0
    events = [(event.name, dict(event.attributes or {})) for event in facts.span.events]
    return ForeignSpan(facts.span.name, facts.scope_name, facts.attributes, events, start)


def _own_content(facts: SpanFacts) -> Content | None:
    """What a span of ours carries itself: it was sent to us, by a process that was asked to."""
    if CONTENT.isdisjoint(facts.attributes):
        return None
    call = foreign_dialects.read(_foreign_span(facts))
    return call.content() if call is not None else None


def _forget_content(facts: SpanFacts) -> None:
    facts.attributes = without_content(facts.attributes)
    facts.captured = False


def _turn_content(call: ForeignCall) -> TurnContent:
    turn = Turn(agent_name=call.agent_name, recording=False)
    turn.usage = call.usage
    turn.models = [model for model in (call.response_model or call.request_model,) if model]
    reply = CallContent()
    describe_reply(reply, call.output)
    turn.last_text = reply.response_text
    return TurnContent(turn, user_message=last_user_text(call.input) or None)


def operation_of(facts: SpanFacts, content: Content | None) -> str:
    """What the span is of: as its content tells, else its attribute.

    Others write on the spans of ours that are current when they record a call (LiteLLM does), and
    the operation's name is among what they write.
    """
    if not facts.foreign:
        if isinstance(content, TurnContent):
            return semconv.OP_INVOKE_AGENT
        if isinstance(content, ToolContent):
            return semconv.OP_EXECUTE_TOOL
    return text(facts.raw.get(semconv.OPERATION_NAME))


WAITS_NS: Final = 2 * 10**9
"""On a loaded machine the better source may end so much later (0.3 s were too few)."""
MAX_WAITING: Final = 10_000

Told = tuple[SpanFacts, Content | None]


class LaterSpans:
    """Spans of others that wait a little for a better source of the same call, in order.

    Ours is one: it has the request as it was sent, by which a call is joined to its conversation,
    and a row that has landed cannot change its session. But a framework's callback may tell of a
    call's end before the SDK's stream is read to its end, which is when ours ends. Another is a
    span with words around one without (Anthropic's SDK makes such), which ends after it.
    ``also_ours`` says by the scopes that are known whether we see their calls as well: those of
    the others need not wait.
    """

    def __init__(self, also_ours: Mapping[str, bool]) -> None:
        self._also_ours = also_ours
        self._waiting: list[Told] = []
        self._traces: set[str] = set()
        self._scopes: set[str] = set()

    def takes(self, told: Told) -> bool:
        """Keep a call that another package tells of outside any decorated turn, and what others
        tell of its trace, or the same package, after it; whether it is kept."""
        facts = told[0]
        if not facts.foreign or facts.turn_id or len(self._waiting) >= MAX_WAITING:
            return False
        behind = facts.trace_id in self._traces
        operation = operation_of(*told)
        if operation != semconv.OP_EXECUTE_TOOL or not self._also_ours.get(facts.scope.name):
            # Else ours has told who asked for it, and the next call may bring its result.
            behind = behind or facts.scope.name in self._scopes
        is_call = operation in semconv.INFERENCE_OPERATIONS
        if not behind and not (is_call and self._may_be_told_better(told)):
            return False
        self._traces.add(facts.trace_id)
        self._scopes.add(facts.scope.name)
        self._waiting.append(told)
        return True

    def due(self, now: int, again: bool) -> list[Told]:
        """Those that have waited long enough, at this time in ns, or need not; all, unless they are
        asked for ``again`` soon."""
        waiting, count = self._waiting, 0
        while count < len(waiting):
            young = waiting[count][0].end_time + WAITS_NS > now
            if again and young and self._may_be_told_better(waiting[count]):
                break
            count += 1
        if count:
            self._waiting = waiting[count:]
            self._traces = {facts.trace_id for facts, _ in self._waiting}
            self._scopes = {facts.scope.name for facts, _ in self._waiting}
        return waiting[:count]

    def _may_be_told_better(self, told: Told) -> bool:
        """By our own span, or, of a call without words, by a span around it that has them."""
        facts, content = told
        return content is None or self._also_ours.get(facts.scope.name, True)
