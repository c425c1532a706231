"""The shipper: spool segments into a store, each once, whatever happens in between.

Segments go in groups (groups.py), each one insert with a deduplication token, and are deleted
after, so that a crash between the two, or an answer that never came, is mended by doing it again.
One process ships a spool at a time (``ship.lock``); it ships what every process of every host wrote
into the folder. Short-lived processes leave that to each other: see ``courtesy``.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.errors import (
    InsertTooLargeError,
    QueryError,
    StoreError,
    StoreUnavailableError,
)
from turnspan_clickhouse.groups import Group, pending, planned
from turnspan_clickhouse.interrupt import interrupt_turns
from turnspan_clickhouse.locks import FileLock
from turnspan_clickhouse.migrate import current_version, migrate
from turnspan_clickhouse.refusals import BAD_DATA, MISSING_SCHEMA, NO_MEMORY, is_final, waits
from turnspan_clickhouse.room import given_up
from turnspan_clickhouse.segments import Segment, host_and_pid, rows_in
from turnspan_clickhouse.spool import Spool
from turnspan_clickhouse.stores import Store, open_store
from turnspan_clickhouse.totals import read_account

_MAX_KEPT = 10
"""Segments refused for reasons we do not know before a pass gives up; they stay in the spool."""
_BURIED_TOGETHER = 500
"""Dead writers whose turns are looked for at once: their names are in the query's address."""
_POLL_SECONDS, _POLL_AT_MOST = 0.02, 0.5
"""How often the lock is tried: ever less, or a hundred that wait leave the one no time to ship."""


