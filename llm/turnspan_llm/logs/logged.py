"""A call as llm logged it, whatever the generation."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_CROCKFORD: Final = {letter: n for n, letter in enumerate("0123456789abcdefghjkmnpqrstvwxyz")}


@dataclass(frozen=True, slots=True)
class LoggedResponse:
    """One row of ``responses`` or ``turns``."""

    table: str
    position: int
    """Where it stands in its table, by insertion."""
    id: str
    model: str
    prompt: str
    """What was asked, with the fragments that belong to it."""
    response: str
    response_json: str | None
    """What the provider said, with references in place of texts that the row has
    (``condensed.resolved``)."""
    conversation_id: str | None
    datetime_utc: str | None
    """When it began."""
    duration_ms: int | None
    consortium_id: str | None
    """As the column of this name has it; ``None`` also where there is no such column."""
    is_arbiter_response: int | None
    texts: Mapping[str, str]
    """What ``response_json`` refers to."""


def microseconds(text: str | None) -> int | None:
    """A time of llm's in microseconds since the epoch; one without a zone is in UTC."""
    if not text:
        return None
    try:
        # Python 3.10 reads no "Z".
        time = datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.timezone.utc)
        since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    except (ValueError, OverflowError):
        return None
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def interval(datetime_utc: str | None, duration_ms: int | None) -> tuple[int, int]:
    """When a call began and ended, in microseconds since the epoch, to the millisecond of its
    duration; -1 twice where no time can be read."""
    began = microseconds(datetime_utc)
    if began is None:
        return -1, -1
    return began, began + max(duration_ms or 0, 0) * 1000


def ulid_milliseconds(id_: str) -> int | None:
    """When a ULID was made, in milliseconds since the epoch; ``None`` of an id whose length or
    first ten letters are no ULID's."""
    if len(id_) != 26:
        return None
    milliseconds = 0
    for letter in id_[:10].lower():
        place = _CROCKFORD.get(letter)
        if place is None:
            return None
        milliseconds = milliseconds * 32 + place
    return milliseconds


def is_ulid(id_: str) -> bool:
    """Whether all letters of an id are those of a ULID."""
    return len(id_) == 26 and all(letter in _CROCKFORD for letter in id_.lower())


def as_text(value: Any) -> str:
    """A column's value as text; empty for NULL."""
    return optional_text(value) or ""


def optional_text(value: Any) -> str | None:
    """A column's value as text; ``None`` for NULL."""
    if value is None or isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def whole_number(value: Any) -> int | None:
    """A column's value as a whole number; ``None`` of what is none."""
    if isinstance(value, int):
        return value
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
