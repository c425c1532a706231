"""Spans in the order in which they end: what is inside a span before it."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan

from turnspan_clickhouse.receive.decoded import Received, in_order


def in_span_order(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """The spans of one trace, ordered."""
    received: list[Received] = []
    for span in spans:
        context, parent = span.context, span.parent
        assert context is not None
        received.append(
            Received(
                span=span,
                trace_id=f"{context.trace_id:032x}",
                span_id=f"{context.span_id:016x}",
                parent_id="" if parent is None else f"{parent.span_id:016x}",
                end_time=span.end_time or 0,
                size=0,
            )
        )
    return [one.span for one in in_order(received)]