@dataclass(slots=True)
class ShipResult:
    """What one shipping did; ``errors`` are sentences for people, empty when all went well."""

    shipped_segments: int = 0
    shipped_rows: int = 0
    inserts: int = 0
    """How many inserts that took: a part, or few, in ClickHouse each."""
    interrupted: int = 0
    rejected: int = 0
    remaining: int = 0
    """Segments that waited when it began and wait still; living writers go on writing."""
    busy: bool = False
    """Another process ships this spool, or has just done so, and was not waited for."""
    errors: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing waits any more and nothing was refused."""
        return not self.errors and not self.remaining and not self.rejected


class Shipper:
    """Ships one spool; ``opener`` opens the store when there is something to ship.

    ``courtesy`` is how many seconds this process lets pass after another one has shipped: so many
    processes that live for seconds make one insert of a table a second together, not one each.
    """

    def __init__(
        self,
        opener: Callable[[], AbstractContextManager[Store]],
        spool: Spool,
        *,
        auto_migrate: bool = False,
        courtesy: float = 0.0,
    ) -> None:
        self._opener = opener
        self._spool = spool
        self._auto_migrate = auto_migrate
        self._courtesy = courtesy

    def run(
        self,
        deadline: float | None = None,
        *,
        wait: bool = True,
        until: Callable[[], bool] = lambda: False,
    ) -> ShipResult:
        """Ship what waits until all is landed, the store stops taking it, or the deadline.

        ``deadline`` is a ``time.monotonic()`` value. With ``wait`` another process that ships is
        waited for as long, or until ``until`` says that it has done our work. Nothing is raised:
        what went wrong is in the result, what waits stays.
        """
        result = ShipResult()
        before = self._spool.names()
        try:
            lock = self._take_lock(deadline, wait, until)
            if lock is not None:
                try:
                    self._run_locked(lock, result, deadline)
                finally:
                    lock.release()
        except (StoreError, OSError) as error:
            result.errors.append(str(error))
            lock = None
        else:
            result.busy = lock is None
        result.remaining = len(before & self._spool.names())
        result.busy = result.busy and result.remaining > 0
        return result

    def _take_lock(
        self, deadline: float | None, wait: bool, until: Callable[[], bool]
    ) -> FileLock | None:
        # A short time left is not spent on courtesy.
        left = float("inf") if deadline is None else (deadline - time.monotonic()) / 2
        courteous = time.monotonic() + min(self._courtesy, left)
        pause = _POLL_SECONDS
        while self._spool.folder.is_dir():
            if time.monotonic() >= courteous or not self._just_shipped():
                lock = FileLock.take(self._spool.folder / "ship.lock")
                if lock is not None:
                    return lock
            if not wait or until() or (deadline is not None and time.monotonic() >= deadline):
                break
            if deadline is not None:
                pause = min(pause, max(0.0, deadline - time.monotonic()))
            time.sleep(pause * random.uniform(0.7, 1.0))
            pause = min(pause * 1.5, _POLL_AT_MOST)
        return None

    def _just_shipped(self) -> bool:
        """Whether another process has shipped less than the courtesy ago."""
        if not self._courtesy:
            return False
        path = self._spool.folder / "ship.lock"
        try:
            age = time.time() - path.stat().st_mtime
            if not 0 <= age < self._courtesy:  # below 0: the clock was set back
                return False
            return path.read_bytes() != _signature()
        except OSError:
            return False

    def _run_locked(self, lock: FileLock, result: ShipResult, deadline: float | None) -> None:
        self._spool.clean()
        dead, segments = self._spool.dead_writers(), self._spool.segments()
        if segments or dead:
            with self._opener() as store:
                with contextlib.suppress(OSError):  # a full disk: no courtesy is asked for
                    lock.write(_signature())
                self._ship_all(store, segments, result, deadline)
                self._bury(store, dead, result, deadline)

    def _ship_all(
        self,
        store: Store,
        segments: Sequence[Segment],
        result: ShipResult,
        deadline: float | None,
    ) -> None:
        begun = pending(self._spool.folder, segments)
        named = {segment.name for group in begun for segment in group.segments}
        fresh = [segment for segment in segments if segment.name not in named]
        refusing: dict[str, int] = {}
        for group in (*begun, *planned(fresh, self._spool.folder)):
            if deadline is not None and time.monotonic() >= deadline:
                return
            if group.size >= refusing.get(group.table, group.size + 1):
                continue
            try:
                self._land(store, group, result)
            except StoreUnavailableError:
                raise
            except StoreError as error:
                result.errors.append(str(error))
                # What is too large for the server's memory keeps nothing smaller from landing.
                large = isinstance(error, QueryError) and error.code in NO_MEMORY
                refusing[group.table] = group.size if large else 0
            except OSError as error:  # its files cannot be read, moved or deleted: others can
                if len(result.errors) >= _MAX_KEPT:
                    raise
                result.errors.append(str(error))

    def _land(self, store: Store, group: Group, result: ShipResult) -> None:
        """One group into the store; raises when its table takes nothing now."""
        if group.landed:
            group.delete()
            return
        fresh = not group.begun
        try:
            group.begin()
        except FileNotFoundError:  # dropped this moment, or the whole folder: see the next pass
            return
        except OSError:  # no room for a list on a full disk: one by one, each makes some
            if group.manifest is None:
                raise
            for segment in group.segments:
                self._land(store, Group.of([segment], self._spool.folder), result)
            return
        # Only now, when no writer gives them up any more to make room (room.py).
        segments, blocks, rows = self._read(group, result)
        if len(segments) < len(group.segments) and fresh:
            group.forget()
            if segments:
                self._land(store, Group.of(segments, self._spool.folder), result)
            return
        if any(one.path.exists() for one in group.segments if one not in segments):
            return  # it may have landed, and cannot be repeated as it was while that is unreadable
        if not segments:
            group.forget()
            return
        try:
            self._insert(store, group, b"".join(blocks))
        except (QueryError, InsertTooLargeError) as error:
            self._refused(store, group, segments, error, result)
            return
        result.inserts += 1
        result.shipped_rows += rows
        result.shipped_segments += len(segments)
        self._spool.totals.landed(group.token, group.table, rows)
        group.delete()

    def _read(self, group: Group, result: ShipResult) -> tuple[list[Segment], list[bytes], int]:
        """The group's segments that are there and readable, their content and rows."""
        segments: list[Segment] = []
        blocks: list[bytes] = []
        total = 0
        for segment in group.segments:
            try:
                block = segment.path.read_bytes()
            except FileNotFoundError:  # dropped by its writer, which ran out of room
                continue
            except PermissionError as error:  # written by another user
                result.errors.append(str(error))
                continue
            rows = rows_in(block)
            if not rows:  # the engine would take it for an empty batch
                self._reject(segment, "No rows can be read: the file was damaged.", result)
                continue
            segments.append(segment)
            blocks.append(block)
            total += rows
        return segments, blocks, total

    def _insert(self, store: Store, group: Group, block: bytes) -> None:
        try:
            store.insert_native(group.table, block, group.token)
        except QueryError as error:
            if not self._auto_migrate or not _lacks_schema(store, group, error):
                raise
            self._auto_migrate = False
            migrate(store)
            store.insert_native(group.table, block, group.token)

    def _refused(
        self,
        store: Store,
        group: Group,
        segments: Sequence[Segment],
        error: QueryError | InsertTooLargeError,
        result: ShipResult,
    ) -> None:
        """Find what is bad in a group and set it aside, keep what may land later; raises when the
        table takes nothing now."""
        if isinstance(error, QueryError):
            if _lacks_schema(store, group, error):
                raise StoreError(
                    f"The store's schema is older than {group.table} records of version "
                    f"{group.schema_version}, or missing: run `turnspan migrate`."
                ) from None
            if waits(error):  # it may have landed in part: the same insert again
                raise error
        if len(segments) > 1:
            # Refused whole (GROUP_BYTES): its halves are new inserts under tokens of their own.
            group.forget()
            middle = len(segments) // 2
            for half in (segments[:middle], segments[middle:]):
                self._land(store, Group.of(half, self._spool.folder), result)
        elif isinstance(error, InsertTooLargeError) or is_final(error):
            self._reject(segments[0], str(error), result)
            group.forget()
        elif len(result.errors) >= _MAX_KEPT:
            raise error
        else:
            result.errors.append(f"{segments[0].name}: {error}")

    def _reject(self, segment: Segment, reason: str, result: ShipResult) -> None:
        try:
            self._spool.reject(segment, reason)
        except OSError as error:  # a full disk: it waits, while the others land and make room
            result.errors.append(str(error))
        else:
            result.rejected += 1

    def _bury(
        self, store: Store, dead: Sequence[Path], result: ShipResult, deadline: float | None
    ) -> None:
        """Interrupt the turns of dead writers that have nothing waiting; remove their locks."""
        if not dead:
            return
        waiting = {segment.writer for segment in self._spool.segments()}
        gone = [path for path in dead if _process(path) not in waiting]
        for start in range(0, len(gone), _BURIED_TOGETHER):
            if deadline is not None and time.monotonic() >= deadline:
                return
            together = gone[start : start + _BURIED_TOGETHER]
            try:
                result.interrupted += interrupt_turns(store, [path.stem for path in together])
            except QueryError as error:
                if error.code not in MISSING_SCHEMA:
                    raise
                return  # nothing of theirs ever landed: no schema yet
            if not self._spool.totals.bury({path.stem: read_account(path) for path in together}):
                return
            for path in together:
                path.unlink(missing_ok=True)
                given_up(self._spool.folder, _process(path)).unlink(missing_ok=True)


