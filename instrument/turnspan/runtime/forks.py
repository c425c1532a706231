"""What a fork must not cut in two.

A child has only the thread that forked. What another thread held at that moment (locks, also those
of the import system) stays held in the child for ever.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Final

_PATIENCE: Final = 10.0
"""Seconds that a fork waits at most; beyond it the child may find a lock held."""


def in_child(call: Callable[[], object]) -> None:
    """Have this called in every process that is forked from this one; Windows has no forks."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=call)


class ForkSafeLock:
    """A lock that a fork waits for: no child begins with what its holder had half done.

    For our own background threads, and held briefly. In the child it is free.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forking = 0
        me: weakref.ref[ForkSafeLock] = weakref.ref(self)
        if sys.platform != "win32":
            os.register_at_fork(
                before=lambda: _tell(me, ForkSafeLock._before),
                after_in_parent=lambda: _tell(me, ForkSafeLock._after_in_parent),
                after_in_child=lambda: _tell(me, ForkSafeLock._after_in_child),
            )

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._lock.release()

    def _before(self) -> None:
        if self._lock.acquire(timeout=_PATIENCE):
            self._forking = threading.get_ident()

    def _after_in_parent(self) -> None:
        if self._forking == threading.get_ident():  # another thread may fork and have given up
            self._forking = 0
            self._lock.release()

    def _after_in_child(self) -> None:
        self._forking = 0
        self._lock = threading.Lock()


def _tell(gate: weakref.ref[ForkSafeLock], call: Callable[[ForkSafeLock], None]) -> None:
    found = gate()
    if found is not None:
        call(found)
