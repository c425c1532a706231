"""The shipper of an application: a thread that lands a server store's spool as it fills."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from contextlib import AbstractContextManager, nullcontext

from opentelemetry import context as otel_context

from turnspan.runtime.guard import errors, logger
from turnspan_clickhouse.ship.preload import prepare_shipping
from turnspan_clickhouse.ship.shipper import Shipper, ShipResult
from turnspan_clickhouse.spool.segments import origin
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

_THREAD = "turnspan-shipper"
_COURTESY_SECONDS = 1.0


class BackgroundShipper:
    """A daemon thread that ships a server store's spool as it fills.

    It starts with ``start``, again by itself in a forked child that calls ``wake``, keeps one
    connection, and after a failure waits longer and longer (with jitter, at most ``patience``
    seconds). ``spacing`` is the seconds between two passes of this process.
    """

    def __init__(
        self,
        dsn: Dsn,
        spool: Spool,
        *,
        interval: float = 30.0,
        spacing: float = 0.5,
        patience: float = 60.0,
    ) -> None:
        self._dsn = dsn
        self._spool = spool
        self._interval = interval
        self._spacing = spacing
        self._patience = patience
        prepare_shipping()
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._state = threading.Condition()
        self._asked = self._done = 0
        self._hurry = 0.0  # until when a flush waits for this pass
        self._awaited: list[str] = []  # what it waits for, the newest last
        self._stopping = False
        self._store: Store | None = None
        self._failures = 0
        self._named = ""  # who keeps us from shipping, once the log says so
        self._deadline = 0.0
        self.last = ShipResult()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin shipping; again does nothing. Where the system has no thread to give, the next
        ``wake`` asks for one again."""
        if self._pid != os.getpid():
            self._reset()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=_THREAD, daemon=True)
            with contextlib.suppress(RuntimeError):
                thread.start()
                self._thread = thread

    def wake(self) -> None:
        """There is something to ship."""
        if self._pid != os.getpid() or self._thread is None:
            self.start()
        with self._state:
            self._asked += 1
            self._state.notify_all()

    def flush(self, timeout: float) -> bool:
        """Ship now, whatever the back-off says; whether all had landed within the seconds."""
        self.start()
        waiting = self._names()
        if waiting is None or self._thread is None:
            return False
        with self._state:
            self._asked += 1
            goal = self._asked
            self._hurry, self._awaited = time.monotonic() + timeout, sorted(waiting)
            self._state.notify_all()
            self._state.wait_for(lambda: self._done >= goal or self._stopping, timeout)
            done = self._done >= goal
        return done and self._landed(waiting)

    def stop(self, timeout: float) -> bool:
        """Ship what waits for at most ``timeout`` seconds and end; whether all had landed."""
        thread, waiting = self._thread, self._names()
        if thread is None or self._pid != os.getpid():
            return waiting is not None and not waiting
        self._deadline = time.monotonic() + timeout
        with self._state:
            self._stopping, self._awaited = True, sorted(waiting or ())
            self._state.notify_all()
        thread.join(timeout)
        return not thread.is_alive() and waiting is not None and self._landed(waiting)

    def _names(self) -> set[str] | None:
        """What waits; None where nobody can tell now (too many open files)."""
        try:
            return self._spool.names()
        except OSError:
            return None

    def _landed(self, names: set[str]) -> bool:
        """Whether these left the spool for the store; others may write new ones all the time."""
        ours = {origin(name) for name in names}
        try:
            there = (*self._spool.names(), *(one.name for one in self._spool.rejected()))
        except OSError:
            return False
        return not any(origin(name) in ours for name in there)

    def _gone(self) -> bool:
        """Whether another process has shipped what a flush or the end waits for."""
        awaited = self._awaited
        while awaited and not (self._spool.folder / awaited[-1]).exists():
            awaited.pop()
        return not awaited

    # -- the thread ------------------

    def _run(self) -> None:
        otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
        stopping = False
        while not stopping:
            stopping, hurry, asked = self._wait()
            deadline = self._deadline if stopping else hurry or None
            try:
                shipper = Shipper(self._connection, self._spool, courtesy=_COURTESY_SECONDS)
                result = shipper.run(deadline, wait=deadline is not None, until=self._gone)
            except Exception as error:  # noqa: BLE001 - the thread must live on
                errors.record("shipper", error)
                result = ShipResult(errors=[str(error)])
            self._note(result)
            with self._state:
                self.last = result
                stopped = result.holder is not None and result.holder.stopped
                # Busy: what is ours may have come too late for the other, which goes on.
                if not result.busy or stopped:
                    self._done = max(self._done, asked)
                self._state.notify_all()
        self._disconnect()

    def _wait(self) -> tuple[bool, float, int]:
        """Until there is something to do: (stopping, a flush's deadline, what was asked by now)."""
        pause = self._spacing
        if self._failures:
            pause = min(self._patience, 0.5 * 2.0**self._failures) * random.uniform(0.5, 1.0)
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
        """One log line when shipping begins to fail, one when it works again, and one for each
        process that keeps us from it and will not stop doing so by itself."""
        found = result.holder
        if found is not None and found.stuck and self._named != f"{found.host}-{found.pid}":
            self._named = f"{found.host}-{found.pid}"
            logger.warning("Turnspan's records wait for %s, to ship. %s", found, found.remedy)
        if result.errors:
            self._disconnect()
            if not self._failures:
                logger.warning("Turnspan cannot ship its records now: %s", result.errors[0])
            # What goes through is not slowed down by what does not.
            self._failures = 1 if result.inserts else self._failures + 1
        elif self._failures and not result.busy:
            logger.warning(
                "Turnspan ships its records again (%d segments).", result.shipped_segments
            )
            self._failures = 0
