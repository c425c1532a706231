"""Who wrote each line, of generated repositories in which agents and people work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.coding_repositories import World
from support.landing import insert
from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.authorship.blame import RepositoryBlame

pytestmark = [pytest.mark.both_kinds(False), pytest.mark.with_schema]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is kept of repositories is that of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def right(store: Store, world: World) -> tuple[Counter[str], Counter[str]]:
    """How many lines of each operation there are, and of how many the author is right."""
    blame = RepositoryBlame(store, world.folder, world.project)
    lines, good = Counter[str](), Counter[str]()
    for path, truth in world.files.items():
        for line, found in zip(truth, blame.lines(path), strict=True):
            author = found.edit.turn.turn_id if found.edit else found.person
            lines[line.how] += 1
            good[line.how] += author == line.author
            if line.was and author == line.author:
                assert found.before is not None
                assert found.before.turn.turn_id == line.was, (path, found)
    return lines, good


def check(store: Store, tmp_path: Path, seeds: range) -> None:
    worlds = [World(tmp_path / f"p{seed}", seed, f"p{seed}").goes_on() for seed in seeds]
    for world in worlds:
        insert(store, *world.turns, *world.tools)
    lines, good = Counter[str](), Counter[str]()
    for world in worlds:
        made, found = right(store, world)
        lines += made
        good += found
    table = {how: f"{good[how]} of {lines[how]}" for how in sorted(lines)}
    assert good.total() >= 0.99 * lines.total(), table
    print(f"{good.total()} of {lines.total()} lines", table)


def test_lines_have_their_authors(store: Store, tmp_path: Path) -> None:
    """Edits, moves, renames, formatters, merges, rebases, squashes: 99 of 100 lines are right."""
    check(store, tmp_path, range(5))


@pytest.mark.release
def test_fifty_repositories(store: Store, tmp_path: Path) -> None:
    """As above, of fifty."""
    check(store, tmp_path, range(100, 150))
