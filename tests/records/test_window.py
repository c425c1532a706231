"""Moments as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from turnspan_records.access.window import EARLIEST, LATEST, Window, as_parameter, moment, window

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("30m", NOW - timedelta(minutes=30)),
        ("12h", NOW - timedelta(hours=12)),
        (" 7d ", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(days=14)),
        ("90 s", NOW - timedelta(seconds=90)),
        ("999999w", EARLIEST),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=timezone.utc)),
        ("2026-11-01T09:30", datetime(2026, 11, 1, 9, 30, tzinfo=timezone.utc)),
        ("2026-11-01T09:30:00Z", datetime(2026, 11, 1, 9, 30, tzinfo=timezone.utc)),
        ("2026-11-01T09:30+02:00", datetime(2026, 11, 1, 7, 30, tzinfo=timezone.utc)),
        ("9999-01-01", LATEST),
    ],
)
def test_a_moment_is_so_long_ago_or_a_date(text: str, meant: datetime) -> None:
    assert moment(text, now=NOW) == meant


@pytest.mark.parametrize("text", ["", "yesterday", "7", "7y", "-7d", "2026-13-01"])
def test_anything_else_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(ValueError, match="write how long ago"):
        moment(text, now=NOW)


def test_an_open_window_is_the_whole_of_time() -> None:
    assert window() == Window() and window().whole
    assert not window("7d").whole
    assert as_parameter(EARLIEST) == "1970-01-01 00:00:00.000000"
