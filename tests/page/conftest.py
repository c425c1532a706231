"""The page of a server process over a demo's store, in one real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from support.assembled import assembled
from support.camp_rows import camp_rows
from support.consortium_rows import consortium_rows
from support.demo_records import play
from support.hostile_rows import hostile_rows
from support.hostile_session import hostile_session
from support.kept_stores import migrated
from support.landing import insert
from support.long_session import long_session
from support.pages import Look, ServedPage, Watched, browser_path, served
from support.reading_session import reading_session
from support.shared import trajectories
from support.shared_folder import made_once
from turnspan_clickhouse.store.dsn import Dsn, parse
from turnspan_clickhouse.store.opening import open_store

RUNS = 4
"""Of others' runs that are played: to play all takes minutes."""


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The DSN of an embedded store with what ``turnspan demo`` records (its project is ``demo``),
    and hostile records beside it; tests only read it."""
    return f"chdb://{made_once(tmp_path_factory, 'page-demo', _fill_demo) / 'store'}"


def _fill_demo(folder: Path) -> None:
    dsn = f"chdb://{folder / 'store'}"
    play(dsn)
    with open_store(parse(dsn)) as store:
        insert(store, *hostile_rows())


@pytest.fixture(scope="session")
def demo_page(demo_store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over the demo's store."""
    with served(demo_store, tmp_path_factory.mktemp("page-home")) as page:
        yield page


@pytest.fixture(scope="session")
def whole_page(demo_store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over a copy of the demo's store that has something for every screen: real runs of
    others, a context, a consortium run, a lineage, a hostile session."""

    def fill(folder: Path) -> None:
        shutil.copytree(demo_store.removeprefix("chdb://"), folder / "store", symlinks=True)
        [real] = trajectories("tau2__telecom-gpt-4o")
        few = folder / "few.jsonl"
        few.write_text("".join(real.read_text(encoding="utf-8").splitlines(keepends=True)[:RUNS]))
        play(f"chdb://{folder / 'store'}", "--trajectories", str(few))
        with open_store(parse(f"chdb://{folder / 'store'}")) as store:
            insert(store, *assembled(), *camp_rows(), *consortium_rows(), *hostile_session())

    folder = made_once(tmp_path_factory, "page-whole", fill)
    with served(f"chdb://{folder / 'store'}", folder) as page:
        yield page


@pytest.fixture(scope="session")
def made_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over a hostile session, a long one and one to be read closely."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("made") / "store")
    with migrated(dsn) as store:
        insert(store, *hostile_session(), *long_session(), *reading_session())
    with served(str(dsn), tmp_path_factory.mktemp("made-home")) as page:
        yield page


# Without a process for a graphics card and one for each page it takes a fifth less of a processor.
FLAGS = (
    *("--no-sandbox", "--disable-dev-shm-usage"),
    *("--disable-gpu", "--renderer-process-limit=1"),
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all of these tests, and for no others: as long as Playwright has one, an
    event loop runs in this thread, in which others could not begin one."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser_path(), args=[*FLAGS])
        yield started
        started.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Open an address of a page in a context of its own. What the console says, what the policy
    refused and what was asked of elsewhere fails the test when it ends."""
    opened: list[Watched] = []

    def open_(page: ServedPage, path: str, **options: Any) -> Watched:
        watched = Watched(browser, page, **options)
        opened.append(watched)
        watched.go(path, token=True)
        return watched

    yield open_
    problems = [problem for watched in opened for problem in watched.close()]
    assert problems == []
