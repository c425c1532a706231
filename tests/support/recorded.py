"""The load of ``worker.py`` and ``throughput.py``: agents, played once through the real SDKs.

What is kept are the finished spans in the order in which they ended, and for each what the ledger
held of it: just what the worker gets. A benchmark hands them over again as often as it likes, each
time with contents read anew from a pickle, so that no text remembers its hash from the time before
while the messages of a conversation stay shared from call to call, as they are in an application.
"""

from __future__ import annotations

import copy
import copyreg
import pickle
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import SpanContext, SpanKind
from opentelemetry.util.types import AttributeValue

import turnspan
from support.shared import shared_folder
from turnspan import semconv
from turnspan.content.text_message import TextMessage
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.content_attributes import inference_attributes, tool_attributes
from turnspan.tracing.content_store import (
    Content,
    ContentStore,
    InferenceContent,
    StartedTurn,
    ToolContent,
    TurnContent,
)
from turnspan.tracing.state import default
from turnspan.turn.turn import Turn
from turnspan_demo.model import PROVIDERS, Run
from turnspan_demo.runner import play_all, sessions
from turnspan_demo.trajectories import load
from turnspan_demo.written import shipped

FILES = ("tau-bench__gpt-4o-airline.jsonl",)
"""Of the recorded runs beside the repository; without them the runs of the demonstration play."""
EVERY = ("*.jsonl",)

_HTTP: dict[str, AttributeValue] = {
    "http.request.method": "POST",
    "url.full": "https://api.openai.com/v1/chat/completions",
    "server.address": "api.openai.com",
    "server.port": 443,
    "http.response.status_code": 200,
    "network.protocol.version": "1.1",
}


@dataclass(slots=True)
class Ended:
    """A finished span, and the turns that had begun before it ended."""

    span: ReadableSpan
    content: Content | None
    started: list[StartedTurn] = field(default_factory=list[StartedTurn])

    @property
    def key(self) -> tuple[int, int]:
        """What the ledger knows it by."""
        context = self.span.context
        assert context is not None
        return context.trace_id, context.span_id


class Recorded:
    """Finished spans with their contents; with contents that are new for every use."""

    def __init__(self, ended: list[Ended]) -> None:
        self.ended = ended
        self._pickled = pickle.dumps([_parts(each.content) for each in ended], protocol=5)

    def contents(self) -> list[Content | None]:
        """Every span's content, none of whose texts has been looked at."""
        fresh: list[Any] = pickle.loads(self._pickled)
        return [_whole(parts, e.content) for parts, e in zip(fresh, self.ended, strict=True)]

    def replay(self) -> list[Ended]:
        """The same runs as sessions of their own: other trace, span, turn and session ids, contents
        as ``contents`` gives them."""
        anew = _Anew()
        return [
            Ended(
                anew.span(each.span),
                anew.content(content),
                [anew.started(started) for started in each.started],
            )
            for each, content in zip(self.ended, self.contents(), strict=True)
        ]

    def save(self, path: Path) -> None:
        """Write everything into a file, for other processes of this benchmark."""
        with path.open("wb") as file:
            _Pickler(file, protocol=5).dump(self)

    @staticmethod
    def read(path: Path) -> Recorded:
        """What ``save`` wrote."""
        found = pickle.loads(path.read_bytes())
        assert isinstance(found, Recorded)
        return found

    def batches(self, size: int) -> Iterator[tuple[list[Ended], list[Content | None]]]:
        """The spans in batches of a size, with their contents as ``contents`` gives them."""
        contents = self.contents()
        for start in range(0, len(self.ended), size):
            yield self.ended[start : start + size], contents[start : start + size]


def _new(kind: Callable[[], object]) -> Callable[[object], tuple[Any, ...]]:
    return lambda _: (kind, ())


# What is compiled and cannot be made empty, as pickle would.
copyreg.pickle(InferenceContent, lambda kept: (InferenceContent, (*_parts(kept), kept.turn)))
copyreg.pickle(TextMessage, lambda kept: (TextMessage, (kept.role, kept.content)))


class _Pickler(pickle.Pickler):
    """Takes a lock for what it is: part of no state."""

    dispatch_table = copyreg.dispatch_table | {
        type(threading.Lock()): _new(threading.Lock),
        type(threading.RLock()): _new(threading.RLock),
    }


def hand_over(ended: Sequence[Ended], contents: Sequence[Content | None], to: ContentStore) -> None:
    """Put contents and the turns that had begun into a store, as the calling threads did."""
    for each, content in zip(ended, contents, strict=True):
        for started in each.started:
            to.tell(started)
        if content is not None:
            to.put(*each.key, content)


def _parts(content: Content | None) -> Any:
    if isinstance(content, InferenceContent):
        return content.dialect, content.request, content._response  # pyright: ignore[reportPrivateUsage]
    if isinstance(content, ToolContent):
        return content.arguments, content.result
    return None


def _whole(parts: Any, content: Content | None) -> Content | None:
    if isinstance(content, InferenceContent):
        dialect, request, response = parts
        return InferenceContent(dialect, request, response, content.turn)
    if isinstance(content, ToolContent):
        arguments, result = parts
        return ToolContent(arguments, result, content.turn)
    return content


