"""Lines that came in together, matched with the lines that agents' edits wrote."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from turnspan_records.coding.authorship.agent_edits import Edit, EditedLine
from turnspan_records.coding.authorship.commit_changes import Commit
from turnspan_records.coding.authorship.edits import blocks, key_of, squeezed, weight
from turnspan_records.coding.authorship.line_changes import NONE
from turnspan_records.coding.authorship.line_origins import LineOrigins

SLACK: Final = 2
"""Seconds that a commit's time may be before that of an edit in it: git's times are whole ones."""
_JUST_BEFORE: Final = 900
"""Seconds from a command to the commit in which lines are said to be the command's."""
_FAR: Final = 4
"""Lines on either side of a line that are compared."""
CANDIDATES: Final = 60
SAYING: Final = 14
"""Letters and digits of a line from which on it is hardly anywhere by chance."""

EditIndex: TypeAlias = dict[str, list[EditedLine]]
"""Which edits wrote a line, by its key."""


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

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.keys = [key_of(one) for one in texts]
        self.matches: list[EditedLine | None] = [None] * len(texts)
        """By which of an edit's lines; ``NONE``: by a part of one, or by several."""
        self.used: set[EditedLine] = set()
        self._others: set[int] = set()
        """Lines that an edit found there: nobody's edit wrote them."""

    def left(self) -> list[int]:
        """The lines of which nothing is found."""
        return [at for at, one in enumerate(self.matches) if one is None and at not in self._others]

    def edit_at(self, at: int) -> Edit | None:
        """The edit that wrote a line; None also beyond the ends."""
        found = self.matches[at] if 0 <= at < len(self.matches) else None
        return found[0] if found else None

    def _give(self, at: int, edit: Edit, line: int = NONE) -> None:
        self.matches[at] = (edit, line)
        self.used.add((edit, line))

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
        self, file: Sequence[EditedLine], came: dict[int, int], free: Callable[[Edit, int], bool]
    ) -> None:
        wrote: dict[Edit, list[int]] = {file[place][0]: [] for place in came}
        for place, (edit, line) in enumerate(file):
            if line not in edit.written:
                if place in came:
                    self._others.add(came[place])
            elif edit in wrote and free(edit, line):
                wrote[edit].append(place)
        for edit, places in wrote.items():
            says = {one: weight(edit.keys[file[one][1]]) for one in places}
            # Of an edit that is not committed yet others may have a few of the lines.
            if 2 * sum(says[one] for one in places if one in came) < sum(says.values()):
                continue
            for one in places:
                if one in came and self.matches[came[one]] is None and file[one] not in self.used:
                    self._give(came[one], *file[one])

    def _same_as(self, file: Sequence[EditedLine]) -> dict[int, int]:
        """Which lines stand in a file: by their places in it."""
        runs = blocks([one.keys[at] for one, at in file], self.keys)
        return {
            first + at - start: at
            for same, first, _, start, end in runs
            if same
            for at in range(start, end)
        }

    def by_lines(self, index: EditIndex, doubt: int) -> None:
        """Give lines to the edits that wrote the same; with doubt only with lines around them."""
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
            at, alone = -before, len(edit.written) == 1
            if self.matches[at] is not None or ((edit, line) in self.used and not alone):
                continue
            sure = weight(self.keys[at]) >= 25 or (doubt == 1 and alone)
            if sure or around >= doubt:
                self._give(at, edit, line)

    def _by_single_lines(self, index: EditIndex) -> None:
        """Give lines that one edit wrote, once, to it, with the lines that go on from them: so few
        are left whose many places are compared."""
        for at in self.left():
            places = index.get(self.keys[at], ()) if weight(self.keys[at]) > SAYING else ()
            if len(places) != 1 or self.matches[at] or places[0] in self.used:
                continue
            edit, line = places[0]
            if weight(self.keys[at]) < 25 and not self._around(at, edit, line):
                continue
            self._give(at, edit, line)
            for step in (-1, 1):
                here, there = at + step, line + step
                while (
                    there in edit.written
                    and 0 <= here < len(self.keys)
                    and self.keys[here] == edit.keys[there]
                    and not self.matches[here]
                    and (edit, there) not in self.used
                ):
                    self._give(here, edit, there)
                    here, there = here + step, there + step

    def _around(self, at: int, edit: Edit, line: int) -> int:
        """How many lines around a line are as around an edit's line: those that say something."""
        score = 0
        for step in (-1, 1):
            for far in range(1, _FAR + 1):
                here, there = at + step * far, line + step * far
                if not (0 <= here < len(self.keys) and 0 <= there < len(edit.keys)):
                    break
                if self.keys[here] != edit.keys[there]:
                    break
                score += weight(self.keys[here]) > 2
        return score

    def by_parts(self, edits: Sequence[Edit], origins: LineOrigins, parents: Sequence[int]) -> None:
        """Give lines to edits that replaced a part of them."""
        for at in self.left():
            for edit in reversed(edits):
                line = self._part_of(at, edit, origins, parents[at])
                if line != NONE:
                    self._give(at, edit, line)
                    break

    def _part_of(self, at: int, edit: Edit, origins: LineOrigins, parent: int) -> int:
        """Which line of an edit is a part of a line; ``NONE``: none is."""
        text, before, after = self.texts[at], edit.change.before, edit.change.after
        if before is None or after is None:
            return NONE
        whole = "\n".join(after)
        if parent != NONE and len(before) == 1 and before[0] and before[0] in origins.texts[parent]:
            new = origins.texts[parent].replace(before[0], whole).split("\n")
            if self.keys[at] in map(key_of, new):
                return 0
        if len(after) == 1:  # too unlike the old line, with what the edit put into it
            once = (edit, 0) not in self.used
            return 0 if once and weight(whole) > 8 and whole in text else NONE
        for line, step in ((0, 1), (len(after) - 1, -1)):  # its last line may end within one
            beside = at + step
            if (
                line in edit.written
                and weight(after[line]) > 2
                and (text.endswith if step > 0 else text.startswith)(after[line])
                and 0 <= beside < len(self.matches)
                and self.matches[beside] == (edit, line + step)
            ):
                return line
        return NONE

    def by_division(self, edits: Sequence[Edit]) -> None:
        """Give lines to edits whose lines a formatter joined or split before the commit."""
        left = self.left()
        streams = [
            (one, squeezed("".join(one.texts[at] for at in sorted(one.written))))
            for one in reversed(edits if left else ())
        ]
        for at in left:
            piece = squeezed(self.texts[at])
            says, beside = weight(piece), (self.edit_at(at - 1), self.edit_at(at + 1))
            for edit, stream in streams:
                whole = self.keys[at] in edit.keys  # else found by its line
                if not whole and says > 2 and piece in stream and (says > 9 or edit in beside):
                    self._give(at, edit)
                    break

    def by_neighbours(self) -> None:
        """Give lines that say nothing of their own to the edit around them."""
        count, left = len(self.keys), set(self.left())
        for step, order in ((1, range(1, count)), (-1, range(count - 2, -1, -1))):
            for at in order:
                beside = self.matches[at - step]
                if self.matches[at] or at not in left or not beside or beside[1] == NONE:
                    continue
                (edit, line), light = beside, weight(self.keys[at]) < 3
                # A block of code slides over equal lines at its ends: git may have another one.
                for here in (line + step, *(edit.written if light else ())):
                    same = 0 <= here < len(edit.keys) and edit.keys[here] == self.keys[at]
                    follows = here == line + step and light
                    if same and (follows or (edit, here) not in self.used):
                        self._give(at, edit, here)
                        break
        silent = enumerate(one for one in self.left() if not weight(self.keys[one]))
        for _, numbered in groupby(silent, key=lambda one: one[1] - one[0]):
            run = [at for _, at in numbered]
            around = self.edit_at(run[0] - 1)
            if around is not None and around is self.edit_at(run[-1] + 1):
                for at in run:
                    self._give(at, around)

    def by_command(self, edits: Sequence[Edit], commit: Commit) -> None:
        """Give what is left to the last command that wrote this file just before the commit."""
        until = bisect.bisect_right([one.time for one in edits], commit.authored + SLACK)
        for edit in reversed(edits[:until]):
            if edit.time < commit.authored - _JUST_BEFORE:
                return
            if edit.change.after is None:
                for at in self.left():
                    if weight(self.keys[at]) > 2:
                        self._give(at, edit)
                return
