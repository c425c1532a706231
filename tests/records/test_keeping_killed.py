"""Retention and restoring, killed at any moment: run again, the result is the same.

A handful of moments; TURNSPAN_KILLS=50 takes as many of each.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.keeping import every_row, now_of, world
from support.landing import insert
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import copies_registry as registry
from turnspan_records.keeping import Archive, Policy, restore, retain
from turnspan_records.keeping.work import unfinished

pytestmark = pytest.mark.release

KILLS = int(os.environ.get("TURNSPAN_KILLS", "2"))
PROGRAM = """
import sys
from pathlib import Path
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Policy, restore, retain

what, folder, archive = sys.argv[1:]
with open_store(Dsn(scheme="chdb", path=Path(folder))) as store:
    print("ready", flush=True)
    if what == "retain":
        policy = Policy(content_days=0, summary_texts="remove", archive=Path(archive))
        retain(store, policy, apply=True)
    else:
        restore(store, archive)
    print("done", flush=True)
"""
Rows = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Known:
    """A store before, after and restored, where nothing was killed; and how long that took."""

    folder: Path
    before: Rows
    after: Rows
    restored: Rows
    seconds: dict[str, float]


@contextmanager
def at(folder: Path) -> Generator[Store]:
    """The embedded store of a folder."""
    with open_store(Dsn(scheme="chdb", path=folder / "store")) as store:
        yield store


def policy(folder: Path) -> Policy:
    """As the program has it."""
    return Policy(content_days=0, summary_texts="remove", archive=folder / "archives")


def started(what: str, folder: Path, archive: Path) -> subprocess.Popen[bytes]:
    """The program, at the moment at which it begins."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what, str(folder / "store"), str(archive)],
        stdout=subprocess.PIPE,
        env={**os.environ, "XDG_DATA_HOME": str(folder / "data")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def timed(what: str, folder: Path, archive: Path) -> float:
    """How long the program takes."""
    process = started(what, folder, archive)
    begun = time.monotonic()
    assert process.stdout is not None
    assert process.stdout.readline() == b"done\n"
    taken = time.monotonic() - begun
    process.stdout.close()
    assert process.wait() == 0
    return taken


def killed(what: str, folder: Path, archive: Path, after: float) -> None:
    """The program, killed after some seconds, unless it was done by then."""
    process = started(what, folder, archive)
    time.sleep(after)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def archives() -> list[Path]:
    """The archives that are there, of those that are known."""
    return [one.path for one in registry.known("archive") if one.path.exists()]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """What happens where nothing is killed."""
    folder = tmp_path_factory.mktemp("killed")
    with at(folder) as store:
        migrate(store)
        insert(store, *world(3, now_of(store), sessions=10).rows)
        before = every_row(store)
    shutil.copytree(folder / "store", folder / "whole" / "store", symlinks=True)
    taken = {"retain": timed("retain", folder / "whole", folder / "whole" / "archives")}
    (archive,) = (folder / "whole" / "archives").iterdir()
    with at(folder / "whole") as store:
        after = every_row(store)
    shutil.copytree(folder / "whole" / "store", folder / "pruned" / "store", symlinks=True)
    taken["restore"] = timed("restore", folder / "whole", archive)
    with at(folder / "whole") as store:
        restored = every_row(store)
    shutil.rmtree(folder / "whole" / "store")
    yield Known(folder, before, after, restored, taken)


@pytest.mark.parametrize("moment", range(KILLS))
def test_a_pass_that_was_killed_is_finished_by_the_next(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """The same rows are there and the same rows are archived, each verified; nothing is lost."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    shutil.copytree(known.folder / "store", tmp_path / "store", symlinks=True)
    share = (moment + random.Random(moment).random()) / KILLS
    killed("retain", tmp_path, tmp_path / "archives", known.seconds["retain"] * share)
    with at(tmp_path) as store:
        for one in archives():
            Archive(one).verify()
        retain(store, policy(tmp_path), apply=True)
        assert every_row(store) == known.after
        assert unfinished(store) == []
        made = archives()
        assert sorted(one.name for one in (tmp_path / "archives").iterdir()) == sorted(
            one.name for one in made
        )
        for one in made:
            restore(store, one)
        assert every_row(store) == known.restored
    shutil.rmtree(tmp_path / "store")


@pytest.mark.parametrize("moment", range(KILLS))
def test_a_restore_that_was_killed_is_finished_by_the_next(
    known: Known, tmp_path: Path, moment: int
) -> None:
    """The same rows as of one that was not killed."""
    (archive,) = (known.folder / "whole" / "archives").iterdir()
    shutil.copytree(known.folder / "pruned" / "store", tmp_path / "store", symlinks=True)
    share = (moment + random.Random(-moment).random()) / KILLS
    killed("restore", tmp_path, archive, known.seconds["restore"] * share)
    with at(tmp_path) as store:
        restore(store, archive)
        assert every_row(store) == known.restored
    shutil.rmtree(tmp_path / "store")
