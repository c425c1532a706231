"""The frame of the page: what holds on every screen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, Scheme, ServedPage, served
from support.rows import turn
from turnspan_clickhouse.store.dsn import Dsn


def test_the_token_leaves_the_address(look: Look, demo_page: ServedPage) -> None:
    """It is in no history entry and no title, and stays for a reload."""
    seen = look(demo_page, "/turns")
    seen.page.wait_for_selector("table tbody tr")
    assert demo_page.token not in seen.page.url
    assert demo_page.token not in seen.page.title()
    seen.page.reload()
    seen.page.wait_for_selector("table tbody tr")
    seen.go("/turns")
    seen.page.wait_for_selector("table tbody tr")


def test_without_the_token_there_is_a_sentence(look: Look, demo_page: ServedPage) -> None:
    """What to do, and nothing that is recorded."""
    stranger = ServedPage(demo_page.address, "x" * 20, demo_page.process)
    seen = look(stranger, "/turns")
    seen.expected = ("401",)  # the browser says it of every such answer
    seen.page.wait_for_selector(".problem")
    assert "turnspan console" in seen.page.inner_text(".problem")
    assert seen.page.query_selector("table") is None


def test_the_address_with_the_token_is_taken_in_the_same_tab(
    look: Look, demo_page: ServedPage
) -> None:
    """Typed over the one that had none: a browser loads nothing anew for another fragment."""
    stranger = ServedPage(demo_page.address, "x" * 20, demo_page.process)
    seen = look(stranger, "/turns")
    seen.expected = ("401",)
    seen.page.wait_for_selector(".problem")
    address = seen.page.evaluate("location.pathname")
    seen.page.evaluate("(token) => { location.hash = `t=${token}` }", demo_page.token)
    seen.page.wait_for_selector("table tbody tr")
    assert seen.page.query_selector(".problem") is None
    assert demo_page.token not in seen.page.url
    assert seen.page.evaluate("location.pathname") == address


def test_an_empty_store_greets_and_then_shows_what_comes(look: Look, tmp_path: Path) -> None:
    """No alarm: how to record, and the first record without a reload."""
    store = f"chdb://{tmp_path / 'none'}"
    with served(store, tmp_path) as page:
        seen = look(page, "/turns")
        seen.expected = ("503",)
        seen.page.wait_for_selector(".welcome .ways")
        assert "turnspan.configure(" in seen.page.inner_text(".welcome")
        assert seen.page.query_selector(".problem") is None
        program = (
            "import turnspan; turnspan.configure(service_name='x');"
            "turnspan.agent(name='first')(lambda: 'done')();"
            "assert turnspan.flush().ok"
        )
        environment = {**os.environ, "TURNSPAN_STORE": store, "XDG_DATA_HOME": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        seen.page.wait_for_selector("table tbody tr", timeout=20_000)


@pytest.mark.release
def test_enter_waits_for_what_an_id_means(look: Look, demo_page: ServedPage) -> None:
    """An id that is pasted and entered at once is no text to search for; nor is a header or a line
    of a log with the id in it."""
    [turn] = demo_page.ask("/api/turns?project=demo&limit=1").json()["turns"]
    for pasted in (
        turn["turn"],
        f"00-{'0' * 32}-{turn['turn']}-01",
        f'2026-11-25 INFO agent failed {{"span_id": "{turn["turn"]}"}}',
    ):
        seen = look(demo_page, "/turns?project=demo")
        seen.page.wait_for_selector("table.list tbody tr")
        seen.press("Control+k")
        seen.page.wait_for_selector(".palette input")
        seen.page.evaluate(
            """(pasted) => {
              const field = document.querySelector(".palette input");
              field.value = pasted;
              field.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            pasted,
        )
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url(f"**{turn['turn']}**")
        assert "q=" not in seen.path
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.press("Control+k")
    seen.page.keyboard.type(f"00-{'0' * 32}-{turn['turn']}-01")
    seen.page.wait_for_selector(f".palette [role=option]:text-matches('^turn {turn['turn']}')")
    looked = [url for url in asked if "/api/lookup" in url or "/api/names" in url]
    assert len(looked) < 20, "not one for each key: the store answers one at a time"


