"""One store for all that a process does that lives long, as a page, a receiver or a server does."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store


class SharedStore:
    """A store that is opened when it is first used, and then once for all threads.

    Between two statements an embedded store is another process's that waits for it. ``opener`` is
    how it is opened: ``turnspan_records.access.open_dsn`` for a reader that wants it up to date.
    """

    def __init__(self, dsn: Dsn, opener: Callable[[Dsn], Store] = open_store) -> None:
        self.dsn = dsn
        self._opener = opener
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._closed = False

    @contextlib.contextmanager
    def using(self) -> Generator[Store]:
        """The open store. Each of its statements waits its turn; ``Store.held`` keeps it for
        several.

        Raises:
            StoreError: as the opener; the next use tries again.
        """
        with self._opening:
            if self._closed:
                raise StoreError(f"The store {self.dsn} was closed: open it again.")
            if self._store is None:
                self._store = self._opener(self.dsn)
            store = self._store
        yield store

    def close(self) -> None:
        """Release it, for good; closing twice is fine."""
        with self._opening:
            self._closed = True
            store, self._store = self._store, None
        if store is not None:
            store.close()
