"""The store that the page's questions are asked of: opened when the first comes, in threads of its
own, since the engine answers while the server goes on taking requests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from turnspan_clickhouse.errors import StoreUnavailableError
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.embedded import busy
from turnspan_records.access import land_what_waits, open_dsn

T = TypeVar("T")

SERVER_THREADS = 4
LAND_SECONDS = 1.0
"""What waits in an embedded store's spool is landed at most so often."""
BUSY_SECONDS = 2.5
"""How long a request waits for a store that another process keeps, before it is told so."""
_ENDING = "The server of this page is ending. Start it again: turnspan console"
_LANDING_SECONDS = 0.25
"""How long a request lands what waits: the rest of much does with the next ones."""


class StoreReader:
    """Asks a store: an embedded one from one thread, a server from four with a connection each."""

    def __init__(self, dsn: Dsn) -> None:
        self.dsn = dsn
        self._threads = ThreadPoolExecutor(
            1 if dsn.embedded else SERVER_THREADS, thread_name_prefix="turnspan-page"
        )
        self._apart = ThreadPoolExecutor(1, thread_name_prefix="turnspan-page-apart")
        self._own = threading.local()
        self._opened: list[Store] = []
        self._landed = 0.0
        self._kept_by: Holder | None = None
        self._closed = False

    async def ask(
        self, question: Callable[[Store], T], *, apart: bool = False, create: bool = False
    ) -> T:
        """The answer of a function of the store. Raises what it raises, and ``StoreError``.

        One that is asked ``apart`` has a connection of its own and keeps nobody waiting. With
        ``create`` a store is made where there is none.
        """
        if not apart:
            return await self._unless_kept(self._threads, lambda: self._answer(question, create))
        store = await self._unless_kept(
            self._threads, lambda: self._answer(lambda store: store, create)
        )
        return await self._unless_kept(self._apart, lambda: self._asked(question, store))

    async def _unless_kept(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        """What the work returns. A store that another process keeps is waited for in its thread,
        for much longer than anybody looks at a page that says nothing: ``StoreBusyError`` before.
        """
        if self._closed:
            raise StoreUnavailableError(_ENDING)
        future = asyncio.get_running_loop().run_in_executor(threads, work)
        future.add_done_callback(_heard)
        while not (await asyncio.wait({future}, timeout=BUSY_SECONDS))[0]:
            if self._kept_by is not None:
                future.cancel()  # unless it has begun: nobody wants the answer
                raise busy(self.dsn, BUSY_SECONDS, self._kept_by)
        if future.cancelled():
            raise StoreUnavailableError(_ENDING)
        return future.result()

    def _answer(self, question: Callable[[Store], T], create: bool) -> T:
        try:
            store = self._store(create)
        finally:
            self._kept_by = None
        try:
            # An application beside a server ships its records itself.
            if self.dsn.embedded and time.monotonic() - self._landed >= LAND_SECONDS:
                land_what_waits(store, seconds=_LANDING_SECONDS)
                self._landed = time.monotonic()
            return self._asked(question, store)
        except StoreUnavailableError:
            self._own.store = None
            self._opened.remove(store)
            store.close()
            raise

    def _asked(self, question: Callable[[Store], T], store: Store) -> T:
        try:
            return question(store)
        finally:
            self._kept_by = None

    def _keep(self, by: Holder) -> None:
        self._kept_by = by

    def _store(self, create: bool) -> Store:
        store: Store | None = getattr(self._own, "store", None)
        if store is None:
            # Between two statements an embedded store is another process's that waits for it.
            store = open_dsn(self.dsn, create=create, waiting=self._keep, landing=_LANDING_SECONDS)
            self._own.store = store
            self._opened.append(store)
            self._landed = time.monotonic()
        return store

    def close(self) -> None:
        """Release the store, when the questions under way are answered."""
        self._closed = True
        self._apart.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
        for store in self._opened:
            store.close()
        self._opened.clear()


def _heard(future: asyncio.Future[Any]) -> None:
    """An error of which nobody waits any more is no news."""
    if not future.cancelled():
        future.exception()
