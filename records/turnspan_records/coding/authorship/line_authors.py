"""Who wrote each line of a file: the edit of a coding agent, or a person by git's history.

Edits and lines are matched by content and time, never by the ids of commits, which a rebase or a
squash changes. Of a line that came in with a commit, the edit is the author that wrote this line in
this file before the commit, best with the lines around it; of equal ones the newest.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from turnspan_records.coding.authorship.agent_edits import Edit
from turnspan_records.coding.authorship.commit_changes import Commit
from turnspan_records.coding.authorship.edits import key_of, lines_of, weight
from turnspan_records.coding.authorship.line_changes import (
    ALIKE,
    NONE,
    alike,
    changed,
    checksum,
    kept,
)
from turnspan_records.coding.authorship.line_matches import (
    CANDIDATES,
    SAYING,
    SLACK,
    EditIndex,
    LineMatching,
    edits_by_line,
)
from turnspan_records.coding.authorship.line_origins import BREAK, Arrival, LineOrigins

NOT_COMMITTED: Final = "not committed"
CHANGED: Final = "changed"
_BATCH: Final = 120
"""Seconds in which a rebase makes all its commits."""


@dataclass(frozen=True, slots=True)
class LineAuthor:
    """Who wrote a line."""

    number: int
    """In the file, from 1."""
    text: str
    edit: Edit | None
    """The agent's edit; None: a person wrote it."""
    person: str
    """Who committed it, as git says; of an agent's line too."""
    commit: str
    """In which the line came in; empty in the working tree."""
    time: int
    """Of the edit, else of the commit; in seconds since the epoch."""
    evidence: str
    """Of an agent's line ``text``, or ``command`` where only a command that wrote this file just
    before is known; of a person's line ``changed`` if it was an agent's before, else empty."""
    before: Edit | None = None
    """The edit whose line a person changed."""


_Found = tuple[Edit | None, str, Edit | None]
"""An edit, the evidence, the edit before a person's change."""
_PERSON: Final[_Found] = (None, "", None)


