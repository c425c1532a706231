"""Content that a row holds itself, as plain text: redacted, without files' bytes, cut if too long.

A column that was cut is named among the row's attributes: ``turnspan.truncated.<column>`` is the
size in bytes of UTF-8 that it had.
"""

from __future__ import annotations

import base64
from typing import Any

from turnspan import semconv
from turnspan.content.media import digest_media
from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan.redaction.truncate import limit_value
from turnspan_clickhouse.normalise.turn_facts import note
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall, ToolCall, TurnSummary


def write_content(
    row: LlmCall | ToolCall | TurnSummary, column: str, value: Any, where: str, batch: Batch
) -> None:
    """Put content into a column, as it may be written; nothing for ``None``.

    Embedded files become hash, size and type; a tool's keep their bytes where those are recorded
    (a message's do so in the message).
    """
    if value is None:
        return
    redactor = batch.redactor
    limit = redactor.settings.content_limit_bytes
    if type(value) is str and not limit and value[:5].lower() != "data:":
        setattr(row, column, redactor.text(value, where))
        return
    if isinstance(row, ToolCall) and redactor.settings.capture_media:
        value = _with_bytes(value)
    else:
        value = digest_media(value)
    kept = redactor.text(value, where) if isinstance(value, str) else redactor.value(value, where)
    kept, size = limit_value(kept, limit)
    setattr(row, column, kept if isinstance(kept, str) else dumps_text(kept))
    if size:
        note(row, semconv.TRUNCATED_PREFIX + column, str(size))


def write_attribute(row: LlmCall, name: str, value: Any, where: str, batch: Batch) -> None:
    """Put content that has no column among the row's attributes, as ``write_content``: as JSON."""
    redactor = batch.redactor
    kept, size = limit_value(redactor.value(value, where), redactor.settings.content_limit_bytes)
    note(row, name, kept if isinstance(kept, str) else dumps_text(kept))
    if size:
        note(row, semconv.TRUNCATED_PREFIX + name, str(size))


def _with_bytes(value: Any) -> Any:
    """Bytes as ``data:`` URLs, so that JSON can hold them without loss."""
    if isinstance(value, (bytes, bytearray)):
        return "data:application/octet-stream;base64," + base64.b64encode(value).decode()
    mapping = as_dict(value)
    if mapping is not None:
        return {key: _with_bytes(item) for key, item in mapping.items()}
    items = as_list(value)
    return value if items is None else [_with_bytes(item) for item in items]