class _Anew:
    """Copies under other ids: the old ones, all changed by the same bits."""

    def __init__(self) -> None:
        self._trace, self._span = random.getrandbits(128), random.getrandbits(64)
        self._mark = f"-{self._span:x}"
        self._turns: dict[str, Turn] = {}

    def span(self, span: ReadableSpan) -> ReadableSpan:
        attributes = dict(span.attributes or {})
        if semconv.TURN_ID in attributes:
            attributes[semconv.TURN_ID] = self._turn_id(str(attributes[semconv.TURN_ID]))
        if semconv.CONVERSATION_ID in attributes:
            attributes[semconv.CONVERSATION_ID] = (
                f"{attributes[semconv.CONVERSATION_ID]}{self._mark}"
            )
        return _copied(span, attributes, self._context(span.context), self._context(span.parent))

    def content(self, content: Content | None) -> Content | None:
        if isinstance(content, TurnContent):
            return replace(content, turn=self.turn(content.turn))
        if content is not None and content.turn is not None:
            content.turn = self.turn(content.turn)
        return content

    def started(self, started: StartedTurn) -> StartedTurn:
        return replace(
            started,
            trace_id=started.trace_id ^ self._trace,
            span_id=started.span_id ^ self._span,
            parent_span_id=started.parent_span_id and started.parent_span_id ^ self._span,
            turn=self.turn(started.turn),
        )

    def turn(self, turn: Turn) -> Turn:
        found = self._turns.get(turn.id)
        if found is None:
            found = self._turns[turn.id] = copy.copy(turn)
            found.id = self._turn_id(turn.id)
            if turn.session is not None:
                found.session = replace(turn.session, id=f"{turn.session.id}{self._mark}")
            if turn.parent is not None:
                found.parent = self.turn(turn.parent)
        return found

    def _turn_id(self, turn_id: str) -> str:
        return f"{int(turn_id, 16) ^ self._span:016x}"

    def _context(self, context: SpanContext | None) -> SpanContext | None:
        if context is None:
            return None
        ids = context.trace_id ^ self._trace, context.span_id ^ self._span
        return SpanContext(*ids, context.is_remote, context.trace_flags, context.trace_state)


def with_content(span: ReadableSpan, content: Content | None) -> ReadableSpan:
    """The span as OpenTelemetry's own instrumentations end it: what was said is attributes."""
    more: dict[str, str] = {}
    if isinstance(content, InferenceContent):
        more = inference_attributes(content)
    elif isinstance(content, ToolContent):
        more = tool_attributes(content)
    return _copied(span, {**(span.attributes or {}), **more}, span.context, span.parent)


def _copied(
    span: ReadableSpan,
    attributes: dict[str, AttributeValue],
    context: SpanContext | None,
    parent: SpanContext | None,
) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        context,
        parent,
        span.resource,
        attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


class _Keeper(SpanProcessor):
    def __init__(self) -> None:
        self.ended: list[Ended] = []

    def on_end(self, span: ReadableSpan) -> None:
        context = span.context
        assert context is not None
        content = default.content.take(context.trace_id, context.span_id)
        self.ended.append(Ended(span, content, _begun()))


def _begun() -> list[StartedTurn]:
    return [fact for fact in default.content.take_facts() if isinstance(fact, StartedTurn)]


def _runs(limit: int, patterns: Sequence[str]) -> tuple[list[Run], str]:
    shared = shared_folder()
    if shared is None:
        return shipped(), "the demonstration's runs"
    folder = shared / "data" / "trajectories"
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    return [run for file in files for run in load(file, limit)], ", ".join(patterns)


def record(limit: int = 60, files: Sequence[str] = FILES) -> tuple[Recorded, str]:
    """Play ``limit`` runs of each file with both providers; returns them and what they are."""
    keeper = _Keeper()
    provider = TracerProvider(
        resource=Resource.create({"service.name": "airline", "service.version": "1"}),
        id_generator=SecureIdGenerator(),
    )
    provider.add_span_processor(keeper)
    runs, name = _runs(limit, files)
    default.content.attach()
    turnspan.configure(tracer_provider=provider, exporters=[])
    turnspan.instrument()
    try:
        play_all(sessions(runs, PROVIDERS, stamp="bench"), workers=2)
    finally:
        turnspan.uninstrument()
        turnspan.shutdown()
        default.content.detach()
    return Recorded(keeper.ended), name


def plain_spans(count: int) -> list[ReadableSpan]:
    """Spans as an instrumentation of an HTTP client ends them."""
    keeper = _Keeper()
    provider = TracerProvider(resource=Resource.create({"service.name": "airline"}))
    provider.add_span_processor(keeper)
    tracer = provider.get_tracer("opentelemetry.instrumentation.httpx", "0.60b0")
    for _ in range(count):
        with tracer.start_as_current_span("request"):
            tracer.start_span("POST", kind=SpanKind.CLIENT, attributes=_HTTP).end()
    return [each.span for each in keeper.ended if each.span.parent is not None]
