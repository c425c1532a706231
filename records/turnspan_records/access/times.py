"""Times as the store gives them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def utc(value: Any) -> datetime:
    """A ``DateTime64(9, 'UTC')`` value as an aware datetime (the driver gives naive ones)."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return _EPOCH + timedelta(microseconds=int(value) // 1000)
