"""``turnspan survival``: how many of the lines that agents wrote stand after days."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.authorship.agent_edits import Edit, EditingTurn
from turnspan_records.coding.authorship.commit_changes import FORMAT, file_changes
from turnspan_records.coding.authorship.edits import key_of, squeezed
from turnspan_records.coding.authorship.recorded_edits import (
    RepositoryPlaces,
    recorded_edits,
)
from turnspan_records.quality.git_command import RAW_LOG, Repository
from turnspan_records.quality.sources import SourceError

DAYS: Final = (1, 7, 30)
_DAY: Final = 86_400
_MAIN_LINE: Final = (*RAW_LOG, "--reverse", "--first-parent", "-m", "-M", "--root", FORMAT)
BY: Final[Mapping[str, Callable[[Edit], str]]] = {
    "model": lambda edit: edit.model,
    "task": lambda edit: edit.turn.task,
    "tool": lambda edit: edit.turn.agent,
}
"""What lines are grouped by, beside ``repository``."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How many lines stood after some days."""

    days: int
    """0: now."""
    lines: int
    """The lines that were written so long ago."""
    standing: int


@dataclass(slots=True)
class Survival:
    """What became of the lines of a group of edits."""

    name: str
    turns: int
    lines: int
    after: list[Standing]
    """After ``DAYS``, and now."""
    cost_usd: Decimal | None
    """Of the turns whose cost is known, by their lines here; None if that is known of none."""
    cost_per_line_usd: Decimal | None
    """By the lines of these turns that stand now."""
    turns_without_cost: int


@dataclass(slots=True)
class Outcome:
    """What became of an edit's lines."""

    group: str
    edit: Edit
    lines: list[str]
    """Keys of those that last (``Edit.lasting``)."""
    after: dict[int, int] = field(default_factory=dict[int, int])
    """Lines that stand, by days; without days that have not passed."""


def recorded_repositories(turns: Iterable[EditingTurn]) -> tuple[list[Repository], dict[str, str]]:
    """The repositories of this machine in which turns worked, and why other folders are none.

    Worktrees and clones have the same edits: the folder of the newest turn is taken.
    """
    found: dict[str, Repository] = {}
    reasons: dict[str, str] = {}
    for folder in dict.fromkeys(one.folder for one in sorted(turns, key=lambda one: -one.started)):
        try:
            if not Path(folder).is_absolute():  # it would be one of this process's own
                raise SourceError(f"{folder} is not a folder.")
            repository = Repository(Path(folder))
        except SourceError as error:
            reasons[folder] = str(error)
        else:
            found.setdefault(repository.first_commit, repository)
    reasons.pop("", None)
    return list(found.values()), reasons


def repository_outcomes(
    store: Store, repository: Repository, turns: Sequence[EditingTurn], by: str, now: int
) -> list[Outcome]:
    """What became of each edit of turns on the main line of a repository's ``HEAD``. What came in
    with no commit is looked for in the working tree. ``by`` is of ``BY``, or ``repository``.

    Raises:
        SourceError: the repository cannot be asked.
        StoreError: as ``Store.query``.
    """
    history = _MainLine(repository)
    edits = recorded_edits(store, turns, RepositoryPlaces(repository, history.versions))
    name = repository.top.name if repository.top else repository.first_commit[:12]
    found = [
        Outcome(BY[by](one) if by in BY else name, one, lines)
        for one in edits
        if (lines := one.lasting())
    ]
    wanted: dict[str, list[tuple[Outcome, int]]] = defaultdict(list)
    for one in found:
        path, began = one.edit.path, one.edit.time
        for days in (*DAYS, 0):
            end = began + days * _DAY if days else now
            if end <= now:
                wanted[history.version(path, began, end)].append((one, days))
    for version, text in _texts(repository, wanted):
        keys, stream = Counter(map(key_of, text.split("\n"))), squeezed(text)
        for one, days in wanted[version]:
            one.after[days] = _standing(Counter(one.lines), keys, stream)
    return found


def _texts(repository: Repository, versions: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The texts of versions of files, as ``_MainLine`` names them; empty where there is none."""
    blobs = [one for one in versions if one and not one.startswith("\0")]
    yield from (
        (one, data.decode("utf-8", "replace"))
        for one, data in zip(blobs, repository.blobs(blobs), strict=True)
    )
    for version in set(versions).difference(blobs):
        file = repository.top / version[1:] if repository.top and version else None
        data = file.read_bytes() if file is not None and file.is_file() else b""
        yield version, data.decode("utf-8", "replace")


def _standing(written: Counter[str], keys: Counter[str], stream: str) -> int:
    left = sum((written & keys).values())
    for key, many in (written - keys).items():
        piece = squeezed(key)
        left += many if len(piece) > 9 and key not in keys and piece in stream else 0
    return left


class _MainLine:
    """The versions of every file on the first parents of ``HEAD``."""

    def __init__(self, repository: Repository) -> None:
        self.versions: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By all paths that files ever had."""
        self._moves: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for commit, entries, _ in file_changes(repository.lines(*_MAIN_LINE, "HEAD", "--")):
            for entry in entries:
                self.versions[entry.path].append((commit.committed, entry.after))
                if entry.former != entry.path:
                    self._moves[entry.former].append((commit.committed, entry.path))

    def version(self, path: str, since: int, until: int) -> str:
        """The blob of a file at a time, wherever it was renamed to; of one that was not committed
        by then, the first one. Empty: it was deleted; ``\\0`` and its path: it never came in."""
        start = since - 2
        while moved := [one for one in self._moves.get(path, ()) if start <= one[0] <= until]:
            start, path = moved[0]
            if not any(at >= start for at, _ in self.versions[path]):
                break
        after = [one for one in self.versions.get(path, ()) if one[0] >= start]
        if not after:
            return f"\0{path}"
        return [after[0], *(one for one in after if one[0] <= until)][-1][1]


def survival(found: Iterable[Outcome]) -> list[Survival]:
    """Edits' outcomes by group, the group with the most lines first."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    lines_of: Counter[str] = Counter()
    for one in found:
        groups[one.group].append(one)
        lines_of[one.edit.turn.turn_id] += len(one.lines)
    made = [_survival(name, group, lines_of) for name, group in groups.items()]
    return sorted(made, key=lambda one: (-one.lines, one.name))


def _survival(name: str, group: list[Outcome], lines_of: Counter[str]) -> Survival:
    after: list[Standing] = []
    for days in (*DAYS, 0):
        old = [one for one in group if days in one.after]
        lines = sum(len(one.lines) for one in old)
        after.append(Standing(days, lines, sum(one.after[days] for one in old)))
    turns = {one.edit.turn.turn_id: one.edit.turn for one in group}
    priced = [one for one in group if one.edit.turn.cost_usd is not None]
    costs = (
        (one.edit.turn.cost_usd or 0) * Decimal(len(one.lines)) / lines_of[one.edit.turn.turn_id]
        for one in priced
    )
    cost, standing = sum(costs, Decimal(0)), sum(one.after.get(0, 0) for one in priced)
    return Survival(
        name=name,
        turns=len(turns),
        lines=sum(len(one.lines) for one in group),
        after=after,
        cost_usd=cost if priced else None,
        cost_per_line_usd=cost / standing if priced and standing else None,
        turns_without_cost=sum(one.cost_usd is None for one in turns.values()),
    )
