"""What ended inside what: the same call or tool seen by several instrumentations counts once.

Children end before their parents. The rows of what ended wait here under the span around it; when
that ends, it is found to be the same call (a framework's over the provider's), to be the agent that
made them, or to be neither, and then they wait under the span around that one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.normalise.span_facts import SpanFacts
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary

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
        self._ended: OrderedDict[str, LlmCall | None] = OrderedDict()

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
        self._ended[span_id] = row
        if len(self._ended) > MAX_TRACES:
            self._ended.popitem(last=False)

    def is_inside_counted(self, facts: SpanFacts) -> bool:
        """Whether the span directly around this one is a call that counts already."""
        return facts.parent_span_id in self._ended

    def counted_around(self, facts: SpanFacts) -> LlmCall | None:
        """The row of the call directly around this span, if it counts already and is known."""
        return self._ended.get(facts.parent_span_id)

    def forget_trace(self, trace_id: str, calls: Iterable[str]) -> None:
        """Forget what waits in a trace; that these calls count stays known."""
        self._traces.pop(trace_id, None)
        for span_id in calls:
            self.counted(span_id)

    def forget(self) -> None:
        """In a forked child: the traces are the parent's."""
        self._traces.clear()
        self._ended.clear()


def same_call(inner: LlmCall, operation: str) -> bool:
    """Whether a call inside one of this operation can be the same: embeddings are not replies."""
    return (inner.operation == "embeddings") == (operation == "embeddings")


def same_tool(inner: ToolCall, outer: ToolCall) -> bool:
    """Whether two tool spans, one in the other, are of one execution."""
    if inner.call_id and outer.call_id:
        return inner.call_id == outer.call_id
    if inner.name != outer.name:
        return False
    return not inner.arguments or not outer.arguments or inner.arguments == outer.arguments


_FILLED = (
    "request_model",
    "response_model",
    "response_id",
    "finish_reasons",
    "response_text",
    "response_thoughts",
    "tool_calls",
    "input_messages",
    "output_messages",
    "request_parameters",
    "agent_name",
    "agent_version",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "time_to_first_chunk",
    "cost_usd",
    "price_version",
)


def enrich_tool(inner: ToolCall, outer: ToolCall) -> bool:
    """Fill what the inner tool's row does not know from the outer's; whether anything was."""
    changed = False
    for name in ("call_id", "type", "arguments", "result", "error_type", "error_message"):
        if not getattr(inner, name) and getattr(outer, name):
            setattr(inner, name, getattr(outer, name))
            changed = True
    if outer.failed and not inner.failed:
        inner.failed = changed = True
    return changed


def enrich(inner: LlmCall, outer: LlmCall) -> bool:
    """Fill what the inner call's row does not know from the outer's; whether anything was."""
    changed = False
    for name in _FILLED:
        known = getattr(inner, name)
        more = getattr(outer, name)
        if (known is None or known in ("", [])) and more not in (None, "", []):
            setattr(inner, name, more)
            changed = True
    if not any(inner.system_prompt) and any(outer.system_prompt):
        inner.system_prompt, changed = outer.system_prompt, True
    if not any(inner.tool_definitions) and any(outer.tool_definitions):
        inner.tool_definitions, changed = outer.tool_definitions, True
    if not any(inner.context_assembled) and any(outer.context_assembled):
        inner.context_assembled, changed = outer.context_assembled, True
    return changed
