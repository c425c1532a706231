"""What a turn remembers of the tools that were executed in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from turnspan.turn.loop_detector import ExecutedTool, LoopDetector
from turnspan.turn.tool_failure import tool_failed

_WAITING = 256
"""Tools that are not folded at most, unless they run for longer."""
_KEPT = 64
"""The newest tools, whose arguments and results are kept."""
_UNUSED: Final = LoopDetector()
"""That of the many turns without tools."""


def _place(fact: ExecutedTool) -> tuple[int, int]:
    """Where a tool stands in the order of emission."""
    return fact.round, fact.place


class ToolHistory:
    """A turn's tools in the order of emission, folded into the loop detector as they end.

    Whoever calls ``fold`` holds the turn's lock; ``begin`` needs none.
    """

    __slots__ = ("_facts", "_folded", "_mixed", "detector", "errors")

    def __init__(self, facts: list[ExecutedTool] | None = None) -> None:
        self._facts: list[ExecutedTool] = [] if facts is None else facts
        self._folded = 0
        self._mixed = False  # whether some began in another order than the model asked for
        self.detector = _UNUSED
        """Of those folded so far."""
        self.errors = 0
        """Tools that failed, among those folded so far."""

    def __len__(self) -> int:
        return len(self._facts)

    def with_others(self, tools: Sequence[ExecutedTool]) -> ToolHistory:
        """These and others, each in its round, none folded yet."""
        return ToolHistory(sorted([*self._facts, *tools], key=_place))

    def begin(self, name: str, arguments: Any, number: int, place: int = 0) -> ExecutedTool:
        """A tool begins in the round of this number, asked for at this place of the reply."""
        fact = ExecutedTool(name, arguments, number, place=place)
        if place and self._facts:
            self._mixed = True
        self._facts.append(fact)
        return fact

    @property
    def many_wait(self) -> bool:
        """Whether so many are not folded yet that it is time to."""
        return len(self._facts) - self._folded > _WAITING

    def fold(self, *, keep: int = 0, finished_only: bool = False) -> None:
        """Fold those before the newest ``keep``, or until the first that has not ended."""
        until = len(self._facts) - keep
        if self._mixed:
            # Of this length whatever begins meanwhile: nothing that is appended may be lost.
            self._facts[self._folded : until] = sorted(
                self._facts[self._folded : until], key=_place
            )
            self._mixed = False
        while self._folded < until:
            fact = self._facts[self._folded]
            if finished_only and not fact.done:
                return
            self._folded += 1
            fact.error = fact.error or tool_failed(fact.result)
            self.errors += fact.error
            if self.detector is _UNUSED:
                self.detector = LoopDetector()
            self.detector.observe(fact)
            if self._folded < len(self._facts) - _KEPT:
                fact.arguments = fact.result = None

    def fold_some(self) -> None:
        """Fold what has ended, so that a long turn keeps little."""
        self.fold(keep=_KEPT, finished_only=True)

    @property
    def failed_last(self) -> str:
        """The names of the tools that failed in the last round that had any; empty where none."""
        if not self._facts:
            return ""
        last = self._facts[-1].round
        failed: list[str] = []
        for fact in reversed(self._facts):
            if fact.round != last:
                break
            if fact.error:
                failed.append(fact.name)
        return ", ".join(reversed(failed))
