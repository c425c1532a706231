"""Which exceptions mean that somebody stopped the work, rather than that it failed."""

from __future__ import annotations

import sys


def is_cancelled(error: BaseException) -> bool:
    """Whether this is asyncio's cancellation.

    asyncio takes 30 ms to import, so it is looked at only where the application has imported it.
    """
    exceptions = sys.modules.get("asyncio.exceptions")
    return exceptions is not None and isinstance(error, exceptions.CancelledError)


def is_abort(error: BaseException | None) -> bool:
    """Whether the work was stopped from outside: cancelled, interrupted, or its consumer left."""
    if error is None:
        return False
    return isinstance(error, (KeyboardInterrupt, GeneratorExit)) or is_cancelled(error)
