"""Lands a receiver's records in an embedded store before they fill the spool.

A reader lands what waits when it comes. Where none comes for days, the spool would be full one day,
and requests would be refused. Small amounts are left to readers: the engine is hundreds of
megabytes in memory, and whoever only receives shall not need them.
"""

from __future__ import annotations

import importlib.util
import threading

from opentelemetry import context as otel_context

from turnspan.runtime.guard import errors, logger
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.ship.background import BackgroundShipper
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import SharedStore

MUCH_BYTES, MUCH_SEGMENTS = 32 * 2**20, 2_000
_LOOK_SECONDS = 5.0
_LATER_SECONDS = 60.0
"""After a failure, as where the disk is full."""


class EmbeddedLanding:
    """A daemon thread that lands the spool of an embedded store when much waits in it."""

    def __init__(self, dsn: Dsn, spool: Spool) -> None:
        self._spool = spool
        self._store = SharedStore(dsn)
        self._stopping = threading.Event()
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="turnspan-landing", daemon=True)

    def start(self) -> None:
        """Begin to look; without the engine there is nothing to be done."""
        if importlib.util.find_spec("chdb") is not None:
            self._thread.start()

    def wake(self) -> None:
        """There is something: it is looked for it in time."""

    def stop(self, timeout: float) -> bool:
        """End; what waits is safe in the spool. Whether it ended within the seconds."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
        try:
            while not self._stopping.wait(_LATER_SECONDS if self._failing else _LOOK_SECONDS):
                try:
                    if self._is_much():
                        self._land()
                except Exception as error:  # noqa: BLE001  the thread must live on
                    errors.record("receive.landing", error)
        finally:
            self._store.close()

    def _is_much(self) -> bool:
        try:
            segments = self._spool.segments()
        except OSError:  # too many open files
            return False
        return len(segments) >= MUCH_SEGMENTS or sum(one.size for one in segments) >= MUCH_BYTES

    def _land(self) -> None:
        """Land what waits; another process that does it already goes on, and so do its users."""
        try:
            with self._store.using() as store:
                found = ship(store, spool=self._spool, wait=False).errors
        except StoreError as error:
            found = [str(error)]
        if found and not self._failing:
            logger.warning("Turnspan receive: the records stay in the spool: %s", found[0])
        elif self._failing and not found:
            logger.warning("Turnspan receive: the records land again.")
        self._failing = bool(found)


def lander(dsn: Dsn, spool: Spool) -> BackgroundShipper | EmbeddedLanding:
    """The thread that lands what waits in a spool, for a process that stays; not started yet."""
    return EmbeddedLanding(dsn, spool) if dsn.embedded else BackgroundShipper(dsn, spool)
