"""A window of time, as people write it: ``7d``, ``12h``, ``2026-11-01``, ``2026-11-01T09:30``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)
LATEST = datetime(2200, 1, 1, tzinfo=timezone.utc)

_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_AGO = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Window:
    """From ``since`` (included) to ``until`` (not included), both aware."""

    since: datetime = EARLIEST
    until: datetime = LATEST

    @property
    def whole(self) -> bool:
        """Whether the window is all of time."""
        return self.since <= EARLIEST and self.until >= LATEST

    @property
    def parameters(self) -> dict[str, object]:
        """The window as parameters of a query: ``since`` and ``until``."""
        return {"since": as_parameter(self.since), "until": as_parameter(self.until)}


def window_parameters(project: str, window: Window | None, **others: object) -> dict[str, object]:
    """The parameters of a query over a project's records of a time, else of all."""
    return {"project": project, **(window or Window()).parameters, **others}


def moment(text: str, *, now: datetime | None = None) -> datetime:
    """Read a moment: so long ago (30m, 12h, 7d, 2w) or an ISO date or time (UTC unless it says).

    Raises:
        ValueError: the text is neither; the message says what would be.
    """
    text = text.strip()
    now = now or datetime.now(timezone.utc)
    ago = _AGO.fullmatch(text)
    if ago:
        try:
            return max(now - int(ago[1]) * _UNITS[ago[2]], EARLIEST)
        except OverflowError:
            return EARLIEST
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(
            f"{text!r} is not a time: write how long ago (30m, 12h, 7d, 2w) or a date "
            "(2026-11-01 or 2026-11-01T09:30, UTC)."
        ) from None
    aware = read if read.tzinfo else read.replace(tzinfo=timezone.utc)
    return min(max(aware.astimezone(timezone.utc), EARLIEST), LATEST)


def duration(text: str) -> timedelta:
    """Read how long something takes: 30m, 12h, 7d, 2w.

    Raises:
        ValueError: the text is none; the message says what would be.
    """
    found = _AGO.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no duration: write 30m, 12h, 7d or 2w.")
    return int(found[1]) * _UNITS[found[2]]


def window(since: str | None = None, until: str | None = None) -> Window:
    """The window between two moments. A missing one leaves that side open. Raises ``ValueError`` as
    ``moment``."""
    now = datetime.now(timezone.utc)
    return Window(
        moment(since, now=now) if since else EARLIEST,
        moment(until, now=now) if until else LATEST,
    )


def as_parameter(time: datetime) -> str:
    """A moment as the value of a ``{name:DateTime64(9, 'UTC')}`` parameter."""
    return time.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
