"""The shipper: spool segments into a store, each once, whatever happens in between.

A segment is inserted with its name as the deduplication token and deleted after, so that a crash
between the two, or an answer that never came, is mended by doing it again. One process ships a
spool at a time (``ship.lock``); it ships what every process of every host wrote into the folder.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from opentelemetry import context as otel_context

from turnspan.guard import errors, logger
from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.errors import (
    QueryError,
    StoreError,
)
from turnspan_clickhouse.interrupt import interrupt_turns
from turnspan_clickhouse.locks import FileLock
from turnspan_clickhouse.migrate import current_version, migrate
from turnspan_clickhouse.segments import Segment
from turnspan_clickhouse.spool import Spool
from turnspan_clickhouse.stores import Store, open_store

MISSING_SCHEMA = frozenset({16, 60, 81})
"""NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_TABLE, UNKNOWN_DATABASE."""
BAD_DATA = frozenset(
    {
        *(6, 7, 8, 9, 10, 20, 26, 27, 32, 33, 34, 36, 38, 41, 43, 44, 50, 53, 61, 62, 69, 70, 72),
        *(108, 117, 122, 128, 130, 131, 190, 261, 271, 321, 349, 353, 407, 469, 480, 636, 646),
    }
)
"""Codes by which ClickHouse says that the bytes are wrong; trying again would not help."""
NOT_NOW = frozenset(
    {
        *(3, 49, 74, 75, 76, 159, 160, 164, 173, 201, 202, 203, 209, 210, 225, 236, 241, 242, 243),
        *(252, 254, 285, 286, 289, 290, 305, 319, 364, 373, 394, 425, 439, 497, 530, 531, 571, 599),
        *(999, 1000, 1002),
    }
)
"""Too many parts, memory, time, keeper, read-only, rights: the same bytes will do later."""
_MAX_KEPT = 10
"""Segments refused for reasons we do not know before a pass gives up; they stay in the spool."""
_LOCK_POLL_SECONDS = 0.05
_THREAD = "turnspan-shipper"


@dataclass(slots=True)
class ShipResult:
    """What one shipping did; ``errors`` are sentences for people, empty when all went well."""

    shipped_segments: int = 0
    shipped_rows: int = 0
    interrupted: int = 0
    rejected: int = 0
    remaining: int = 0
    busy: bool = False
    """Another process is shipping this spool and was not waited for."""
    errors: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing waits any more and nothing was refused."""
        return not self.errors and not self.remaining and not self.rejected


class Shipper:
    """Ships one spool; ``opener`` opens the store when there is something to ship."""

    def __init__(
        self,
        opener: Callable[[], AbstractContextManager[Store]],
        spool: Spool,
        *,
        auto_migrate: bool = False,
    ) -> None:
        self._opener = opener
        self._spool = spool
        self._auto_migrate = auto_migrate

    def run(self, deadline: float | None = None, *, wait: bool = True) -> ShipResult:
        """Ship what waits until all is landed, the store stops taking it, or the deadline.

        ``deadline`` is a ``time.monotonic()`` value. With ``wait`` another process that ships is
        waited for as long. Nothing is raised: what went wrong is in the result, what waits stays.
        """
        result = ShipResult()
        try:
            lock = self._take_lock(deadline, wait)
            if lock is not None:
                try:
                    self._run_locked(result, deadline)
                finally:
                    lock.release()
            else:
                result.busy = self._spool.folder.is_dir()
        except (StoreError, OSError) as error:
            result.errors.append(str(error))
        result.remaining = len(self._spool.segments())
        return result

    def _take_lock(self, deadline: float | None, wait: bool) -> FileLock | None:
        while self._spool.folder.is_dir():
            lock = FileLock.take(self._spool.folder / "ship.lock")
            if lock is not None:
                return lock
            if not wait or (deadline is not None and time.monotonic() >= deadline):
                break
            time.sleep(_LOCK_POLL_SECONDS)
        return None

    def _run_locked(self, result: ShipResult, deadline: float | None) -> None:
        self._spool.clean()
        dead = self._spool.dead_writers()
        try:
            segments = self._spool.segments()
            if segments or dead:
                with self._opener() as store:
                    self._ship_all(store, segments, result, deadline)
                    self._bury(store, dead, result)
        finally:
            for writer in dead:
                writer.release()

    def _ship_all(
        self,
        store: Store,
        segments: Sequence[Segment],
        result: ShipResult,
        deadline: float | None,
    ) -> None:
        for segment in segments:
            if deadline is not None and time.monotonic() >= deadline:
                return
            try:
                block = segment.path.read_bytes()
            except FileNotFoundError:  # dropped by its writer, which ran out of room
                continue
            rows = segment.rows()
            if not rows:  # the engine would take it for an empty batch
                self._spool.reject(segment, "No rows can be read: the file was damaged.")
                result.rejected += 1
                continue
            try:
                self._insert(store, segment, block)
            except QueryError as error:
                self._refused(store, segment, error, result)
                continue
            result.shipped_rows += rows
            result.shipped_segments += 1
            segment.path.unlink(missing_ok=True)

    def _refused(
        self, store: Store, segment: Segment, error: QueryError, result: ShipResult
    ) -> None:
        """Set a bad segment aside, keep one that may land later; raises to end the pass."""
        if _lacks_schema(store, segment, error):
            raise StoreError(
                f"The store's schema is older than {segment.table} records of version "
                f"{segment.schema_version}, or missing: run `turnspan migrate`."
            ) from None
        if error.code in BAD_DATA:
            self._spool.reject(segment, str(error))
            result.rejected += 1
        elif error.code in NOT_NOW or len(result.errors) >= _MAX_KEPT:
            raise error
        else:
            result.errors.append(f"{segment.name}: {error}")

    def _insert(self, store: Store, segment: Segment, block: bytes) -> None:
        try:
            store.insert_native(segment.table, block, segment.name)
        except QueryError as error:
            if not self._auto_migrate or not _lacks_schema(store, segment, error):
                raise
            self._auto_migrate = False
            migrate(store)
            store.insert_native(segment.table, block, segment.name)

    def _bury(self, store: Store, dead: Sequence[FileLock], result: ShipResult) -> None:
        """Interrupt the turns of dead writers that have nothing waiting; remove their locks."""
        waiting = {segment.writer for segment in self._spool.segments()}
        gone = [lock for lock in dead if _process(lock) not in waiting]
        if not gone:
            return
        try:
            result.interrupted += interrupt_turns(store, [lock.path.stem for lock in gone])
        except QueryError as error:
            if error.code not in MISSING_SCHEMA:
                raise
            return  # nothing of theirs ever landed: no schema yet
        for lock in gone:
            with contextlib.suppress(FileNotFoundError):
                lock.path.unlink()


