"""While a user's value is looked at, nothing is recorded: its own methods may call what we record.

A ``__repr__`` that calls a decorated tool would else be recorded with the very value as an
argument, whose ``__repr__`` is called in turn, and so on without end.
"""

from __future__ import annotations

import threading
from types import TracebackType

_here = threading.local()


def on() -> bool:
    """Whether this thread is looking at a value now."""
    return getattr(_here, "depth", 0) > 0


class Looking:
    """``with looking:`` around what may run the methods of a value."""

    def __enter__(self) -> None:
        _here.depth = getattr(_here, "depth", 0) + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _here.depth -= 1


looking = Looking()
