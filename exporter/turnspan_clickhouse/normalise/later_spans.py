"""Spans of other packages that wait a little for our own of the same call.

Ours is the better source: it has the request as it was sent, by which a call is joined to its
conversation, and a row that has landed cannot change its session. But a framework's callback may
tell of a call's end before the SDK's stream is read to its end, which is when ours ends.
"""

from __future__ import annotations

from typing import Final

from turnspan import semconv
from turnspan.tracing.content_store import Content
from turnspan_clickhouse.normalise.foreign import operation_of
from turnspan_clickhouse.normalise.span_facts import SpanFacts

WAITS_NS: Final = 3 * 10**8
MAX_WAITING: Final = 10_000

Told = tuple[SpanFacts, Content | None]


class LaterSpans:
    """Those that wait, in order. ``alone`` are the scopes whose calls nobody of ours tells of:
    they need not wait."""

    def __init__(self, alone: set[str]) -> None:
        self._alone = alone
        self._waiting: list[Told] = []
        self._traces: set[str] = set()

    def takes(self, told: Told) -> bool:
        """Keep a call that another package tells of outside any decorated turn, and what others
        tell of its trace after it; whether it is kept."""
        facts = told[0]
        if not facts.foreign or facts.turn_id or len(self._waiting) >= MAX_WAITING:
            return False
        if facts.trace_id not in self._traces:
            is_call = operation_of(*told) in semconv.INFERENCE_OPERATIONS
            if not is_call or facts.scope.name in self._alone:
                return False
            self._traces.add(facts.trace_id)
        self._waiting.append(told)
        return True

    def due(self, now: int, again: bool) -> list[Told]:
        """Those that have waited long enough, at this time in ns; all, unless they are asked for
        ``again`` soon."""
        waiting, count = self._waiting, 0
        while count < len(waiting) and not (again and waiting[count][0].end_time + WAITS_NS > now):
            count += 1
        if count:
            self._waiting = waiting[count:]
            self._traces = {facts.trace_id for facts, _ in self._waiting}
        return waiting[:count]

    def clear(self) -> None:
        """In a forked child: they are the parent's."""
        self._waiting = []
        self._traces = set()
