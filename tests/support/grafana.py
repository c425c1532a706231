"""What Grafana and its ClickHouse plugin do to a panel's SQL before they send it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_MACRO = re.compile(r"\$__(\w+)(?:\(([^()]*)\))?")
_VARIABLE = re.compile(r"\$\{(\w+):singlequote\}")


@dataclass(frozen=True)
class Window:
    """The time picker's range and the interval that Grafana derives from it, in seconds."""

    since: int
    until: int
    interval: int
    variables: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def expand(self, sql: str) -> str:
        """The SQL as it arrives at the server.

        Raises:
            ValueError: a macro or a variable that the plugin would leave as it is.
        """
        expanded = _MACRO.sub(self._macro, _VARIABLE.sub(self._variable, sql))
        if "$" in expanded:
            raise ValueError(f"not expanded: {expanded[expanded.index('$') :][:40]}")
        return expanded

    def _variable(self, match: re.Match[str]) -> str:
        """``:singlequote``: each value in quotes, quotes inside with a backslash, with commas."""
        escaped = (value.replace("'", "\\'") for value in self.variables[match[1]])
        return ",".join(f"'{value}'" for value in escaped)

    def _macro(self, match: re.Match[str]) -> str:
        name, column = match[1], match[2]
        if name == "timeFilter" and column:
            # Whole seconds, both ends included.
            return f"{column} >= toDateTime({self.since}) AND {column} <= toDateTime({self.until})"
        if name == "timeInterval" and column:
            seconds = max(self.interval, 1)
            return f"toStartOfInterval(toDateTime({column}), INTERVAL {seconds} second)"
        raise ValueError(f"unknown macro {match[0]}")
