"""The shipper: spool segments into a store, each once, whatever happens in between.

Segments go in groups (insert_groups.py), each one insert with a deduplication token, and are
deleted after, so that a crash between the two, or an answer that never came, is mended by doing it
again.
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
from pathlib import Path

from turnspan_clickhouse.errors import QueryError, StoreError
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import (
    Holder,
    holder,
    host_and_pid,
    last_shipped,
    signed,
)
from turnspan_clickhouse.ship.interrupted_work import interrupt_turns, interrupt_work
from turnspan_clickhouse.ship.landing import Landing, ShipResult
from turnspan_clickhouse.ship.retry_policy import MISSING_SCHEMA
from turnspan_clickhouse.spool.eviction import given_up
from turnspan_clickhouse.spool.insert_groups import pending, planned
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.spool.totals import read_writer_stats
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

__all__ = ["ShipResult", "Shipper", "ship"]

_ABSORBED_TOGETHER = 500
"""Dead writers whose turns are looked for at once: their names are in the query's address."""
_LOOK_SECONDS = 2.0
"""How often it is looked who holds the lock that is waited for."""
_POLL_SECONDS, _POLL_AT_MOST = 0.02, 0.5
"""How often the lock is tried: ever less, or a hundred that wait leave the one no time to ship."""


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
        waiting: Callable[[Holder], None] = lambda _: None,
    ) -> ShipResult:
        """Ship what waits until all is landed, the store stops taking it, or the deadline.

        ``deadline`` is a ``time.monotonic()`` value. With ``wait`` another process that ships is
        waited for as long, or until ``until`` says that it has done our work, unless that one is
        stopped; ``waiting`` is told who it is, every few seconds. Nothing is raised: what went
        wrong is in the result, what waits stays.
        """
        result = ShipResult()
        before = set[str]()
        try:
            before = self._spool.names()
            lock = self._take_lock(deadline, wait, until, waiting)
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
        with contextlib.suppress(OSError):  # too many open files: it is said above
            result.remaining = len((before | result.parts) & self._spool.names())
        result.busy = result.busy and result.remaining > 0
        if result.busy:
            result.holder = holder(self._lock)
        return result

    @property
    def _lock(self) -> Path:
        return self._spool.folder / "ship.lock"

    def _take_lock(
        self,
        deadline: float | None,
        wait: bool,
        until: Callable[[], bool],
        waiting: Callable[[Holder], None],
    ) -> FileLock | None:
        # A short time left is not spent on courtesy.
        left = float("inf") if deadline is None else (deadline - time.monotonic()) / 2
        courteous = time.monotonic() + min(self._courtesy, left)
        pause, look_at = _POLL_SECONDS, time.monotonic() + _LOOK_SECONDS
        while self._spool.folder.is_dir():
            if time.monotonic() >= courteous or not self._just_shipped():
                lock = FileLock.take(self._lock)
                if lock is not None:
                    return lock
            if wait and time.monotonic() >= look_at:
                look_at = time.monotonic() + _LOOK_SECONDS
                found = holder(self._lock)
                if found is not None:
                    waiting(found)
                    if found.stopped:
                        break
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
        try:
            shipper, shipped = last_shipped(self._lock.read_bytes())
        except OSError:
            return False
        # Below 0: the clock was set back.
        return 0 <= time.time() - shipped < self._courtesy and shipper != host_and_pid(os.getpid())

    def _run_locked(self, lock: FileLock, result: ShipResult, deadline: float | None) -> None:
        _sign(lock, shipped=False)
        self._spool.clean()
        dead, segments = self._spool.dead_writers(), self._spool.segments()
        if segments or dead:
            with self._opener() as store:
                _sign(lock, shipped=True)
                begun = pending(self._spool.folder, segments)
                named = {segment.name for group in begun for segment in group.segments}
                fresh = [segment for segment in segments if segment.name not in named]
                landing = Landing(
                    store,
                    self._spool,
                    result,
                    auto_migrate=self._auto_migrate,
                    over=lambda: deadline is not None and time.monotonic() >= deadline,
                )
                landing.land([*begun, *planned(fresh, self._spool.folder)])
                landing.end()
                self._absorb_dead(store, dead, result, deadline)

    def _absorb_dead(
        self, store: Store, dead: Sequence[Path], result: ShipResult, deadline: float | None
    ) -> None:
        """Interrupt the turns of dead writers that have nothing waiting; remove their locks."""
        if not dead:
            return
        waiting = {segment.writer for segment in self._spool.segments()}
        gone = [path for path in dead if _process(path) not in waiting]
        for start in range(0, len(gone), _ABSORBED_TOGETHER):
            if deadline is not None and time.monotonic() >= deadline:
                return
            together = gone[start : start + _ABSORBED_TOGETHER]
            try:
                writers = [path.stem for path in together]
                result.interrupted += interrupt_turns(store, writers)
                interrupt_work(store, writers)
            except QueryError as error:
                if error.code not in MISSING_SCHEMA:
                    raise
                return  # nothing of theirs ever landed: no schema yet
            if not self._spool.totals.absorb(
                {path.stem: read_writer_stats(path) for path in together}
            ):
                return
            for path in together:
                path.unlink(missing_ok=True)
                given_up(self._spool.folder, _process(path)).unlink(missing_ok=True)


def _process(lock: Path) -> str:
    """The ``host-pid`` of a writer's lock file."""
    return lock.stem.rpartition("-")[0]


def _sign(lock: FileLock, *, shipped: bool) -> None:
    with contextlib.suppress(OSError):  # a full disk: no courtesy is asked for
        lock.write(signed(lock.content(), shipped=shipped))


def ship(
    store: Dsn | Store,
    *,
    deadline: float | None = None,
    spool: Spool | None = None,
    wait: bool = True,
    waiting: Callable[[Holder], None] = lambda _: None,
) -> ShipResult:
    """Ship what waits in a store's spool, once, migrating where the schema is missing or older.

    An embedded store that the caller has open is given as it is; between two inserts another
    process may have it. ``deadline``, ``wait`` and ``waiting`` are as for ``Shipper.run``.
    """
    dsn = store.dsn if isinstance(store, Store) else store
    spool = spool or Spool(dsn.spool)

    def run(opener: Callable[[], AbstractContextManager[Store]]) -> ShipResult:
        return Shipper(opener, spool, auto_migrate=True).run(deadline, wait=wait, waiting=waiting)

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
