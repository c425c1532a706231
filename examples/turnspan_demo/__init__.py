"""Turnspan's demonstration: agents over the real SDKs, and a model server that replays runs."""

from turnspan_demo.model import Expected, Run, RunError, Turn, expected

__all__ = ["Expected", "Run", "RunError", "Turn", "expected"]
