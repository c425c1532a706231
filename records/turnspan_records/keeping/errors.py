"""What keeping refuses; each message says what to do."""

from __future__ import annotations

from turnspan.runtime.errors import TurnspanError


class KeepingError(TurnspanError):
    """Records cannot be kept, pruned or brought back as asked."""


class ArchiveError(KeepingError):
    """An archive cannot be written, or is not whole."""


class PolicyError(KeepingError, ValueError):
    """A policy says something that is not understood."""
