"""What a log's columns say, whatever was written into them; what cannot be read is noted."""

from __future__ import annotations

import json
from typing import Any, Final

from turnspan_llm.logs.logged import microseconds, ulid_milliseconds
from turnspan_records.importing.sources import Problem

_MAX_SECONDS: Final = 5_000_000_000
"""Times up to the year 2128: a column of weeks can say no later ones, and none before 1970."""
_MAX_DURATION_MS: Final = 10**10
_UNREAD: Final = object()
MAX_DEPTH: Final = 200
"""Of JSON that is taken apart; what is nested deeper is kept as text."""


class Notes:
    """The problems of a part's rows, and the attributes that keep what no column can hold."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, row: str, reason: str) -> None:
        """Note that a row was not taken as it is."""
        self.problems.append(Problem(row, reason))

    def json(self, row: str, column: str, text: str, kept: str) -> Any:
        """JSON of a column; ``None`` for an empty one. What is no JSON is noted as kept raw."""
        if not text.strip():
            return None
        value = read_json(text)
        if value is _UNREAD:
            self.add(f"{row}, {column}", f"it is no JSON, and kept as it is in {kept}")
            return None
        return value

    def json_or_text(self, text: str, where: str, reason: str) -> Any:
        """The JSON of a text; what is none is noted, and stays as it is."""
        value = read_json(text)
        if value is _UNREAD:
            self.add(where, reason)
            return text
        return value


def read_json(text: str) -> Any:
    """The JSON value of a text; an object that is no value of JSON where it has none."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _UNREAD
    return value if _is_flat(value) else _UNREAD


def _is_flat(value: Any) -> bool:
    """Whether a value can be walked by functions that call themselves."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
        if not below:
            return True
        level = below
    return False


def count_of(value: Any) -> int | None:
    """A number of tokens; ``None`` for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)) and 0 <= value < 2**63:
        return int(value)
    return None


def start_of(datetime_utc: str, row_id: str) -> tuple[int | None, bool]:
    """When a call began, in ns since the epoch, and whether the column for it says so: else it is
    the time in its id, which llm makes when it logs."""
    said = microseconds(datetime_utc)
    if said is not None and 0 <= said < _MAX_SECONDS * 1_000_000:
        return said * 1_000, True
    milliseconds = ulid_milliseconds(row_id)
    if milliseconds is None or milliseconds >= _MAX_SECONDS * 1_000:
        return None, False
    return milliseconds * 1_000_000, False


def duration_of(value: Any) -> tuple[int, bool]:
    """How long a call took, in ns, and whether the column can be right; NULL is."""
    if value is None:
        return 0, True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0, False
    if not 0 <= value < _MAX_DURATION_MS:
        return 0, False
    return int(value * 1_000_000), True
