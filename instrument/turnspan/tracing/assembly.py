"""One context assembly: what an application considered for a prompt, what it kept, and why.

The application's thread notes what it is told and no more. Which items there are, in which order,
and how much of the budget they used is worked out by whoever asks: the worker, or the application
itself through ``meta()``.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from turnspan.content.given_values import text_of
from turnspan.runtime.inspection import looking

MAX_NOTES: Final = 50_000
"""Of one assembly; further ones are counted as ``context_items_full``."""
LETTERS_A_TOKEN: Final = 4
"""What a text without a count is estimated by."""

KEPT, DROPPED = "kept", "dropped"
_FACTS: Final = ("text", "section", "source", "score", "tokens", "hop", "requires_depth")


# No dataclasses: generating them is a tenth of what importing this package costs.


class Note:
    """What was said of an item at once; ``None`` is what was not said. ``facts`` are the values of
    the names of ``_FACTS``, as the application gave them."""

    __slots__ = ("decision", "item_id", "reason", *_FACTS)

    def __init__(self, item_id: Any, decision: str, reason: str, facts: tuple[Any, ...]) -> None:
        text, section, source, score, tokens, hop, requires_depth = facts
        self.item_id = text_of(item_id)
        self.decision = decision
        """``kept``, ``dropped``, or empty where it was only considered."""
        self.reason = reason
        self.text = text_or_none(text)
        self.section = text_or_none(section)
        self.source = text_or_none(source)
        self.score = score_of(score)
        self.tokens = count_of(tokens)
        self.hop = count_of(hop)
        self.requires_depth = count_of(requires_depth)


class AssemblyItem:
    """An item, as all that was said of it makes it."""

    text = ""
    section = ""
    source = ""
    score: float | None = None
    tokens: int | None = None
    tokens_estimated = False
    """Whether nobody has counted the tokens: they are a fourth of the text's letters."""
    kept = False
    reason = ""
    """Why it was dropped."""
    hop: int | None = None
    requires_depth: int | None = None

    def __init__(self, item_id: str) -> None:
        self.id = item_id


class AssemblyStep:
    """One step of an assembly; ``seconds`` is ``None`` while it lasts."""

    __slots__ = ("began", "error_type", "name", "seconds")

    def __init__(self, name: str, began: float) -> None:
        self.name = name
        self.began = began
        self.seconds: float | None = None
        self.error_type = ""

    def end(self, error_type: str) -> None:
        """It is over."""
        self.seconds = time.perf_counter() - self.began
        self.error_type = error_type


class AssemblyScope:
    """Where an assembly is recorded: the same in each of its rows."""

    trace_id = 0
    span_id = 0
    parent_span_id = 0
    turn_id = ""
    session_id = ""
    agent_name = ""
    resource: Mapping[str, Any] = {}


