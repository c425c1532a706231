"""When an engine that one process at a time can have open is opened, and when it is let go of.

It stays open between two uses while nobody else wants it: to open it again costs 0.1 s, and of the
engine's some threads and 2 MB that the process does not get back. Once another process waits, it
is let go of as soon as no use is under way.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections.abc import Generator
from typing import Protocol

from turnspan.runtime.forks import ForkSafeLock
from turnspan.runtime.guard import errors

TENURE_SECONDS = 0.15
"""How long it is kept at least, or two that want it at once would do nothing but hand it over."""
_LOOK_SECONDS, _LOOK_IDLE_SECONDS = 0.02, 0.1
"""How often it is looked whether somebody waits: less when it has not been used for a while."""
_IDLE_SECONDS = 2.0
_DRAIN_SECONDS = 5.0
"""How long a thread lets others of its process finish so that a waiting process gets its turn: not
for ever, since they may wait for that thread."""


class Engine(Protocol):
    """What is lent."""

    def open_engine(self) -> None:
        """Open it. Raises what the use of it then raises."""

    def close_engine(self) -> None:
        """Let go of it."""

    def wanted(self) -> bool:
        """Whether another process waits for it."""
        ...


class Lending:
    """Opens an engine for whoever uses it, in any thread; between uses others get it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._users = 0
        self._moving = False  # one thread opens it or lets go of it
        self._is_open = False
        self._opened = self._used = 0.0
        self._depth = threading.local()
        self.turns = 0
        """How often it was opened."""
        with _registering:
            _all.add(self)

    @property
    def forked(self) -> bool:
        """Whether this is a forked child of the process that made it: no engine works there."""
        return self._pid != os.getpid()

    @contextlib.contextmanager
    def use(self) -> Generator[None]:
        """Have the engine open, and kept, for a block; blocks of one thread may be nested."""
        depth: int = getattr(self._depth, "now", 0)
        if not depth:
            self._enter()
        self._depth.now = depth + 1
        try:
            yield
        finally:
            self._depth.now = depth
            if not depth:
                self._leave()

    @contextlib.contextmanager
    def use_with_others(self) -> Generator[bool]:
        """Have it kept for a block if another thread is using it now; whether one is."""
        with self._changed:
            found = self._is_open and not self._moving and self._users > 0
            self._users += found
        try:
            yield found
        finally:
            if found:
                self._leave()

    def step_aside(self) -> None:
        """Let go of it if nothing uses it now."""
        if self.forked:
            return
        with self._changed:
            if self._users or self._moving or not self._is_open:
                return
            self._moving = True
        self._close()

    def settle(self) -> None:
        """Wait for a while until no thread opens it or lets go of it."""
        if not self.forked:
            with self._changed:
                self._changed.wait_for(lambda: not self._moving, _DRAIN_SECONDS)

    def close(self) -> None:
        """Let go of it for good, once what another thread does is done."""
        if self.forked:
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._moving)
            if not self._is_open:
                return
            self._moving = True
        self._close()

    def _enter(self) -> None:
        with self._changed:
            drained = time.monotonic() + _DRAIN_SECONDS
            while self._moving or (self._users and time.monotonic() < drained and self._is_due()):
                self._changed.wait(_LOOK_SECONDS)
            self._users += 1
            if self._is_open:
                return
            self._moving = True
        try:
            self._engine.open_engine()
        except BaseException:
            self._moved(False, users=-1)
            raise
        self.turns += 1
        self._opened = self._used = time.monotonic()
        self._moved(True)
        # Where the system has no thread to give, it is looked for waiters after each use only.
        with contextlib.suppress(RuntimeError):
            threading.Thread(
                target=self._watch, args=(self.turns,), name="turnspan-store", daemon=True
            ).start()

    def _leave(self) -> None:
        with self._changed:
            self._users -= 1
            self._used = time.monotonic()
            self._changed.notify_all()
            if self._users or not self._is_open or self._moving or not self._is_due():
                return
            self._moving = True
        self._close()

    def _is_due(self) -> bool:
        return time.monotonic() - self._opened >= TENURE_SECONDS and self._engine.wanted()

    def _close(self) -> None:
        try:
            self._engine.close_engine()
        except Exception as error:  # noqa: BLE001  what was asked of it has been answered
            errors.record("store.close", error)
        finally:
            self._moved(False)

    def _moved(self, is_open: bool, users: int = 0) -> None:
        with self._changed:
            self._is_open, self._moving = is_open, False
            self._users += users
            self._changed.notify_all()

    def _watch(self, turn: int) -> None:
        """The thread of one turn: lets go of the engine that nobody uses and somebody wants."""
        while True:
            with self._changed:
                idle = time.monotonic() - self._used > _IDLE_SECONDS
                self._changed.wait(_LOOK_IDLE_SECONDS if idle else _LOOK_SECONDS)
                if not self._is_open or self.turns != turn:
                    return
                if self._users or self._moving or not self._is_due():
                    continue
                self._moving = True
            self._close()
            return


def step_aside() -> None:
    """Let go of every engine of this process that nothing uses now."""
    with _registering:
        everyone = list(_all)
    for one in everyone:
        one.step_aside()


_registering = ForkSafeLock()
_all: weakref.WeakSet[Lending] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """An engine is closed before the interpreter ends under it."""
    with _registering:
        everyone = list(_all)
    for one in everyone:
        one.settle()
        one.step_aside()
