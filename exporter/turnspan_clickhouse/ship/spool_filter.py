"""A spool without what was forgotten: what waits, what was set aside, and who answered whom.

It is done with ``ship.lock`` held, so that no insert is under way; applications go on writing
beside it. What they write after is left out when it lands.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan_clickhouse.errors import StoreBusyError
from turnspan_clickhouse.files.atomic_files import remove, write_whole
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import holder
from turnspan_clickhouse.rows.owner_columns import SESSION
from turnspan_clickhouse.rows.tombstone_filter import Tombstones, sift
from turnspan_clickhouse.spool.insert_groups import Group, pending
from turnspan_clickhouse.spool.segments import Segment, reason_of
from turnspan_clickhouse.spool.spool import Spool

_NOBODY: Final = b'["",[],"",0,0,0]'
"""A line about no session: shorter than any that is about one."""
_REASON: Final = "The store refused it; its reason quoted what was forgotten since."
_POLL_SECONDS: Final = 0.05
WAIT_SECONDS: Final = 60.0


@dataclass(slots=True)
class SpoolSifted:
    """What a spool lost."""

    rows: int = 0
    segments: int = 0
    """Segments that were written anew, or removed as nothing was left of them."""
    removed: int = 0
    """Damaged segments, set aside long since, that were removed whole."""
    answers: int = 0


def sift_spool(spool: Spool, tombstones: Tombstones, needles: Sequence[bytes] = ()) -> SpoolSifted:
    """Take out of a spool what was forgotten; ``needles`` are looked for where rows cannot be read.

    Killed and done again it comes to the same: a segment's new name follows from its old one.

    Raises:
        StoreBusyError: another process ships the spool for longer than ``WAIT_SECONDS``.
        OSError: it cannot be written.
    """
    sifted = SpoolSifted()
    if not spool.folder.is_dir():
        return sifted
    lock = _locked(spool)
    try:
        _sift_waiting(spool, tombstones, sifted)
        for segment in spool.rejected():
            _sift_rejected(segment, tombstones, needles, sifted)
    finally:
        lock.release()
    for path in (spool.folder / "answers").glob("*.answers"):
        with contextlib.suppress(FileNotFoundError):  # a day old this moment
            sifted.answers += _without_answers(path, tombstones)
    return sifted


def _locked(spool: Spool) -> FileLock:
    path, deadline = spool.folder / "ship.lock", time.monotonic() + WAIT_SECONDS
    while (lock := FileLock.take(path)) is None:
        if time.monotonic() >= deadline:
            found = holder(path)
            who = "another process" if found is None else str(found)
            raise StoreBusyError(
                f"The spool {spool.folder} is being shipped by {who}: wait for it to finish, then "
                "forget again."
            )
        time.sleep(_POLL_SECONDS)
    return lock


def _sift_waiting(spool: Spool, tombstones: Tombstones, sifted: SpoolSifted) -> None:
    begun: dict[str, Group] = {}
    for group in pending(spool.folder, spool.segments()):
        if group.landed:
            group.delete()
        else:
            begun.update((segment.name, group) for segment in group.segments)
    for segment in spool.segments():
        with contextlib.suppress(FileNotFoundError):  # given up this moment, for want of room
            found = sift(segment.table, segment.path.read_bytes(), tombstones)
            if not found.dropped:
                continue
            # Its insert may have taken place, with the others of its group: they land once more
            # under other tokens, and readers see each of their rows once.
            if segment.name in begun:
                begun[segment.name].forget()
            if found.block:
                spool.split(segment, [found.block])
            else:
                segment.unlink()
            sifted.rows += found.dropped
            sifted.segments += 1


def _sift_rejected(
    segment: Segment, tombstones: Tombstones, needles: Sequence[bytes], sifted: SpoolSifted
) -> None:
    reason = reason_of(segment.path)
    try:
        content = segment.path.read_bytes()
        said = reason.read_bytes() if reason.exists() else b""
    except FileNotFoundError:
        return
    found = sift(segment.table, content, tombstones)
    unreadable = not found.dropped and any(needle in content for needle in needles)
    if not found.dropped and not unreadable:
        if any(needle in said for needle in needles):
            write_whole(reason, _REASON.encode())
        return
    if unreadable:
        sifted.removed += 1
    elif found.block:
        path = segment.part(1, found.block)
        write_whole(reason_of(path), _REASON.encode())
        write_whole(path, found.block)
    sifted.rows += found.dropped
    sifted.segments += 1
    remove(segment.path)
    reason.unlink(missing_ok=True)


def _without_answers(path: Path, tombstones: Tombstones) -> int:
    """Blank the lines of sessions, each in its place: another process appends to the file."""
    blanked = at = 0
    with path.open("r+b", buffering=0) as file:
        for line in path.read_bytes().splitlines(keepends=True):
            body = line.rstrip(b"\n")
            if len(body) >= len(_NOBODY) and _forgotten(body, tombstones):
                file.seek(at)
                file.write(_NOBODY.ljust(len(body)))
                blanked += 1
            at += len(line)
    return blanked


def _forgotten(line: bytes, tombstones: Tombstones) -> bool:
    try:
        said: Any = orjson.loads(line)
        project, _, session, *_ = said
    except (ValueError, TypeError):
        return False
    return tombstones.until(SESSION, str(project), str(session)) > 0
