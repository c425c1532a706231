"""What an import makes of files, without a store: its rows, each once, and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import orjson

from turnspan.tracing.content_store import ContentStore
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import KEYS, LlmCall, MessageRow, Record, ToolCall, TurnSummary
from turnspan_records.importing.files.file_log import FileLog, Format
from turnspan_records.importing.sources import Problem, SourceLog

R = TypeVar("R", bound=Record)


@dataclass
class Imported:
    """The records, and what became of the lines."""

    rows: dict[tuple[Any, ...], Record] = field(default_factory=dict[tuple[Any, ...], Record])
    seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    problems: list[Problem] = field(default_factory=list[Problem])
    positions: list[str] = field(default_factory=list[str])

    def of(self, kind: type[R]) -> list[R]:
        """The rows of a table, in the order they began."""
        found = [row for row in self.rows.values() if isinstance(row, kind)]
        return sorted(found, key=lambda row: (getattr(row, "start_time", 0), repr(row)))

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

    def said(self, hashes: Iterable[bytes]) -> list[tuple[str, Any]]:
        """Messages by their hashes: roles and texts."""
        known = {row.hash: row for row in self.of(MessageRow)}
        found = [known[one] for one in hashes]
        return [(row.role, [_text(p) for p in orjson.loads(row.parts)]) for row in found]


def _text(part: dict[str, Any]) -> Any:
    return part.get("content", part.get("response", part.get("arguments")))


def import_files(
    format_: Format,
    paths: Sequence[Path],
    *,
    after: str = "",
    into: Imported | None = None,
    most: int | None = None,
) -> Imported:
    """Import files from a position, as ``import_log`` does; ``most`` parts of them."""
    with closing(FileLog(format_, paths)) as log:
        return take_parts(log, after=after, into=into, most=most)


def take_parts(
    log: SourceLog,
    *,
    after: str = "",
    into: Imported | None = None,
    most: int | None = None,
) -> Imported:
    """Import a log from a position; ``most`` parts of it."""
    made = into or Imported()
    content = ContentStore()
    content.attach()
    for number, part in enumerate(log.parts(after)):
        if number == most:
            break
        normaliser = Normaliser(content, log.kind, received=True)
        for span, said in part.contents:
            assert span.context is not None
            content.put(span.context.trace_id, span.context.span_id, said)
        batch = Batch("import", 1)
        for error in normaliser.spans(part.spans, batch):
            raise error
        normaliser.finish(batch, last=True)
        for fact in part.facts:
            normaliser.fact(fact, batch)
        if part.amend is not None:
            part.amend(batch)
        for rows in batch.rows.values():
            for row in rows:
                values = [repr(getattr(row, name)) for name in KEYS[type(row)]]
                key: tuple[Any, ...] = (type(row), *values)
                made.rows[key] = row
        made.seen.update(part.seen)
        made.problems += part.problems
        made.positions.append(part.position)
    return made


def written(path: Path, *lines: Any, end: str = "\n") -> Path:
    """A file with these lines; texts as they are."""
    texts = [line if isinstance(line, str) else orjson.dumps(line).decode() for line in lines]
    path.write_text("\n".join(texts) + end, encoding="utf-8")
    return path


OLDEN = 1_420_000_000
"""A time at the end of 2014, in seconds: further back than a receiver takes."""


def iso(seconds: float) -> str:
    """So many seconds after that time, as ISO 8601 in UTC."""
    return datetime.fromtimestamp(OLDEN + seconds, timezone.utc).isoformat(timespec="milliseconds")


def even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row with every column."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]
