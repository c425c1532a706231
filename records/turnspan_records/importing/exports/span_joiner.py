"""Which traces belong together: those of a session, and those whose calls go on with others."""

from __future__ import annotations

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import semconv
from turnspan.tracing.content_store import InferenceContent
from turnspan_clickhouse import foreign_dialects
from turnspan_clickhouse.foreign_dialects import ForeignSpan
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.transcripts.joiner import Joiner


class SpanJoiner:
    """Joins the groups of spans, which it is told of in the order of their lines."""

    def __init__(self) -> None:
        self._joiner = Joiner()

    def join(self, span: ReadableSpan, group: int, groups: Groups) -> None:
        """Join a span's group with those that it belongs with."""
        attributes = span.attributes or {}
        scope = span.instrumentation_scope
        name = scope.name if scope is not None else ""
        if foreign_dialects.detect(name, attributes) is None:
            return
        events = [(event.name, dict(event.attributes or {})) for event in span.events]
        call = foreign_dialects.read(ForeignSpan(span.name, name, attributes, events))
        if call is None:
            return
        session = attributes.get(semconv.CONVERSATION_ID) or call.conversation_id
        if session:
            groups.join(groups.group(f"session\0{session}".encode(errors="replace")), group)
        content = call.content()
        if isinstance(content, InferenceContent):
            for other in self._joiner.groups_before(
                content.dialect, content.request, content.response, group
            ):
                groups.join(other, group)
