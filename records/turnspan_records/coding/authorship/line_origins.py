"""In which commit each line of a repository came in, and of which earlier line it was made.

One reading of ``git log`` gives the changes of every file; each version of a file is then a list of
lines' origins. A line keeps its origin where only blanks, quotes or the division into lines differ
(a formatter), through renames and merges, and where a block moves to another place or file within
a commit. A line that is like one it replaces is *changed*: its origin names that one.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from turnspan_records.coding.authorship.commit_changes import (
    FORMAT,
    Commit,
    FileEntry,
    Hunk,
    file_changes,
    index_of,
)
from turnspan_records.coding.authorship.edits import key_of, weight
from turnspan_records.coding.authorship.line_changes import NONE, changed, checksum, kept
from turnspan_records.quality.git_command import RAW_LOG, Repository

_LOG: Final = (
    *(*RAW_LOG, "--reverse", "--topo-order", "-c", "-p", "-U0", "-w", "-M", "--full-index"),
    *("--root", "--submodule=short", FORMAT),
)


class UnknownVersionError(Exception):
    """A change is of a version of a file that was not read."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file in a commit: where and when lines came in together."""

    commit: int
    """Its place among the commits."""
    path: str
    former_path: str
    """Before the commit renamed it."""
    since: int
    """When the file was last changed before, in seconds; 0 where it is new."""


@dataclass(slots=True)
class LineOrigins:
    """Where the lines of a commit's files come from: line ``n`` of a file has the origin
    ``files[path][1][n]``, a place in ``arrivals_of``, ``parents`` and ``texts``."""

    head: str = ""
    commits: list[Commit] = field(default_factory=list[Commit])
    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    arrivals_of: array[int] = field(default_factory=lambda: array("l"))
    parents: array[int] = field(default_factory=lambda: array("l"))
    """The origin of the line that it was changed from; ``NONE`` where it is new."""
    texts: list[str] = field(default_factory=list[str])
    files: dict[str, tuple[str, array[int]]] = field(
        default_factory=dict[str, "tuple[str, array[int]]"]
    )
    """By path: the file's blob, and its lines' origins."""
    gone: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """By arrival of which nothing is left: the checksums of its lines' keys."""

    def arrive(self, arrival: int, parent: int, text: str) -> int:
        """A line that comes in, and its origin."""
        self.arrivals_of.append(arrival)
        self.parents.append(parent)
        self.texts.append(text)
        return len(self.texts) - 1


@dataclass(slots=True)
class _Run:
    """Lines in place of others: what a hunk takes away and what it puts there."""

    at: int
    """Where the new lines begin in the new version."""
    removed: list[tuple[str, int]]
    """Texts and origins."""
    texts: list[str] = field(default_factory=list[str])


def line_origins(repository: Repository, head: str, known: LineOrigins | None) -> LineOrigins:
    """The origins of the lines at a commit. ``known`` are those of an earlier one: then only what
    came since is read, where that is enough.

    Raises:
        SourceError: the repository cannot be asked.
    """
    if known is not None:
        with contextlib.suppress(UnknownVersionError):  # a branch that began before it
            return _Walk(repository, known).to(head)
    return _Walk(repository, LineOrigins()).to(head)


