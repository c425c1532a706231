"""The edits of coding agents, and which lines each of them wrote.

That is found by playing all edits of a file again, one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from turnspan_records.coding.authorship.edits import FileChange, added, blocks, key_of, weight


@dataclass(frozen=True, slots=True)
class EditingTurn:
    """A turn that ran tools which change files."""

    project: str
    turn_id: str
    session_id: str
    started: int
    """In nanoseconds since the epoch."""
    agent: str
    """The coding agent: ``claude-code``."""
    models: tuple[str, ...]
    task: str
    cost_usd: Decimal | None
    """Without nested turns; None if unknown."""
    prompt: str
    """Its beginning."""
    outcome: str
    """As it was judged: ``used``, ``modified``, ``rejected``; empty if it was not."""
    folder: str
    address: str
    revision: str
    branch: str


@dataclass(slots=True, eq=False)
class Edit:
    """What one tool call changed in one file of the repository."""

    turn: EditingTurn
    call_id: str
    tool: str
    model: str
    time: int
    """When the tool ended, in seconds since the epoch."""
    path: str
    """In the repository."""
    place: str
    """The file as the tool found it: its absolute path and the branch."""
    change: FileChange
    texts: list[str] = field(default_factory=list[str])
    """The lines that it left in the file, as far as they are known whole."""
    keys: list[str] = field(default_factory=list[str])
    written: set[int] = field(default_factory=set[int])
    """Which of them it wrote: those that were there before are context."""
    replaced: dict[int, Edit] = field(default_factory=dict[int, "Edit"])
    """The later edits of agents that took lines away."""
    file: list[EditedLine] | None = None
    """The file as agents left it, with this edit; None where the records do not tell. Lines that
    somebody else put in since may lack."""

    def add(self, texts: Sequence[str]) -> range:
        """More lines that it left in the file; which of its lines they are."""
        first = len(self.texts)
        self.texts += texts
        self.keys += map(key_of, texts)
        return range(first, len(self.texts))

    def lasting(self) -> list[str]:
        """The keys of lines that it wrote, without those that say nothing of their own and those
        that the same turn replaced."""
        return [
            self.keys[at]
            for at in sorted(self.written)
            if weight(self.keys[at]) > 2
            and (at not in self.replaced or self.replaced[at].turn is not self.turn)
        ]


EditedLine: TypeAlias = tuple[Edit, int]
"""A line of a file: the edit by which it is what it is, and which of the edit's lines."""


_LARGEST: Final = 3_000
"""Lines of a file that is known whole: each edit keeps it as it left it."""


def replay(edits: Iterable[Edit]) -> None:
    """Find which lines each edit wrote, by what edits before it left in the same file, and when a
    later one replaced them. The oldest edit is the first.

    What agents left of a file is known from an edit that wrote the whole of it, until a command
    changes it. Else lines are compared one by one.
    """
    standing: dict[str, dict[str, EditedLine]] = defaultdict(dict)
    files: dict[str, list[EditedLine] | None] = {}
    for edit in edits:
        held, old = standing[edit.place], files.get(edit.place)
        edit.add(edit.change.after or ())
        after = _file(edit, old, held)
        files[edit.place] = edit.file = after if after and len(after) <= _LARGEST else None
        if edit.change.after is None:
            continue
        if edit.file is None:
            gone = _by_lines(edit, held)
        else:
            now = {one.keys[at] for one, at in edit.file}
            gone = {one.keys[at] for one, at in old or held.values()} - now
            for earlier, at in set(old or ()).difference(edit.file):
                earlier.replaced[at] = edit
        for key in gone.intersection(held):
            earlier, at = held.pop(key)
            earlier.replaced[at] = edit
        held.update((edit.keys[at], (edit, at)) for at in edit.written)


