"""The content ledger: what the model saw and said, kept beside the span until it is exported.

A span's content is put here under its (trace_id, span_id) before the span ends; whoever turns the
span into records takes it. That lets the exporter stay an ordinary ``SpanExporter`` under any span
processor. Nothing is kept while nobody has attached. An entry that nobody takes is dropped by age
and by number, and counted.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnspan.tracing.assembly import Assembly
from turnspan.turn.turn import Turn

MAX_ENTRIES = 100_000
MAX_AGE_SECONDS = 900.0


class InferenceContent:
    """One model call's content, frozen: nothing the application mutates later shows here.

    ``dialect`` names the shape of ``request`` and ``response``: ``openai.chat``,
    ``anthropic.messages`` or ``genai`` (the GenAI message schema itself). A message of ``request``
    that is equal to the one at its place in the conversation's call before is the same object, and
    tool definitions likewise: nobody may change them.
    """

    __slots__ = ("_response", "captured", "dialect", "request", "turn")

    def __init__(
        self,
        dialect: str,
        request: Mapping[str, Any],
        response: Any = None,
        turn: Turn | None = None,
        *,
        captured: bool = True,
    ) -> None:
        self.dialect = dialect
        self.request = request
        self._response = response
        self.turn = turn
        self.captured = captured
        """Whether it may be recorded; else it only tells which conversation the call goes on with,
        and is forgotten."""

    @property
    def response(self) -> Any:
        """What came back, plain. The body's JSON bytes may be given; they are parsed once here."""
        response = self._response
        if type(response) is bytes:
            import orjson

            try:
                response = orjson.loads(response)
            except orjson.JSONDecodeError:
                response = response.decode("utf-8", "replace")
            self._response = response
        return response

    def __repr__(self) -> str:
        return f"InferenceContent({self.dialect!r}, {self.request!r}, {self._response!r})"


@dataclass(slots=True)
class ToolContent:
    """One executed tool's content, frozen. ``failed`` is known when the tool raised."""

    arguments: Any = None
    result: Any = None
    turn: Turn | None = None


@dataclass(slots=True)
class TurnContent:
    """A turn's facts, its reply among them, and where content is captured what the user said."""

    turn: Turn
    captured: bool = True
    user_message: Any = None


Content = InferenceContent | ToolContent | TurnContent


OpenCall = tuple[str, "Mapping[str, Any] | None", "Callable[[], dict[str, Any] | None] | None"]
"""A model call that has not ended: its dialect, its request and, of a stream, what gives the reply
as far as it came. Another thread than the stream's reader calls that."""


class Fact:
    """What is to be recorded beside spans, in rows of its own.

    A new kind of record that is no span's is a subclass, a row of ``LIMITS``, and a builder in
    ``turnspan_clickhouse.normalise.fact_rows``, which makes its rows.
    """

    __slots__ = ()


@dataclass(slots=True)
class StartedTurn(Fact):
    """A turn that has begun: what its ``running`` row says. Times in ns since the epoch."""

    trace_id: int
    span_id: int
    parent_span_id: int
    start_time: int
    turn: Turn
    user_message: Any
    resource: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judgment(Fact):
    """What somebody said of a turn, a call, ...: one row of ``annotation``. Ns since the epoch."""

    resource: Mapping[str, Any]
    subject_kind: str
    subject_id: str
    kind: str = ""
    annotation_id: str = ""
    outcome: str = ""
    training_flag: int | None = None
    score: float | None = None
    comment: str = ""
    chosen_id: str = ""
    rejected_id: str = ""
    directive: str = ""
    author: str = ""
    source: str = ""
    created_at: int = 0
    confidence: float | None = None
    ranking_id: str = ""


@dataclass(frozen=True, slots=True)
class Ranking(Fact):
    """Things of one kind in their order, best first: a preference of every pair that is no tie.

    ``said`` is what the preferences have in common.
    """

    judgment: Judgment
    groups: tuple[tuple[str, ...], ...]
    """The ids; those in one group are equal."""


@dataclass(frozen=True, slots=True)
class WithdrawalFact(Fact):
    """That a judgment no longer holds: one row of ``withdrawal``."""

    resource: Mapping[str, Any]
    subject_kind: str
    subject_id: str
    kind: str
    annotation_id: str = ""
    """Which judgment; else the newest of the kind, of the author where one is named."""
    author: str = ""
    source: str = ""
    comment: str = ""
    created_at: int = 0


