"""The records that spans land as, and their messages as plain text, in memory and without a store,
for ``turnspan.testing``.

That package is where tests find this: it may not import the exporter, so it loads this module by
its name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import config
from turnspan.content.model import as_dict, as_list
from turnspan.runtime.limit_usage import counters
from turnspan.testing.records import (
    RecordedAnnotation,
    RecordedCall,
    RecordedMessage,
    RecordedSpan,
    RecordedTool,
    RecordedTurn,
    ToolRequest,
)
from turnspan.tracing.content_store import ContentStore, StartedTurn
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.pricing.prices import cost_of_call
from turnspan_clickhouse.rows.batch import Batch, Clock
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import (
    KEYS,
    Annotation,
    Definition,
    LlmCall,
    MessageRow,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
)

R = TypeVar("R", bound=Record)
T = TypeVar("T", RecordedCall, RecordedTool, RecordedTurn, RecordedAnnotation, RecordedSpan)


class Rows:
    """Normalises the spans it is given and keeps each record in its newest state.

    ``content`` is the ledger in which their contents wait, and what has begun and was judged.
    """

    def __init__(
        self,
        content: ContentStore,
        *,
        settings: Callable[[], config.Settings] = config.active,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._content = content
        counters.price = cost_of_call
        self._normaliser = Normaliser(content, settings=settings, shared=shared)
        self._clock = Clock()
        self._rows: dict[tuple[Any, ...], Record] = {}

    def take(self, spans: Sequence[ReadableSpan], *, again: bool = False) -> None:
        """Add what these spans, in one batch, and the ledger tell; ``again`` as for
        ``Normaliser.spans``.

        Raises:
            Exception: what the first span that could not be turned into records raised; in an
                application it would have been counted as ``normalise_failed``.
        """
        batch = Batch("testing", self._clock.now())
        ended = {span.context.span_id for span in spans if span.context is not None}
        for fact in self._content.take_facts():
            if not isinstance(fact, StartedTurn) or fact.span_id not in ended:
                self._normaliser.fact(fact, batch)
        failed = self._normaliser.spans(spans, batch, again=again)
        self._normaliser.finish(batch)
        for rows in batch.rows.values():
            for row in rows:
                self._rows[_identity(row)] = row
        for error in failed:
            raise error

    def of(self, kind: type[R]) -> list[R]:
        """The rows of a table, in the order they began."""
        found = [row for row in self._rows.values() if isinstance(row, kind)]
        return sorted(found, key=_began)

    # -- as a test sees them ------------------

    def turns(self) -> list[RecordedTurn]:
        """The turns."""
        return [_recorded(RecordedTurn, row) for row in self.of(TurnSummary)]

    def calls(self) -> list[RecordedCall]:
        """The model calls."""
        messages = {(row.scope, row.hash): row for row in self.of(MessageRow)}
        any_scope = {row.hash: row for row in messages.values()}
        definitions = {row.hash: row for row in self.of(Definition)}

        def messages_of(row: LlmCall, hashes: list[bytes]) -> tuple[RecordedMessage, ...]:
            found = [messages.get((row.session_id, h)) or any_scope.get(h) for h in hashes]
            return tuple(_message(message) for message in found if message is not None)

        def defined(digest: bytes) -> str:
            found = definitions.get(digest)
            return "" if found is None else found.body

        return [
            _call(
                row,
                messages_of(row, row.input_messages),
                messages_of(row, row.output_messages),
                defined(row.system_prompt),
                defined(row.tool_definitions),
            )
            for row in self.of(LlmCall)
        ]

    def tools(self) -> list[RecordedTool]:
        """The executed tools."""
        return [
            _recorded(RecordedTool, row, arguments=_json(row.arguments), result=_json(row.result))
            for row in self.of(ToolCall)
        ]

    def annotations(self) -> list[RecordedAnnotation]:
        """The judgments."""
        return [_recorded(RecordedAnnotation, row) for row in self.of(Annotation)]

    def spans(self) -> list[RecordedSpan]:
        """Every span."""
        return [_recorded(RecordedSpan, row) for row in self.of(SpanRow)]


def _began(row: Record) -> int:
    for name in ("start_time", "created_at", "started_at"):
        if moment := getattr(row, name, 0):
            return int(moment)
    return 0


def _identity(row: Record) -> tuple[Any, ...]:
    """As the tables are ordered: their engines keep the newest row of one identity."""
    return (type(row), *(getattr(row, name) for name in KEYS[type(row)]))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _items(text: str) -> list[dict[str, Any]]:
    found = [as_dict(item) for item in as_list(_json(text)) or []]
    return [item for item in found if item is not None]


def _message(row: MessageRow) -> RecordedMessage:
    parts = _items(row.parts)
    texts: list[str] = []
    for part in parts:
        if part.get("type") == "text":
            texts.append(str(part.get("content", "")))
        elif part.get("type") == "tool_call_response":
            result = part.get("response", part.get("result", ""))
            texts.append(result if isinstance(result, str) else json.dumps(result))
    return RecordedMessage(row.role, "".join(texts), tuple(parts), row.name)


def _call(
    row: LlmCall,
    messages: tuple[RecordedMessage, ...],
    reply: tuple[RecordedMessage, ...],
    system_prompt: str,
    tools: str,
) -> RecordedCall:
    requests = [
        ToolRequest(str(asked.get("name", "")), asked.get("arguments"), str(asked.get("id") or ""))
        for asked in _items(row.tool_calls)
    ]
    return _recorded(
        RecordedCall,
        row,
        system_prompt=system_prompt,
        messages=messages,
        reply=reply,
        tool_requests=tuple(requests),
        tools_offered=tuple(str(tool.get("name", "")) for tool in _items(tools)),
        parameters=as_dict(_json(row.request_parameters)) or {},
    )


_COLUMNS: Final[Mapping[type, Mapping[str, str]]] = {
    RecordedCall: {
        "id": "span_id",
        "model": "request_model",
        "text": "response_text",
        "thoughts": "response_thoughts",
    },
    RecordedTool: {"id": "span_id"},
    RecordedTurn: {
        "id": "turn_id",
        "parent_id": "parent_turn_id",
        "text": "response_text",
        "calls": "llm_call_count",
        "tools": "tool_call_count",
        "failed_tools": "tool_error_count",
        "intent": "turn_intent",
    },
    RecordedAnnotation: {"id": "annotation_id"},
    RecordedSpan: {
        "id": "span_id",
        "parent_id": "parent_span_id",
        "status": "status_code",
        "scope": "scope_name",
    },
}
"""By what a test sees, the columns that have other names there."""


def _recorded(kind: type[T], row: Record, **told: Any) -> T:
    """What a test sees of a row: its columns, but for what it is told in other words."""
    names = {field.name for field in fields(kind)} - told.keys() - {"row"}
    columns = _COLUMNS[kind]
    values = {name: _value(getattr(row, columns.get(name, name))) for name in names}
    return kind(row=row, **values, **told)


def _value(value: Any) -> Any:
    """A column's value as a test compares it."""
    if isinstance(value, list):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value.texts() if isinstance(value, EncodedMap) else value