class LineAuthors:
    """The authors of a repository's lines, by its lines' origins and its agents' edits."""

    def __init__(self, origins: LineOrigins, edits: Iterable[Edit]) -> None:
        self._origins = origins
        self._edits: dict[str, list[Edit]] = defaultdict(list)
        self._everywhere: dict[str, list[tuple[Edit, int]]] = defaultdict(list)
        for edit in edits:
            self._edits[edit.path].append(edit)
            for at in edit.written:
                self._everywhere[edit.keys[at]].append((edit, at))
        self._commits_of: dict[str, list[Commit]] = defaultdict(list)
        for one in origins.arrivals:
            self._commits_of[one.path].append(origins.commits[one.commit])
        self._groups: dict[int, list[int]] = defaultdict(list)
        for origin, arrival in enumerate(origins.arrivals_of):
            self._groups[arrival].append(origin)
        self._came: dict[str, dict[int, list[int]]] = {}
        self._arrivals_of: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(origins.arrivals):
            for path in {one.path, one.former_path}:
                self._arrivals_of[path].append(at)
        self._everything: dict[int, list[int]] = {}
        self._homes: dict[Edit, list[int]] = {}
        self._found: dict[int, _Found] = {}
        self._done: set[int] = set()

    def of_file(
        self, path: str, text: str | None = None, committed: str | None = None
    ) -> list[LineAuthor]:
        """The authors of a file's lines at ``HEAD``, where its text is ``committed`` (default: as
        the lines came in); with ``text``, of what is in it now.

        Raises:
            KeyError: it is not in ``HEAD``, and there is no text.
        """
        old = list(self._origins.files[path][1]) if path in self._origins.files else []
        before = [self._origins.texts[one] for one in old]
        if committed is not None:
            before = lines_of(committed)
        if text is None or text == committed:
            if path not in self._origins.files:
                raise KeyError(path)
            return self._authors(before, old, {})
        texts = lines_of(text)
        removed = list(zip(before, old, strict=True))
        lines = kept(removed, texts)
        loose = [at for at, origin in enumerate(lines) if origin == NONE]
        parents = changed(removed, texts, lines) if loose else {}
        now = Commit("", round(time.time()), round(time.time()), NOT_COMMITTED)
        last = max((one.authored for one in self._commits_of[path]), default=0)
        arrival = Arrival(NONE, path, path, last)
        came = set(loose)
        order, shown = list[int](), list[str]()
        for at in loose:
            if at - 1 not in came:
                order.append(NONE)
                shown.append(BREAK + "".join(texts[max(at - 1, 0) : at]))
            order.append(at)
            shown.append(texts[at])
            if at + 1 not in came:
                order.append(NONE)
                shown.append(BREAK + "".join(texts[at + 1 : at + 2]))
        found = self._match(arrival, now, shown, [parents.get(at, NONE) for at in order])
        return self._authors(texts, lines, dict(zip(order, found, strict=True)))

    def _authors(
        self, texts: Sequence[str], origins: Sequence[int], loose: Mapping[int, _Found]
    ) -> list[LineAuthor]:
        made: list[LineAuthor] = []
        for at, (text, origin) in enumerate(zip(texts, origins, strict=True)):
            edit, evidence, before = loose[at] if at in loose else self._of(origin)
            commit = Commit("", round(time.time()), 0, NOT_COMMITTED)
            if origin != NONE:
                arrival = self._origins.arrivals[self._origins.arrivals_of[origin]]
                commit = self._origins.commits[arrival.commit]
            moment = edit.time if edit else commit.authored
            made.append(
                LineAuthor(
                    *(at + 1, text, edit, commit.person, commit.id, moment, evidence, before)
                )
            )
        return made

    def _of(self, origin: int) -> _Found:
        arrival = self._origins.arrivals_of[origin]
        if arrival not in self._done:
            self._done.add(arrival)
            about = self._origins.arrivals[arrival]
            group = self._groups[arrival]
            found = self._match(
                about,
                self._origins.commits[about.commit],
                [self._origins.texts[one] for one in group],
                [self._origins.parents[one] for one in group],
            )
            self._found.update(zip(group, found, strict=True))
        return self._found[origin]

    def _match(
        self,
        arrival: Arrival,
        commit: Commit,
        texts: Sequence[str],
        parents: Sequence[int],
    ) -> list[_Found]:
        """The authors of lines that came in together, in their order."""
        paths = {arrival.path, arrival.former_path}
        edits = [one for path in paths for one in self._edits.get(path, ())]
        keys = [key_of(one) for one in texts]
        own = [
            one
            for one in edits
            if one.time <= commit.committed + SLACK and self._may_be_of(one, arrival, commit)
        ]
        found = LineMatching(keys, texts)
        if edits:
            own.sort(key=lambda one: one.time)
            wanted = set(keys)
            fresh = [one for one in own if one.time > arrival.since - SLACK]
            old = [one for one in own if one.time <= arrival.since - SLACK]
            index = self._not_committed(edits_by_line(fresh, wanted, commit), commit)
            found.by_lines(index, 1)
            found.by_files(
                own, commit, lambda edit, at: not self._is_committed(edit, edit.keys[at], commit)
            )
            found.by_lines(self._not_committed(edits_by_line(old, wanted, commit), commit), 2)
            found.by_parts(fresh, self._origins, parents)
            found.by_division(fresh)
            found.by_lines(index, 1)
        if None in found.edits:
            found.by_lines(self._elsewhere(keys, paths, commit), 3)
        found.by_neighbours()
        before = self._before(found, parents)
        found.by_command(own, commit)
        made: list[_Found] = []
        for at in range(len(texts)):
            edit = found.edits[at]
            if edit is not None:
                made.append((edit, found.evidence[at], None))
            elif before[at] is not None:
                made.append((None, CHANGED, before[at]))
            else:
                made.append(_PERSON)
        return made

    def _may_be_of(self, edit: Edit, arrival: Arrival, commit: Commit) -> bool:
        """Whether an edit may have come in with a commit, that was perhaps made anew after it."""
        if edit.time <= commit.authored + SLACK:
            return True
        later = [one for one in self._commits_of[arrival.path] if one.committed >= edit.time]
        first = min((one.committed for one in later), default=0)
        batch = [one for one in later if one.committed <= first + _BATCH]
        meant = [one for one in batch if one.authored + SLACK >= edit.time]
        return commit in batch and not meant

    def _elsewhere(self, keys: Iterable[str], paths: set[str], commit: Commit) -> EditIndex:
        """Edits in other files that wrote these lines before: the lines were moved here."""
        end = commit.authored + SLACK
        made: EditIndex = {}
        for key in set(keys):
            if weight(key) <= SAYING:
                continue
            places = [
                one
                for one in self._everywhere.get(key, ())
                if one[0].time <= end and one[0].path not in paths
            ]
            if places:
                made[key] = places[-CANDIDATES:]
        return {
            key: left
            for key, places in made.items()
            if (left := [one for one in places if not self._is_elsewhere(one[0], commit)])
        }

    def _not_committed(self, index: EditIndex, commit: Commit) -> EditIndex:
        """Those lines of edits that came in with no commit before this one."""
        return {
            key: left
            for key, places in index.items()
            if (left := [one for one in places if not self._is_committed(one[0], key, commit)])
        }

    def _is_committed(self, edit: Edit, key: str, before: Commit) -> bool:
        if edit.path not in self._came:
            self._came[edit.path] = self._arrivals_by_key(self._arrivals_of[edit.path])
        found = self._came[edit.path].get(checksum(key), ())
        return any(self._may_come_with(edit, arrival, before) for arrival in found)

    def _is_elsewhere(self, edit: Edit, before: Commit) -> bool:
        """Whether most of what an edit wrote came in with a commit before, in whichever file."""
        if not self._everything:
            self._everything = self._arrivals_by_key(range(len(self._origins.arrivals)))
        if edit not in self._homes:
            keys = {checksum(one) for at in edit.written if weight(one := edit.keys[at]) > SAYING}
            places = Counter(one for key in keys for one in set(self._everything.get(key, ())))
            self._homes[edit] = [one for one, many in places.items() if 2 * many >= len(keys)]
        return any(self._may_come_with(edit, one, before) for one in self._homes[edit])

    def _may_come_with(self, edit: Edit, arrival: int, before: Commit) -> bool:
        about = self._origins.arrivals[arrival]
        commit = self._origins.commits[about.commit]
        return (
            commit.authored < before.authored
            and edit.time <= commit.committed + SLACK
            and self._may_be_of(edit, about, commit)
        )

    def _arrivals_by_key(self, arrivals: Iterable[int]) -> dict[int, list[int]]:
        made: dict[int, list[int]] = defaultdict(list)
        for arrival in arrivals:
            for origin in self._groups.get(arrival, ()):
                made[checksum(key_of(self._origins.texts[origin]))].append(arrival)
            for key in self._origins.gone.get(arrival, ()):
                made[key].append(arrival)
        return made

    def _before(self, found: LineMatching, parents: Sequence[int]) -> list[Edit | None]:
        """Of the lines of persons: whose edit they changed."""
        made: list[Edit | None] = [None] * len(parents)
        for at, parent in enumerate(parents):
            if found.edits[at] is None and parent != NONE:
                edit, _, before = self._of(parent)
                made[at] = edit or before
        # Changed before the commit: an edit's line that is nowhere, between others of that edit.
        for at in found.left():
            text = found.texts[at]
            for step in (-1, 1) if made[at] is None and weight(text) > 8 else ():
                beside = at + step
                edit = found.edits[beside] if 0 <= beside < len(parents) else None
                line = found.at[beside] - step if edit is not None else NONE
                if edit is None or line not in edit.written or (edit, line) in found.used:
                    continue
                if alike(edit.texts[line], text) >= ALIKE:
                    made[at] = edit
        return made
