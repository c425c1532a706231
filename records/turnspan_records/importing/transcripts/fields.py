"""What stands in a line under one of several names: times, sessions, ids, JSON in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, Final

import orjson

from turnspan.content.model import as_dict

TIMES: Final = ("start_time", "started_at", "request_time", "created_at", "created", "timestamp")
ENDS: Final = ("end_time", "ended_at", "response_time", "completed_at")
SESSIONS: Final = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id")
SPANS: Final = {"duration": 1e9, "latency": 1e9, "duration_ms": 1e6, "latency_ms": 1e6}
_HEX: Final = re.compile("[0-9a-fA-F]+")
_FRACTION: Final = re.compile(r"\.(\d{6})\d+")
_NEWEST: Final = 2**63 - 1

Object = dict[str, Any]


def first(holders: Iterable[Mapping[str, Any] | None], names: Iterable[str]) -> Any:
    """The value of the first name, in the first holder that has one."""
    names = tuple(names)
    for holder in holders:
        for name in names if holder else ():
            value = holder.get(name) if holder else None
            if value is not None and value != "":
                return value
    return None


def opened(value: Any) -> Any:
    """What JSON in a text says; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def object_in(value: Any) -> Object | None:
    """An object, as it is or as JSON in a text."""
    return as_dict(opened(value))


def nanoseconds(value: Any) -> int | None:
    """A time in ns since the epoch: of ISO 8601, or a number of s, ms, us or ns. Without a time
    zone it is UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        said = value.strip()
        try:
            value = float(said)
        except ValueError:
            return _of_text(said)
        if said.isdigit():
            value = int(said)
    if not isinstance(value, (int, float)) or not 0 < value < _NEWEST:
        return None
    for unit, most in ((10**9, 10**11), (10**6, 10**14), (10**3, 10**17)):
        if value < most:
            return value * unit if isinstance(value, int) else round(value * unit)
    return int(value)


def _of_text(said: str) -> int | None:
    text = _FRACTION.sub(r".\1", said.replace("Z", "+00:00").replace(" UTC", "+00:00"))
    short = re.search(r"\.(\d{1,5})(?=[+-]|$)", text)  # before Python 3.11, of 3 or 6 digits only
    if short is not None:
        text = f"{text[: short.start()]}.{short[1]:0<6}{text[short.end() :]}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    whole = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000
    return whole if 0 < whole < _NEWEST else None


def started(holders: list[Object | None], otherwise: int) -> int:
    """When it began, in ns."""
    return nanoseconds(first(holders, TIMES)) or otherwise


def ended(holders: list[Object | None], start: int) -> int:
    """When it was over, in ns; when it began where that is not said."""
    end = nanoseconds(first(holders, ENDS))
    if end is not None:
        return max(start, end)
    for name, unit in SPANS.items():
        value = first(holders, (name,))
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return start + round(value * unit)
    return start


def hex_number(value: Any, digits: int) -> int | None:
    """An id of so many hexadecimal digits as a number; None for anything else."""
    if isinstance(value, str) and len(value) == digits and _HEX.fullmatch(value):
        return int(value, 16) or None
    return None
