"""Ending a statement from another thread than the one that waits for its answer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator

from turnspan_clickhouse.errors import QueryError

QUERY_WAS_CANCELLED = 394
"""ClickHouse's code."""

_AGAIN_SECONDS = 0.05


class Cancellation:
    """Ends what runs, and keeps what comes after from beginning: both raise ``QueryError`` with
    ``QUERY_WAS_CANCELLED``."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._kill: Callable[[], bool] | None = None
        self._cancelled = False

    @contextlib.contextmanager
    def ends(self, kill: Callable[[], bool]) -> Generator[None]:
        """A block in which ``kill``, called in another thread, ends what runs; it returns whether
        it found it, and is called again where not. The block ends after one that has begun."""
        with self._changing:
            if self._cancelled:
                raise QueryError("The query was cancelled.", QUERY_WAS_CANCELLED)
            self._kill = kill
        try:
            yield
        finally:
            with self._changing:
                self._kill = None

    def cancel(self) -> None:
        """End what runs now and whatever would begin. Again does nothing.

        Raises:
            StoreError: the engine could not be asked to; what runs ends at its limits.
        """
        while True:
            with self._changing:
                self._cancelled = True
                # One that was sent may not be known to the engine yet.
                if self._kill is None or self._kill():
                    return
            time.sleep(_AGAIN_SECONDS)
