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
from turnspan_records.coding.authorship.line_origins import Arrival, LineOrigins

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
    before: Edit | None
    """The edit whose line a person changed."""
    commit: Commit
    """In which the line came in; without an id in the working tree."""

    @property
    def time(self) -> int:
        """When the edit, else the commit was made; in seconds since the epoch."""
        return self.edit.time if self.edit else self.commit.authored

    @property
    def evidence(self) -> str:
        """Of an agent's line ``text``, or ``command`` where only a command that wrote this file
        just before is known; of a person's line ``changed`` if it was an agent's before, else
        empty."""
        if self.edit is not None:
            return "command" if self.edit.change.after is None else "text"
        return "changed" if self.before else ""


_Found = tuple[Edit | None, Edit | None]
"""The edit that wrote a line, and the one whose line a person changed."""


class LineAuthors:
    """The authors of a repository's lines, by its lines' origins and its agents' edits."""

    def __init__(self, origins: LineOrigins, edits: Iterable[Edit]) -> None:
        self._origins = origins
        self._edits: dict[str, list[Edit]] = defaultdict(list)
        self._everywhere: EditIndex = defaultdict(list)
        for edit in edits:
            self._edits[edit.path].append(edit)
            for at in edit.written:
                self._everywhere[edit.keys[at]].append((edit, at))
        self._groups: dict[int, list[int]] = defaultdict(list)
        for origin, arrival in enumerate(origins.arrivals_of):
            self._groups[arrival].append(origin)
        self._commits_of: dict[str, list[Commit]] = defaultdict(list)
        self._arrivals_of: dict[str | None, Sequence[int]] = {None: range(len(origins.arrivals))}
        of_paths: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(origins.arrivals):
            self._commits_of[one.path].append(origins.commits[one.commit])
            for path in {one.path, one.former_path}:
                of_paths[path].append(at)
        self._arrivals_of.update(of_paths)
        self._by_key: dict[str | None, dict[int, list[int]]] = {}
        self._homes: dict[Edit, list[int]] = {}
        self._found: dict[int, _Found] = {}

    def of_file(
        self, path: str, text: str | None = None, committed: str | None = None
    ) -> list[LineAuthor]:
        """The authors of a file's lines at ``HEAD``, where its text is ``committed`` (default: as
        the lines came in); with ``text``, of what is in it now.

        Raises:
            KeyError: it is not in ``HEAD``, and there is no text.
        """
        files, unchanged = self._origins.files, text is None or text == committed
        old: Sequence[int] = files[path][1] if unchanged or path in files else ()
        before = [self._origins.texts[one] for one in old]
        if committed is not None:
            before = lines_of(committed)
        if text is None or unchanged:
            return self._authors(before, old, {})
        texts = lines_of(text)
        removed = list(zip(before, old, strict=True))
        lines = kept(removed, texts)
        loose = [at for at, origin in enumerate(lines) if origin == NONE]
        parents = changed(removed, texts, lines)
        last = max((one.authored for one in self._commits_of[path]), default=0)
        found = self._match(
            *(Arrival(NONE, path, path, last), _now(), [texts[at] for at in loose]),
            [parents.get(at, NONE) for at in loose],
        )
        return self._authors(texts, lines, dict(zip(loose, found, strict=True)))

    def _authors(
        self, texts: Sequence[str], origins: Sequence[int], loose: Mapping[int, _Found]
    ) -> list[LineAuthor]:
        made: list[LineAuthor] = []
        for at, (text, origin) in enumerate(zip(texts, origins, strict=True)):
            edit, before = loose[at] if at in loose else self._of(origin)
            commit = _now()
            if origin != NONE:
                arrival = self._origins.arrivals[self._origins.arrivals_of[origin]]
                commit = self._origins.commits[arrival.commit]
            made.append(LineAuthor(at + 1, text, edit, before, commit))
        return made

    def _of(self, origin: int) -> _Found:
        if origin not in self._found:
            arrival = self._origins.arrivals_of[origin]
            about, group = self._origins.arrivals[arrival], self._groups[arrival]
            found = self._match(
                about,
                self._origins.commits[about.commit],
                [self._origins.texts[one] for one in group],
                [self._origins.parents[one] for one in group],
            )
            self._found.update(zip(group, found, strict=True))
        return self._found[origin]

    def _match(
        self, arrival: Arrival, commit: Commit, texts: Sequence[str], parents: Sequence[int]
    ) -> list[_Found]:
        """The authors of lines that came in together, in their order."""
        paths = {arrival.path, arrival.former_path}
        own = [
            one
            for path in paths
            for one in self._edits.get(path, ())
            if one.time <= commit.committed + SLACK and self._may_be_of(one, arrival, commit)
        ]
        own.sort(key=lambda one: one.time)
        matching = LineMatching(texts)
        if own:
            wanted = set(matching.keys)
            fresh = [one for one in own if one.time > arrival.since - SLACK]
            index = edits_by_line(fresh, wanted, commit)
            matching.by_lines(self._not_committed(index, commit), 1)
            matching.by_files(
                own, commit, lambda edit, at: not self._is_committed(edit, edit.keys[at], commit)
            )
            index = edits_by_line(own[: len(own) - len(fresh)], wanted, commit)
            matching.by_lines(self._not_committed(index, commit), 2)
            matching.by_parts(fresh, self._origins, parents)
            matching.by_division(fresh)
        if None in matching.matches:
            matching.by_lines(self._elsewhere(matching.keys, paths, commit), 3)
        matching.by_neighbours()
        before = self._before(matching, parents)
        matching.by_command(own, commit)
        return [
            (one[0], None) if one else (None, was)
            for one, was in zip(matching.matches, before, strict=True)
        ]

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
        for key in {one for one in keys if weight(one) > SAYING}:
            others = [
                one
                for one in self._everywhere.get(key, ())
                if one[0].time <= end and one[0].path not in paths
            ]
            made[key] = [
                one for one in others[-CANDIDATES:] if not self._is_elsewhere(one[0], commit)
            ]
        return made

    def _not_committed(self, index: EditIndex, commit: Commit) -> EditIndex:
        """Those lines of edits that came in with no commit before this one."""
        return {
            key: [one for one in places if not self._is_committed(one[0], key, commit)]
            for key, places in index.items()
        }

    def _is_committed(self, edit: Edit, key: str, before: Commit) -> bool:
        found = self._arrivals_by_key(edit.path).get(checksum(key), ())
        return any(self._may_come_with(edit, arrival, before) for arrival in found)

    def _is_elsewhere(self, edit: Edit, before: Commit) -> bool:
        """Whether most of what an edit wrote came in with a commit before, in whichever file."""
        if edit not in self._homes:
            keys = {checksum(one) for at in edit.written if weight(one := edit.keys[at]) > SAYING}
            by_key = self._arrivals_by_key(None)
            places = Counter(one for key in keys for one in set(by_key.get(key, ())))
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

    def _arrivals_by_key(self, path: str | None) -> dict[int, list[int]]:
        """With which arrivals in a file (None: in all) a line came in, by the key's checksum."""
        if path not in self._by_key:
            made = self._by_key[path] = defaultdict(list)
            for arrival in self._arrivals_of.get(path, ()):
                for origin in self._groups.get(arrival, ()):
                    made[checksum(key_of(self._origins.texts[origin]))].append(arrival)
                for key in self._origins.gone.get(arrival, ()):
                    made[key].append(arrival)
        return self._by_key[path]

    def _before(self, matching: LineMatching, parents: Sequence[int]) -> list[Edit | None]:
        """Of the lines of persons: whose edit they changed."""
        made: list[Edit | None] = [None] * len(parents)
        for at in matching.left():
            if parents[at] != NONE:
                edit, before = self._of(parents[at])
                made[at] = edit or before
        # Changed before the commit: an edit's line that is nowhere, between others of that edit.
        for at in matching.left():
            text = matching.texts[at]
            for step in (-1, 1) if made[at] is None and weight(text) > 8 else ():
                beside = matching.matches[at + step] if 0 <= at + step < len(parents) else None
                if beside is None:
                    continue
                edit, line = beside[0], beside[1] - step
                free = line in edit.written and (edit, line) not in matching.used
                if free and alike(edit.texts[line], text) >= ALIKE:
                    made[at] = edit
        return made


def _now() -> Commit:
    """The commit that the working tree may become."""
    return Commit("", round(time.time()), round(time.time()), "not committed")
