"""Values as people read them, and as programs do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, cast

from turnspan_console.control_characters import visible

_HEX_ID = re.compile(r"[0-9a-f]{16}|[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_IDS = ("session", "turn", "span", "trace")

UNKNOWN = "-"
"""What stands for a value that is not known."""


def one_line(text: str) -> str:
    """The text on one line, runs of white space as one blank."""
    return visible(" ".join(text.split()))


def error_text(kind: str, message: str) -> str:
    """An error in a row's two columns as one text: ``Timeout: no answer``."""
    return ": ".join(part for part in (kind, message) if part)


def error_line(kind: str, message: str) -> str:
    """The same on one line."""
    return one_line(error_text(kind, message))


def counted(number: int, noun: str) -> str:
    """``1 turn``, ``1,200 turns``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds(value: float) -> str:
    """A duration: ``640 µs``, ``12 ms``, ``3.4 s``, ``2 m 05 s``, ``3 h 07 m``, ``2 d 4 h``."""
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def dollars(value: Decimal | float) -> str:
    """An amount of money: cents for large ones, three digits that matter for small ones."""
    amount = Decimal(value)
    if amount == 0:
        return "$0"
    if abs(amount) >= 1:
        return f"${amount:,.2f}"
    places = min(12, 2 - amount.adjusted())
    return f"${amount:.{places}f}"


def size(value: float) -> str:
    """A number of bytes: ``640 B``, ``1.3 KiB``, ``24 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"


def moment(value: datetime) -> str:
    """A time in UTC to the second."""
    if value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    return value.strftime("%Y-%m-%d %H:%M:%S")


def short_id(text: str) -> str:
    """The first eight characters of an id, which ``turnspan show`` takes; other text unchanged."""
    return short_ids([text])[0]


def short_ids(texts: Sequence[str]) -> list[str]:
    """Ids by their first eight characters, or twelve if those tell them apart; else, as all other
    text, unchanged: ids that begin with the time (UUIDv7, X-Ray) are alike for long."""
    ids = {text for text in texts if _HEX_ID.fullmatch(text) or _UUID.fullmatch(text)}
    for length in range(8, 13):
        if len({text[:length] for text in ids}) == len(ids):
            return [text[:length] if text in ids else text for text in texts]
    return list(texts)


def without_credentials(url: str) -> str:
    """An address without the user and the password that may stand in it, however written."""
    before, at, place = url.rpartition("@")
    scheme, separator, _ = before.partition("://")
    return f"{scheme}{separator}{place}" if at and separator else place


def human(value: Any, column: str) -> str:
    """A value of a column as a person reads it; the column's name says what it holds."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, (int, float, Decimal)):
        if isinstance(value, float) and not math.isfinite(value):
            return UNKNOWN
        if column.endswith("_usd"):
            return dollars(value)
        if column.endswith(("_share", "_rate")) or column == "share":
            return f"{value:.1%}"
        if column.endswith("_seconds") or column == "duration":
            return seconds(float(value))
        if column == "bytes" or column.endswith("_bytes"):
            return size(float(value))
        return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
    if isinstance(value, datetime):
        return moment(value)
    return raw(value)


def raw(value: Any) -> str:
    """A value as text that loses nothing: what csv and a plain SQL table print."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, (Mapping, list, tuple, set)):
        return json.dumps(plain(value), ensure_ascii=False)
    return str(value)


def id_name(name: str, value: Any = "") -> str:
    """What a program is told that a value is called: an id by the name of the tables' column."""
    return f"{name}_id" if name in _IDS and isinstance(value, str) else name


def plain(value: Any) -> Any:
    """A value made of what JSON knows: bytes in hex, times as text, a lone NaN as null."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (datetime, date, bytes, bytearray)):
        return raw(value)
    if is_dataclass(value) and not isinstance(value, type):
        members = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        members = {id_name(name, one): one for name, one in members.items()}
        # What programs read: to rename a class is to change it.
        return {"record": type(value).__name__.removesuffix("Record"), **members}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (Sequence, set, frozenset)):
        return [plain(one) for one in cast("Sequence[Any]", value)]
    return str(value)
