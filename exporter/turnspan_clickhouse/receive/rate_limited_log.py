"""One log line a kind of trouble a minute, however often it happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from turnspan.runtime.guard import logger

PAUSE_SECONDS = 60.0


class Notices:
    """Logs warnings, each kind at most once in ``PAUSE_SECONDS``; the next line says how many more
    there were."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: dict[str, tuple[float, int]] = {}

    def tell(self, kind: str, message: str) -> None:
        """Say that something of this kind happened."""
        now = self._clock()
        with self._lock:
            until, silent = self._kinds.get(kind, (0.0, 0))
            if now < until:
                self._kinds[kind] = (until, silent + 1)
                return
            self._kinds[kind] = (now + PAUSE_SECONDS, 0)
        more = f" ({silent:,} more since the last line)" if silent else ""
        logger.warning("Turnspan receive: %s%s", message, more)