@dataclass(frozen=True, slots=True)
class ContextFact(Fact):
    """A context assembly has come so far. ``text`` is what was assembled, which calls may use from
    now on."""

    stage: str
    """``began``, ``assembled`` or ``ended``."""
    assembly: Assembly
    text: str = ""


LIMITS: Final[dict[type[Fact], tuple[int, str]]] = {
    StartedTurn: (10_000, "turns_full"),
    Judgment: (100_000, "judgments_full"),
    ContextFact: (10_000, "contexts_full"),
    Ranking: (10_000, "judgments_full"),
    WithdrawalFact: (100_000, "judgments_full"),
}
"""How many facts of a kind wait to be taken at most, and the reason that further ones are counted
by."""


class ContentStore:
    """A bounded, thread-safe map from span identity to content, plus the facts that are
    no span's."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_age: float = MAX_AGE_SECONDS) -> None:
        self._max_entries = max_entries
        self._max_age = max_age
        self._entries: dict[tuple[int, int], tuple[float, Content]] = {}
        self._facts: dict[type[Fact], deque[Fact]] = {StartedTurn: deque()}
        """By kind; turns that have begun come first, since others may be about them."""
        self.open_calls: dict[Any, OpenCall] = {}
        """By their spans, the calls that have not ended. It must not hold the calls themselves: one
        that is dropped ends by that."""
        self.wake: Callable[[], None] | None = None
        """Called before the next fact: a forked child starts its threads when it has to."""
        self._consumers = 0
        self._lock = threading.Lock()
        self.dropped: Counter[str] = Counter()

    @property
    def active(self) -> bool:
        """Whether anybody will take what is put here."""
        return self._consumers > 0

    def attach(self) -> None:
        """A consumer (an exporter) has come; content is kept from now on."""
        with self._lock:
            self._consumers += 1

    def detach(self) -> None:
        """A consumer has gone; with the last one everything kept is forgotten."""
        with self._lock:
            self._consumers = max(0, self._consumers - 1)
            if not self._consumers:
                self._entries.clear()
                self.open_calls.clear()
                self._forget_facts()

    def put(self, trace_id: int, span_id: int, content: Content) -> None:
        """Keep a span's content until it is taken."""
        if not self._consumers:
            return
        entries = self._entries
        entries[trace_id, span_id] = (time.monotonic(), content)
        if len(entries) > self._max_entries:
            self._drop_oldest()

    def take(self, trace_id: int, span_id: int) -> Content | None:
        """Remove and return a span's content; ``None`` when there is none."""
        entry = self._entries.pop((trace_id, span_id), None)
        return None if entry is None else entry[1]

    def tell(self, fact: Fact) -> None:
        """Tell consumers of a fact."""
        wake, self.wake = self.wake, None
        if wake is not None:
            wake()
        facts = self._facts.get(type(fact))
        if facts is None:
            facts = self._facts.setdefault(type(fact), deque())
        limit, reason = LIMITS[type(fact)]
        if len(facts) >= limit:
            self.dropped[reason] += 1
        elif self._consumers:
            facts.append(fact)

    @property
    def has_facts(self) -> bool:
        """Whether a fact waits to be taken."""
        return any(self._facts.values())

    def take_facts(self) -> list[Fact]:
        """Remove and return the facts told since the last call, each kind in its order."""
        taken: list[Fact] = []
        for facts in list(self._facts.values()):
            while facts:
                try:
                    taken.append(facts.popleft())
                except IndexError:  # another thread has taken the last
                    break
        return taken

    def sweep(self) -> None:
        """Drop entries older than the age limit (spans that never ended)."""
        limit = time.monotonic() - self._max_age
        while True:
            key = next(iter(self._entries), None)
            if key is None:
                return
            entry = self._entries.get(key)
            if entry is None:
                continue
            if entry[0] > limit:
                return
            if self._entries.pop(key, None) is not None:
                self.dropped["ledger_expired"] += 1

    def after_fork(self) -> None:
        """In a forked child: what the parent kept is the parent's to export."""
        self._lock = threading.Lock()
        self._entries = {}
        self.open_calls = {}
        self._forget_facts()

    def _forget_facts(self) -> None:
        for facts in self._facts.values():
            facts.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _drop_oldest(self) -> None:
        with self._lock:
            while len(self._entries) > self._max_entries:
                key = next(iter(self._entries), None)
                if key is not None and self._entries.pop(key, None) is not None:
                    self.dropped["ledger_full"] += 1