class _Walk:
    def __init__(self, repository: Repository, known: LineOrigins) -> None:
        self._repository = repository
        self._made = known
        self._versions: dict[tuple[str, str], array[int] | None] = {}
        self._of_blob: dict[str, tuple[str, str]] = {}
        self._changed: dict[tuple[str, str], int] = {}
        for path, (blob, lines) in known.files.items():
            of = {known.arrivals[known.arrivals_of[one]].commit for one in lines}
            at = max((known.commits[one].authored for one in of), default=0)
            self._keep((path, blob), lines, at)

    def to(self, head: str) -> LineOrigins:
        """Read the history up to a commit."""
        before = self._made.head
        revisions = [head, f"^{before}"] if before else [head]
        for commit, entries, hunks in file_changes(self._repository.lines(*_LOG, *revisions, "--")):
            self._made.commits.append(commit)
            self._take(entries, hunks)
        return self._whole(head)

    def _keep(self, version: tuple[str, str], lines: array[int] | None, at: int = 0) -> None:
        self._versions[version] = lines
        self._of_blob.setdefault(version[1], version)
        self._changed[version] = at

    def _version(self, path: str, blob: str) -> tuple[str, str]:
        if (path, blob) in self._versions:
            return path, blob
        if blob in self._of_blob:
            return self._of_blob[blob]
        raise UnknownVersionError

    def _take(self, entries: Sequence[FileEntry], hunks: dict[str, list[Hunk] | None]) -> None:
        commit = len(self._made.commits) - 1
        authored = self._made.commits[-1].authored
        lost: list[list[tuple[str, int]]] = []
        open_: list[tuple[FileEntry, list[int], list[_Run]]] = []
        for entry in entries:
            version = (entry.path, entry.after)
            if version in self._versions:
                self._changed[version] = authored  # it is back
            if version in self._versions or not entry.after:
                lost.extend(self._lost(entry, hunks))
                continue
            found = hunks.get(index_of(entry.before, entry.after), [])
            olds = [self._version(entry.former, one) if one else None for one in entry.before]
            lines = [self._versions[one] if one else array("l") for one in olds]
            if found is None or any(one is None for one in lines):  # not a text
                self._keep(version, None, authored)
                continue
            parents = [one for one in lines if one is not None]
            since = max((self._changed.get(one, 0) for one in olds if one), default=0)
            made, runs = _applied(parents, found)
            self._made.arrivals.append(Arrival(commit, entry.path, entry.former, since))
            open_.append((entry, made, runs))
        lost.extend(run.removed for _, _, runs in open_ for run in runs if run.removed)
        moved = _Moved(lost)
        first = len(self._made.arrivals) - len(open_)
        for number, (entry, made, runs) in enumerate(open_):
            for run in runs:
                origins = self._origins_of(run, first + number, moved)
                made[run.at : run.at + len(run.texts)] = origins
            self._keep((entry.path, entry.after), array("l", made), authored)

    def _lost(
        self, entry: FileEntry, hunks: Mapping[str, list[Hunk] | None]
    ) -> list[list[tuple[str, int]]]:
        """The lines that a commit took from a file that it deleted, or that is as it was once."""
        found = hunks.get(index_of(entry.before, entry.after)) or []
        olds = [self._versions.get((entry.former, one)) for one in entry.before]
        lines = [one for one in olds if one is not None]
        return [run.removed for run in _applied(lines, found)[1]] if len(lines) == 1 else []

    def _origins_of(self, run: _Run, arrival: int, moved: _Moved) -> list[int]:
        found = kept(run.removed, run.texts)
        if NONE in found:
            moved.fill(found, run.texts)
        parents = changed(run.removed, run.texts, found) if NONE in found else {}
        return [
            origin
            if origin != NONE
            else self._made.arrive(arrival, parents.get(at, NONE), run.texts[at])
            for at, origin in enumerate(found)
        ]

    def _whole(self, head: str) -> LineOrigins:
        """The origins that the lines of a commit have, and no others."""
        files: dict[str, tuple[str, array[int]]] = {}
        for item in self._repository.text("ls-tree", "-r", "-z", "--full-tree", head).split("\0"):
            about, _, path = item.partition("\t")
            mode, _, blob = [*about.split(" "), "", ""][:3]
            if mode.startswith("100"):
                lines = self._versions[self._version(path, blob)]
                if lines is not None:
                    files[path] = blob, lines
        return reduced(self._made, files, head)


