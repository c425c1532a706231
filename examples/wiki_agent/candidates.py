"""What may go into a context, and how it gets there: once, ranked, within the budget, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

INSTRUCTIONS, ENCYCLOPEDIA, SOURCES, TALK, EXTERNAL = (
    "instructions",
    "encyclopedia",
    "sources",
    "editorial notes",
    "real-world reference",
)
ORDER: Final = (INSTRUCTIONS, ENCYCLOPEDIA, SOURCES, TALK, EXTERNAL)
"""The order of the sections in the prompt."""
DROP_ORDER: Final = (EXTERNAL, TALK, SOURCES, ENCYCLOPEDIA)
"""What goes first where there is too much. Instructions are not in it: they stay."""


@dataclass(frozen=True)
class Candidate:
    """Something that may go into the context."""

    id: str
    section: str
    title: str
    text: str
    source: str = "wiki"
    score: float = 0.0
    hop: int | None = None
    """Links between what was asked for and this page."""
    depth: int | None = None
    """Requirements between the first instructions and this page."""

    @property
    def tokens(self) -> int:
        """About how long it is in the prompt."""
        return tokens(_written(self))


@dataclass(frozen=True)
class Trimmed:
    """What fits, what did not, and whether even that is too much."""

    kept: list[Candidate]
    dropped: list[Candidate]
    over_budget: bool
    """The instructions alone are more than the budget: they are there all the same."""


def tokens(text: str) -> int:
    """About how many tokens a text takes: one for four letters."""
    return -(-len(text) // 4)


def words(text: str) -> set[str]:
    """The words of a text that say something."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 2}


def in_order(found: Iterable[Candidate]) -> list[Candidate]:
    """By section, as the prompt has them; in a section as they were."""
    return sorted(found, key=lambda one: ORDER.index(one.section))


def deduplicate(found: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Each page and each text once: of equal ones the first by section stays. The others are
    the second list."""
    unique: list[Candidate] = []
    twice: list[Candidate] = []
    ids: set[str] = set()
    texts: set[str] = set()
    for one in in_order(found):
        text = " ".join(one.text.split()).casefold()
        if one.id in ids or text in texts:
            twice.append(one)
            continue
        ids.add(one.id)
        texts.add(text)
        unique.append(one)
    return unique, twice


def rank(found: Sequence[Candidate], asked: str, entities: Sequence[str]) -> list[Candidate]:
    """By how many of the request's words a text has, in each section the best first. Instructions
    keep their order: each stands before what it requires."""
    wanted = words(" ".join([asked, *entities]))
    scored = [replace(one, score=_overlap(one, wanted)) for one in found]
    scored.sort(key=lambda one: 0.0 if one.section == INSTRUCTIONS else -one.score)
    return in_order(scored)


def _overlap(one: Candidate, wanted: set[str]) -> float:
    if one.section == INSTRUCTIONS or not wanted:
        return 1.0
    share = len(words(f"{one.title} {one.text}") & wanted) / len(wanted)
    return round(share / (1 + (one.hop or 0)), 4)


def trim(ranked: Sequence[Candidate], budget: int) -> Trimmed:
    """Drop until the prompt fits: section by section, in each the worst first."""
    kept = list(ranked)
    dropped: list[Candidate] = []
    for section in DROP_ORDER:
        while tokens(serialise(kept)) > budget:
            worst = next((one for one in reversed(kept) if one.section == section), None)
            if worst is None:
                break
            kept.remove(worst)
            dropped.append(worst)
    return Trimmed(kept, dropped, tokens(serialise(kept)) > budget)


def serialise(kept: Sequence[Candidate]) -> str:
    """The prompt's text: a header for each section that has anything, a line for each page."""
    pieces: list[str] = []
    for section in ORDER:
        inside = [one for one in kept if one.section == section]
        if inside:
            pieces.append(f"[{section.upper()}]")
            pieces += [_written(one) for one in inside]
    return "\n\n".join(pieces)


def _written(one: Candidate) -> str:
    return f"--- {one.title} ---\n{one.text}"
