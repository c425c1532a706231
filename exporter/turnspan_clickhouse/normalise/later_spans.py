"""Spans of other packages that wait a little for a better source of the same call.

Ours is one: it has the request as it was sent, by which a call is joined to its conversation, and a
row that has landed cannot change its session. But a framework's callback may tell of a call's end
before the SDK's stream is read to its end, which is when ours ends. Another is a span with words
around one without (Anthropic's SDK makes such), which ends after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from turnspan import semconv
from turnspan.tracing.content_store import Content
from turnspan_clickhouse.normalise.foreign import operation_of
from turnspan_clickhouse.normalise.span_facts import SpanFacts

WAITS_NS: Final = 2 * 10**9
"""On a loaded machine the better source may end so much later (0.3 s were too few)."""
MAX_WAITING: Final = 10_000

Told = tuple[SpanFacts, Content | None]


class LaterSpans:
    """Those that wait, in order. ``also_ours`` says by the scopes that are known whether we see
    their calls as well: those of the others need not wait."""

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
