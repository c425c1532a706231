"""What an article is judged by: 1 to 10, from what stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """A score, and what is missing most."""

    score: float
    missing: str
    comment: str


def _sources(text: str) -> bool:
    return re.search(r"\[\d\]", text) is not None


def _heading(text: str) -> bool:
    return text.startswith("==")


def _short(text: str) -> bool:
    return len(text.split()) <= 45


def _facts(text: str) -> bool:
    return re.search(r"\d{4}", text) is not None


_RULES: tuple[tuple[str, float, Callable[[str], bool]], ...] = (
    ("sources", 3.5, _sources),
    ("heading", 2.0, _heading),
    ("short", 2.5, _short),
    ("facts", 1.0, _facts),
)


def judge(text: str) -> Verdict:
    """Judge an article."""
    missing = [(worth, name) for name, worth, fits in _RULES if not fits(text)]
    score = 1.0 + sum(worth for _, worth, fits in _RULES if fits(text))
    lacks = ", ".join(name for _, name in missing) or "nothing"
    return Verdict(score, max(missing)[1] if missing else "", f"lacks {lacks}")
