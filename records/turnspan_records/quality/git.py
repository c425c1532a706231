"""Later revisions of files, asked of a git repository: which of an agent's lines survived?"""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha1, sha256
from itertools import groupby
from pathlib import Path
from typing import Final

from turnspan_records.quality.git_command import FileCommit, Repository
from turnspan_records.quality.revisions import (
    AGENT,
    ALL,
    BOT,
    NOTHING,
    PERSON,
    SOME,
    Revision,
    decide,
)
from turnspan_records.quality.sources import NOT_FOUND, NOT_JUDGED, ArtifactVerdict, WrittenArtifact

EARLY: Final = 3_600 * 10**9
"""The commit may be so much older than the record of what the agent wrote."""
NEAR: Final = 600 * 10**9
SKEW: Final = 60 * 10**9
"""How much earlier a commit may be that has some of the agent's lines: what was committed before it
told of them has all of them."""
SHARE: Final = 1 / 3
"""How many of the agent's lines a commit brings in that is taken for the one that has its text."""
_SAYS: Final = re.compile(r"\w\W*\w\W*\w")
"""A line that says something: others, such as a brace, are in every file."""
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")

Lines = Counter[str]


@dataclass(frozen=True, slots=True)
class _Own:
    """What the agent wrote, as the repository has it."""

    change: FileCommit
    found_by: str
    at: int
    lines: Lines
    """Those that were not there before, without the blanks around them."""
    others: Lines
    """Equal ones that were there before."""
    complete: bool
    """Whether the commit has the text as the agent wrote it, so that it is no change of it."""


