"""Lines that came in together, matched with the lines that agents' edits wrote."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeAlias

from turnspan_records.coding.authorship.agent_edits import Edit, FileLines
from turnspan_records.coding.authorship.commit_changes import Commit
from turnspan_records.coding.authorship.edits import blocks, key_of, squeezed, weight
from turnspan_records.coding.authorship.line_changes import NONE
from turnspan_records.coding.authorship.line_origins import BREAK, LineOrigins

SURE: Final = "text"
BY_COMMAND: Final = "command"
SLACK: Final = 2
"""Seconds that a commit's time may be before that of an edit in it: git's times are whole ones."""
_JUST_BEFORE: Final = 900
"""Seconds from a command to the commit in which lines are said to be the command's."""
_FAR: Final = 4
"""Lines on either side of a line that are compared."""
CANDIDATES: Final = 60
SAYING: Final = 14
"""Letters and digits of a line from which on it is hardly anywhere by chance."""

EditIndex: TypeAlias = dict[str, list[tuple[Edit, int]]]
"""Which edits wrote a line, by its key: the edit, and which of its lines."""


def edits_by_line(edits: Iterable[Edit], keys: Collection[str], commit: Commit) -> EditIndex:
    """Where edits wrote which of these lines that was there at a commit, the oldest first."""
    made: EditIndex = defaultdict(list)
    for edit in edits:
        end = commit.authored if edit.time <= commit.authored + SLACK else commit.committed
        for at in edit.written:
            stood = at not in edit.replaced or edit.replaced[at].time > end
            if stood and edit.keys[at] in keys:
                made[edit.keys[at]].append((edit, at))
    return made


