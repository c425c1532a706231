"""What became of each line of a session's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from turnspan.content.model import as_text
from turnspan_records.coding.transcripts.lines import Item
from turnspan_records.coding.transcripts.sessions import TranscriptSession
from turnspan_records.importing.sources import Part, Problem

NOT_JSON: Final = "not understood: see the problems"
WAITS: Final = "still being written: it waits"
_SHOWN: Final = 200


class LineAccounts:
    """What became of each line of a session's files."""

    def __init__(self, session: TranscriptSession, known: Sequence[int]) -> None:
        self.session = session
        self._known = known
        self._seen: Counter[tuple[str, str]] = Counter()
        self._problems: list[Problem] = []
        self._many: Counter[int] = Counter()

    def _is_new(self, number: int, item: Item) -> bool:
        return (item.end or item.number) > self._known[number]

    def _problem(self, number: int, item: Item, why: str) -> str:
        if self._is_new(number, item):
            self._many[number] += 1
            path = self.session.files[number]
            shown = as_text(item.value) or repr(item.value)
            if isinstance(item.value, bytes):
                shown = item.value.decode("utf-8", "replace").strip()
            reason = f"{why}, and was left out: {shown[:_SHOWN]}"
            self._problems.append(Problem(f"{path}:{item.number}", reason))
        return NOT_JSON

    def word(self, number: int, item: Item) -> str:
        """What became of an item that cannot be read; empty for others."""
        return self._problem(number, item, item.problem) if item.problem else ""

    def failed(self, number: int, item: Item, error: Exception) -> str:
        """What became of an item at which the reader failed."""
        return self._problem(number, item, f"it cannot be read ({error!r})")

    def waits(self, number: int, item: Item) -> None:
        """A line whose end is not there: it is read again when it is."""
        self._seen[self.session.tool.kind, WAITS] += self._is_new(number, item)

    def count(self, number: int, item: Item, word: str) -> None:
        """Count an item that no import before has counted."""
        if self._is_new(number, item):
            self._seen[self.session.tool.kind, word] += 1

    def into(self, part: Part) -> None:
        """Move what was counted into a part."""
        part.seen.update(self._seen)
        part.problems += self._problems
        self._seen.clear()
        self._problems = []

    def part(self) -> Part:
        """What was counted since."""
        part = Part()
        self.into(part)
        return part
