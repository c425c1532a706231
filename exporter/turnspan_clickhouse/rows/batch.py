"""A batch of records on their way: rows by table, in the order they came."""

from __future__ import annotations

import time
from typing import TypeVar, cast

from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.rows.tables import Record

_R = TypeVar("_R", bound=Record)


class Clock:
    """Write times that only grow, so that the newest write of a record wins even if the system's
    clock is set back while the process runs."""

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        """Nanoseconds since the epoch, greater than at every call before."""
        self._last = max(self._last + 1, time.time_ns())
        return self._last


class Batch:
    """Rows collected for one write; all carry the same writer and write time."""

    redactor: Redactor
    """What the texts of spans' rows are redacted by; set by the normaliser."""

    def __init__(self, writer: str, written_at: int) -> None:
        self.writer = writer
        self.written_at = written_at
        self.rows: dict[type[Record], list[Record]] = {}
        self.content = 0
        """Characters of the messages in it."""

    def add(self, row: Record) -> None:
        """Add a row to its table."""
        rows = self.rows.get(type(row))
        if rows is None:
            self.rows[type(row)] = [row]
        else:
            rows.append(row)

    def of(self, record: type[_R]) -> list[_R]:
        """The rows of a table."""
        return cast("list[_R]", self.rows.get(record, []))

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.rows.values())
