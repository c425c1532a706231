"""What became of everything that was looked at; nothing is left out uncounted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


class UnfitError(Exception):
    """This sample cannot be written; its argument is the reason that it is counted under."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Counts:
    """``dropped``: whole samples or pairs, by reason. ``left_out``: pieces of samples that were
    written without them. ``looked_at``: turns, calls or sessions that the filters let through."""

    looked_at: int = 0
    judged_otherwise: int = 0
    """Of them those that no rule makes good or bad, or that nobody judged."""
    corrections: int = 0
    """People's texts, and those that they are compared with, of the units looked at."""
    samples: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