def _lacks_schema(store: Store, segment: Segment, error: QueryError) -> bool:
    """Whether a refusal comes from an older schema: the code differs from column to column."""
    if error.code in MISSING_SCHEMA:
        return True
    return error.code in BAD_DATA and current_version(store) < segment.schema_version


def _process(lock: FileLock) -> str:
    """The ``host-pid`` of a writer's lock file."""
    return lock.path.stem.rpartition("-")[0]


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


class BackgroundShipper:
    """A daemon thread that ships a server store's spool as it fills.

    It starts with ``start``, again by itself in a forked child that calls ``wake``, keeps one
    connection, and after a failure waits longer and longer (with jitter, at most a minute).
    """

    def __init__(
        self, dsn: Dsn, spool: Spool, *, interval: float = 30.0, spacing: float = 0.5
    ) -> None:
        self._dsn = dsn
        self._spool = spool
        self._interval = interval
        self._spacing = spacing
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._state = threading.Condition()
        self._asked = self._done = 0
        self._hurry = 0.0  # until when a flush waits for this pass
        self._stopping = False
        self._store: Store | None = None
        self._failures = 0
        self._deadline = 0.0
        self.last = ShipResult()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin shipping; again does nothing."""
        if self._pid != os.getpid():
            self._reset()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=_THREAD, daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """There is something to ship."""
        if self._pid != os.getpid():
            self.start()
        with self._state:
            self._asked += 1
            self._state.notify_all()

    def flush(self, timeout: float) -> bool:
        """Ship now, whatever the back-off says; whether all had landed within the seconds."""
        if self._pid != os.getpid() or self._thread is None:
            self.start()
        waiting = self._spool.segments()
        with self._state:
            self._asked += 1
            goal = self._asked
            self._hurry = time.monotonic() + timeout
            self._state.notify_all()
            self._state.wait_for(lambda: self._done >= goal or self._stopping, timeout)
            done = self._done >= goal
        return done and self._landed(waiting)

    def stop(self, timeout: float) -> bool:
        """Ship what waits for at most ``timeout`` seconds and end; whether all had landed."""
        thread, waiting = self._thread, self._spool.segments()
        if thread is None or self._pid != os.getpid():
            return not waiting
        self._deadline = time.monotonic() + timeout
        with self._state:
            self._stopping = True
            self._state.notify_all()
        thread.join(timeout)
        return not thread.is_alive() and self._landed(waiting)

    def _landed(self, segments: Sequence[Segment]) -> bool:
        """Whether these left the spool for the store; others may write new ones all the time."""
        rejected = self._spool.rejected_folder
        return not any(s.path.exists() or (rejected / s.name).exists() for s in segments)

    # -- the thread ------------------

    def _run(self) -> None:
        otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
        stopping = False
        while not stopping:
            stopping, hurry, asked = self._wait()
            deadline = self._deadline if stopping else hurry or None
            try:
                shipper = Shipper(self._connection, self._spool)
                result = shipper.run(deadline, wait=deadline is not None)
            except Exception as error:  # noqa: BLE001 - the thread must live on
                errors.record("shipper", error)
                result = ShipResult(errors=[str(error)])
            self._note(result)
            with self._state:
                self.last = result
                self._done = max(self._done, asked)
                self._state.notify_all()
        self._disconnect()

    def _wait(self) -> tuple[bool, float, int]:
        """Until there is something to do: (stopping, a flush's deadline, what was asked by now)."""
        pause = self._spacing
        if self._failures:
            pause = min(60.0, 0.5 * 2.0**self._failures) * random.uniform(0.5, 1.0)
        with self._state:
            self._state.wait_for(lambda: self._stopping or self._hurry > 0, pause)
            idle = self._interval if not self._failures else 0.0
            self._state.wait_for(
                lambda: self._stopping or self._hurry > 0 or self._asked > self._done, idle
            )
            hurry, self._hurry = self._hurry, 0.0
            return self._stopping, hurry, self._asked

    def _connection(self) -> AbstractContextManager[Store]:
        if self._store is None:
            self._store = open_store(self._dsn)
        return nullcontext(self._store)

    def _disconnect(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _note(self, result: ShipResult) -> None:
        """One log line when shipping begins to fail, one when it works again."""
        if result.errors:
            self._disconnect()
            if not self._failures:
                logger.warning("Turnspan cannot ship its records now: %s", result.errors[0])
            self._failures += 1
        elif self._failures and not result.busy:
            logger.warning(
                "Turnspan ships its records again (%d segments).", result.shipped_segments
            )
            self._failures = 0