def _lacks_schema(store: Store, group: Group, error: QueryError) -> bool:
    """Whether a refusal comes from an older schema: the code differs from column to column."""
    if error.code in MISSING_SCHEMA:
        return True
    return error.code in BAD_DATA and current_version(store) < group.schema_version


def _process(lock: Path) -> str:
    """The ``host-pid`` of a writer's lock file."""
    return lock.stem.rpartition("-")[0]


def _signature() -> bytes:
    """Who shipped last, in ``ship.lock``."""
    return host_and_pid(os.getpid()).encode()


def ship(
    store: Dsn | Store, *, deadline: float | None = None, spool: Spool | None = None
) -> ShipResult:
    """Ship what waits in a store's spool, once, migrating where the schema is missing or older.

    An embedded store that the caller has open is given as it is: a second opener would wait for it.
    ``deadline`` is a ``time.monotonic()`` value.
    """
    dsn = store.dsn if isinstance(store, Store) else store
    spool = spool or Spool(dsn.spool)

    def run(opener: Callable[[], AbstractContextManager[Store]]) -> ShipResult:
        return Shipper(opener, spool, auto_migrate=True).run(deadline)

    if isinstance(store, Store):
        return run(lambda: nullcontext(store))
    if not dsn.embedded:
        return run(lambda: open_store(dsn))
    if not spool.waiting():
        return ShipResult()
    try:
        # The store before ship.lock, as readers who have it open do: else two wait for each other.
        with open_store(dsn) as opened:
            return run(lambda: nullcontext(opened))
    except StoreError as error:
        return ShipResult(remaining=len(spool.segments()), errors=[str(error)])