def reduced(made: LineOrigins, files: dict[str, tuple[str, array[int]]], head: str) -> LineOrigins:
    """The origins of these files, with those that they were changed from."""
    used = bytearray(len(made.texts))
    for _, lines in files.values():
        for origin in lines:
            while origin != NONE and not used[origin]:
                used[origin] = 1
                origin = made.parents[origin]
    # Lines that are gone say what stood around those that came in with them.
    alive = {made.arrivals_of[origin] for origin, one in enumerate(used) if one}
    for origin, arrival in enumerate(made.arrivals_of):
        used[origin] |= arrival in alive
    places = array("l", [NONE]) * len(used)
    left = LineOrigins(head, made.commits, made.arrivals, gone=made.gone)
    for origin in (at for at, one in enumerate(used) if not one):
        if weight(made.texts[origin]) > 2:
            gone = left.gone.setdefault(made.arrivals_of[origin], [])
            gone.append(checksum(key_of(made.texts[origin])))
    for origin in (at for at, one in enumerate(used) if one):
        parent = made.parents[origin]  # which is older, and has its place
        here = places[parent] if parent != NONE else NONE  # none where nothing of it is left
        places[origin] = left.arrive(made.arrivals_of[origin], here, made.texts[origin])
    for path, (blob, lines) in files.items():
        left.files[path] = blob, array("l", [places[one] for one in lines])
    return left


class _Moved:
    """Blocks of lines that a commit takes away, to be found elsewhere in it."""

    def __init__(self, lost: Iterable[Sequence[tuple[str, int]]]) -> None:
        self._lines: list[tuple[str, int]] = []
        self._places: dict[str, list[int]] = {}
        for block in lost:
            for text, origin in block:
                key = key_of(text)
                self._places.setdefault(key, []).append(len(self._lines))
                self._lines.append((key, origin))
            self._lines.append(("\0", NONE))  # where a block ends

    def fill(self, found: list[int], texts: Sequence[str]) -> None:
        """Give lines without an origin that of the block they stood in."""
        keys = [key_of(text) for text in texts] if self._places else []
        at = 0
        while at < len(keys):
            best, start = 0, 0
            if found[at] == NONE and weight(keys[at]):
                for place in self._places.get(keys[at], [])[:50]:
                    long = 0
                    while (
                        at + long < len(keys)
                        and found[at + long] == NONE
                        and self._lines[place + long][0] == keys[at + long]
                    ):
                        long += 1
                    if long > best:
                        best, start = long, place
            block = "".join(keys[at : at + best])
            if best and weight(block) >= (15 if best > 1 else 25):
                found[at : at + best] = [one for _, one in self._lines[start : start + best]]
                at += best
            else:
                at += 1


def _applied(parents: Sequence[array[int]], hunks: Sequence[Hunk]) -> tuple[list[int], list[_Run]]:
    """A version's lines: origins carried on from its parents, and the runs that are new in it."""
    made: list[int] = []
    runs: list[_Run] = []
    at = [0] * len(parents)
    for start, rows in hunks:
        same = start - len(made)
        made.extend(parents[0][at[0] : at[0] + same] if parents else ())
        at = [one + same for one in at]
        run = _Run(len(made), [])
        for marks, text in rows:
            if b"-" in marks:
                if run.texts:
                    runs.append(run)
                    run = _Run(len(made), [])
                for parent in (one for one, mark in enumerate(marks) if mark == 45):
                    if parent == marks.index(b"-"):
                        run.removed.append((text, parents[parent][at[parent]]))
                    at[parent] += 1
                continue
            carried = [one for one, mark in enumerate(marks) if mark == 32]
            if carried:
                if run.texts or run.removed:
                    runs.append(run)
                made.append(parents[carried[0]][at[carried[0]]])
                for parent in carried:
                    at[parent] += 1
                run = _Run(len(made), [])
            else:
                run.texts.append(text)
                made.append(NONE)
        if run.texts or run.removed:
            runs.append(run)
    made.extend(parents[0][at[0] :] if parents else ())
    return made, runs
