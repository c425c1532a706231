"""A look at what became of artifacts that is killed at any moment is gone on with by the next one.

TURNSPAN_TEST_MOMENTS=50 (with --timeout=3000) kills it at more moments than the suite has time for.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.artifacts import artifact
from support.kept_stores import migrated
from support.landing import insert
from support.looking import look
from support.mediawiki import RealWiki
from support.shared import REPOSITORY
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.release

MOMENTS = int(os.environ.get("TURNSPAN_TEST_MOMENTS", "2"))
PAGES = 6


def begin(store: Dsn, api: str) -> subprocess.Popen[str]:
    """A process that is about to look."""
    process = subprocess.Popen(
        [sys.executable, "-m", "support.looking", str(store), api],
        cwd=REPOSITORY / "tests",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()
    return process


def filled(folder: Path, rows: list[Record]) -> Dsn:
    """A store with these rows. Not a copy of one: the engine knows tables by ids that a copy has
    as well, and opens no two of them in a process."""
    dsn = Dsn(scheme="chdb", path=folder / "store")
    with migrated(dsn) as store:
        insert(store, *rows)
    return dsn


def everything(dsn: Dsn) -> dict[str, list[Any]]:
    """All rows that looking writes, each once, but when; what waits is landed."""
    with open_store(dsn) as store:
        return {
            table: list(
                store.query(f"SELECT * EXCEPT ({but}) FROM {table} WHERE {where} ORDER BY ALL").rows
            )
            for table, but, where in (
                ("annotation", "written_at", "true"),
                ("withdrawal", "written_at", "true"),
                ("artifact", "written_at", "kind = 'correction'"),
                ("definition", "written_at", "true"),
                ("artifact_check", "written_at, checked_at", "true"),
            )
        }


def test_killed_at_any_moment_it_is_gone_on_with(
    real_wiki: RealWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost, half done or there twice: the rows are those of a look that nobody
    killed."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    rows: list[Record] = []
    for number in range(PAGES):
        title, text = f"Killed {number}", f"Page {number} is about lights and ships."
        real_wiki.write("Agent", title, text)
        rows += artifact(f"a{number}", title, text, turn_id=f"t{number % 3}")
        if number % 3 == 1:
            real_wiki.write("Ada", title, text.replace("lights", "many lights"))
    first = filled(tmp_path / "first", rows)
    begun = time.monotonic()
    process = begin(first, real_wiki.api)
    assert process.communicate()[0] == f"{PAGES}\n"
    took = time.monotonic() - begun
    expected = everything(first)
    assert len(expected["artifact_check"]) == PAGES
    assert len(expected["artifact"]) == 2

    chance = random.Random(12)
    interrupted = 0
    while interrupted < MOMENTS:
        folder = tmp_path / "moment"
        dsn = filled(folder, rows)
        process = begin(dsn, real_wiki.api)
        moment = chance.uniform(0, took)
        time.sleep(moment)
        process.kill()
        process.communicate()
        if process.returncode != 0:
            interrupted += 1
        else:  # the machine is less busy than it was
            took /= 2
        left = look(str(dsn), real_wiki.api)
        assert 0 <= left <= PAGES
        assert everything(dsn) == expected, f"killed after {moment} seconds"
        shutil.rmtree(folder)
