"""The spool: a folder in which records wait, durable from the moment ``write`` returns.

::

    <name>.native            a segment; see segments.py          (.native.tmp while it is written)
    groups/<token>.group     an insert of several segments that has begun; see insert_groups.py
    writers/<token>.lock     held by a living writer, with its stats; free: it died or closed
    rejected/<name>          refused by the store for good, the reason beside it in <name>.error
    totals.json              what became of the rows; see totals.py
    ship.lock                held by the one process that ships

Any number of processes write; everything here is for the owner's eyes only (0700, 0600).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from pathlib import Path

from turnspan_clickhouse.errors import SpoolError, SpoolFullError
from turnspan_clickhouse.files.atomic_files import private_folder, sync_all, write_whole
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import host_and_pid
from turnspan_clickhouse.spool.eviction import evict, note, noted, restore
from turnspan_clickhouse.spool.segments import (
    LEAVING,
    Segment,
    SpoolUsage,
    entries_in,
    is_name,
    names_in,
    new_name,
    read_name,
    reason_of,
    segments_in,
)
from turnspan_clickhouse.spool.totals import Totals, WriterStats, read_writer_stats

DEFAULT_LIMIT_BYTES = 2 * 1024**3
_RECOUNT_SECONDS = 5.0
"""How long a process trusts its own count of a folder that others write and empty too."""
_STALE_SECONDS = 60.0
_WRITTEN_BACK_SECONDS = 120.0
"""The kernel has written a file back to the disk after this long by itself (Linux: 35 seconds)."""


class Spool:
    """A store's spool folder, created with the first write.

    ``limit_bytes`` bounds all segments together. ``dropped`` counts the rows that this process
    deleted to stay under it, by ``spool_full:<table>``.
    """

    def __init__(self, folder: Path, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes
        self.totals = Totals(folder)
        self._rows: dict[str, int] = {}
        self.dropped: Counter[str] = Counter()
        self.after_fork()

    def after_fork(self) -> None:
        """In a forked child: nothing dropped yet, and no lock of a thread that is not here."""
        self.dropped.clear()
        self._lock = threading.Lock()
        self._used = 0
        self._recount_at = float("-inf")

    @property
    def rejected_folder(self) -> Path:
        """Where segments go that the store refused for good."""
        return self.folder / "rejected"

    # -- reading ------------------

    def segments(self) -> list[Segment]:
        """What waits, oldest first."""
        return sorted(segments_in(self.folder), key=lambda segment: segment.name)

    def names(self) -> set[str]:
        """The names of what waits: a look that costs little, for those who look often."""
        return {entry.name for entry in entries_in(self.folder)}

    def waiting(self) -> bool:
        """Whether a shipper has anything to do here: segments, or writers that died."""
        return bool(self.names()) or bool(self.dead_writers())

    def rejected(self) -> list[Segment]:
        """What was refused for good, oldest first."""
        return sorted(segments_in(self.rejected_folder), key=lambda segment: segment.name)

    def usage(self) -> SpoolUsage:
        """Counts and bytes, for people."""
        waiting, rejected = self.segments(), self.rejected()
        tables: dict[str, tuple[int, int]] = {}
        for segment in waiting:
            count, size = tables.get(segment.table, (0, 0))
            tables[segment.table] = (count + 1, size + segment.size)
        absorbed = self.totals.absorbed
        files = (self.folder / "writers").glob("*.lock")
        writers = [read_writer_stats(path) for path in files if path.stem not in absorbed]
        dropped = Counter(self.totals.dropped)
        for writer in writers:
            dropped.update(writer.dropped)
        known = self._rows
        self._rows = {s.name: known.get(s.name) or s.rows() for s in (*waiting, *rejected)}
        return SpoolUsage(
            segments=len(waiting),
            rows=sum(self._rows[segment.name] for segment in waiting),
            bytes=sum(segment.size for segment in waiting),
            by_table=tables,
            oldest=waiting[0].created if waiting else None,
            rejected=len(rejected),
            rejected_rows=sum(self._rows[segment.name] for segment in rejected),
            rejected_bytes=sum(segment.size for segment in rejected),
            queued=sum(writer.queued for writer in writers),
            shipped=self.totals.shipped,
            dropped=dict(dropped),
        )

    def gone_of(self, process: str) -> dict[str, int]:
        """What became of a process's segments at other hands: by name each that was refused, and
        the rows that others gave up to make room."""
        refused = (n for n in names_in(self.rejected_folder) if is_name(n) and f"Z-{process}-" in n)
        return {**dict.fromkeys(refused, 1), "given_up": noted(self.folder, process)}

    # -- room ------------------

    def make_room(self, table: str, size: int) -> None:
        """Delete what matters less than a new segment of this table until that fits.

        Raises:
            SpoolFullError: everything that waits matters more; the new segment is the one to drop.
        """
        with self._lock:
            now = time.monotonic()
            if now > self._recount_at or self._used + size > self.limit_bytes:
                self._recount(now)
            wanted = self._used + size - self.limit_bytes
            if wanted > 0:
                # To list a full spool takes milliseconds: not for each segment that comes.
                step = self.limit_bytes // 64
                wanted += step if step > size else 0
                freed, lost = evict(self.folder, table, self.rejected(), self.segments(), wanted)
                self._used -= freed
                self._count_dropped(lost)
            if self._used + size > self.limit_bytes:
                raise SpoolFullError(
                    f"the spool {self.folder} is full ({self.limit_bytes:,} bytes) of records that "
                    f"matter more than {table}: make the store reachable and run `turnspan ship`"
                )
            self._used += size

    def give_back(self, size: int) -> None:
        """A segment that room was made for could not be written."""
        with self._lock:
            self._used -= size

    def _recount(self, now: float) -> None:
        found = [*segments_in(self.folder), *segments_in(self.rejected_folder)]
        self._used = sum(segment.size for segment in found)
        # A folder that nobody empties takes ever longer to count: a fiftieth of our time at most.
        took = time.monotonic() - now
        self._recount_at = now + max(_RECOUNT_SECONDS, 50 * took)

    def _count_dropped(self, gone: Counter[tuple[str, str]]) -> None:
        ours = host_and_pid(os.getpid())
        for (process, table), rows in gone.items():
            if process != ours:
                with contextlib.suppress(OSError):  # our own stats have it, whatever happens
                    note(self.folder, process, rows)
            self.dropped[f"spool_full:{table}"] += rows

    # -- writers ------------------

    def dead_writers(self) -> list[Path]:
        """The lock files of writers that closed or died.

        None is held: of processes that live for a second there may be more than one process may
        have files open, and whose lock was once seen free does not come back.
        """
        found: list[Path] = []
        for path in sorted((self.folder / "writers").glob("*.lock")):
            with contextlib.suppress(FileNotFoundError):
                lock = FileLock.take(path, create=False)
                if lock is not None:
                    lock.release()
                    found.append(path)
        return found

    def clean(self) -> None:
        """Remove temporary files that no living process is writing, and see to what one left
        half-way."""
        oldest = time.time() - _STALE_SECONDS
        for folder in (self.folder, self.folder / "writers", self.folder / "groups"):
            for name in names_in(folder):
                if name.endswith(LEAVING):
                    restore(folder / name)
                elif name.endswith(".tmp"):
                    path = folder / name
                    with contextlib.suppress(FileNotFoundError):
                        if path.stat().st_mtime < oldest:
                            path.unlink()

    def split(self, segment: Segment, halves: Iterable[bytes]) -> list[Segment]:
        """Put two segments of a part of its rows each in a segment's place. Their names follow from
        its own, so that a crash in between is mended by doing it again.

        Raises:
            OSError: they cannot be written; the segment is as it was.
        """
        made: list[Segment] = []
        for number, content in enumerate(halves, start=1):
            path = segment.part(number, content)
            write_whole(path, content)
            found = read_name(path, path.stat())
            if found is not None:
                made.append(found)
        segment.unlink()
        return made

    def reject(self, segment: Segment, reason: str) -> None:
        """Set a segment aside that the store will never take, with the reason beside it."""
        target = private_folder(self.rejected_folder) / segment.name
        write_whole(reason_of(target), reason.encode("utf-8", "replace"))
        os.replace(segment.path, target)


class SpoolWriter:
    """A process's identity in a spool. Nothing is created before the first ``write``.

    ``token`` names it in the records it writes (``host-pid-8hex``); its lock file tells others
    whether it lives and, by ``stats``, what it has queued and lost. After ``close`` or the
    process's death, its unfinished turns are interrupted.
    """

    def __init__(self, spool: Spool, stats: Callable[[], WriterStats] | None = None) -> None:
        self.spool = spool
        self._stats = stats or (lambda: WriterStats(0, dict(spool.dropped)))
        self._begin()

    def _begin(self) -> None:
        self._process = host_and_pid(os.getpid())
        self.token = f"{self._process}-{secrets.token_hex(4)}"
        self._held: FileLock | None = None
        self._published = WriterStats()
        self._unsynced: deque[tuple[float, Path]] = deque()
        self._mutex = threading.Lock()

    def after_fork(self) -> None:
        """In a forked child: a fresh identity. The parent's lock stays the parent's."""
        if self._held is not None:
            self._held.drop_in_child()
        self.spool.after_fork()
        self._begin()

    def write(self, table: str, schema_version: int, block: bytes, *, sync: bool = False) -> Path:
        """Write a segment; it outlives this process, and with ``sync`` a power cut too.

        Raises:
            SpoolFullError: the spool is at its limit; the segment is to be dropped.
            SpoolError: the folder cannot be written now, for whatever reason.
        """
        try:
            with self._mutex:
                self._hold()
            lost = self.spool.dropped.total()
            self.spool.make_room(table, len(block))
            if self.spool.dropped.total() != lost:
                self.publish_stats()
            name = new_name(self._process, schema_version, table, block)
            try:
                path = self._write(name, block, sync)
            except OSError:
                self.spool.give_back(len(block))
                raise
            if not sync:
                self._note_unsynced(path)
            return path
        except OSError as error:
            raise SpoolError(_explain(self.spool.folder, error)) from error

    def _write(self, name: str, block: bytes, sync: bool) -> Path:
        path = self.spool.folder / name
        try:
            write_whole(path, block, sync=sync)
        except FileNotFoundError:  # the folder was removed since a moment ago
            with self._mutex:
                self._hold()
            write_whole(path, block, sync=sync)
        return path

    def _note_unsynced(self, path: Path) -> None:
        now, unsynced = time.monotonic(), self._unsynced
        unsynced.append((now, path))
        with contextlib.suppress(IndexError):  # a sync has just taken them
            while unsynced[0][0] < now - _WRITTEN_BACK_SECONDS:
                unsynced.popleft()

    def sync(self) -> bool:
        """Sync what was written so far, that it survives a power cut; False where that fails,
        and the next time tries the same again."""
        taken: list[tuple[float, Path]] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._unsynced.popleft())
        try:
            sync_all([path for _, path in taken])
        except OSError:
            self._unsynced.extendleft(reversed(taken))
            return False
        return True

    def _hold(self) -> None:
        """Hold our lock file; anew when someone removed the folder."""
        if self._held is not None:
            if self._held.on_disk():
                return
            self._held.release()
        private_folder(self.spool.folder)
        path = private_folder(self.spool.folder / "writers") / f"{self.token}.lock"
        # Locked under another name first: a lock file that is seen free means a dead writer.
        lock = FileLock.take(path.with_suffix(".tmp"))
        if lock is None:
            raise BlockingIOError(errno.EAGAIN, "the writer's lock is held by another process")
        self._held = lock
        self._published = WriterStats()
        lock.move(path)

    def publish_stats(self) -> None:
        """Write the process's figures where ``Spool.usage`` finds it, if they have changed.

        What cannot be written now (nothing was spooled yet, the disk is full) is written next time.
        """
        stats = self._stats()
        if not self._mutex.acquire(timeout=0.1):  # a signal's handler may have interrupted us here
            return
        try:
            if self._held is not None and stats != self._published:
                self._held.write(stats.encoded())
                self._published = stats
        except OSError:
            return
        finally:
            self._mutex.release()

    def close(self) -> None:
        """Give the identity up; turns still running under it count as interrupted."""
        self.publish_stats()
        if self._held is not None:
            self._held.release()


def _explain(folder: Path, error: OSError) -> str:
    reason = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "this user may not write there",
    }.get(error.errno or 0, str(error))
    return f"the spool {folder} cannot be written: {reason}"
