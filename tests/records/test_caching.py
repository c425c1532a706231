"""What a call is said to have lost of its provider's cache of prompts."""

from __future__ import annotations

import pytest

from turnspan_records.screens.difference import cache_lost


def row(read: int | None, write: int | None = None) -> dict[str, int | None]:
    """The tokens of a call."""
    return {"cache_read_tokens": read, "cache_write_tokens": write}


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        (row(1_000, 200), row(1_200, 50), 0),
        (row(1_000, 200), row(900), 300),
        (row(2_048), row(0), 2_048),
        (row(0), row(1_024), 0),
        (row(None, 500), row(0), 500),
        (row(None), row(0), None),
        (row(1_000), row(None), None),
    ],
)
def test_what_was_lost(
    before: dict[str, int | None], now: dict[str, int | None], lost: int | None
) -> None:
    """What the call before had read or written, less what this one read; unknown is not none."""
    assert cache_lost(before, now) == lost
