"""What ended inside what: the same call or tool seen by several instrumentations counts once.

Children end before their parents. The rows of what ended wait here under the span around it; when
that ends, it is found to be the same call (a framework's over the provider's), to be the agent that
made them, or to be neither, and then they wait under the span around that one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import NO_HASH, LlmCall, ToolCall, TurnSummary

MAX_TRACES = 4_096
MAX_PARENTS = 10_000
"""Spans of one trace that rows are held for; of more, those that are idle longest lose theirs."""
MAX_HELD = 1_024
"""Rows held under one span; of more, the oldest are no longer claimed."""


@mypyc_attr(acyclic=True)
class ChildRows:
    """The rows of what ended inside a span."""

    __slots__ = ("calls", "tools", "turns")

    def __init__(self) -> None:
        self.calls: list[LlmCall] = []
        self.tools: list[ToolCall] = []
        self.turns: list[TurnSummary] = []

    def add(self, other: ChildRows) -> None:
        """Take over the rows of another."""
        for mine, more in (
            (self.calls, other.calls),
            (self.tools, other.tools),
            (self.turns, other.turns),
        ):
            if more:
                mine.extend(more)  # type: ignore[arg-type]  # pairs of one type each
                del mine[:-MAX_HELD]


class Nesting:
    """The rows of the traces under way, by the span around them."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, dict[str, ChildRows]] = OrderedDict()
        self.ended: OrderedDict[str, LlmCall | None] = OrderedDict()
        """The calls that count already, by span id: their rows, where they are known."""

    def ended_inside(self, facts: SpanFacts) -> ChildRows | None:
        """The rows of what ended inside this span, which has now ended itself."""
        trace = self._traces.get(facts.trace_id)
        return trace.pop(facts.span_id, None) if trace is not None else None

    def hold(self, facts: SpanFacts, held: ChildRows | None) -> None:
        """Keep rows for the span around this one; a root's are nobody's any more."""
        trace = self._traces.get(facts.trace_id)
        if not facts.parent_span_id:
            if trace is not None and not trace:  # else spans within it have still to end
                del self._traces[facts.trace_id]
            return
        if held is None or not (held.calls or held.tools or held.turns):
            return
        if trace is None:
            trace = self._traces[facts.trace_id] = {}
            if len(self._traces) > MAX_TRACES:
                self._traces.popitem(last=False)
        else:
            self._traces.move_to_end(facts.trace_id)
        around = trace.pop(facts.parent_span_id, None)
        if around is None:
            around = held
            if len(trace) >= MAX_PARENTS:  # in a trace without end, whose parents do not come
                del trace[next(iter(trace))]
        else:
            around.add(held)
        trace[facts.parent_span_id] = around

    def counted(self, span_id: str, row: LlmCall | None = None) -> None:
        """Remember that a call counts: what ends inside it later (a stream) is the same one."""
        self.ended[span_id] = row
        if len(self.ended) > MAX_TRACES:
            self.ended.popitem(last=False)

    def forget_trace(self, trace_id: str, calls: Iterable[str]) -> None:
        """Forget what waits in a trace; that these calls count stays known."""
        self._traces.pop(trace_id, None)
        for span_id in calls:
            self.counted(span_id)


def same_call(inner: LlmCall, operation: str) -> bool:
    """Whether a call inside one of this operation can be the same: embeddings are not replies."""
    return operation == inner.operation or semconv.OUTSIDE_ROUNDS.isdisjoint(
        (operation, inner.operation)
    )


_FILLED = (
    *("provider", "operation", "request_model", "response_model", "response_id", "stream"),
    *("stream_outcome", "finish_reasons", "response_text", "response_thoughts", "tool_calls"),
    *("input_messages", "output_messages", "system_prompt", "tool_definitions"),
    *("context_assembled", "request_parameters", "agent_name", "agent_version"),
    *(*TokenUsage.__slots__, "time_to_first_chunk", "cost_usd", "price_version"),
)
_OF_A_TOOL = ("name", "call_id", "type", "arguments", "result", "error_type", "error_message")
_DECIDED = semconv.CODING_DECISION.encode()
_OF_THE_SDK = ("scope_name", "duration", "tries", "tokens_estimated", "error_type", "error_message")
"""What is the better source's alone: how long it took, and how it failed, each sees in its way."""
TOLD: Final = frozenset(
    {
        *(*TokenUsage.__slots__, "cost_usd", "error_type", "finish_reasons", "tool_calls"),
        *("response_text", "duration"),
    }
)
"""What a turn is told of its calls."""


def is_ours(row: LlmCall) -> bool:
    """Whether our own instrumentation tells of a call: it has seen the SDK's own request and reply,
    another package's what a framework made of them."""
    return row.scope_name.startswith(semconv.SCOPE_PREFIX)


def fill(row: ToolCall | TurnSummary, other: ToolCall | TurnSummary, *names: str) -> bool:
    """Fill these columns where a row has nothing; whether anything was."""
    empty = [name for name in names if not getattr(row, name) and getattr(other, name)]
    for name in empty:
        setattr(row, name, getattr(other, name))
    return bool(empty)


def enrich_tool(inner: ToolCall, outer: ToolCall) -> bool:
    """Fill what the inner tool's row does not know from the outer's; whether anything was."""
    changed = fill(inner, outer, *_OF_A_TOOL)
    if outer.failed and not inner.failed:
        inner.failed = changed = True
    return _add_decision(inner, outer) or changed


def _add_decision(inner: ToolCall, outer: ToolCall) -> bool:
    attributes = EncodedMap.of(outer.attributes)
    if _DECIDED not in attributes.keys:  # nearly all tools: they are not decoded
        return False
    known, more = EncodedMap.of(inner.attributes).texts(), attributes.texts()
    decision = {
        key: more[key] for key in semconv.CODING_DECISIONS if key in more and key not in known
    }
    if decision:
        inner.attributes = EncodedMap.of({**known, **decision})
    return bool(decision)


def enrich(row: LlmCall, other: LlmCall) -> set[str]:
    """Merge what another span says of the call of this row, field by field, the better source
    first, whichever ended first; returns the names of what has changed.

    When it began and by what span it is known stays: rows that have landed are found by that.
    """
    better = is_ours(other) and not is_ours(row)
    changed: set[str] = set()
    for name in _FILLED:
        known, more = getattr(row, name), getattr(other, name)
        if _is_said(more) and more != known and (better or not _is_said(known)):
            setattr(row, name, more)
            changed.add(name)
    if better:
        for name in _OF_THE_SDK:
            if getattr(row, name) != getattr(other, name):
                setattr(row, name, getattr(other, name))
                changed.add(name)
        known, more = EncodedMap.of(row.attributes), EncodedMap.of(other.attributes)
        row.attributes = EncodedMap.of({**known.texts(), **more.texts()})
    return changed


def _is_said(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], NO_HASH)