def test_the_policy_stops_what_is_injected(look: Look, demo_page: ServedPage) -> None:
    """Were there a hole: no HTML from text, no script, no request to elsewhere."""
    seen = look(demo_page, "/turns")
    seen.expected = ("policy: ", "console: ", "asked elsewhere: https://evil.example")
    refused = seen.page.evaluate(
        """async () => {
          const refused = [];
          const div = document.createElement("div");
          try { div.innerHTML = "<img src=x onerror=alert(1)>"; } catch { refused.push("html"); }
          const script = document.createElement("script");
          try { script.textContent = "alert(1)"; } catch { refused.push("script"); }
          try { await fetch("https://evil.example/"); } catch { refused.push("fetch"); }
          return refused;
        }"""
    )
    assert refused == ["html", "script", "fetch"]
    until = time.monotonic() + 60
    while not any(one.startswith("policy: ") for one in seen.problems):  # told after the fact
        assert time.monotonic() < until
        seen.page.wait_for_timeout(20)


def test_keys_walk_the_list(look: Look, demo_page: ServedPage) -> None:
    """One down, one up; the address says where, and a reload is there again."""
    seen = look(demo_page, "/turns")
    seen.page.wait_for_selector("table tbody tr")
    rows = seen.page.locator("tbody tr")
    seen.press("j", "j")
    assert rows.nth(1).get_attribute("aria-selected") == "true"
    assert rows.nth(1).evaluate("row => row === document.activeElement")
    seen.press("k")
    assert rows.nth(0).get_attribute("aria-selected") == "true"
    assert "at=" in seen.path
    seen.page.reload()
    seen.page.wait_for_selector('tr[aria-selected="true"]')
    assert rows.nth(0).get_attribute("aria-selected") == "true"
    seen.press("n")
    assert seen.page.inner_text('tr[aria-selected="true"] .end').split()[-1] != "completed"


def test_the_sheet_lists_what_can_be_done(look: Look, demo_page: ServedPage) -> None:
    """Nothing else; with the dialog open no key does anything behind it."""
    seen = look(demo_page, "/turns")
    seen.page.wait_for_selector("table tbody tr")
    seen.press("?")
    listed = seen.page.eval_on_selector_all(
        "dialog [data-action]", "all => all.map(one => one.dataset.action)"
    )
    assert {"next", "previous", "nextProblem", "goTurns", "theme", "keys"} <= set(listed)
    assert "fold" not in listed
    before = seen.path
    seen.press("j")
    assert seen.path == before
    seen.press("Escape")
    seen.page.wait_for_selector("dialog", state="detached")
    seen.press("j")
    assert seen.path != before


def test_keys_are_for_the_page_not_for_fields(look: Look, demo_page: ServedPage) -> None:
    """And of one character they can be switched off."""
    seen = look(demo_page, "/turns")
    seen.page.wait_for_selector("table tbody tr")
    seen.page.click('[aria-label^="Project"]')
    before = seen.path
    seen.press("j")
    assert seen.path == before
    seen.press("Escape")
    seen.page.evaluate("document.activeElement.blur()")
    seen.press("?")
    seen.page.click("dialog input[type=checkbox]")
    seen.press("Escape")
    seen.page.wait_for_selector("dialog", state="detached")
    seen.press("j")
    assert seen.path == before


