"""What may differ between a record and a request that it answers, and what may not."""

from __future__ import annotations

from typing import Any

import pytest

from turnspan_records.again.rerun.likeness import is_alike

TRACEBACK = "Failed: Traceback (most recent call last):\n{}KeyError: 'x'\n\nGo on."
SAME: tuple[tuple[Any, Any], ...] = (
    ("at 2026-11-27T06:51:14.123Z", "at 2027-01-02T16:00:01Z"),
    ("Fri Nov 27 06:51:14 UTC 2026", "Sat Nov 28 07:00:00 UTC 2026"),
    ("It is November 27, 2026.", "It is December 1, 2026."),
    ("now 06:51", "now 23:59"),
    ("run 8d31c107-a9e0-4d0e-9d0e-8d31c107a9e0", "run 11111111-2222-3333-4444-555555555555"),
    ("<Tool at 0x7f2445734650>", "<Tool at 0x7fc19c52c150>"),
    ("commit 9f8e7d6c5b4a", "commit 0a1b2c3d4e5f"),
    ("took 12.5 ms", "took 9 ms"),
    ("/tmp/tmpa1b2c3d4/x", "/tmp/tmpz9y8x7w6/x"),
    ("since 1764226274", "since 1764229999.25"),
    (TRACEBACK.format('  File "a.py", line 1, in f\n    f()\n'), TRACEBACK.format("  File b\n")),
    ("key [REDACTED:api_key].", "key sk-1\u202e\0\x1b[31m."),
    ("[REDACTED] and [REDACTED:token]", "one and two"),
    ({"a": 1, "b": None}, {"a": 1}),
    ([{"text": "06:51"}], [{"text": "07:00"}]),
)
OTHER: tuple[tuple[Any, Any], ...] = (
    ("room 12", "room 13"),
    ("It rains.", "It rains"),
    ("deadbeef", "feedface"),  # words, without a digit
    (TRACEBACK.format("  File a\n"), TRACEBACK.format("  File a\n").replace("'x'", "'y'")),
    ("key [REDACTED:api_key].", "key sk-1!"),
    ("[REDACTED] tail", "head [x] tails"),
    ("the key [REDACTED]", "a key x"),
    (1, True),
    (1, 1.5),
    ("1", 1),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([1, 2], [2, 1]),
    (None, "x"),
)


@pytest.mark.parametrize(("recorded", "now"), SAME)
def test_what_varies_is_alike(recorded: Any, now: Any) -> None:
    """Times, dates, durations, ids, addresses, names of temporary files, frames, redacted parts."""
    assert is_alike(recorded, now)


@pytest.mark.parametrize(("recorded", "now"), OTHER)
def test_what_was_changed_is_not(recorded: Any, now: Any) -> None:
    """Words, numbers, types, keys and orders."""
    assert not is_alike(recorded, now)


def test_a_cut_text_is_alike_to_what_begins_so() -> None:
    """Only where the record says that it is cut."""
    assert is_alike({"t": "It rains at 06:5"}, {"t": "It rains at 06:51 in Oslo"}, cut=True)
    assert is_alike("a [REDACTED] b", "a secret b and more", cut=True)
    assert not is_alike("It rains", "It rains in Oslo")
    assert not is_alike("It snows", "It rains in Oslo", cut=True)
