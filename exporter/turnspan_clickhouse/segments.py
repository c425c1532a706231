"""Segment files: one batch of one table, a ClickHouse Native stream, with its facts in its name.

``20261101T101112.123456Z-host-4711-8.24.llm_call.native``: UTC time, host, process, sequence
number, schema version, table. The name is the insert's deduplication token.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import stat
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from turnspan_clickhouse.files import remove

_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-(\w+-\d+)-(\d+)\.(\d+)\.(\w+)\.native")
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
        """How many rows it holds, from the block's head; 0 when that cannot be read."""
        try:
            with self.path.open("rb") as file:
                return rows_in(file.read(20))
        except OSError:
            return 0

    def mark_alone(self) -> None:
        """Write down that it is tried by itself. A mode takes no room, so a full disk will do."""
        if not self.alone:
            self.path.chmod(ALONE)

    @property
    def leaving(self) -> Path:
        """Its name while a writer gives it up; see room.py."""
        return self.path.with_name(self.name + LEAVING)

    def unlink(self) -> None:
        """Delete it, also while a writer gives it up, which then is told that it is gone."""
        # That writer may just give it its name back: so that one is tried once more.
        for path in (self.path, self.leaving, self.path):
            with contextlib.suppress(FileNotFoundError):
                return remove(path)
        return None


def rows_in(block: bytes) -> int:
    """How many rows a block says it has; 0 when that cannot be read."""
    try:
        return _varints(block[:20])[1]
    except IndexError:
        return 0


def host_and_pid(pid: int) -> str:
    """What names a process among all that may share a spool."""
    host = re.sub(r"\W", "_", socket.gethostname(), flags=re.ASCII)[:60] or "localhost"
    return f"{host}-{pid}"


def new_name(writer: str, schema_version: int, table: str) -> str:
    """A name for a segment that begins now."""
    now = datetime.now(timezone.utc).strftime(_TIME)
    return f"{now}-{writer}-{next(sequence)}.{schema_version}.{table}{_SUFFIX}"


def is_name(name: str) -> bool:
    """Whether a file of this name is a segment."""
    return name.endswith(_SUFFIX) and _NAME.fullmatch(name) is not None


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
        match[1],
        int(match[2]),
        int(match[3]),
        match[4],
        found.st_size,
        stat.S_IMODE(found.st_mode) == ALONE,
    )


def _varints(head: bytes) -> list[int]:
    found: list[int] = []
    number = shift = 0
    for byte in head:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    return found
