"""A part of a home-made table: spans of its rows, and what its rows say that spans cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from turnspan import config, semconv
from turnspan.redaction.redactor import Redactor
from turnspan.tracing.content_store import Content
from turnspan_clickhouse.normalise.content_columns import write_content
from turnspan_clickhouse.normalise.context_texts import land
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.requested_tools import SCOPE as DERIVED
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.record import NO_HASH
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary
from turnspan_records.importing import ids
from turnspan_records.importing.sources import Part
from turnspan_records.importing.spans import resource_of_project, scope_of, span_of


@dataclass(frozen=True, slots=True)
class Where:
    """What the spans of one turn have in common."""

    trace_id: int
    turn: int
    """The turn's span."""
    session: str
    project: str

    @property
    def turn_id(self) -> str:
        """The turn's id."""
        return f"{self.turn:016x}"


@dataclass(slots=True)
class RowValues:
    """What the source says of a call or a turn, which holds whatever follows from its content."""

    columns: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Of columns that hold content."""
    system_prompt: str | None = None
    """None: the source does not say; the history may."""
    context: str = ""


class TableScopes:
    """The resources and the scope of a kind of table: one object each, by which rows are told
    apart."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.scope = scope_of(kind)

    def resource(self, project: str) -> Resource:
        """The resource of a project's rows."""
        return resource_of_project(self.kind, project)

    def where(self, row: str, session: str, project: str) -> Where:
        """The turn that a row begins."""
        trace_id = ids.trace_id(self.kind, session, row)
        return Where(trace_id, ids.span_id(self.kind, "turn", session, row), session, project)


class PartMaker:
    """Makes a part."""

    def __init__(self, scopes: TableScopes) -> None:
        self.scopes = scopes
        self.captured = config.active().capture_content
        """Whether content may be recorded at all."""
        self.part = Part(amend=self._amend)
        self._said: dict[str, RowValues] = {}

    def span(
        self,
        name: str,
        where: Where,
        span_id: int,
        start: int,
        end: int,
        attributes: Mapping[str, Any],
        *,
        content: Content | None = None,
        said: RowValues | None = None,
        error: str = "",
        root: bool = False,
    ) -> ReadableSpan:
        """A span of a row; where content is not captured, without what may be content."""
        own = attributes if self.captured else _without_kept(attributes)
        place = {semconv.CONVERSATION_ID: where.session or None, semconv.TURN_ID: where.turn_id}
        span = span_of(
            name,
            trace_id=where.trace_id,
            span_id=span_id,
            parent_id=0 if root else where.turn,
            start_time=start,
            end_time=end,
            attributes={**place, **own},
            resource=self.scopes.resource(where.project),
            scope=self.scopes.scope,
            error=error or None,
        )
        self.part.spans.append(span)
        if content is not None:
            self.part.contents.append((span, content))
        if said is not None:
            self._said[f"{span_id:016x}"] = said
        return span

    def _amend(self, batch: Batch) -> None:
        """Put in what the source says."""
        # What else messages tell of tools depends on which calls are in this part.
        tools = batch.of(ToolCall)
        tools[:] = [row for row in tools if row.scope_name != DERIVED]
        store = MessageStore()
        rows: list[LlmCall | TurnSummary] = [*batch.of(LlmCall), *batch.of(TurnSummary)]
        for row in rows:
            said = self._said.get(row.span_id)
            if said is None:
                continue
            for name, value in said.columns.items():
                setattr(row, name, _masked(value, f"attribute:{name}", batch.redactor))
            if not self.captured:
                continue
            for name, value in said.texts.items():
                write_content(row, name, value, name, batch)
            if isinstance(row, LlmCall):
                _put_definitions(row, said, store, batch)


def _masked(value: Any, where: str, redactor: Redactor) -> Any:
    """A column's value: a text, texts, or a figure."""
    if isinstance(value, str):
        return redactor.text(value, where)
    return redactor.value(value, where) if isinstance(value, list) else value


def _put_definitions(row: LlmCall, said: RowValues, store: MessageStore, batch: Batch) -> None:
    if said.system_prompt is not None:
        row.system_prompt = NO_HASH
        if said.system_prompt:
            row.system_prompt = store.definition(
                "system_prompt",
                batch.redactor.text(said.system_prompt, "system"),
                project=row.project,
                when=row.start_time,
                batch=batch,
            )
    if said.context:
        row.context_assembled = land(said.context, row.project, row.start_time, store, batch)


def _without_kept(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Columns that no record has a place for may hold anything."""
    kept = semconv.IMPORT_PREFIX + "id"
    return {
        key: value
        for key, value in attributes.items()
        if key == kept or not key.startswith(semconv.IMPORT_PREFIX)
    }


def seconds_of(nanoseconds: int) -> float:
    """A duration from which the views get back the very nanosecond: they cut, and do not round."""
    seconds = nanoseconds / 1e9
    while int(seconds * 1e9) < nanoseconds:
        seconds += 2.0**-52 * max(seconds, 1e-9)
    return seconds
