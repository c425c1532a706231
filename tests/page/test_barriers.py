"""Nobody is kept out: every screen, in both themes, narrow and wide, full and empty, by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from support.barriers import RULES, barriers
from support.kept_stores import copy_schema
from support.pages import Look, Scheme, ServedPage, Watched, served
from support.representatives import few
from support.screens import ROWS, Place, names, places

WIDTHS = (320, 900, 1440)
OF_WIDTHS = ("target-size", "scrollable-region-focusable")
OF_THEMES = ("color-contrast", *OF_WIDTHS)
ACTS = "#page :is(img, script, iframe, style, link, [href^=javascript])"
HEIGHT = 6_000
"""So high that the bars lie over nothing: what is under one now counts as too small to be hit."""
SCHEMES: tuple[Scheme, Scheme] = ("light", "dark")

# What is wider than its place lies over what stands beside it.
OVERLAPS = """
() => [...document.querySelectorAll("main :is(table, pre, dl, ul, button)")]
  .filter((one) => one.checkVisibility()
    && getComputedStyle(one.parentElement).overflowX === "visible"
    && one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1)
  .map((one) => one.outerHTML.slice(0, 80))
"""
# Of everything that gets the focus: is it seen that it has it, and is it in view?
WATCH = """
() => {
  window.reached = new Set();
  window.unseen = [];
  window.watching ??= addEventListener("focusin", ({ target }) => {
    reached.add(target);
    const style = getComputedStyle(target);
    const box = target.getBoundingClientRect();
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    const top = document.elementFromPoint(
      (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2,
      box.top + Math.min(box.height / 2, 8));
    const covered = !top || !(target.contains(top) || top.contains(target));
    if (!outlined || covered) unseen.push(target.outerHTML.slice(0, 120));
  }) ?? true;
}
"""
# What Tab is to reach: hidden in a closed <details> or a folded part it is not.
REACHABLE = """
() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]")]
  .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ contentVisibilityAuto: false }))
"""
HAS_FOCUS = "document.activeElement !== document.body"


@pytest.fixture(scope="module")
def empty_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over a store in which nothing is."""
    folder: Path = tmp_path_factory.mktemp("empty")
    copy_schema(folder / "store")
    with served(f"chdb://{folder / 'store'}", folder) as page:
        yield page


def show(seen: Watched, place: Place) -> None:
    """Turn to a place, and wait until it is there."""
    seen.turn_to(place.path)
    seen.page.wait_for_selector(place.ready)
    expect(seen.page.locator(".stale, .waiting")).to_have_count(0)
    seen.press(*place.keys)


def found(seen: Watched, place: Place, turn: int, looks: int = 3) -> list[str]:
    """The barriers at so many widths, in turn in both themes, and whether it goes out of the
    window. What is the same at any width and in both themes is looked for once."""
    problems: list[str] = []
    if seen.page.locator(ACTS).count():
        problems.append(f"{place.path}: something recorded is more than text")
    for at, rules in enumerate((RULES, OF_THEMES, OF_WIDTHS)[:looks]):
        width, scheme = WIDTHS[(at + turn) % 3], SCHEMES[(at + turn) % 2]
        seen.page.set_viewport_size({"width": width, "height": HEIGHT})
        seen.page.emulate_media(color_scheme=scheme)
        here = f"{place.path or 'overview'} at {width}, {scheme}: "
        problems += [here + one for one in barriers(seen, rules)]
        wide = seen.page.evaluate("document.documentElement.scrollWidth")
        problems += [f"{here}{wide} pixels wide"] if wide > width else []
        problems += [f"{here}{one} is too wide" for one in seen.page.evaluate(OVERLAPS)]
    return problems


