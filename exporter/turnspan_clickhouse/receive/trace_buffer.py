"""The traces under way: which spans came, which are missing, and whether what came is in order.

The normaliser wants children before their parents and calls in the order of their end. Exporters
nearly keep that, but batches overtake each other and a trace may come from several processes. So
the spans of a trace are kept while it is under way: when one comes late, the whole trace is put in
order and told again, and the rows that change replace the ones that landed.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from turnspan import semconv
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.receive.decoded import Received
from turnspan_clickhouse.receive.log_events import LogEvent, with_events
from turnspan_clickhouse.receive.settings import ReceiveSettings

MAX_SPANS = 10_000
"""Spans of one trace that are kept; one with more is no longer put in order."""
MAX_LIVE = 1_000
"""Traces that the normaliser keeps in mind: fewer than it could, or it would forget by itself."""
MAX_TRACES = 200_000
MAX_CLOSED = 250_000
"""So many spans at least, and at most twice as many, are remembered after their trace was let go,
so that a batch that is sent again adds nothing."""


@dataclass(slots=True)
class Trace:
    """One trace under way."""

    id: str
    touched: float
    spans: dict[str, Received] = field(default_factory=dict[str, Received])
    seen: set[str] = field(default_factory=set[str])
    missing: set[str] = field(default_factory=set[str])
    """Parents that have not come."""
    size: int = 0
    ended: int = 0
    """The newest end of a span about a model, a tool or an agent, in ns."""
    about_model: bool = False
    fixed: bool = False
    """Whether it can no longer be told again: too long, or part of a conversation of many."""
    stale: bool = False
    """Whether the normaliser has forgotten it."""
    settled: bool = False
    """Whether its derived turn has landed, or may."""
    queued: bool = False
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    """The session each of its rows landed in: part of a record's identity, so it must stay."""
    calls: set[str] = field(default_factory=set[str])
    """Spans that landed as calls."""
    derived: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Session and start of the rows of its derived turns that landed, by turn id."""

    @property
    def turn_ids(self) -> set[str]:
        """The decorated turns that its spans name."""
        named = [(one.span.attributes or {}).get(semconv.TURN_ID) for one in self.spans.values()]
        return {turn_id for turn_id in named if isinstance(turn_id, str)}

    def add(self, spans: Sequence[Received]) -> bool:
        """Take new spans in; whether the trace must be told again, from its beginning."""
        relevant = [one for one in spans if _is_about_model(one)]
        waited_for = any(one.span_id in self.missing for one in spans)
        late = False
        if relevant or (self.about_model and waited_for):
            late = any(one.parent_id in self.seen for one in spans)
            late = late or any(one.end_time < self.ended for one in relevant)
        self.about_model = self.about_model or bool(relevant)
        again = not self.fixed and (late or self.stale)
        self.ended = max([self.ended, *(one.end_time for one in relevant)])
        for one in spans:
            self.seen.add(one.span_id)
            self.missing.discard(one.span_id)
            if not self.fixed:
                self.size += one.size
                self.spans[one.span_id] = one
        for one in spans:
            if one.parent_id and one.parent_id not in self.seen:
                self.missing.add(one.parent_id)
        return again

    def fix(self) -> None:
        """Let go of the spans: the trace is not told again."""
        self.fixed = True
        self.size = 0
        self.spans = {}

    def renew(self) -> None:
        """Let go of what is known of the spans of a trace that is not told again."""
        self.seen = set()
        self.missing = set()
        self.sessions = {}
        self.calls = set()


def _is_about_model(one: Received) -> bool:
    scope = one.span.instrumentation_scope
    name = scope.name if scope is not None else ""
    return foreign_dialects.detect(name, one.span.attributes or {}) is not None


class TraceBuffer:
    """All traces under way, within bounds of number, size and age."""

    def __init__(self, settings: ReceiveSettings) -> None:
        self._settings = settings
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._plain: OrderedDict[str, None] = OrderedDict()
        self._live: OrderedDict[str, None] = OrderedDict()
        self._quiet: deque[tuple[float, str]] = deque()
        self._closed: tuple[set[bytes], set[bytes]] = (set(), set())
        self.size = 0

    def __len__(self) -> int:
        return len(self._traces)

    def get(self, trace_id: str) -> Trace | None:
        """The trace, if it is under way."""
        return self._traces.get(trace_id)

    def new(self, spans: Sequence[Received]) -> dict[str, list[Received]]:
        """The spans that have not come before, by trace."""
        found: dict[str, list[Received]] = {}
        now: set[tuple[str, str]] = set()
        for one in spans:
            key = (one.trace_id, one.span_id)
            if key not in now and not self.came(*key):
                now.add(key)
                found.setdefault(one.trace_id, []).append(one)
        return found

    def came(self, trace_id: str, span_id: str) -> bool:
        """Whether a span has come, as far as that is remembered."""
        trace = self._traces.get(trace_id)
        key = bytes.fromhex(trace_id + span_id)
        return (trace is not None and span_id in trace.seen) or any(key in c for c in self._closed)

    def tell(self, trace: Trace, events: Sequence[LogEvent]) -> None:
        """Add to a trace's spans what their events say; the trace is to be told again."""
        before = trace.size
        for event in events:
            one = trace.spans[event.span_id]
            span = with_events(one.span, [event])
            trace.spans[event.span_id] = replace(one, span=span, size=one.size + event.size)
            trace.size += event.size
        trace.stale = True
        self.account(trace, before)

    def open(self, trace_id: str) -> Trace:
        """The trace, touched."""
        trace = self._traces.get(trace_id)
        now = time.monotonic()
        if trace is None:
            trace = self._traces[trace_id] = Trace(trace_id, now)
        else:
            trace.touched = now
            self._traces.move_to_end(trace_id)
        if not trace.queued:
            trace.queued = True
            self._quiet.append((now + self._settings.settle_after, trace_id))
        return trace

    def account(self, trace: Trace, before: int) -> None:
        """Take note of what a trace, whose size was ``before``, has become."""
        if len(trace.spans) > MAX_SPANS:
            trace.fix()
        if trace.fixed and len(trace.seen) > MAX_SPANS:  # one that never ends: a loop in one trace
            self._remember(trace)
            trace.renew()
        self.size += trace.size - before
        if not trace.about_model:
            self._plain[trace.id] = None
            self._plain.move_to_end(trace.id)
            return
        self._plain.pop(trace.id, None)
        self._live[trace.id] = None
        self._live.move_to_end(trace.id)

    def stale(self) -> list[Trace]:
        """The traces that the normaliser is to forget now: it would soon do so by itself."""
        found: list[Trace] = []
        while len(self._live) > MAX_LIVE:
            trace = self._traces[self._live.popitem(last=False)[0]]
            trace.stale = True
            found.append(trace)
        return found

    def quiet(self) -> Iterator[Trace]:
        """The traces that have been quiet long enough to settle."""
        now = time.monotonic()
        while self._quiet and self._quiet[0][0] <= now:
            trace = self._traces.get(self._quiet.popleft()[1])
            if trace is None:
                continue
            due = trace.touched + self._settings.settle_after
            if due > now:
                self._quiet.append((due, trace.id))
                continue
            trace.queued = False
            yield trace

    def waiting(self) -> bool:
        """Whether ``quiet`` or ``expired`` have something to tell."""
        now = time.monotonic()
        if self._quiet and self._quiet[0][0] <= now:
            return True
        oldest = next(iter(self._traces.values()), None)
        return oldest is not None and oldest.touched + self._settings.give_up_after <= now

    def expired(self) -> list[Trace]:
        """The traces to let go of: too old, or too many or too large together."""
        now, found = time.monotonic(), list[Trace]()
        size, count = self.size, len(self._traces)
        for trace in self._traces.values():
            if trace.touched + self._settings.give_up_after > now:
                break
            found.append(trace)
            size, count = size - trace.size, count - 1
        if size <= self._settings.max_held_bytes and count <= MAX_TRACES:
            return found
        gone = {trace.id for trace in found}
        for trace_id in (*self._plain, *self._traces):  # plain traces lose nothing by it
            if size <= self._settings.max_held_bytes and count <= MAX_TRACES:
                break
            if trace_id not in gone:
                gone.add(trace_id)
                trace = self._traces[trace_id]
                found.append(trace)
                size, count = size - trace.size, count - 1
        return found

    def all(self) -> list[Trace]:
        """Every trace under way."""
        return list(self._traces.values())

    def close(self, trace: Trace) -> None:
        """Let go of a trace; that its spans have come stays known for a while."""
        del self._traces[trace.id]
        self._plain.pop(trace.id, None)
        self._live.pop(trace.id, None)
        self.size -= trace.size
        self._remember(trace)

    def _remember(self, trace: Trace) -> None:
        newer, _ = self._closed
        newer.update(bytes.fromhex(trace.id + span_id) for span_id in trace.seen)
        if len(newer) > MAX_CLOSED:
            self._closed = (set(), newer)
