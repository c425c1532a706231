"""The load of ``benchmarks/worker.py``: recorded agents, played once through the real SDKs.

What is kept are the finished spans in the order in which they ended, and for each what the ledger
held of it: just what the worker gets. A benchmark hands them over again as often as it likes, each
time with contents read anew from a pickle, so that no text remembers its hash from the time before
while the messages of a conversation stay shared from call to call, as they are in an application.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

import turnspan
from support.shared import shared_folder
from turnspan.content.ledger import (
    Content,
    InferenceContent,
    Ledger,
    StartedTurn,
    ToolContent,
    ledger,
)
from turnspan.ids import SecureIdGenerator
from turnspan_demo.model import PROVIDERS, Run
from turnspan_demo.runner import play_all, sessions
from turnspan_demo.trajectories import load
from turnspan_demo.written import shipped

FILES = ("tau-bench__gpt-4o-airline.jsonl",)
"""Of the recorded runs beside the repository; without them the runs of the demonstration play."""

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

    def batches(self, size: int) -> Iterator[tuple[list[Ended], list[Content | None]]]:
        """The spans in batches of a size, with their contents as ``contents`` gives them."""
        contents = self.contents()
        for start in range(0, len(self.ended), size):
            yield self.ended[start : start + size], contents[start : start + size]


def hand_over(ended: Sequence[Ended], contents: Sequence[Content | None], to: Ledger) -> None:
    """Put contents and the turns that had begun into a ledger, as the calling threads did."""
    for each, content in zip(ended, contents, strict=True):
        for started in each.started:
            to.announce(started)
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


class _Keeper(SpanProcessor):
    def __init__(self) -> None:
        self.ended: list[Ended] = []

    def on_end(self, span: ReadableSpan) -> None:
        context = span.context
        assert context is not None
        content = ledger.take(context.trace_id, context.span_id)
        self.ended.append(Ended(span, content, ledger.take_started()))


def _runs(limit: int) -> tuple[list[Run], str]:
    shared = shared_folder()
    if shared is None:
        return shipped(), "the demonstration's runs"
    files = [shared / "data" / "trajectories" / name for name in FILES]
    return [run for file in files for run in load(file, limit)], ", ".join(FILES)


def record(limit: int = 60) -> tuple[Recorded, str]:
    """Play ``limit`` runs of each file with both providers; returns them and what they are."""
    keeper = _Keeper()
    provider = TracerProvider(
        resource=Resource.create({"service.name": "airline", "service.version": "1"}),
        id_generator=SecureIdGenerator(),
    )
    provider.add_span_processor(keeper)
    runs, name = _runs(limit)
    ledger.attach()
    turnspan.configure(tracer_provider=provider, exporters=[])
    turnspan.instrument()
    try:
        play_all(sessions(runs, PROVIDERS, stamp="bench"), workers=2)
    finally:
        turnspan.uninstrument()
        turnspan.shutdown()
        ledger.detach()
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