def test_project_and_time_are_chosen_by_typing(look: Look, demo_page: ServedPage) -> None:
    """Part of a name finds it, a time that is not in the list is taken as it is, and Escape closes
    the list only. The sidebar's fold and the rows' density are remembered."""
    seen = look(demo_page, "/turns")
    page = seen.page
    page.click('[aria-label^="Project"]')
    page.wait_for_selector("[role=option] >> text=demo")
    page.keyboard.type("dem")
    seen.press("Enter")  # maybe before the names are known: it is not lost
    page.wait_for_url("**/turns?project=demo")
    page.click('[aria-label^="Time"]')
    page.keyboard.type("900d")
    seen.press("Enter")
    assert seen.path == "/turns?project=demo&since=900d"
    expect(page.locator('[aria-label="Time: since 900d"]')).to_be_focused()
    page.click('[aria-label^="Time"]')
    seen.press("ArrowDown", "Escape")
    expect(page.locator(".list-box [role=listbox]")).to_have_count(0)
    assert seen.path == "/turns?project=demo&since=900d"
    wide = "document.querySelector('.rail').offsetWidth"
    assert page.evaluate(wide) == 208
    page.click("[aria-label='Fold the sidebar']")
    page.click("[aria-label^='Rows: comfortable']")
    page.reload()
    expect(page.locator("[aria-label^='Rows: compact']")).to_be_visible()
    assert page.evaluate(wide) == 52
    assert page.locator(".rail a:not([title])").count() == 0


def test_a_phone_has_a_bar_of_four_places(look: Look, demo_page: ServedPage) -> None:
    """The fourth shows all screens; no word of keys stands anywhere."""
    seen = look(demo_page, "/?project=demo&since=30d", width=390, height=844)
    page = seen.page
    below = page.locator(".tabs-below > :is(a, button)")
    expect(below).to_have_text(["Overview", "Sessions", "Turns", "More"])
    assert "Ctrl" not in page.inner_text("#page")
    below.last.click()
    ground = page.locator("dialog").evaluate("one => getComputedStyle(one).backgroundColor")
    assert ground not in ("rgba(0, 0, 0, 0)", "transparent")
    page.click("dialog a >> text=Consortium")
    expect(page.locator("h1")).to_contain_text("Consort")
    expect(page.locator("dialog")).to_have_count(0)


def test_the_frame_says_what_arrives(look: Look, tmp_path: Path) -> None:
    """What runs and when the last record was written, of the chosen project; the store's name and
    not its path."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "my-store")
    with migrated(dsn) as store:
        now = time.time_ns()
        recent: dict[str, Any] = {"start_time": now, "written_at": now}
        ended = {**recent, "written_at": now + 1_000_000_000}
        insert(
            store,
            turn("runs", status="running", stop_reason="", **recent),
            turn("inside", parent_turn_id="runs", status="running", **recent),
            turn("ended", status="running", **recent),
            turn("ended", **ended),
            turn("other", project="quiet", **recent),
        )
    with served(str(dsn), tmp_path) as page:
        told = page.ask("/api/arrivals").json()
        assert (told["running"], told["waiting"]) == (1, 0)
        assert datetime.fromisoformat(told["last"]).timestamp() == pytest.approx(now / 1e9 + 1)
        assert page.ask("/api/arrivals?project=quiet").json()["running"] == 0
        nobody = {"running": 0, "last": None, "waiting": 0}
        assert page.ask("/api/arrivals?project=nobody").json() == nobody
        seen = look(page, "/turns")
        expect(seen.page.locator(".status")).to_contain_text("1 turn running")
        assert seen.page.inner_text(".brand .store") == "my-store"
        assert str(tmp_path) not in seen.page.inner_text("#page")
        seen.page.click(".status a")
        expect(seen.page.locator("table.list tbody tr")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_theme_is_the_systems(look: Look, demo_page: ServedPage, scheme: Scheme) -> None:
    """Unless another one is chosen, which stays."""
    seen = look(demo_page, "/turns", scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    system = seen.page.evaluate(ground)
    seen.press("t")
    if scheme == "dark":
        seen.press("t")
    assert seen.page.evaluate(ground) != system
    seen.page.reload()
    assert seen.page.evaluate(ground) != system