class LineMatching:
    """Lines that came in together, and what is found of each."""

    def __init__(self, keys: Sequence[str], texts: Sequence[str]) -> None:
        self.keys = keys
        self.texts = texts
        self.edits: list[Edit | None] = [None] * len(keys)
        self.at: list[int] = [NONE] * len(keys)
        """Which of the edit's lines it is."""
        self.evidence = [SURE] * len(keys)
        self.used: set[tuple[Edit, int]] = set()
        self.others: set[int] = set()
        """Lines that an edit found there: nobody's edit wrote them."""

    def by_files(
        self, edits: Sequence[Edit], commit: Commit, free: Callable[[Edit, int], bool]
    ) -> None:
        """Give lines to the edits that wrote them, where the whole file is known as agents left it
        before a commit; ``free`` says whether an edit's line came in with no other commit."""
        newest: dict[str, list[Edit]] = defaultdict(list)
        for edit in edits:
            known = newest[edit.place]
            if known and known[-1].time < commit.authored - SLACK:
                known.clear()
            known.append(edit)
        for known in newest.values():
            files = [one.file for one in known if one.file]
            if not files:
                continue
            came = [self._same_as(one) for one in files]
            best = max(range(len(files)), key=lambda one: len(came[one]))
            self._by_file(files[best], came[best], free)

    def _by_file(
        self, file: FileLines, came: dict[int, int], free: Callable[[Edit, int], bool]
    ) -> None:
        wrote: dict[Edit, list[int]] = defaultdict(list)
        for place, (edit, line) in enumerate(file):
            if line not in edit.written and place in came:
                self.others.add(came[place])
            elif line in edit.written and free(edit, line):
                wrote[edit].append(place)
        for edit, places in wrote.items():
            says = {one: weight(edit.keys[file[one][1]]) for one in places}
            # Of an edit that is not committed yet others may have a few of the lines.
            if 2 * sum(says[one] for one in places if one in came) < sum(says.values()):
                continue
            for at, line in ((came[one], file[one][1]) for one in places if one in came):
                if self.edits[at] is None and (edit, line) not in self.used:
                    self._give(at, edit, line)

    def _same_as(self, file: FileLines) -> dict[int, int]:
        """Which lines stand in a file: by their places in it."""
        keys = [one.removeprefix(BREAK) or one for one in self.keys]
        runs = blocks([one.keys[at] for one, at in file], keys)
        return {
            first + at - start: at
            for same, first, _, start, end in runs
            if same
            for at in range(start, end)
            if not self.keys[at].startswith(BREAK)
        }

    def by_lines(self, index: EditIndex, doubt: int) -> None:
        """Give lines to the edits that wrote the same; with doubt only with lines around them."""
        if not index:
            return
        if doubt < 2:
            self._by_single_lines(index)
        ranked = [
            (self._around(at, edit, line), edit.time, -at, edit, line)
            for at in self.left()
            if weight(self.keys[at]) > 2
            for edit, line in index.get(self.keys[at], ())[-CANDIDATES:]
        ]
        ranked.sort(key=lambda one: one[:3], reverse=True)
        for around, _, before, edit, line in ranked:
            at, says = -before, weight(self.keys[-before])
            alone = len(edit.written) == 1
            if self.edits[at] is not None or ((edit, line) in self.used and not alone):
                continue
            needed = doubt if says < 25 else min(doubt, 1) if says < 40 else 0
            if doubt == 1 and alone:
                needed = 0
            if around >= needed and (alone or self._in_order(at, edit, line)):
                self._give(at, edit, line)

    def _by_single_lines(self, index: EditIndex) -> None:
        """Give lines that one edit wrote, once, to it, with the lines that go on from them."""
        for at in self.left():
            key = self.keys[at]
            places = index.get(key, ()) if weight(key) > SAYING else ()
            if len(places) != 1 or self.edits[at] is not None or places[0] in self.used:
                continue
            edit, line = places[0]
            if weight(key) < 25 and not self._around(at, edit, line):
                continue
            self._give(at, edit, line)
            for step in (-1, 1):
                here, there = at + step, line + step
                while (
                    0 <= here < len(self.keys)
                    and there in edit.written
                    and self.edits[here] is None
                    and self.keys[here] == edit.keys[there]
                    and (edit, there) not in self.used
                ):
                    self._give(here, edit, there)
                    here, there = here + step, there + step

    def left(self) -> list[int]:
        """The lines of which nothing is found."""
        return [
            at
            for at, edit in enumerate(self.edits)
            if edit is None and at not in self.others and not self.keys[at].startswith(BREAK)
        ]

    def _give(self, at: int, edit: Edit, line: int, evidence: str = SURE) -> None:
        self.edits[at], self.at[at], self.evidence[at] = edit, line, evidence
        self.used.add((edit, line))

    def _in_order(self, at: int, edit: Edit, line: int) -> bool:
        """Whether the nearest lines of an edit stand before and after one as they do in it."""
        for step, order in ((-1, range(at - 1, -1, -1)), (1, range(at + 1, len(self.keys)))):
            for near, _ in zip(order, range(CANDIDATES), strict=False):
                if self.edits[near] is edit and self.at[near] != NONE:
                    if (self.at[near] - line) * step < 0:
                        return False
                    break
        return True

    def _around(self, at: int, edit: Edit, line: int) -> int:
        """How many lines around a line are as around an edit's line: those that say something."""
        score = 0
        for step in (-1, 1):
            for far in range(1, _FAR + 1):
                here, there = at + step * far, line + step * far
                if not (0 <= here < len(self.keys) and 0 <= there < len(edit.keys)):
                    break
                key = self.keys[here]
                if self.edits[here] is edit and self.at[here] == NONE:
                    score += 1  # a formatter divided it
                elif there in edit.replaced and self.edits[here] is edit.replaced[there]:
                    score += 1  # a later edit put another line in its place
                elif key.removeprefix(BREAK) != edit.keys[there]:
                    break
                else:
                    score += weight(key) > 2
                if key.startswith(BREAK):
                    break
        return score

    def by_parts(self, edits: Sequence[Edit], origins: LineOrigins, parents: Sequence[int]) -> None:
        """Give lines to edits that replaced a part of them."""
        partial = [
            one for one in edits if one.change.before is not None and one.change.after is not None
        ]
        for at in self.left() if partial else ():
            text, key, parent = self.texts[at], self.keys[at], parents[at]
            for edit in reversed(partial):
                before, after = edit.change.before or (), edit.change.after or ()
                if parent != NONE and len(before) == 1 and before[0]:
                    old = origins.texts[parent]
                    new = old.replace(before[0], "\n".join(after)).split("\n")
                    if before[0] in old and key in map(key_of, new):
                        self._give(at, edit, 0)
                        break
                # A line that is too unlike the old one, with what the edit put into it.
                whole = "\n".join(after)
                once = (edit, 0) not in self.used and len(after) == 1
                if once and weight(whole) > 8 and whole in text:
                    self._give(at, edit, 0)
                    break
                ends = ((0, 1, text.endswith), (len(after) - 1, -1, text.startswith))
                for line, step, fits in ends if len(after) > 1 else ():
                    beside = at + step
                    if (
                        weight(after[line]) > 2
                        and fits(after[line])
                        and line in edit.written
                        and 0 <= beside < len(self.keys)
                        and self.edits[beside] is edit
                        and self.at[beside] == line + step
                    ):
                        self._give(at, edit, line)
                        break

    def by_division(self, edits: Sequence[Edit]) -> None:
        """Give lines to edits whose lines a formatter joined or split before the commit."""
        left = self.left()
        if not left:
            return
        streams = [
            (one, squeezed("".join(one.texts[at] for at in sorted(one.written))))
            for one in reversed(edits)
            if one.written
        ]
        for at in left:
            piece = squeezed(self.texts[at])
            says = weight(piece)
            beside = [self.edits[one] for one in (at - 1, at + 1) if 0 <= one < len(self.edits)]
            for edit, stream in streams:
                whole = self.keys[at] in edit.keys  # else found by its line
                if not whole and says > 2 and piece in stream and (says > 9 or edit in beside):
                    self._give(at, edit, NONE)
                    break

    def by_neighbours(self) -> None:
        """Give lines that say nothing of their own to the edit around them."""
        count, left = len(self.keys), set(self.left())
        for step, order in ((1, range(count)), (-1, range(count - 1, -1, -1))):
            for at in order:
                beside = at - step
                if (
                    self.edits[at]
                    or at not in left
                    or not 0 <= beside < count
                    or self.at[beside] < 0
                ):
                    continue
                edit, line = self.edits[beside], self.at[beside] + step
                if edit is None:
                    continue
                # A block of code slides over equal lines at its ends: git may have another one.
                slides = edit.written if weight(self.keys[at]) < 3 else ()
                for here in (line, *slides):
                    same = 0 <= here < len(edit.keys) and edit.keys[here] == self.keys[at]
                    follows = here == line and weight(self.keys[at]) < 3
                    if same and (follows or (edit, here) not in self.used):
                        self._give(at, edit, here)
                        break
        at = 0
        while at < count:
            end = at
            while end in left and self.edits[end] is None and not weight(self.keys[end]):
                end += 1
            if end > at:
                before = self.edits[at - 1] if at else None
                after = self.edits[end] if end < count else None
                if before is not None and before is after:
                    for one in range(at, end):
                        self._give(one, before, NONE)
            at = max(end, at + 1)

    def by_command(self, edits: Sequence[Edit], commit: Commit) -> None:
        """Give what is left to the last command that wrote this file just before the commit."""
        times = [one.time for one in edits]
        until = bisect.bisect_right(times, commit.authored + SLACK)
        for edit in reversed(edits[:until]):
            if edit.time < commit.authored - _JUST_BEFORE:
                return
            if edit.change.after is None:
                for at in self.left():
                    if weight(self.keys[at]) > 2:
                        self._give(at, edit, NONE, BY_COMMAND)
                return
