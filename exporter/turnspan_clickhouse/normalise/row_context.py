"""Rows of facts: columns that a fact has under their names, redacted as the record's class says."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, Final, TypeVar

from turnspan import semconv
from turnspan.content.media import digest_media
from turnspan.content.model import dumps_text
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_text, limit_value
from turnspan.runtime.type_guards import kind_of
from turnspan_clickhouse.normalise.column_values import text
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import NO_HASH, OWN_ID, Record

_R = TypeVar("_R", bound=Record)
_OURS: Final = re.compile(r"[0-9a-f]{32}(?:[0-9a-f]{32})?")
_NOWHERE: Final = object()
_redactions: dict[type[Record], list[tuple[str, str]]] = {}
_contents: dict[type[Record], list[tuple[str, str, str]]] = {}


def row_of(record: type[_R], redactor: Redactor, *sources: Any, **columns: Any) -> _R:
    """The row whose columns are these, else what the first source says that has their names.

    Texts are redacted as the record's class says of the column; what no source has is the default.
    """
    redactions = _redactions.get(record)
    if redactions is None:
        each: Any = fields(record)  # type: ignore[arg-type]  # all records are dataclasses
        redactions = _redactions[record] = [(f.name, f.metadata["redact"]) for f in each]
    values: dict[str, Any] = {}
    for name, redact in redactions:
        value = columns[name] if name in columns else _first(sources, name)
        if value is not _NOWHERE:
            values[name] = _redacted(value, redact, redactor)
    return record(**values)


def _first(sources: tuple[Any, ...], name: str) -> Any:
    for source in sources:
        value = getattr(source, name, _NOWHERE)
        if value is not _NOWHERE:
            return value
    return _NOWHERE


def _redacted(value: Any, redact: str, redactor: Redactor) -> Any:
    if kind_of(value) is tuple:
        items: tuple[Any, ...] = value
        return [_redacted(item, redact, redactor) for item in items]
    if not redact:
        return value
    said = text(value)
    # An id of ours hides nothing, and records are joined by it.
    own = redact == OWN_ID and _OURS.fullmatch(said)
    return said if own or not said else redactor.text(said, redact)


class RowContext:
    """Where the rows of a fact go: project, redaction, batch."""

    __slots__ = ("batch", "message_store", "project", "redactor")

    def __init__(
        self, project: str, redactor: Redactor, message_store: MessageStore, batch: Batch
    ) -> None:
        self.project = project
        self.redactor = redactor
        self.message_store = message_store
        self.batch = batch

    def add(self, record: type[Record], *sources: Any, **columns: Any) -> None:
        """Add the row of a fact."""
        self.batch.add(self.row(record, *sources, **columns))

    def row(self, record: type[_R], *sources: Any, **columns: Any) -> _R:
        """As ``row_of``, of this project and writer, with content. What was cut of it is noted
        among the row's attributes."""
        contents = _contents.get(record)
        if contents is None:
            each: Any = fields(record)  # type: ignore[arg-type]  # all records are dataclasses
            contents = _contents[record] = [
                (f.name, f.metadata["content"], f.metadata["definition"])
                for f in each
                if f.metadata["content"]
            ]
        notes: dict[str, str] = {}
        for name, where, definition in contents:
            kept, size = self.content(_first(sources, name), where)
            if size:
                notes[semconv.TRUNCATED_PREFIX + name] = str(size)
            columns[name] = kept
            if definition:
                when = _first(sources, "started_at")
                columns[name] = self.define(definition, kept, when) if kept else NO_HASH
        if contents:
            columns["attributes"] = EncodedMap.of({**notes, **columns.get("attributes", {})})
        columns["project"] = self.project
        columns["writer"], columns["written_at"] = self.batch.writer, self.batch.written_at
        return row_of(record, self.redactor, *sources, **columns)

    @property
    def captured(self) -> bool:
        """Whether content is recorded."""
        return self.redactor.settings.capture_content

    def redacted(self, value: str, where: str) -> str:
        """A text that the application said of its work: redacted."""
        return self.redactor.text(value, where) if value else ""

    def limited(self, value: str, where: str) -> str:
        """A text that may quote content: redacted and cut; nothing where content is not
        recorded."""
        if not self.captured:
            return ""
        limit = self.redactor.settings.content_limit_bytes
        return limit_text(self.redacted(value, where), limit)[0]

    def structure(self, value: Any, where: str) -> str:
        """A structure as JSON, redacted; empty for none."""
        return "" if value is None else dumps_text(self.redactor.value(digest_media(value), where))

    def content(self, value: Any, where: str) -> tuple[str, int]:
        """Content as it may be written, and its size in bytes where it was cut; nothing where
        content is not recorded."""
        if value is None or not self.captured:
            return "", 0
        kept = digest_media(value)
        redactor = self.redactor
        kept = redactor.text(kept, where) if isinstance(kept, str) else redactor.value(kept, where)
        kept, size = limit_value(kept, redactor.settings.content_limit_bytes)
        return kept if isinstance(kept, str) else dumps_text(kept), size

    def define(self, kind: str, body: str, when: int) -> bytes:
        """The hash of a text that is stored once."""
        return self.message_store.definition(
            kind, body, project=self.project, when=when, batch=self.batch
        )
