"""The records that spans land as, without a store: each in its newest state."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from turnspan.content.blocks import WRITING
from turnspan.content.ledger import ledger
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise import Normaliser
from turnspan_clickhouse.normalise.answers import SharedAnswers
from turnspan_clickhouse.records import Definition, LlmCall, Message, Record, ToolCall, TurnSummary


class Rows(SpanExporter):
    """Normalises what it is given, a batch a span, and keeps each record's newest state."""

    def __init__(self, shared: SharedAnswers | None = None) -> None:
        self._normaliser = Normaliser(ledger, shared=shared)
        self._clock = 0
        self._rows: dict[tuple[Any, ...], Record] = {}

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take the spans."""
        for span in spans:
            self._clock += 1
            batch = Batch("test", self._clock)
            self._normaliser.span(span, batch)
            self._normaliser.finish(batch)
            for kind, rows in batch.rows.items():
                for row in rows:
                    self._rows[kind, _identity(row)] = row
        return SpanExportResult.SUCCESS

    def of(self, kind: type[Any]) -> list[Any]:
        """The records of a kind, in the order they began."""
        found = [row for row in self._rows.values() if isinstance(row, kind)]
        return sorted(found, key=lambda row: getattr(row, "start_time", 0))

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
        known = {m.hash: m for m in self.of(Message)}
        return [(known[h].role, _parts(json.loads(known[h].parts))) for h in hashes]

    def defined(self, digest: bytes) -> Any:
        """A definition by its hash; empty for none."""
        known = {d.hash: d.body for d in self.of(Definition)}
        return known.get(digest, "")


def _identity(row: Any) -> tuple[Any, ...]:
    """As the tables order by (their engines keep the newest of one identity)."""
    if isinstance(row, TurnSummary):
        return (row.session_id, row.start_time, row.turn_id)
    if isinstance(row, (LlmCall, ToolCall)):
        return (row.session_id, row.start_time, row.span_id)
    return (getattr(row, "hash", None) or getattr(row, "span_id", None),)


def _parts(parts: list[dict[str, Any]]) -> list[Any]:
    said = [{k: v for k, v in part.items() if k not in WRITING} for part in parts]
    return sorted(said, key=lambda part: str(part["type"]))


def provider(rows: Rows) -> TracerProvider:
    """A provider that lands what it records in these rows."""
    made = TracerProvider(resource=Resource({"service.name": "shop"}))
    made.add_span_processor(SimpleSpanProcessor(rows))
    return made
