"""The window of time in a request, as people write it on a command line."""

from __future__ import annotations

from turnspan_console.web.endpoints import BadRequestError
from turnspan_records.window import Window, window


def window_of(since: str, until: str) -> Window:
    """The window between two moments; an empty one is open.

    Raises:
        BadRequestError: one of them is none.
    """
    try:
        read = window(since or None, until or None)
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    if read.since >= read.until:
        raise BadRequestError("The window ends before it begins: since must be before until.")
    return read
