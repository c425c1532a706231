"""Signals whose handler the main thread runs late or never.

Python runs a signal's handler in the main thread once that is back in the interpreter. A signal
that comes just before the thread begins to wait in C (for a pool's next task, say) does not end
that wait: the handler runs when the wait is over, which may be never. ``Pool.terminate`` sends
SIGTERM at about that moment, so a worker with any handler for it makes a pool hang once in a while.
Without a handler the process would be gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

_PAUSE: Final = 0.05
"""Seconds that the main thread has before it is woken, and between two attempts."""
_ATTEMPTS: Final = 10
_CREDENTIALS: Final = struct.Struct("3i")


class Listener:
    """A daemon thread that sees every signal of this process come (Linux).

    ``waiting(number)`` says whether the handler has yet to run; while it does, the main thread is
    woken from its wait. One that cannot be woken (inside a library, or with the signal blocked) is
    ``given_up(number)`` after half a second.
    """

    def __init__(self, waiting: Callable[[int], bool], given_up: Callable[[int], None]) -> None:
        self._waiting = waiting
        self._given_up = given_up
        self._pid = 0
        self._ends: tuple[socket.socket, socket.socket] | None = None

    def start(self) -> None:
        """Begin to listen in this process; again does nothing, nor where somebody else does.

        Raises:
            ValueError: this is not the main thread.
        """
        if sys.platform != "linux" or self._pid == os.getpid():
            return
        inbox, outbox = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        outbox.setblocking(False)
        inherited = -1 if self._ends is None else self._ends[1].fileno()
        theirs = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
        if theirs not in (-1, inherited):
            signal.set_wakeup_fd(theirs)
            return
        # A process forked without Python's hooks writes here as well: who it was is told with it.
        inbox.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._pid, self._ends = os.getpid(), (inbox, outbox)
        threading.Thread(
            target=self._listen, args=(inbox,), name="turnspan-signals", daemon=True
        ).start()

    def _listen(self, inbox: socket.socket) -> None:
        if sys.platform != "linux":
            return
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        while True:
            heard, told, _, _ = inbox.recvmsg(1, room)
            for _, kind, data in told:
                if kind == socket.SCM_CREDENTIALS and _CREDENTIALS.unpack(data)[0] == self._pid:
                    self._see_to(heard[0])

    def _see_to(self, number: int) -> None:
        if sys.platform == "win32":
            return
        main = threading.main_thread().ident
        for _ in range(_ATTEMPTS):
            if not self._waiting(number):
                return
            time.sleep(_PAUSE)
            if main is not None and self._waiting(number):
                signal.pthread_kill(main, number)
        if self._waiting(number):
            self._given_up(number)


def reset(number: int) -> None:
    """Give a signal its default effect again, from any thread; ``signal.signal`` is for the main
    thread only."""
    ctypes.CDLL(None).signal(number, int(signal.SIG_DFL))
