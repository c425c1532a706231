"""The turns of each trace: a hint for calls that say nothing of what they go on with."""

from __future__ import annotations

from collections import OrderedDict

from turnspan_clickhouse.normalise.derived_turn import DerivedTurn
from turnspan_clickhouse.normalise.span_facts import SpanFacts

MAX_TRACES = 20_000
MAX_PARENTS = 256
"""Of one trace, the spans around calls whose turns are remembered."""


class _TraceTurns:
    """The turns of a trace, for calls that say nothing of what they go on with."""

    __slots__ = ("began", "beside", "by_parent", "newest")

    def __init__(self) -> None:
        self.newest: DerivedTurn | None = None
        self.by_parent: dict[str, DerivedTurn] = {}
        self.began: list[DerivedTurn] = []
        """Those whose first call is one of its own."""
        self.beside: list[DerivedTurn] = []
        """Those whose calls it tells of as well, which are in traces of their own."""

    def forget(self, turn: DerivedTurn) -> None:
        """Suggest a turn no more."""
        self.by_parent = {key: each for key, each in self.by_parent.items() if each is not turn}
        self.began = [each for each in self.began if each is not turn]
        if self.newest is turn:
            self.newest = next(reversed(self.by_parent.values()), None)


class Traces:
    """Those of one process; the oldest make room."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, _TraceTurns] = OrderedDict()

    def hint(self, facts: SpanFacts) -> DerivedTurn | None:
        """The turn of the newest call under the same span, else in the same trace."""
        trace = self._traces.get(facts.trace_id) if facts.parent_span_id else None
        if trace is None:
            return None
        return trace.by_parent.get(facts.parent_span_id, trace.newest)

    def by_trace(self, trace_id: str) -> DerivedTurn | None:
        """The newest turn in a trace."""
        trace = self._traces.get(trace_id)
        return None if trace is None else trace.newest

    def turns(self, trace_id: str) -> frozenset[str]:
        """The ids of all turns that a trace is known to tell of."""
        trace = self._traces.get(trace_id)
        if trace is None:
            return frozenset()
        known = [*trace.by_parent.values(), *trace.began, *trace.beside]
        if trace.newest is not None:
            known.append(trace.newest)
        return frozenset(turn.turn.id for turn in known)

    def told_beside(self, trace_id: str, turn: DerivedTurn) -> None:
        """A span of this trace has told of a call of a turn that is in another one."""
        beside = self._trace(trace_id).beside
        if turn not in beside:
            beside.append(turn)
            del beside[:-MAX_PARENTS]

    def suggest(self, facts: SpanFacts, turn: DerivedTurn) -> None:
        """Remember a call's turn for others under the same span or in the same trace."""
        trace = self._trace(facts.trace_id)
        trace.newest = turn
        if facts.parent_span_id:
            trace.by_parent[facts.parent_span_id] = turn
            if len(trace.by_parent) > MAX_PARENTS:
                del trace.by_parent[next(iter(trace.by_parent))]
        if turn.row.trace_id == facts.trace_id and turn not in trace.began:
            trace.began.append(turn)
            del trace.began[:-MAX_PARENTS]

    def _trace(self, trace_id: str) -> _TraceTurns:
        trace = self._traces.get(trace_id)
        if trace is None:
            trace = self._traces[trace_id] = _TraceTurns()
            if len(self._traces) > MAX_TRACES:
                self._traces.popitem(last=False)
        else:
            self._traces.move_to_end(trace_id)
        return trace

    def forget_turn(self, turn: DerivedTurn, trace_id: str) -> None:
        """Suggest a turn no more, in its own trace and in this one."""
        for trace in (self._traces.get(trace_id), self._traces.get(turn.row.trace_id)):
            if trace is not None:
                trace.forget(turn)

    def forget(self, trace_id: str) -> list[DerivedTurn]:
        """Forget a trace; returns the turns that began in it."""
        trace = self._traces.pop(trace_id, None)
        return [] if trace is None else trace.began
