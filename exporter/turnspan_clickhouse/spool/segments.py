"""Segment files: one batch of one table, a ClickHouse Native stream, with its facts in its name.

``20261101T101112.123456Z-host-4711-8-cbf43926.24.llm_call.native``: UTC time, host, process,
sequence number, checksum (CRC-32 of the content; files of earlier versions have none), schema
version, table. The name is the insert's deduplication token, and ClickHouse can read the file as it
is: ``SELECT * FROM file('*.llm_call.native')``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from turnspan.runtime.stats import PipelineStats
from turnspan_clickhouse.files.atomic_files import remove
from turnspan_clickhouse.rows.native_reader import (
    MalformedBlockError,
    UnknownTypeError,
    shape,
)
from turnspan_clickhouse.rows.native_rows import check

_NAME = re.compile(
    r"(\d{8}T\d{6}\.\d{6}Z)-(\w+-\d+)-(\d+)(?:-([0-9a-f]{8}))?\.(\d+)\.(\w+)\.native"
)
_SUFFIX = ".native"
_TIME = "%Y%m%dT%H%M%S.%fZ"
LEAVING = ".leaving"
ALONE = 0o444 if sys.platform == "win32" else stat.S_IRUSR
"""A segment's mode once it is tried by itself."""

sequence = itertools.count(1)
"""One for the process, so that two writers of one process never choose the same name."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment; ``writer`` is the ``host-pid`` of the process that wrote it.

    ``alone`` says that an insert of it by itself has begun: it lands under its own name or never.
    """

    path: Path
    writer: str
    number: int
    schema_version: int
    table: str
    size: int
    alone: bool = False
    checksum: int | None = None

    @property
    def created(self) -> datetime:
        """When it was written, by its writer's clock."""
        time = self.name.partition("-")[0]
        return datetime.strptime(time, _TIME).replace(tzinfo=timezone.utc)

    @property
    def name(self) -> str:
        """The file's name, which is the insert's token."""
        return self.path.name

    def rows(self) -> int:
        """How many rows it holds, from the block's head; 0 when that cannot be or cannot be
        read."""
        try:
            with self.path.open("rb") as file:
                columns, rows = shape(file.read(20))
        except (OSError, MalformedBlockError):
            return 0
        return rows if columns * rows <= self.size else 0

    def damage(self, content: bytes) -> str:
        """What is wrong with its content, in a sentence; nothing where it is as it was written.

        One without a checksum is walked through, which takes longer and finds less.
        """
        if not content:
            return "The file is empty, as a power cut may leave it."
        if self.checksum is not None and zlib.crc32(content) != self.checksum:
            tail = len(content) - len(content.rstrip(b"\0"))
            zeros = f"; its last {tail:,} bytes are zero, as a power cut leaves them"
            return (
                f"The file is damaged: its {len(content):,} bytes are not those that were written "
                f"(CRC-32 {zlib.crc32(content):08x}){zeros if tail > 64 else ''}."
            )
        try:
            columns, rows = shape(content[:20])
            if not columns or not rows or columns * rows > len(content):
                raise MalformedBlockError
            if self.checksum is None:
                check(content)
        except MalformedBlockError:
            return "The file is damaged: it does not hold the rows and columns that it says it has."
        except UnknownTypeError:  # of a newer Turnspan: the engine will tell
            pass
        return ""

    def part(self, number: int, content: bytes) -> Path:
        """The name of a segment of a part of its rows; the same part always has the same."""
        time = self.name.partition("-")[0]
        checked = f"{self.number}{number}-{zlib.crc32(content):08x}"
        name = f"{time}-{self.writer}-{checked}.{self.schema_version}.{self.table}{_SUFFIX}"
        return self.path.with_name(name)

    def mark_alone(self) -> None:
        """Write down that it is tried by itself. A mode takes no room, so a full disk will do."""
        if not self.alone:
            self.path.chmod(ALONE)

    @property
    def leaving(self) -> Path:
        """Its name while a writer gives it up; see eviction.py."""
        return self.path.with_name(self.name + LEAVING)

    def unlink(self) -> None:
        """Delete it, also while a writer gives it up, which then is told that it is gone."""
        # That writer may just give it its name back: so that one is tried once more.
        for path in (self.path, self.leaving, self.path):
            with contextlib.suppress(FileNotFoundError):
                return remove(path)
        return None


def new_name(writer: str, schema_version: int, table: str, content: bytes) -> str:
    """A name for a segment that is written now."""
    now = datetime.now(timezone.utc).strftime(_TIME)
    checked = f"{next(sequence)}-{zlib.crc32(content):08x}"
    return f"{now}-{writer}-{checked}.{schema_version}.{table}{_SUFFIX}"


def is_name(name: str) -> bool:
    """Whether a file of this name is a segment."""
    return name.endswith(_SUFFIX) and _NAME.fullmatch(name) is not None


def origin(name: str) -> str:
    """When and by whom a segment was written: the same for those that it was taken apart into."""
    return "-".join(name.split("-", 3)[:3])


def reason_of(path: Path) -> Path:
    """Where it is said why the store refused a segment."""
    return path.with_name(path.name + ".error")


def read_name(path: Path, found: os.stat_result) -> Segment | None:
    """The segment a file is, None when it is none."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    return Segment(
        path,
        writer=match[2],
        number=int(match[3]),
        schema_version=int(match[5]),
        table=match[6],
        size=found.st_size,
        alone=stat.S_IMODE(found.st_mode) == ALONE,
        checksum=None if match[4] is None else int(match[4], 16),
    )


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


def segments_in(folder: Path) -> Iterator[Segment]:
    """The segments in a folder, in no order."""
    for entry in entries_in(folder):
        with contextlib.suppress(FileNotFoundError):
            segment = read_name(Path(entry.path), entry.stat())
            if segment is not None:
                yield segment


def names_in(folder: Path) -> list[str]:
    """The names of all that lies in a folder; none where there is no folder."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def entries_in(folder: Path) -> list[os.DirEntry[str]]:
    """The files that are segments by their names; whatever else lies there is not ours."""
    try:
        with os.scandir(folder) as found:
            return [e for e in found if is_name(e.name) and e.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
