"""``turnspan blame``: the authors of a repository's lines, from its records and its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.authorship.agent_edits import Edit, EditingTurn
from turnspan_records.coding.authorship.line_authors import LineAuthor, LineAuthors
from turnspan_records.coding.authorship.origin_cache import known_origins
from turnspan_records.coding.authorship.recorded_edits import (
    RepositoryPlaces,
    editing_turns,
    recorded_edits,
)
from turnspan_records.quality.artifact_checks import checks_of_turn
from turnspan_records.quality.git_command import Repository


@dataclass(frozen=True, slots=True)
class FileShare:
    """Who wrote a file at ``HEAD``, in lines."""

    path: str
    lines: int
    agents: int
    """Of agents, as they wrote them."""
    changed: int
    """Of agents, changed by persons since."""
    by_agent: dict[str, int]
    """The agents' lines by coding agent."""
    cost_usd: float | None
    """What the agents' lines cost; None if that is known of none."""


class RepositoryBlame:
    """A repository with its agents' edits.

    Raises:
        SourceError: there is no repository there, or it cannot be asked.
        StoreError: as ``Store.query``.
    """

    def __init__(self, store: Store, folder: Path, project: str = "") -> None:
        self.repository = Repository(folder)
        self.origins = known_origins(self.repository)
        paths = {one.path for one in self.origins.arrivals} | set(self.origins.files)
        places = RepositoryPlaces(self.repository, paths)
        self.edits = recorded_edits(store, editing_turns(store, project), places)
        self.authors = LineAuthors(self.origins, self.edits)
        self._lines_of: Counter[EditingTurn] = Counter()
        for edit in self.edits:
            self._lines_of[edit.turn] += len(edit.lasting())

    def path_of(self, file: Path) -> str:
        """The path in the repository of a file or folder; empty for its top.

        Raises:
            ValueError: it is not in the repository.
        """
        top = self.repository.top
        if top is None:
            return file.as_posix()
        whole = file.resolve()
        if not whole.is_relative_to(top.resolve()):
            raise ValueError(f"{file} is not in the repository {top}")
        path = whole.relative_to(top.resolve()).as_posix()
        return "" if path == "." else path

    def lines(self, path: str) -> list[LineAuthor]:
        """The authors of a file's lines as it is in the working tree, else at ``HEAD``.

        Raises:
            KeyError: it is in neither.
        """
        blob = self.origins.files.get(path, ("",))[0]
        committed = self.repository.blob(blob).decode("utf-8", "replace") if blob else None
        file, text = self.repository.top / path if self.repository.top else None, None
        if file is not None and file.is_file():
            text = file.read_bytes().decode("utf-8", "replace")
        return self.authors.of_file(path, text, committed)

    def cost_of_line(self, edit: Edit) -> float | None:
        """What a line of an edit cost: its turn's cost by the lines that the turn wrote."""
        cost, lines = edit.turn.cost_usd, self._lines_of[edit.turn]
        return float(cost) / lines if cost is not None and lines else None

    def shares(self, folder: str = "") -> Iterator[FileShare]:
        """Who wrote the files of a folder at ``HEAD``, by path."""
        for path in sorted(self.origins.files):
            if folder and not path.startswith(f"{folder}/"):
                continue
            lines = self.authors.of_file(path)
            edits = [one.edit for one in lines if one.edit is not None]
            costs = [cost for one in edits if (cost := self.cost_of_line(one)) is not None]
            yield FileShare(
                path,
                len(lines),
                len(edits),
                sum(one.before is not None for one in lines),
                dict(Counter(one.turn.agent for one in edits)),
                sum(costs) if costs else None,
            )

    def decisions(self, store: Store, path: str, lines: list[LineAuthor]) -> dict[str, str]:
        """What became of what turns wrote into a file, by turn: the newest check of their artifact
        of this path (``turnspan quality``). Raises ``StoreError`` as ``Store.query``."""
        found: dict[str, str] = {}
        for project, turn in {(o.edit.turn.project, o.edit.turn.turn_id) for o in lines if o.edit}:
            for one in reversed(checks_of_turn(store, project, turn)):
                if one.target == path or one.target.endswith(f"/{path}"):
                    found[turn] = one.decision
        return found
