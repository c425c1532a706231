"""What one record is shown as."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Result
from turnspan_records.conversation import MessageRecord
from turnspan_records.judging.history import JudgmentRecord


@dataclass(slots=True)
class SpanNode:
    """A span of a trace with what is below it. ``duration`` is in seconds."""

    span_id: str
    name: str
    kind: str
    start_time: datetime
    duration: float
    status_code: str
    status_message: str
    children: list[SpanNode] = field(default_factory=list["SpanNode"])


@dataclass(slots=True)
class Detail:
    """Everything that ``show`` prints about one record. Parts that the record lacks are empty."""

    kind: str
    id: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    tables: dict[str, Result] = field(default_factory=dict[str, Result])
    input_messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    output_messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    spans: list[SpanNode] = field(default_factory=list[SpanNode])
    judgments: list[JudgmentRecord] = field(default_factory=list[JudgmentRecord])
