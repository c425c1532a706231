"""The frame of the page: what holds on every screen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.pages import Look, Scheme, ServedPage, served


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
        seen.page.wait_for_selector(".nothing")
        assert "turnspan.configure()" in seen.page.inner_text(".nothing")
        assert seen.page.query_selector(".problem") is None
        program = (
            "import turnspan; turnspan.configure(service_name='x');"
            "turnspan.agent(name='first')(lambda: 'done')();"
            "assert turnspan.flush().ok"
        )
        environment = {**os.environ, "TURNSPAN_STORE": store, "XDG_DATA_HOME": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        seen.page.wait_for_selector("table tbody tr", timeout=20_000)


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
    seen.page.focus("select[aria-label=Project]")
    before = seen.path
    seen.press("j")
    assert seen.path == before
    seen.page.evaluate("document.activeElement.blur()")
    seen.press("?")
    seen.page.click("dialog input[type=checkbox]")
    seen.press("Escape")
    seen.page.wait_for_selector("dialog", state="detached")
    seen.press("j")
    assert seen.path == before


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
