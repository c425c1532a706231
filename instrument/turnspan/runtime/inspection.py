"""While a user's value is looked at, nothing is recorded: its own methods may call what we record.

A ``__repr__`` that calls a decorated tool would else be recorded with the very value as an
argument, whose ``__repr__`` is called in turn, and so on without end.
"""

from __future__ import annotations

from threading import get_ident
from typing import Final

from turnspan.runtime.forks import in_child

threads: Final[dict[int, int]] = {}
"""The threads that look at a value now, and how deep: nearly always none, which costs nothing."""


def on() -> bool:
    """Whether this thread is looking at a value now."""
    return bool(threads) and get_ident() in threads


def _after_fork() -> None:
    for other in threads.keys() - {get_ident()}:
        del threads[other]


in_child(_after_fork)


class Looking:
    """``with looking:`` around what may run the methods of a value."""

    def __enter__(self) -> None:
        here = get_ident()
        threads[here] = threads.get(here, 0) + 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        here = get_ident()
        threads[here] -= 1
        if not threads[here]:
            del threads[here]


looking = Looking()
