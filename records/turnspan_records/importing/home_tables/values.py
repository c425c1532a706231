"""What a database writes for times, numbers and JSON -> values, or why there is none."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, Final

_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?)?"
    r"\s*(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?"
)
UTC: Final = timezone.utc
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST: Final = datetime(2149, 1, 1, tzinfo=timezone.utc)
"""The weeks that records are kept by end in that year."""
_SECOND: Final = 10**9
_MAX_INTEGER: Final = 2**63


def nanoseconds(text: str, zone: tzinfo) -> int | None:
    """A moment in ns since the epoch; ``zone`` is that of a time which names none.

    None for what is no time (a zero date), and for one that records cannot have.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, hour, minute, second, fraction, offset = found.groups()
    try:
        moment = datetime.fromisoformat(day).replace(
            hour=int(hour or 0), minute=int(minute or 0), second=int(second or 0)
        )
        moment = moment.replace(tzinfo=_zone(offset) if offset else zone)
        if not _EPOCH <= moment < _LAST:
            return None
    except (ValueError, OverflowError):
        return None
    since = moment.astimezone(timezone.utc) - _EPOCH
    return (since.days * 86_400 + since.seconds) * _SECOND + int((fraction or "").ljust(9, "0"))


def _zone(offset: str) -> tzinfo:
    if offset == "Z":
        return timezone.utc
    digits = offset[1:].replace(":", "").ljust(6, "0")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:]))
    return timezone(-size if offset[0] == "-" else size)


def integer(text: str) -> int | None:
    """A count: a whole number that a column can hold, not below zero."""
    number = decimal(text)
    if number is None or number != number.to_integral_value() or not 0 <= number < _MAX_INTEGER:
        return None
    return int(number)


def decimal(text: str) -> Decimal | None:
    """A finite number."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    # What has an exponent of millions would have as many digits as a whole number.
    return number if number.is_finite() and abs(number.adjusted()) < 400 else None


def parse_json(text: str) -> tuple[Any, str]:
    """Read JSON: the value, and why the text has to be kept beside; empty: the value is all of it.

    Numbers that no double holds become their digits as text, and a problem.
    """
    inexact: list[str] = []

    def number(digits: str) -> Any:
        value = float(digits)
        known = decimal(digits)
        if known is not None and known == Decimal(repr(value)):
            return value
        inexact.append(digits)
        return digits

    try:
        value = json.loads(text, parse_float=number, parse_constant=_no_constant)
        if isinstance(value, str) and value[:1] in "[{":  # JSON in a string of JSON
            value = json.loads(value, parse_float=number, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None, "is no JSON"
    return value, "has a number with more digits than a double" if inexact else ""


def _no_constant(name: str) -> Any:
    raise ValueError(name)
