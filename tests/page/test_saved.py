"""What is saved as one file (a session, a call, a comparison) opens without a network, and nothing
in it acts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser

from support.hostile_session import MARKUP, SESSION, SPANS, hostile_session
from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, ServedPage
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.cli import turnspan
from turnspan_records.replay import replay


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """An embedded store with the hostile session."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("saved") / "store")
    with migrated(dsn) as store:
        insert(store, *hostile_session())
    return dsn


def run(*arguments: str) -> Result:
    """The command, in this process."""
    return CliRunner().invoke(turnspan, arguments)


def problems_of(browser: Browser, file: Path) -> tuple[list[str], str, list[str]]:
    """What a browser says of a file, its text, and what it asked for."""
    said: list[str] = []
    asked: list[str] = []
    page = browser.new_page()
    page.on("console", lambda one: said.append(one.text))
    page.on("dialog", lambda one: said.append(one.message))
    page.on("request", lambda one: asked.append(one.url))
    page.goto(file.as_uri())
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    acting = page.query_selector_all("body script, body img, body a, body svg, body style")
    said += [f"in the document: {one.evaluate('one => one.outerHTML')}" for one in acting]
    text = page.inner_text("body")
    page.close()
    return said, text, asked


def test_each_is_saved(browser: Browser, hostile: Dsn, tmp_path: Path) -> None:
    """Whatever was said in them: it is text, what hides is marked, nothing else is asked for."""
    for name, arguments in (
        ("session", ("replay", SESSION)),
        ("difference", ("diff", *SPANS)),
        ("call", ("show", SPANS[1])),
    ):
        file = tmp_path / f"{name}.html"
        shown = run("--store", str(hostile), *arguments, "--html", str(file))
        assert shown.exit_code == 0, shown.stderr
        assert "\x1b" not in file.read_text()
        said, text, asked = problems_of(browser, file)
        assert said == [] and asked == [file.as_uri()]
        assert MARKUP in text and "U+202E" in text and "\u202e" not in text
    refused = run("--store", str(hostile), "replay", SESSION, "--html", str(tmp_path))
    assert refused.exit_code == 2 and "cannot be written" in refused.stderr
    refused = run("--store", str(hostile), "show", "bad00000000000aa", "--html", "no.html")
    assert refused.exit_code == 2 and "--html needs a model call" in refused.stderr


def test_a_notebook_shows_text(hostile: Dsn) -> None:
    """A conversation, a turn and the result of a query: escaped, marked, without a script."""
    with open_store(hostile) as store:
        conversation = replay(store, "shop", SESSION)
        result = query(store)
    shown: Any
    for shown in (conversation, next(conversation.turns()), result):
        html = shown._repr_html_()
        assert "&lt;script&gt;" in html and "<script" not in html and "<img" not in html
        assert "<mark>U+202E</mark>" in html and "\u202e" not in html


def query(store: Store) -> Any:
    return store.query(
        "SELECT session_id, user_message, NULL AS none, unhex('ff') AS b FROM turn_summary"
    )


def test_the_button_saves_the_file(look: Look, demo_page: ServedPage, tmp_path: Path) -> None:
    turns = demo_page.ask("/api/turns?limit=1").json()["turns"]
    seen = look(demo_page, f"/s/demo/{turns[0]['session']}")
    seen.page.wait_for_selector("article")
    with seen.page.expect_download() as download:
        seen.page.click("text=Save as HTML")
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)
    assert download.value.suggested_filename == f"{turns[0]['session']}.html"
    assert "Content-Security-Policy" in saved.read_text()