def _file(
    edit: Edit, old: list[EditedLine] | None, held: dict[str, EditedLine]
) -> list[EditedLine] | None:
    """The file after an edit, None where it is not known; notes which lines the edit wrote."""
    before, after = edit.change.before, edit.change.after
    if after is None:
        return None
    if before is not None:
        return _replaced(edit, old, before, after) if old is not None and before else None
    if old is None:
        made = [held.get(key, (edit, at)) for at, key in enumerate(edit.keys)]
    else:
        made = _merged(old, edit, range(len(after)))
    edit.written = {at for one, at in made if one is edit}
    return made


def _replaced(
    edit: Edit, old: list[EditedLine], before: tuple[str, ...], after: tuple[str, ...]
) -> list[EditedLine]:
    texts = [one.texts[at] for one, at in old]
    many = len(before)
    made: list[EditedLine] = []
    end = 0
    for at, text in enumerate(texts):
        if at >= end and text == before[0] and tuple(texts[at : at + many]) == before:
            made += old[end:at]
            made += _merged(old[at : at + many], edit, range(len(after)))
            end = at + many
    if end:
        made += old[end:]
    else:
        text, part = "\n".join(texts), "\n".join(before)
        if part not in text:
            return _beside_others(edit, old, before)
        # Behind what the tool states: the whole lines that it became.
        made = _merged(old, edit, edit.add(text.replace(part, "\n".join(after)).split("\n")))
    edit.written = {at for one, at in made if one is edit}
    return made


def _beside_others(edit: Edit, old: list[EditedLine], before: tuple[str, ...]) -> list[EditedLine]:
    """The file after an edit that found lines of somebody else in it: those stay in it as lines of
    the edit that it did not write."""
    keys = [key_of(one) for one in before]
    places = {
        at: first + at - start
        for same, first, _, start, end in blocks([one.keys[at] for one, at in old], keys)
        for at in range(start, end)
        if same
    }
    if not any(weight(keys[at]) > 2 for at in places):  # it stands in others' lines
        edit.written = set(added(keys, edit.keys))
        return old
    made = old[: max(places[min(places)] - min(places), 0)]
    last = places[max(places)] + len(before) - max(places)
    edit.written = set()
    for same, i1, _, j1, j2 in blocks(keys, edit.keys):
        for at in range(j1, j2):
            place = places.get(i1 + at - j1) if same else None
            made.append((edit, at) if place is None else old[place])
            if not same:
                edit.written.add(at)
    return made + old[last:]


def _merged(old: list[EditedLine], edit: Edit, lines: Sequence[int]) -> list[EditedLine]:
    """Lines of an edit in place of old ones: those that are the same stay what they were."""
    before = [one.keys[at] for one, at in old]
    made: list[EditedLine] = []
    for same, i1, i2, j1, j2 in blocks(before, [edit.keys[at] for at in lines]):
        made += old[i1:i2] if same else [(edit, at) for at in lines[j1:j2]]
    return made


def _by_lines(edit: Edit, held: dict[str, EditedLine]) -> set[str]:
    """Which lines an edit wrote in a file that is not known whole; the keys that it took away."""
    before = edit.change.before
    if before is None:
        edit.written = {at for at, key in enumerate(edit.keys) if key not in held}
        return set(held).difference(edit.keys)
    old = [key_of(one) for one in before]
    edit.written = set(added(old, edit.keys))
    gone = set(old).difference(edit.keys)
    return gone | (_complete(edit, before[0], held) if len(before) == 1 else set())


def _complete(edit: Edit, old: str, held: dict[str, EditedLine]) -> set[str]:
    """Add the whole lines of an edit that replaced a part of a line, where an agent wrote that;
    return the keys of the lines that it replaced."""
    new = "\n".join(edit.change.after or ())
    gone = set[str]()
    for key, (earlier, at) in held.items():
        text = earlier.texts[at]
        if old and old in text and text.strip() != old.strip():
            gone.add(key)
            edit.written.update(edit.add(text.replace(old, new).split("\n")))
    return gone
