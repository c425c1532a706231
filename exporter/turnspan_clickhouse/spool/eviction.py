"""Room in a full spool: which segments are given up, each row of them counted once.

A shipper may be about to insert what is given up here, in another process. It writes down what its
insert consists of and reads the segments after that; here a segment is renamed first, and what was
written down meanwhile gets its name back. So a segment is either in the insert or in the count.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from turnspan_clickhouse.files.atomic_files import remove
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.spool.insert_groups import listed
from turnspan_clickhouse.spool.segments import ALONE, Segment, reason_of

LEFT_SECONDS = 60.0
_RANK = {record.table: rank for rank, record in enumerate(RECORDS)}
_UNKNOWN_RANK = len(RECORDS) - 1.5
"""A table of a newer Turnspan: dropped after the plain spans, before what is known to matter."""


def rank(table: str) -> float:
    """How little a table's rows matter: the greatest goes first."""
    return _RANK.get(table, _UNKNOWN_RANK)


def evict(
    folder: Path, table: str, refused: Sequence[Segment], waiting: Sequence[Segment], wanted: int
) -> tuple[int, Counter[tuple[str, str]]]:
    """Delete what was refused, then what matters no more than a table's rows, oldest first.

    Returns the bytes it found freed, ``wanted`` or more where there was so much, and the rows that
    are lost, by writing process and table.
    """
    freed, lost = 0, Counter[tuple[str, str]]()
    for segment in refused:
        if freed >= wanted:
            return freed, lost
        rows = segment.rows()
        with contextlib.suppress(FileNotFoundError):  # restored this moment
            remove(segment.path)
            lost[segment.writer, segment.table] += rows
        reason_of(segment.path).unlink(missing_ok=True)
        freed += segment.size
    leaving: list[Segment] = []
    for segment in _candidates(folder, table, waiting):
        if freed >= wanted:
            break
        with contextlib.suppress(FileNotFoundError):  # shipped this moment, by another
            segment.path.rename(segment.leaving)
            leaving.append(segment)
        freed += segment.size
    begun = listed(folder) if leaving else frozenset[str]()
    for segment in leaving:
        with contextlib.suppress(FileNotFoundError):  # it has landed after all
            if segment.name in begun or stat.S_IMODE(segment.leaving.stat().st_mode) == ALONE:
                segment.leaving.rename(segment.path)
                freed -= segment.size
                continue
            rows = replace(segment, path=segment.leaving).rows()
            remove(segment.leaving)
            lost[segment.writer, segment.table] += rows
    return freed, lost


def given_up(folder: Path, process: str) -> Path:
    """The file in which other processes say what they gave up of this one's segments."""
    return folder / "writers" / f"{process}.given_up"


def note(folder: Path, process: str, rows: int) -> None:
    """Say that rows of another process's were given up; for its flush, beside our own figures.

    Raises:
        OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    fd = os.open(given_up(folder, process), flags, 0o600)
    try:
        os.write(fd, f"{rows}\n".encode())
    finally:
        os.close(fd)


def noted(folder: Path, process: str) -> int:
    """How many rows of this process's were given up by others."""
    try:
        lines = given_up(folder, process).read_bytes().split()
    except OSError:  # mostly: none were
        return 0
    return sum(int(line) for line in lines if line.isdigit())


def restore(path: Path) -> None:
    """Give back its name to a segment whose process died while it gave it up."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_ctime < time.time() - LEFT_SECONDS:
            path.rename(path.with_suffix(""))


def _candidates(folder: Path, table: str, waiting: Sequence[Segment]) -> list[Segment]:
    """What matters no more than a table's rows and is in no insert that has begun."""
    least = rank(table)
    begun = listed(folder)
    found = [
        segment
        for segment in waiting
        if rank(segment.table) >= least and not segment.alone and segment.name not in begun
    ]
    found.sort(key=lambda segment: (-rank(segment.table), segment.name))
    return found
