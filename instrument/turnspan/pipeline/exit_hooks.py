"""Ways to leave a process that run none of the interpreter's exit handlers.

``os._exit`` (children of ``multiprocessing`` and Celery, daemons that fork twice), ``os.exec*``,
SIGTERM and SIGHUP where the application leaves them to the system (an operator, a container's end,
``Pool.terminate``, a closed terminal). Before each, what was recorded last is written down.

A handler of the application's is never replaced, and one that it sets later replaces ours. A forked
child has nothing to write until it records: until then the system's own way of ending it is back.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

PATIENCE: Final = 5.0
"""Seconds that leaving waits at most, whatever holds the writing up."""
if sys.platform == "win32":
    SIGNALS: Final = (signal.SIGTERM,)
else:
    SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_FUNCTIONS: Final = ("_exit", "execv", "execve")  # the other exec functions call one of these


_PAUSE: Final = 0.05
"""Seconds that the main thread has before it is woken, and between two attempts."""
_ATTEMPTS: Final = 10
_CREDENTIALS: Final = struct.Struct("3i")


class Listener:
    """A daemon thread that sees every signal of this process come (Linux).

    Python runs a signal's handler in the main thread once that is back in the interpreter. A signal
    that comes just before the thread begins to wait in C (for a pool's next task, say) does not end
    that wait: the handler runs when the wait is over, which may be never. ``Pool.terminate`` sends
    SIGTERM at about that moment, so a worker with any handler for it makes a pool hang once in a
    while. Without a handler the process would be gone.

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


class ExitHooks:
    """Calls ``write_out`` before the process leaves, from ``install`` to ``uninstall``.

    ``write_out`` runs on a thread of its own: a signal's handler may have interrupted its thread
    anywhere, also while that held a lock.
    """

    def __init__(self, write_out: Callable[[], None]) -> None:
        self._write_out = write_out
        self._replaced: dict[str, tuple[Any, Any]] = {}
        self._forked = False
        self._signal = 0
        """The one whose handler has begun."""
        self._listener: Listener | None = None

    def install(self) -> None:
        """Watch this process and those forked from it; again does nothing more. In a forked child,
        what ``forked`` gave back is taken again."""
        for name in _FUNCTIONS:
            if name not in self._replaced:
                theirs = getattr(os, name)
                ours = self._writing_first(theirs)
                self._replaced[name] = (theirs, ours)
                setattr(os, name, ours)
        for number in SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL and not _caught(number):
                _set(number, self._signalled)
        if self._forked or _is_child():
            self._listen()

    def forked(self) -> None:
        """In a forked child: nothing is recorded yet."""
        self._forked, self._signal = True, 0
        self._give_back()

    def uninstall(self) -> None:
        """Give everything back, except what somebody has wrapped since: that sleeps."""
        for name, (theirs, ours) in list(self._replaced.items()):
            if getattr(os, name) is ours:
                setattr(os, name, theirs)
                del self._replaced[name]
        self._give_back()

    def _give_back(self) -> None:
        for number in SIGNALS:
            if signal.getsignal(number) == self._signalled:
                _set(number, signal.SIG_DFL)

    def _listen(self) -> None:
        # Children only: who ends them is another program, which waits for them to be gone. (An
        # application's own process is ended by an operator, at no moment in particular, and its
        # event loop may want to be the one that listens.)
        if self._listener is None:
            self._listener = Listener(self._unanswered, self._answer)
        with contextlib.suppress(ValueError):  # not the main thread
            self._listener.start()

    def _unanswered(self, number: int) -> bool:
        return not self._signal and signal.getsignal(number) == self._signalled

    def _answer(self, number: int) -> None:
        """In the main thread's place."""
        self._write_with_timeout()
        reset(number)
        os.kill(os.getpid(), number)

    def _writing_first(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def leave(*args: Any, **kwargs: Any) -> Any:
            self._write_with_timeout()
            return function(*args, **kwargs)

        leave.__name__ = leave.__qualname__ = function.__name__
        leave.__doc__ = function.__doc__
        return leave

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        self._signal = number
        self._write_with_timeout()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # so that whoever waits for us sees the signal

    def _write_with_timeout(self) -> None:
        done = _thread.allocate_lock()
        done.acquire()

        def work() -> None:
            try:
                self._write_out()
            finally:
                done.release()

        try:
            _thread.start_new_thread(work, ())
        except RuntimeError:  # the interpreter is ending, and its exit handlers have run
            return
        done.acquire(timeout=PATIENCE)


def _set(number: int, handler: Any) -> None:
    try:
        signal.signal(number, handler)
    except ValueError:  # only the main thread may
        return


def _is_child() -> bool:
    """Whether multiprocessing has started this process, in whatever way."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _caught(number: int) -> bool:
    """Whether a handler is set that Python does not know of, by a server written in C."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
    except (OSError, StopIteration):  # not Linux
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
