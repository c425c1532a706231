"""Ctrl-C while the embedded engine runs a statement.

Python hears of a signal when the engine returns, which may be in an hour. So another thread is told
of it by the system (``signal.set_wakeup_fd``), and ends what runs.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable

from turnspan.runtime.guard import errors
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.embedded import EmbeddedStore


def ends_with_interrupts(store: Store) -> Callable[[], None]:
    """From now on SIGINT ends what the embedded engine reads, and Python then raises
    ``KeyboardInterrupt`` as usual; until the function that is returned is called.

    Does nothing for a server, which a process that is interrupted leaves, nor outside of the main
    thread, which nothing interrupts, nor where somebody else is told of signals already.
    """
    main = threading.current_thread() is threading.main_thread()
    if not isinstance(store, EmbeddedStore) or not main:
        return _nothing
    told, tells = socket.socketpair()
    tells.setblocking(False)
    before = signal.set_wakeup_fd(tells.fileno(), warn_on_full_buffer=False)
    if before != -1:  # an event loop's, which ends what it runs by itself
        signal.set_wakeup_fd(before)
        _close(told, tells)
        return _nothing

    ours = tells.fileno()

    def stop() -> None:
        told_now = signal.set_wakeup_fd(-1)
        if told_now not in (-1, ours):  # somebody's who came later
            signal.set_wakeup_fd(told_now)
        tells.close()  # which ends the thread

    threading.Thread(target=_watch, args=(told, store), name="turnspan-ctrl-c", daemon=True).start()
    return stop


def _watch(told: socket.socket, store: EmbeddedStore) -> None:
    with told:
        while signals := told.recv(64):
            if signal.SIGINT in signals:
                try:
                    store.end_reading()
                except StoreError as error:  # it goes on to its end, as it would without us
                    errors.record("store.interrupt", error)


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.close()


def _nothing() -> None:
    """There is nothing to stop."""
