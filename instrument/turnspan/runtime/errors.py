"""The root of every error that Turnspan raises."""

from __future__ import annotations


class TurnspanError(Exception):
    """Something cannot be done as asked; ``str(error)`` says what, and what to do about it.

    Recording never raises one: only ``configure`` with a wrong argument, limits that you set,
    readers of a store and commands do.
    """


class RerunDiverged(TurnspanError):
    """A rerun asks for a tool call that its recording does not have; the text says which."""


class ConfigError(TurnspanError, ValueError):
    """What code gave cannot be used; what the environment says is never a reason to raise."""


class TurnspanLimitReached(TurnspanError):
    """The next model call would go beyond a limit of ``turnspan.limits``; it was not made."""

    def __init__(self, limit: str, allowed: float, used: float, per: str) -> None:
        figures = f"{used:g} of {allowed:g}" if limit != "usd" else f"${used:.4f} of ${allowed:g}"
        what = {"usd": "", "repeats": " equal tool calls in a row"}.get(limit, f" {limit}")
        super().__init__(
            f"the {per} has used {figures}{what}: the next model call was not made "
            f"(turnspan.limits({limit}={allowed:g}, per={per!r}))"
        )
        self.limit = limit
        """``usd``, ``calls``, ``rounds``, ``tokens``, ``repeats`` or ``seconds``."""
        self.allowed = allowed
        self.used = used
        self.per = per
        """``turn``, ``session`` or ``process``."""

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.limit, self.allowed, self.used, self.per)
