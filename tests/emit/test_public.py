"""The public surface is small, sorted and pinned."""

from __future__ import annotations

import turnspan


def test_public_names() -> None:
    """A name that comes or goes changes this list, and the CHANGELOG."""
    assert turnspan.__all__ == sorted(turnspan.__all__)
    assert turnspan.__all__ == [
        "FlushResult",
        "Recorder",
        "Turn",
        "TurnspanError",
        "agent",
        "annotate",
        "configure",
        "current_turn",
        "evaluation",
        "extract",
        "flush",
        "inference",
        "inject",
        "instrument",
        "prefer",
        "rank",
        "session",
        "shutdown",
        "step",
        "tool",
        "uninstrument",
        "withdraw",
        "workflow",
    ]
    assert all(getattr(turnspan, name).__doc__ for name in turnspan.__all__)
