"""Opening a store: the embedded engine, or a connection to a server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import Any

from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.files.lock_holders import Holder
from turnspan_clickhouse.store.client import Store, close_pool, importing, make_client
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.embedded import open_embedded
from turnspan_clickhouse.store.server_answers import checked, translated_errors

_CONNECT_SECONDS, _ANSWER_SECONDS = 5, 60
"""How long a server may take to accept a connection, and to answer."""


def open_store(
    dsn: Dsn, *, wait: float = 10.0, waiting: Callable[[Holder], None] = lambda _: None
) -> Store:
    """Open the store a DSN names; creates an embedded store that is not there.

    Another process that has an embedded store open lets us have it between two of its statements,
    as we do then. ``wait`` is how many seconds one process may keep us waiting; ``waiting`` is told
    which, once, when it takes longer than a moment.

    Raises:
        StoreBusyError: another process kept the embedded store.
        StoreUnavailableError: the server does not answer.
        StoreError: chdb is not installed, or the server refused the user.
    """
    if not dsn.embedded:
        return _open_server(dsn)
    return open_embedded(dsn, wait, waiting)


def _open_server(dsn: Dsn) -> Store:
    pool = _pool(dsn)
    try:
        with translated_errors(dsn):
            client = make_client(
                pool_mgr=pool,
                host=dsn.host,
                port=dsn.port,
                username=dsn.user,
                password=dsn.password,
                secure=dsn.secure,
                connect_timeout=_CONNECT_SECONDS,
                send_receive_timeout=_ANSWER_SECONDS,
                autogenerate_session_id=False,
                client_name="turnspan",
            )
    except BaseException:
        close_pool(pool)
        raise
    client.database = dsn.database
    return Store(dsn, client, pool)


def _pool(dsn: Dsn) -> Any:
    """Connections of this store's own, whose answers are looked at (server_answers.py)."""
    with importing:
        from clickhouse_connect.driver import httputil

    proxy = httputil.check_env_proxy("https" if dsn.secure else "http", dsn.host, dsn.port)
    driver: Any = httputil
    pool = driver.get_pool_manager(
        http_proxy=None if dsn.secure else proxy, https_proxy=proxy if dsn.secure else None
    )
    pool.urlopen = checked(dsn, pool.urlopen)
    return pool


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
