"""The records that spans land as, without a store: each in its newest state."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from turnspan.content.json_codec import WRITING
from turnspan.tracing.state import default
from turnspan_clickhouse import testing
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow, ToolCall, TurnSummary


class Landed:
    """The records of each kind; ``of`` gives them by their class."""

    def __init__(self, of: Callable[[type[Any]], list[Any]]) -> None:
        self.of = of

    @property
    def calls(self) -> list[LlmCall]:
        """The model calls."""
        return self.of(LlmCall)

    @property
    def tools(self) -> list[ToolCall]:
        """The tool calls."""
        return self.of(ToolCall)

    @property
    def turns(self) -> list[TurnSummary]:
        """The turns."""
        return self.of(TurnSummary)

    def said(self, hashes: list[bytes]) -> list[Any]:
        """Messages by their hashes: role and parts, but how exactly the request wrote them."""
        known = {m.hash: m for m in self.of(MessageRow)}
        return [(known[h].role, _parts(json.loads(known[h].parts))) for h in hashes]

    def defined(self, digest: bytes) -> Any:
        """A definition by its hash; empty for none."""
        known = {d.hash: d.body for d in self.of(Definition)}
        return known.get(digest, "")


class Rows(Landed, SpanExporter):
    """Normalises what it is given, a batch a span, and keeps each record's newest state.

    While ``waiting`` is a list, spans are put there and normalised ``together``, in one batch.
    """

    def __init__(self, shared: SharedAnswers | None = None) -> None:
        self._rows = testing.Rows(default.content, shared=shared)
        super().__init__(self._rows.of)
        self.waiting: list[ReadableSpan] | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take the spans."""
        if self.waiting is not None:
            self.waiting += spans
            return SpanExportResult.SUCCESS
        for span in spans:
            self._rows.take([span])
        return SpanExportResult.SUCCESS

    def take(self, spans: Sequence[ReadableSpan], *, again: bool = False) -> None:
        """Normalise spans in one batch, after which others come ``again``."""
        self._rows.take(spans, again=again)

    def together(self) -> None:
        """Normalise what waits."""
        assert self.waiting is not None
        spans, self.waiting = self.waiting, []
        self._rows.take(spans)


def _parts(parts: list[dict[str, Any]]) -> list[Any]:
    said = [{k: v for k, v in part.items() if k not in WRITING} for part in parts]
    return sorted(said, key=lambda part: str(part["type"]))


def provider(rows: Rows) -> TracerProvider:
    """A provider that lands what it records in these rows."""
    made = TracerProvider(resource=Resource({"service.name": "shop"}))
    made.add_span_processor(SimpleSpanProcessor(rows))
    return made