class Assembly:
    """All that an application has said of one context assembly.

    Any thread may add to it until it has ended. Each addition is one step that no other thread can
    divide, so nothing here takes a lock.
    """

    def __init__(self, task: str, budget: int | None, entities: list[str]) -> None:
        self.id = os.urandom(8).hex()
        """Its span's id, where it has one."""
        self.task = task
        self.budget = budget
        self.entities = entities
        self.place = AssemblyScope()
        self.start_time = time.time_ns()
        self.began = time.perf_counter()
        self.seconds = 0.0
        self.bypassed = False
        self.bypass_reason = ""
        self.text = ""
        """The newest one that was assembled."""
        self.text_tokens: int | None = None
        self.error_type = ""
        self.ended = False
        self.steps: list[AssemblyStep] = []
        self.notes: list[Note] = []

    def items(self) -> list[AssemblyItem]:
        """The items: those kept in the order in which they were, then the others.

        An item of which nobody said whether it was kept is, if the assembled text has its text.
        """
        found: dict[str, AssemblyItem] = {}
        kept: dict[str, None] = {}
        undecided: dict[str, None] = {}
        for note in list(self.notes):
            item = found.get(note.item_id)
            if item is None:
                item = found[note.item_id] = AssemblyItem(note.item_id)
                undecided[note.item_id] = None
            _tell(item, note)
            if note.decision:
                undecided.pop(note.item_id, None)
                kept.pop(note.item_id, None)
                if note.decision == KEPT:
                    kept[note.item_id] = None
        for item_id in undecided:
            item = found[item_id]
            if item.text.strip() and item.text.strip() in self.text:
                item.kept = True
                kept[item_id] = None
        for item in found.values():
            if item.tokens is None and item.text:
                item.tokens, item.tokens_estimated = estimate(item.text), True
        first = [found[item_id] for item_id in kept]
        return first + [item for item in found.values() if not item.kept]

    def used(self, items: Iterable[AssemblyItem]) -> tuple[int | None, bool]:
        """The tokens that the assembled text takes, and whether they are estimated: as they were
        counted by the application, else those of the items kept, else by the text's length."""
        if self.text_tokens is not None:
            return self.text_tokens, False
        kept = [item for item in items if item.kept]
        if kept:
            estimated = any(item.tokens_estimated or item.tokens is None for item in kept)
            return sum(item.tokens or 0 for item in kept), estimated
        return (estimate(self.text), True) if self.text else (None, False)

    def seconds_of(self, step: AssemblyStep) -> float:
        """How long a step took; one that has not ended, until the assembly had."""
        if step.seconds is not None:
            return step.seconds
        return max(0.0, self.began + self.seconds - step.began)

    def end(self, error_type: str) -> None:
        """It is over."""
        self.seconds = time.perf_counter() - self.began
        self.error_type = error_type

    def meta(self) -> dict[str, Any]:
        """All but the texts, as JSON has it."""
        items = self.items()
        used, estimated = self.used(items)
        return {
            "assembly_id": self.id,
            "task": self.task,
            "entities": list(self.entities),
            "budget": self.budget,
            "used": used,
            "used_estimated": estimated,
            "bypassed": self.bypassed,
            "bypass_reason": self.bypass_reason,
            "steps": [_step_meta(step) for step in list(self.steps)],
            "items": [_item_meta(position, item) for position, item in enumerate(items)],
        }


def _tell(item: AssemblyItem, note: Note) -> None:
    """Put into an item what a note says of it."""
    for name in _FACTS:
        value = getattr(note, name)
        if value is not None:
            setattr(item, name, value)
    if note.decision:
        item.kept = note.decision == KEPT
        item.reason = note.reason


def _step_meta(step: AssemblyStep) -> dict[str, Any]:
    seconds = None if step.seconds is None else round(step.seconds, 6)
    return {"name": step.name, "seconds": seconds, "error_type": step.error_type}


def _item_meta(position: int, item: AssemblyItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "position": position,
        "section": item.section,
        "source": item.source,
        "tokens": item.tokens,
        "tokens_estimated": item.tokens_estimated,
        "score": item.score,
        "kept": item.kept,
        "reason": item.reason,
        "hop": item.hop,
        "requires_depth": item.requires_depth,
    }


def estimate(text: str) -> int:
    """About how many tokens a text takes."""
    return -(-len(text) // LETTERS_A_TOKEN)


def count_of(value: Any) -> int | None:
    """A number of tokens, hops or the like that an application gave; anything else is none."""
    if type(value) is int:
        return value if 0 <= value < 2**32 else None
    number = score_of(value)
    return int(number) if number is not None and 0 <= number < 2**32 else None


def score_of(value: Any) -> float | None:
    """A number that an application gave, numpy's as well; what is none, or not finite, is none."""
    if value is None or isinstance(value, (bool, str, bytes)):
        return None
    with looking:
        number = float(value)
    return number if math.isfinite(number) else None


def texts_of(values: Any) -> list[str]:
    """Texts that an application gave, in a list of their own; one alone is one of them."""
    if values is None:
        return []
    if isinstance(values, (str, bytes)):
        return [text_of(values)]
    with looking:
        return [text_of(value) for value in values]


def text_or_none(value: Any) -> str | None:
    """A text that an application may have given."""
    return None if value is None else text_of(value)
