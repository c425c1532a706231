"""The edits that coding agents made in one repository, by the records of their tool calls."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask
from turnspan_records.coding.authorship.agent_edits import Edit, EditingTurn, replay
from turnspan_records.coding.authorship.edits import CHANGING, changes_of
from turnspan_records.quality.git_command import Repository

_BATCH: Final = 500
_ADDRESS = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.*?)(?:\.git)?/*$")


class RepositoryPlaces:
    """Which folders and turns are of a repository: its worktrees and its clones."""

    def __init__(self, repository: Repository, paths: Collection[str]) -> None:
        self._has = cache(repository.has)
        self._paths = paths
        listed = repository.text("worktree", "list", "--porcelain", "-z")
        tops = re.findall(r"(?:^|\0)worktree ([^\0]+)", listed)
        tops += [str(repository.top)] if repository.top else []
        self._tops = sorted(set(map(_posix, tops)), key=len, reverse=True)
        listed = repository.text("config", "--list", "-z")
        urls = re.findall(r"(?:^|\0)remote\.[^\n\0]*\.url\n([^\0]*)", listed)
        self._addresses = set(map(address_of, urls))

    def path_of(self, turn: EditingTurn, named: str) -> str:
        """The path in the repository of a file that a turn's tool names; empty: it is none."""
        whole = posixpath.normpath(posixpath.join(_posix(turn.folder), _posix(named)))
        for top in self._tops:
            if whole.startswith(f"{top}/"):
                return whole[len(top) + 1 :]
        if not self._is_clone(turn):
            return ""
        parts = whole.strip("/").split("/")
        for at in range(len(parts)):
            if (path := "/".join(parts[at:])) in self._paths:
                return path
        folder = _posix(turn.folder)
        return whole[len(folder) + 1 :] if folder and whole.startswith(f"{folder}/") else ""

    def may_have(self, turn: EditingTurn) -> bool:
        """Whether a turn may have changed files of the repository, by where it worked."""
        folder = f"{_posix(turn.folder)}/"
        tops = [f"{one}/" for one in self._tops]
        near = any(folder.startswith(one) or one.startswith(folder) for one in tops)
        return folder == "/" or near or self._is_clone(turn)

    def _is_clone(self, turn: EditingTurn) -> bool:
        """Whether a turn worked in another folder with this repository: by its address, else by
        the commit, else by the folder's name."""
        if turn.address and address_of(turn.address) in self._addresses:
            return True
        if turn.revision:
            is_hash = re.fullmatch(r"[0-9a-f]{7,64}", turn.revision) is not None
            return is_hash and self._has(turn.revision)
        names = {posixpath.basename(one) for one in self._tops}
        return not turn.address and posixpath.basename(_posix(turn.folder)) in names


def address_of(url: str) -> str:
    """A remote address as others are compared with it: host and path."""
    found = _ADDRESS.match(url.strip())
    return f"{found[1]}/{found[2].lstrip('/')}".lower() if found else url.strip()


def _posix(path: str) -> str:
    return path.replace("\\", "/").rstrip("/") if re.match(r"[A-Za-z]:|\\\\", path) else path


def editing_turns(store: Store, project: str = "") -> list[EditingTurn]:
    """The turns of a project (or of all) that ran tools which change files, the oldest first.

    Raises ``StoreError`` as ``Store.query``.
    """
    rows = ask(store, "coding/authorship/turns", project=project, tools=CHANGING).dicts()
    return [of_row(EditingTurn, row) for row in rows]


def recorded_edits(
    store: Store, turns: Sequence[EditingTurn], places: RepositoryPlaces
) -> list[Edit]:
    """The edits of turns in one repository, the oldest first.

    Raises ``StoreError`` as ``Store.query``.
    """
    mine = {(one.project, one.turn_id): one for one in turns if places.may_have(one)}
    ids = sorted({id_ for _, id_ in mine})
    found: list[Edit] = []
    for at in range(0, len(ids), _BATCH):
        answer = ask(store, "coding/authorship/tools", turns=ids[at : at + _BATCH], tools=CHANGING)
        for row in answer.dicts():
            if (turn := mine.get((str(row["project"]), str(row["turn_id"])))) is not None:
                found += _edits(turn, row, places)
    found.sort(key=lambda one: one.time)
    replay(found)
    return found


def _edits(turn: EditingTurn, row: Mapping[str, Any], places: RepositoryPlaces) -> Iterator[Edit]:
    """What one tool call changed in the repository."""
    name = str(row["name"])
    model = str(row["model"]) or (turn.models[0] if len(turn.models) == 1 else "")
    for change in changes_of(name, str(row["arguments"])):
        if path := places.path_of(turn, change.path):
            place = f"{posixpath.join(turn.folder, change.path)}\0{turn.branch}"
            time = int(row["time"]) // 10**9
            yield Edit(turn, str(row["call_id"]), name, model, time, path, place, change)
