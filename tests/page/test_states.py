"""What the page shows where something is missing: a sentence and what to do, and what it had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, ServedPage, served
from support.rows import PROJECT, call, message, said, tool, turn
from turnspan_clickhouse.files.lock_holders import signed
from turnspan_clickhouse.files.lock_queue import LockQueue
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping.erasure import forget
from turnspan_records.keeping.subject_keys import ForgetSubject

OFF, GONE = "0ff0000000000001", "90e0000000000001"
ROWS = "table.list tbody tr"
TROUBLE = "main > .problem"


def recorded() -> list[Record]:
    """A turn with what was said, and one without: as where capture is off, or of which the
    contents were pruned."""
    asks = message("user", said("What is it?"), scope="kept")
    off: dict[str, str] = {"session_id": "off", "turn_id": "turn-off"}
    return [
        asks,
        turn("turn-kept", session_id="kept", user_message="What is it?", response_text="A lamp."),
        call("1" * 16, session_id="kept", turn_id="turn-kept", input_messages=[asks.hash]),
        turn("turn-off", 5, session_id="off", user_message="", response_text="", tool_call_count=1),
        call(OFF, 5, **off, input_messages=[b"\1" * 16], output_messages=[b"\2" * 16]),
        tool("2" * 16, 6, **off, name="look", arguments="", result="", failed=True),
        turn("turn-gone", 9, session_id="gone", user_message="Forget me."),
        call(GONE, 9, session_id="gone", turn_id="turn-gone"),
    ]


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """A store with these, of which a session was forgotten."""
    made = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("states") / "store")
    with migrated(made) as store:
        insert(store, *recorded())
        forget(store, ForgetSubject("session", "gone", PROJECT))
    return made


@pytest.fixture(scope="module")
def page(dsn: Dsn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over it; the last test stops it."""
    with served(str(dsn), tmp_path_factory.mktemp("states-home")) as made:
        yield made


MISSING = (
    ("turns", "not recorded"),
    (f"s/{PROJECT}/off", "not in the store (not recorded, pruned, or not landed yet): 0101"),
    (f"call/{PROJECT}/{OFF}", "not recorded, or pruned"),
    (f"diff/{PROJECT}/{'1' * 16}..{OFF}", "not recorded, or pruned: 0101"),
    (f"context/{PROJECT}/{OFF}", "No context assembly is recorded for this call."),
    (f"review?by=ada&of={PROJECT}&at=turn-off", "capture is off"),
    ("compare?ids=turn-kept,turn-off", "No answer text is recorded."),
    ("errors?tool=look", "arguments not recorded"),
    (f"s/{PROJECT}/gone", "Forgotten records, and those that retention dropped, are gone."),
    (f"call/{PROJECT}/{GONE}", f"There is no model call '{GONE}' in '{PROJECT}'."),
    ("turns?f=session:gone", "No turn matches this filter."),
    ("go/turn-gone", "No record has this id."),
)


def test_what_is_missing_is_said(look: Look, page: ServedPage) -> None:
    """Not recorded, pruned and forgotten: the reason stands where the content would."""
    seen = look(page, "/settings")
    seen.expected = ("404",)  # the browser says it of every such answer
    for path, words in MISSING:
        seen.turn_to(path)
        seen.page.locator("main", has_text=words).wait_for()
        shown = seen.page.inner_text("main")
        assert not [one for one in ("Traceback", "undefined", "NaN", "Forget me") if one in shown]


AGENT = """
import sys, turnspan
turnspan.configure(project="live", capture_content=True)
@turnspan.agent(name="slow")
def work():
    print("at", flush=True)
    sys.stdin.readline()
with turnspan.session("live"):
    work()
"""


def test_a_killed_agent_is_interrupted(look: Look, page: ServedPage, dsn: Dsn) -> None:
    """A session that is waited for: its turn comes by itself, running; after `kill -9` it is
    interrupted, both without a key."""
    seen = look(page, "/s/live/live?f=1")
    seen.page.wait_for_selector("h1:has-text('Nothing landed')")
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TURNSPAN_STORE": str(dsn)},
    )  # fmt: skip
    assert agent.stdin is not None
    assert agent.stdout is not None
    try:
        assert agent.stdout.readline() == "at\n"
        seen.page.locator(".rows", has_text="running").wait_for()
        agent.kill()
        seen.page.locator(".rows", has_text="interrupted").wait_for()
    finally:
        agent.stdin.close()
        agent.stdout.close()
        agent.kill()
        agent.wait()


