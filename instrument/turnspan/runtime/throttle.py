"""Giving way: how long Python work beside the application leaves its threads room.

While a thread computes, the interpreter hands its lock on only after the switch interval (5 ms), so
an event loop that comes back from waiting for its sockets stands still for that long whenever a
worker of ours is busy. The interval is the application's to set. So the worker lets go by itself,
every fraction of a millisecond, for just long enough that a thread which waits does get the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, TypeVar

from turnspan.runtime.forks import in_child

SLICE: Final = 0.000_25
"""Seconds of work between two pauses."""
PAUSE: Final = 0.000_02
"""Seconds asked for; the system's timer makes some 70 us of it. A sleep of 0 would be over before
the waiting thread is awake."""

WINDOW: Final = 2**18
"""Characters searched at a time: a search is one call in C, 0.2 ms for this much."""

Text = TypeVar("Text", str, bytes)


_due: Final[dict[int, float]] = {}
"""When the threads that give way are to pause next, by ``time.perf_counter``. Nearly always none
or one, and where it is none ``give_way`` costs nothing."""

in_child(_due.clear)


@contextmanager
def giving_way(wanted: bool = True) -> Generator[None]:
    """Within it, if wanted, ``give_way`` pauses this thread where its slice is used up."""
    thread = threading.get_ident()
    before = _due.get(thread)
    if wanted:
        _due[thread] = time.perf_counter() + SLICE
    else:
        _due.pop(thread, None)
    try:
        yield
    finally:
        if before is None:
            _due.pop(thread, None)
        else:
            _due[thread] = before


def gives_way() -> bool:
    """Whether this thread is to give way."""
    return threading.get_ident() in _due


def give_way() -> None:
    """Let others run, if it is time; to be called at every step that may be one of many."""
    if not _due:
        return
    thread = threading.get_ident()
    due = _due.get(thread)
    if due is not None and time.perf_counter() >= due:
        time.sleep(PAUSE)
        _due[thread] = time.perf_counter() + SLICE


def holds(text: Text, *needles: Text) -> bool:
    """Whether one of these is in a text, as ``in`` says it, but giving way in a long one."""
    size = len(text)
    for needle in needles:
        beyond = len(needle) - 1
        for start in range(0, size, WINDOW):
            give_way()
            if text.find(needle, start, start + WINDOW + beyond) >= 0:
                return True
    return False
