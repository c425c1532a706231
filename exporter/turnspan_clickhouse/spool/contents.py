"""What lies in a spool folder, and what it comes to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from turnspan.runtime.stats import PipelineStats
from turnspan_clickhouse.spool.segments import Segment, is_name, read_name


@dataclass(frozen=True, slots=True)
class SpoolUsage:
    """What a spool holds and what became of the rest, over all its writers.

    ``queued`` counts spans that living writers had not spooled when they last said so,
    ``dropped`` what they and their predecessors lost, by reason.
    """

    segments: int
    rows: int
    bytes: int
    by_table: dict[str, tuple[int, int]]
    oldest: datetime | None
    rejected: int
    rejected_rows: int
    rejected_bytes: int
    queued: int = 0
    shipped: dict[str, int] = field(default_factory=dict[str, int])
    dropped: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def stats(self) -> PipelineStats:
        """The same in the words that every other place uses."""
        shipped = sum(self.shipped.values())
        return PipelineStats(self.queued, self.rows, shipped, self.rejected_rows, self.dropped)


def segments(folder: Path) -> Iterator[Segment]:
    """The segments in a folder, in no order."""
    for entry in entries(folder):
        with contextlib.suppress(FileNotFoundError):
            segment = read_name(Path(entry.path), entry.stat())
            if segment is not None:
                yield segment


def names(folder: Path) -> list[str]:
    """The names of all that lies in a folder; none where there is no folder."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """The files that are segments by their names; whatever else lies there is not ours."""
    try:
        with os.scandir(folder) as found:
            return [e for e in found if is_name(e.name) and e.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
