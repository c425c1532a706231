"""The window of time in a request, as people write it on a command line."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import BadRequestError
from turnspan_records.access.window import Window, window


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """Of which project, and of which window."""

    project: str = ""
    since: str = ""
    until: str = ""


def window_of(query: WindowQuery) -> Window:
    """The window between two moments; where one is empty it is open.

    Raises:
        BadRequestError: one of them is none.
    """
    with understood():
        read = window(query.since or None, query.until or None)
    if read.since >= read.until:
        raise BadRequestError("The window ends before it begins: since must be before until.")
    return read
