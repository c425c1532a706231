"""The root of every error that Turnspan raises."""

from __future__ import annotations


class TurnspanError(Exception):
    """Something cannot be done as asked; ``str(error)`` says what, and what to do about it.

    Recording never raises one: only ``configure`` with a wrong argument, readers of a store and
    commands do.
    """


class ConfigError(TurnspanError, ValueError):
    """What code gave cannot be used; what the environment says is never a reason to raise."""
