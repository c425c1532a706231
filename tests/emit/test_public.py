"""The public surface is small, sorted and pinned."""

from __future__ import annotations

import turnspan


def test_public_names() -> None:
    """A name that comes or goes changes this list, and the CHANGELOG."""
    assert turnspan.__all__ == sorted(turnspan.__all__)
    assert turnspan.__all__ == [
        "ContextAssembly",
        "FlushResult",
        "Recorder",
        "Turn",
        "TurnspanError",
        "agent",
        "annotate",
        "artifact",
        "configure",
        "consortium",
        "context_assembly",
        "current_turn",
        "evaluation",
        "evolve",
        "experiment",
        "extract",
        "flush",
        "inference",
        "inject",
        "insight",
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