@pytest.mark.parametrize("looks", few([1, 3], [1]))
def test_no_screen_has_a_barrier(look: Look, whole_page: ServedPage, looks: int) -> None:
    """None that axe-core knows, and none is wider than its window, as when it is enlarged to 400 %.
    A screen that is new is in the table. Before a release a screen is looked at in each of its
    states, and at every width."""
    every = places(whole_page)
    assert {place.screen for place in every} == names() - {"lost"} | {"nowhere"}
    seen = look(whole_page, "/settings", bypass_csp=True)
    seen.expected = ("400",)
    problems: list[str] = []
    begun: set[str] = set()
    for turn, place in enumerate(every):
        if place.screen in begun and looks < 3:
            continue
        show(seen, place)
        # Of a screen that was looked at in every way the next state once.
        problems += found(seen, place, turn, looks=1 if place.screen in begun else looks)
        begun.add(place.screen)
    seen.press("Control+k")
    seen.page.wait_for_selector(".palette [role=option]")
    problems += found(seen, Place("the palette", ""), 0)
    seen.press("Escape", "?")
    problems += found(seen, Place("the keys", ""), 1)
    assert not problems, "\n".join(problems)


@pytest.mark.release
def test_nothing_is_no_barrier_either(look: Look, empty_page: ServedPage) -> None:
    """With no record in the store every screen says what would be there, or that it is not."""
    seen = look(empty_page, "/settings", bypass_csp=True)
    seen.expected = ("404",)
    problems: list[str] = []
    for turn, path in enumerate(EMPTY):
        place = Place(
            path, "main :is(.nothing, .problem, .checks li, .editor:not([hidden]), .ways)"
        )
        show(seen, place)
        assert "Traceback" not in seen.page.inner_text("main")
        assert len(seen.page.inner_text("main")) > 40, path
        problems += found(seen, place, turn, looks=1)
    assert not problems, "\n".join(problems)


EMPTY = ("", "turns", "sessions", "errors", "review?by=ada", "compare", "lineage", "consortium",
         "sql", "settings", "s/demo/none", "call/demo/none", "diff/demo/a..b", "context/demo/none",
         "consortium/demo/none", "lineage/demo/none", "go/none")  # fmt: skip


@pytest.mark.release
def test_tab_reaches_everything_and_leaves_it(look: Look, whole_page: ServedPage) -> None:
    """On every screen: what has the focus is seen, is in view, and is left again."""
    seen = look(whole_page, "/settings")
    page: Any = seen.page
    seen.expected = ("400",)
    every = {place.screen: place for place in places(whole_page)}
    for place in every.values():
        show(seen, place._replace(keys=()))
        page.evaluate(WATCH)
        page.evaluate("document.activeElement.blur()")
        page.focus(".skip")
        missed = [""]
        for _ in range(2):  # round again, where something came while the first round was made
            seen.press(*["Tab"] * page.evaluate(f"({REACHABLE})().length"))
            missed = page.evaluate(
                f"({REACHABLE})().filter((one) => !reached.has(one)).map((one) => one.outerHTML)"
            )
            if not missed:
                break
        assert (place.path, missed) == (place.path, [])
        assert (place.path, page.evaluate("unseen")) == (place.path, [])


def test_the_focus_is_never_lost(look: Look, whole_page: ServedPage) -> None:
    """It is where it was when a dialog closes, on the next screen after a key, and on the screen
    when what had it goes."""
    seen = look(whole_page, "/turns?project=demo")
    page = seen.page
    page.wait_for_selector(ROWS)
    for button in ("Keys", "Ctrl+K"):
        page.focus(".finder" if "+" in button else "[aria-label=Keys]")
        seen.press("Enter")
        page.wait_for_selector("dialog[open]")
        seen.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    seen.press("Control+k")
    page.keyboard.type("sessions")
    seen.press("Enter")
    page.wait_for_selector("h1:has-text('Sessions')")
    page.wait_for_function(HAS_FOCUS)
    page.wait_for_selector(ROWS)
    seen.press("j", "Enter")
    page.wait_for_selector("article")
    page.wait_for_function(HAS_FOCUS)
    seen.press("g", "t")
    page.wait_for_selector(ROWS)
    page.wait_for_function(HAS_FOCUS)
    page.focus(".facets .value")
    seen.press("Enter")
    page.focus(".chip")
    seen.press("Enter")
    page.wait_for_selector(".chip", state="detached")
    page.wait_for_function(HAS_FOCUS)