class GitSource:
    """The files of one repository.

    Args:
        repository: a folder in it.
        own: the agent's names or addresses as an author of commits.
        clock: nanoseconds since the epoch.

    Raises:
        SourceError: there is no repository, or not all of it.
    """

    author = "passive:git"

    def __init__(
        self,
        repository: Path,
        *,
        own: Iterable[str] = (),
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._repository = Repository(repository)
        self._own = frozenset(one.casefold() for one in own)
        self._clock = clock
        self._blobs: dict[str, Lines] = {}

    @property
    def name(self) -> str:
        """The repository's first commit, which all its clones have."""
        return f"git:{self._repository.first_commit}"

    def verdicts(
        self, written: Sequence[WrittenArtifact], window: timedelta
    ) -> Iterator[tuple[WrittenArtifact, ArtifactVerdict]]:
        """What became of each of these.

        Raises:
            SourceError: ``git`` fails.
        """
        by_path = sorted(written, key=lambda one: self.path_of(one.target) or "")
        for path, group in groupby(by_path, key=lambda one: self.path_of(one.target)):
            several = list(group)
            self._blobs.clear()
            changes: list[FileCommit] = []
            if path is not None:
                versions = any(_COMMIT.fullmatch(one.version) for one in several)
                oldest = min(one.created_at for one in several) - EARLY
                changes = self._repository.changes(path, 0 if versions else max(0, oldest))
            for one in several:
                yield one, self._verdict(one, changes, several, window)

    def path_of(self, target: str) -> str | None:
        """A target as a path of the repository; ``None`` where it is outside of it."""
        if not target or "\0" in target:
            return None
        if os.path.isabs(target):
            top = self._repository.top
            inside = None if top is None else os.path.relpath(os.path.realpath(target), top)
            target = inside or ""
        path = posixpath.normpath(target.replace(os.sep, "/"))
        return None if path in ("", ".", "..") or path.startswith(("../", "/")) else path

    def _verdict(
        self,
        one: WrittenArtifact,
        changes: Sequence[FileCommit],
        several: Sequence[WrittenArtifact],
        window: timedelta,
    ) -> ArtifactVerdict:
        if not changes:
            return ArtifactVerdict(NOT_FOUND, "no commit since then changed such a file")
        own = self._find(one, changes, window)
        if own is None:
            return ArtifactVerdict(NOT_FOUND, "no commit has what the agent wrote")
        if not own.lines:
            reason = "it wrote no line that was not there before"
            return ArtifactVerdict(NOT_JUDGED, reason, own.change.commit, own.found_by, own.at)
        at = changes.index(own.change) + own.complete
        by_agent = _first_with(changes, self._ids(other.text for other in several))
        later = self._as_revisions(own, changes[at:], by_agent)
        start = Revision(own.change.commit, own.at, _digest(own.lines), own.change.author)
        verdict, changed = decide(start, (), later, window, self._clock())
        text = None
        if changed is not None:
            blob = next(change.after for change in changes if change.commit == changed.id)
            text = self._repository.blob(blob).decode("utf-8", "replace")
        return replace(verdict, found_by=own.found_by, later_text=text)

    def _find(
        self, one: WrittenArtifact, changes: Sequence[FileCommit], window: timedelta
    ) -> _Own | None:
        """The commit in which the agent's text came in: as it is, or by what the agent said of it,
        or with some of its lines changed already."""
        ids = self._ids([one.text])
        recent = [change for change in changes if change.at >= one.created_at - EARLY]
        for change in recent:
            if change.after in ids:
                return self._whole(change, "text")
        named = self._named(one, changes)
        if named is not None:
            return self._whole(named, "version")
        if one.text is None:
            near = [
                change
                for change in recent
                if self._maker(change) == AGENT and abs(change.at - one.created_at) <= NEAR
            ]
            return self._whole(near[0], "user and time") if len(near) == 1 else None
        end = one.created_at + round(window.total_seconds() * 1e9)
        written = _lines(one.text)
        for change in recent:
            before = self._lines_of(change.before)
            lines = written - before
            here = _left(lines, written - lines, self._lines_of(change.after))
            if (
                one.created_at - SKEW <= change.at <= end
                and lines
                and here.total() >= SHARE * lines.total()
            ):
                at = min(one.created_at, change.at)
                return _Own(change, "text", at, lines, written - lines, False)
        return None

    def _whole(self, change: FileCommit, found_by: str) -> _Own:
        """What a commit brought in, all of which the agent wrote."""
        after, before = self._lines_of(change.after), self._lines_of(change.before)
        lines = after - before
        return _Own(change, found_by, change.at, lines, after - lines, True)

    def _named(self, one: WrittenArtifact, changes: Sequence[FileCommit]) -> FileCommit | None:
        """The change by the commit that the agent named: on the main line, or what merged it."""
        version = one.version.casefold()
        if not _COMMIT.fullmatch(version) or not self._repository.has(version):
            return None
        for change in changes:
            if change.commit.startswith(version):
                return change
        for change in changes:
            if len(change.parents) > 1 and self._repository.descends(change.commit, version):
                return change
        return None

    def _as_revisions(
        self, own: _Own, changes: Sequence[FileCommit], by_agent: set[str]
    ) -> list[Revision]:
        """Revisions whose digest is which of the agent's lines are left: what changes others leaves
        it as it was."""
        made: list[Revision] = []
        left = own.lines
        for change in changes:
            now = _left(own.lines, own.others, self._lines_of(change.after))
            made.append(
                Revision(
                    change.commit,
                    change.at,
                    _digest(now),
                    change.author,
                    maker=AGENT if change.commit in by_agent else self._maker(change),
                    change=ALL if not now else NOTHING if not left - now else SOME,
                    undoes=_undoes(change, own.change),
                    how=_how(change, own.change) if not now else "",
                )
            )
            left = now
        return made

    def _maker(self, change: FileCommit) -> str:
        """Who made a change; of a merge, whoever made what it brought."""
        merged = self._repository.authors(change) if len(change.parents) > 1 else []
        kinds = {self._made_by(*author) for author in merged or [(change.author, change.email)]}
        return PERSON if PERSON in kinds else AGENT if AGENT in kinds else BOT

    def _made_by(self, author: str, email: str) -> str:
        names = {author.casefold(), email.casefold(), f"{author} <{email}>".casefold()}
        if names & self._own:
            return AGENT
        return BOT if author.endswith("[bot]") or "[bot]@" in email else PERSON

    def _lines_of(self, blob: str) -> Lines:
        if not blob:
            return Counter()
        if blob not in self._blobs:
            text = self._repository.blob(blob).decode("utf-8", "replace")
            self._blobs[blob] = _lines(text)
        return self._blobs[blob]

    def _ids(self, texts: Iterable[str | None]) -> set[str]:
        """What the repository calls these texts, with one line feed at the end or as they are."""
        found: set[str] = set()
        for text in texts:
            if text is None:
                continue
            unix = text.replace("\r\n", "\n")
            for one in (text, unix, unix.rstrip("\n") + "\n", unix.rstrip("\n")):
                data = one.encode("utf-8", "replace")
                named = b"blob %d\0%b" % (len(data), data)
                made = (
                    sha256(named) if self._repository.long else sha1(named, usedforsecurity=False)
                )
                found.add(made.hexdigest())
        return found


def _first_with(changes: Sequence[FileCommit], blobs: set[str]) -> set[str]:
    """The commits in which these blobs came in first: what comes back is somebody's decision."""
    found: set[str] = set()
    left = set(blobs)
    for change in changes:
        if change.after in left:
            left.discard(change.after)
            found.add(change.commit)
    return found


def _lines(text: str) -> Lines:
    return Counter(line.strip() for line in text.splitlines() if _SAYS.search(line))


def _left(lines: Lines, others: Lines, now: Lines) -> Lines:
    """Those lines that are still there; equal ones that were there before are none of them."""
    return lines & (now - others)


def _digest(lines: Lines) -> str:
    """Which lines these are; nothing where there are none."""
    told = repr(sorted(lines.items())).encode("utf-8", "replace")
    return sha256(told).hexdigest() if lines else ""


def _undoes(change: FileCommit, own: FileCommit) -> bool:
    named = re.search(r"This reverts commit ([0-9a-f]{7,64})", change.message)
    return named is not None and own.commit.startswith(named[1])


def _how(change: FileCommit, own: FileCommit) -> str:
    if _undoes(change, own):
        return "reverted"
    return "the file was deleted" if change.status == "D" else "none of its lines is left"
