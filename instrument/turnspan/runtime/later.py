"""Regular expressions that are compiled when they are first used.

Most look for what hardly any text has, and a process may make one call and end: to compile them all
takes 15 ms of CPU. A test does.
"""

from __future__ import annotations

import re
from typing import Any


def later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, when something of it is first asked for, on whatever thread."""
    found: Any = _Later(pattern, flags)
    return found  # type: ignore[no-any-return]


class _Later:
    """Has a pattern's methods once they were asked for, so that they are found as quickly."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        # Two threads may both compile: they get the same, and re keeps it for a second method.
        found = getattr(re.compile(*self._source), name)
        setattr(self, name, found)
        return found
