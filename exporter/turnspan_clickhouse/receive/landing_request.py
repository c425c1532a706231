"""A request that came in: what is landed of it at once, and what is answered."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field

from turnspan_clickhouse.receive.decoded import Decoded, Received
from turnspan_clickhouse.receive.log_events import TOO_LATE

MAX_SPANS_AT_ONCE = 512
"""Spans of one request that are landed before those of others have their turn: a trace of more is
landed whole."""
_POISON = "the span cannot be read"


@dataclass(slots=True)
class Taken:
    """What became of a request's spans; ``refused`` counts by reason."""

    refused: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class LandingRequest:
    """A request's spans on their way, and what becomes of them."""

    decoded: Decoded
    answer: Future[Taken]
    parts: list[list[Received]] = field(init=False)
    """What is to be landed, the first part last: whole traces."""
    begun: bool = False
    poison: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    late: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.parts = [self.decoded.spans]
        if len(self.decoded.spans) <= MAX_SPANS_AT_ONCE:
            return
        traces: dict[str, list[Received]] = {}
        for one in self.decoded.spans:
            traces.setdefault(one.trace_id, []).append(one)
        self.parts = [[]]
        for spans in traces.values():
            if self.parts[-1] and len(self.parts[-1]) + len(spans) > MAX_SPANS_AT_ONCE:
                self.parts.append([])
            self.parts[-1] += spans
        self.parts.reverse()

    def refused(self) -> Counter[str]:
        """How much of it was refused, by reason, once every part has landed."""
        refused = Counter(self.decoded.refused)
        spans = self.decoded.spans if self.poison else ()
        bad = sum((one.trace_id, one.span_id) in self.poison for one in spans)
        if bad:
            refused[_POISON] += bad
        missed = sum(id(one) in self.late for one in self.decoded.events)
        if missed:
            refused[TOO_LATE] += missed
        return refused
