"""Ctrl-C while the embedded engine runs a statement.

Python hears of a signal when the engine returns, which may be in an hour. So another thread is told
of it by the system (``signal.set_wakeup_fd``), and ends what runs.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Generator

from turnspan.runtime.guard import errors
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.embedded import EmbeddedStore


@contextlib.contextmanager
def ended_by_interrupts(store: Store) -> Generator[None]:
    """In this block SIGINT ends what the embedded engine reads, and Python then raises
    ``KeyboardInterrupt`` as usual.

    Does nothing for a server, which a process that is interrupted leaves, nor outside of the main
    thread, which nothing interrupts, nor where somebody else is told of signals already.
    """
    main = threading.current_thread() is threading.main_thread()
    if not isinstance(store, EmbeddedStore) or not main:
        yield
        return
    told, tells = socket.socketpair()
    with tells:  # whose end is the thread's
        tells.setblocking(False)
        theirs = signal.set_wakeup_fd(tells.fileno(), warn_on_full_buffer=False)
        if theirs != -1:  # an event loop's, which ends what it runs by itself
            signal.set_wakeup_fd(theirs)
            told.close()
            yield
            return
        threading.Thread(
            target=_watch, args=(told, store), name="turnspan-ctrl-c", daemon=True
        ).start()
        try:
            yield
        finally:
            later = signal.set_wakeup_fd(-1)
            if later not in (-1, tells.fileno()):  # somebody's who came meanwhile
                signal.set_wakeup_fd(later)


def _watch(told: socket.socket, store: EmbeddedStore) -> None:
    with told:
        while signals := told.recv(64):
            if signal.SIGINT in signals:
                try:
                    store.end_reading()
                except StoreError as error:  # it goes on to its end, as it would without us
                    errors.record("store.interrupt", error)
