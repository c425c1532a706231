"""What waits in a spool, who writes it, and what the store refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.files.lock_holders import Holder, holder
from turnspan_clickhouse.spool.segments import Segment, reason_of
from turnspan_clickhouse.spool.spool import Spool


@dataclass(frozen=True, slots=True)
class Writers:
    """How many processes write a spool, and how many of its writers have died or closed."""

    alive: int
    dead: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A segment that the store refused for good, with the store's reason."""

    name: str
    table: str
    bytes: int
    reason: str


def writers(spool: Spool) -> Writers:
    """Count a spool's writers by their locks."""
    total = len(list((spool.folder / "writers").glob("*.lock")))
    dead = len(spool.dead_writers())
    return Writers(max(0, total - dead), dead)


def shipping(spool: Spool) -> Holder | None:
    """Who ships a spool at this moment, as all others wait for it to end."""
    return holder(spool.folder / "ship.lock")


def refused(spool: Spool) -> list[Refused]:
    """The refused segments, oldest first."""
    found: list[Refused] = []
    for segment in spool.rejected():
        try:
            text = reason_of(segment.path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            text = "unknown"
        found.append(Refused(segment.name, segment.table, segment.size, text))
    return found


def restore_refused(spool: Spool) -> int:
    """Put the refused segments back to be shipped again; returns how many."""
    segments = spool.rejected()
    for segment in segments:
        reason = reason_of(segment.path)
        os.replace(segment.path, spool.folder / _name(segment, reason))
        reason.unlink(missing_ok=True)
    return len(segments)


def _name(segment: Segment, reason: Path) -> str:
    """Its name; one with a checksum of what it holds now where somebody has mended it since."""
    try:
        if segment.path.stat().st_mtime_ns <= reason.stat().st_mtime_ns:
            return segment.name
    except FileNotFoundError:
        return segment.name
    return segment.part(0, segment.path.read_bytes()).name