@pytest.mark.release
def test_what_keeps_the_whole_page_is_said_once(
    look: Look, page: ServedPage, dsn: Dsn, tmp_path: Path
) -> None:
    """A store that is kept, a server that is away, a store that is newer: one sentence with what
    to do, what was shown stays and is marked, and nothing is to be loaded again by hand."""
    seen = look(page, "/turns?project=shop")
    seen.expected = ("503", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
    expect(seen.page.locator(ROWS)).to_have_count(2)
    seen.page.wait_for_selector(".facets .value")
    assert dsn.path is not None
    kept = LockQueue(dsn.path / "lock").take(20)
    assert kept is not None
    kept.write(signed())
    try:
        seen.turn_to("turns?project=shop&f=rounds>0")
        seen.page.wait_for_selector(TROUBLE, timeout=20_000)
        assert f"is in use by process {os.getpid()}" in seen.page.inner_text(TROUBLE)
        assert "The page shows the last answer" in seen.page.inner_text(TROUBLE)
        expect(seen.page.locator(".problem")).to_have_count(1)
        expect(seen.page.locator(f".stale {ROWS}")).to_have_count(2)
    finally:
        kept.release()
    seen.page.focus(f"{TROUBLE} button")
    seen.press("Enter")
    expect(seen.page.locator(f"{TROUBLE}, .stale")).to_have_count(0)
    assert seen.page.evaluate("document.activeElement.id") == "screen"

    page.process.kill()
    page.process.wait()
    seen.press("g", "s")
    seen.page.wait_for_selector(TROUBLE)
    assert "Start it again: turnspan console" in seen.page.inner_text(TROUBLE)
    drawn = "document.querySelector('.problem .icon').getBBox().width > 0"
    assert seen.page.evaluate(drawn), "icons do not wait for a server that is gone"
    seen.press("g", "t")
    expect(seen.page.locator(f".stale {ROWS}")).to_have_count(2)
    expect(seen.page.locator(".problem")).to_have_count(1)

    with open_store(dsn) as store:
        store.command(
            "INSERT INTO schema_migration (version, name, checksum) VALUES"
            f" ({SCHEMA_VERSION + 1}, 'later', 'x')"
        )
    with served(str(dsn), tmp_path) as other:
        newer = look(other, "/")
        newer.expected = seen.expected  # its server ends before it
        newer.page.wait_for_selector(TROUBLE)
        assert "upgrade it (pip install --upgrade turnspan)" in newer.page.inner_text(TROUBLE)
        expect(newer.page.locator(".problem")).to_have_count(1)
        newer.page.goto("about:blank")  # a server that ends answers what it has with 500


def test_a_server_of_an_older_schema(look: Look, server_dsn: Dsn, tmp_path: Path) -> None:
    """The page changes no server: it says the command, and goes on by itself once that was done."""
    with migrated(server_dsn) as store:
        insert(store, *recorded())
        older = "ALTER TABLE schema_migration DELETE WHERE version = {newest:UInt32}"
        store.command(older, {"newest": SCHEMA_VERSION}, {"mutations_sync": 2})
        with served(str(server_dsn), tmp_path) as page:
            seen = look(page, f"/turns?project={PROJECT}")
            seen.expected = ("503",)
            seen.page.wait_for_selector(TROUBLE)
            assert "turnspan migrate" in seen.page.inner_text(TROUBLE)
            expect(seen.page.locator(".problem")).to_have_count(1)
            migrate(store)
            seen.page.focus(f"{TROUBLE} button")
            seen.press("Enter")
            expect(seen.page.locator(ROWS)).to_have_count(3)
            expect(seen.page.locator(TROUBLE)).to_have_count(0)


@pytest.mark.release
def test_a_page_that_receives_nothing_lands_what_waits(
    server_dsn: Dsn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server, of an application that is gone: no other process is left to do it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("TURNSPAN_SPOOL")
    with open_store(server_dsn) as store:
        migrate(store)
    gone = Dsn(scheme="chdb", path=tmp_path / "gone")  # nobody lands what waits for an embedded one
    program = (
        "import turnspan; turnspan.configure(service_name='x');"
        "turnspan.agent(name='left')(lambda: 'done')(); assert turnspan.flush().ok"
    )
    environment = {**os.environ, "TURNSPAN_STORE": str(gone)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    shutil.copytree(gone.spool, server_dsn.spool)
    waiting = Spool(server_dsn.spool)
    assert waiting.segments()
    with served(str(server_dsn), tmp_path) as page:
        until = time.monotonic() + 60
        while waiting.segments():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert page.ask("/api/turns").json()["turns"][0]["agent"] == "left"
