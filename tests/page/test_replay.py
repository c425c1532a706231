"""Replay, a call and what changed: what is shown, by which keys, and that nothing recorded acts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.hostile_session import MARKUP, SESSION, SPANS
from support.kept_stores import copy_schema
from support.pages import Look, ServedPage, Watched, served


def replay_of(project: str, session: str, **params: str) -> str:
    query = "&".join(f"{name}={quote(value)}" for name, value in params.items())
    return f"/s/{project}/{quote(session, safe='')}" + (f"?{query}" if query else "")


def outline(page: ServedPage, project: str, session: str) -> dict[str, Any]:
    path = f"/api/outline?project={project}&session={quote(session, safe='')}"
    told: dict[str, Any] = page.ask(path).json()["outline"]
    return told


@pytest.fixture(scope="module")
def broken(demo_page: ServedPage) -> str:
    """The demo's session in which a query fails."""
    turns = demo_page.ask("/api/turns?limit=200").json()["turns"]
    found = (str(t["session"]) for t in turns)
    return next(one for one in found if one.startswith("data-broken-query-anth"))


def opened(look: Look, page: ServedPage, path: str, **options: Any) -> Watched:
    seen = look(page, path, **options)
    seen.page.wait_for_selector("article")
    return seen


def chosen(seen: Watched) -> str:
    return seen.page.inner_text('article[aria-current="true"]')


def test_a_session_is_shown_in_order(look: Look, demo_page: ServedPage, broken: str) -> None:
    """Every turn, call and tool once, with the outline's numbers; each is reached by j."""
    told = outline(demo_page, "demo", broken)
    seen = opened(look, demo_page, replay_of("demo", broken))
    wanted = [step["id"] for step in told["steps"]]
    tools = [request["tool"] for call in told["calls"] for request in call["requests"]]
    shown = seen.page.eval_on_selector_all("article", "all => all.map(a => a.id.slice(4))")
    assert [id_ for id_ in shown if id_ in wanted] == wanted
    assert [id_ for id_ in shown if id_ in tools] == tools
    heading = seen.page.inner_text("header.bar")
    assert f"{len(told['turns'])} turns · {len(told['calls'])} calls" in heading
    walked: list[str] = []
    for _ in shown:
        seen.press("j")
        walked.append(seen.page.evaluate("document.activeElement.id.slice(4)"))
    assert walked == shown
    assert "turnspan replay" in seen.page.inner_text("footer.status")


def test_problems_levels_and_folds_by_keys(look: Look, demo_page: ServedPage, broken: str) -> None:
    """n goes to the failed tool and to how the turn ended; the address brings it all back."""
    seen = opened(look, demo_page, replay_of("demo", broken))
    seen.press("n")
    error = "Unknown expression identifier"
    assert error in chosen(seen)
    seen.page.wait_for_selector(".rows:has-text('The warehouse refused my query')")
    assert seen.page.inner_text(".rows").count(error) == 1, "it is said once"
    seen.press("n")
    assert "tool failed" in chosen(seen) and "tool_failure" in chosen(seen)
    seen.page.wait_for_selector(".inspector .evidence a")
    assert "Rule 6" in seen.page.inner_text(".inspector")
    seen.page.click(".inspector .evidence a")
    assert "run_query" in chosen(seen)
    visible = "all => all.filter(a => a.checkVisibility()).length"
    count = seen.page.eval_on_selector_all("article", visible)
    seen.press("[", "[")
    seen.page.wait_for_selector('.replay[data-level="1"]')
    assert "SELECT country" not in seen.page.inner_text(".rows")
    seen.page.wait_for_selector(".rows:has-text('Which five countries')")
    seen.press("]", "]", "K", "h")
    folded = seen.page.eval_on_selector_all("article", visible)
    assert folded < count and "d=" in seen.path
    seen.page.reload()
    seen.page.wait_for_selector("article")
    assert seen.page.eval_on_selector_all("article", visible) == folded
    seen.press("l")
    assert seen.page.eval_on_selector_all("article", visible) == count


def test_the_browsers_own_find_reaches_every_text(
    look: Look, demo_page: ServedPage, broken: str
) -> None:
    seen = opened(look, demo_page, replay_of("demo", broken))
    seen.page.wait_for_selector(".rows:has-text('The chart is chart-1.svg')")
    for text in ("brought the most revenue", "The chart is chart-1.svg"):
        assert seen.page.evaluate("text => find(text)", text)


def test_a_call_and_its_request(look: Look, demo_page: ServedPage, broken: str) -> None:
    """By Enter from the replay; the body is that of the server, and neighbours are a key away."""
    told = outline(demo_page, "demo", broken)
    second = told["calls"][1]
    path = replay_of("demo", broken, at=second["span_id"])
    seen = opened(look, demo_page, path)
    seen.press("Enter")
    seen.page.wait_for_selector(".call-screen .good")
    assert f"Call 2 of {len(told['calls'])}" in seen.page.inner_text("h1")
    seen.press("r")
    seen.page.wait_for_selector(".columns section:first-child .verbatim")
    request = demo_page.ask(f"/api/request?project=demo&span={second['span_id']}").json()
    assert request["exact"] and '"model": "claude' in request["body"]
    shown = seen.page.inner_text(".columns section:first-child .verbatim")
    assert json.loads(shown) == json.loads(request["body"])
    seen.press("J")
    seen.page.wait_for_selector("h1:has-text('Call 3')")
    seen.press("u")
    seen.page.wait_for_selector("article")
    assert told["calls"][2]["span_id"] in seen.path


def test_what_changed_since_the_call_before(look: Look, demo_page: ServedPage, broken: str) -> None:
    told = outline(demo_page, "demo", broken)
    one, two = told["calls"][0]["span_id"], told["calls"][1]["span_id"]
    seen = opened(look, demo_page, replay_of("demo", broken, at=two))
    seen.press("d")
    # What content-visibility has not drawn yet has no inner text.
    seen.page.wait_for_selector(".difference:has-text('1 message the same')")
    assert seen.path.startswith(f"/diff/demo/{one}..{two}")
    seen.press("n", "n")
    assert "added" in seen.page.evaluate("document.activeElement.innerText")
    assert "cache can hold all of it" in seen.page.inner_text(".cache")


def test_nothing_that_was_recorded_acts(look: Look, made_page: ServedPage) -> None:
    """Markup is text and what hides is marked, on all three screens; the session's id may be any
    text. (What the policy refuses or a script says fails the test.)"""
    seen = opened(look, made_page, replay_of("shop", SESSION))
    seen.page.wait_for_selector(".unfit")
    assert seen.page.query_selector("#page img, #page script, #page [href^=javascript]") is None
    text = seen.page.text_content("#page") or ""
    assert MARKUP in text and "\u202e" not in text and "\x1b" not in text
    assert {"ESC", "U+202E", "NUL"} <= set(
        seen.page.eval_on_selector_all(".unfit", "all => all.map(one => one.innerText)")
    )
    seen.go(f"/call/shop/{SPANS[0]}")
    seen.page.wait_for_selector(".call-screen .unfit", state="attached")
    seen.press("r")
    seen.page.wait_for_selector(".columns .verbatim:has-text('onerror')")
    seen.go(f"/diff/shop/{SPANS[0]}..{SPANS[1]}")
    seen.page.wait_for_selector(".change.edited ins:has-text('you')")
    assert seen.page.query_selector("#page img, #page script, #page [href^=javascript]") is None


def test_a_session_is_asked_for_at_once(look: Look, made_page: ServedPage) -> None:
    """Before the page's own scripts are there, whatever it is called and whatever the address names
    in it; and once, also while a followed one's first outline is on its way. So is the store."""
    seen = look(made_page, "/turns")
    asked: list[str] = []

    def note(request: Any) -> None:
        asked.append(request.url)

    def late(route: Any) -> None:
        seen.page.wait_for_timeout(1_300)  # longer than a follower waits
        route.continue_()

    seen.page.on("request", note)
    for place in ({}, {"at": SPANS[0]}, {"f": "1"}):
        asked.clear()
        if "f" in place:
            seen.page.route("**/api/outline?*", late)
        seen.go(replay_of("shop", SESSION, **place))
        seen.page.wait_for_selector("article")
        first = next(url for url in asked if "/api/" in url)
        assert [url for url in asked if "/api/outline?" in url] == [first]
        assert ("calls=60" in first) == (not place)
        assert sum(url.endswith("/api/store") for url in asked) == 1
    seen.page.unroute("**/api/outline?*")
    seen.page.remove_listener("request", note)


def test_a_long_session_keeps_few_rows_and_finds_in_all(look: Look, made_page: ServedPage) -> None:
    """5,000 rows: the first are shown before the others are asked for, some hundreds are in the
    document; find and n reach what is not there, and n what has not come yet."""
    asked: list[str] = []

    def note(request: Any) -> None:
        asked.append(request.url)

    seen = look(made_page, "/turns")
    seen.page.on("request", note)
    seen.go(replay_of("shop", "long"))
    seen.page.wait_for_selector("article:has-text('aardvark')")
    seen.press("n")
    seen.page.wait_for_selector('article[aria-current="true"]:has-text("no such thing")')
    outlines = [url.partition("?")[2] for url in asked if "/api/outline?" in url]
    assert ["calls=60" in one for one in outlines] == [True, False]
    seen.page.remove_listener("request", note)
    count = "document.querySelectorAll('article').length"
    assert seen.page.evaluate(count) <= 400
    assert "2,500 calls" in seen.page.inner_text("header.bar")
    for word in ("aardvark", "wombat", "zebra"):
        seen.press("/")
        seen.page.wait_for_selector(".find input")
        seen.page.fill(".find input", word)
        seen.page.press(".find input", "Enter")
        seen.page.wait_for_selector(".find:has-text('1 of 1 place')")
        seen.page.wait_for_selector(f'article[aria-current="true"]:has-text("{word}")')
        expect(seen.page.locator(".find input")).to_be_focused()
        assert seen.page.evaluate(count) <= 400
        seen.press("Escape")


AGENT = """
import sys, turnspan
turnspan.configure(project="live", capture_content=True, running_calls_after=0.01)
def wait():
    print("at", flush=True)
    sys.stdin.readline()
def say(text):
    messages = [{"role": "user", "content": "go on"}]
    with turnspan.inference(model="m", provider="p", messages=messages) as call:
        call.response(text=text)
@turnspan.agent(name="slow")
def turn():
    say("first words")
    asked = [{"role": "user", "content": "how far \u202e<b>are you</b>"}]
    with turnspan.inference(model="slow", provider="p", messages=asked) as call:
        call.chunk("**so far** \\x1b[31m " + "word " * 40); turnspan.flush(local=True); wait()
    say("second words"); turnspan.flush(local=True); wait()
    return "done"
with turnspan.session("live"):
    turn()
turnspan.flush(local=True)
print("ended", flush=True)
"""


def test_a_session_is_followed(look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running turn is there, what it does is appended, and neither focus nor place moves."""
    dsn = f"chdb://{tmp_path / 'store'}"
    copy_schema(tmp_path / "store")
    monkeypatch.setenv("TURNSPAN_STORE", dsn)
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    try:
        assert agent.stdout.readline() == "at\n"
        with served(dsn, tmp_path / "home") as page:
            # So low that the end of the session is far below.
            seen = opened(look, page, replay_of("live", "live", f="1"), height=160)
            seen.expected = ("ERR_CONNECTION_REFUSED",)  # of the server that ends before the page
            # What was written together lands in pieces: the call first, what it said with the next.
            seen.page.wait_for_selector(".rows:has-text('first words')", timeout=15_000)
            so_far = ".call:has-text('running for') .said:has-text('so far')"
            seen.page.wait_for_selector(so_far, state="attached")
            seen.page.reload()  # nothing of it is new now
            seen.page.wait_for_selector(so_far, state="attached")
            seen.press("j", "j")
            assert "second words" not in seen.page.inner_text(".rows")
            live = seen.page.text_content(".call:has-text('running for')") or ""
            assert "<b>are you</b>" in live and "nothing new for" in live and "so far" in live
            assert seen.page.locator(".call:has-text('running for') .said strong").count() == 1
            assert seen.page.locator(".call:has-text('running for') a").count() == 0
            assert "1 call" in seen.page.inner_text("header.bar .summary")
            assert "nothing new for" in (seen.page.text_content(".stop") or "")  # below the window
            focused = seen.page.evaluate("document.activeElement.id")
            # Who reads elsewhere is told, and stays there.
            seen.page.evaluate("scrollTo(0, 0)")
            seen.page.wait_for_function("scrollY === 0")
            agent.stdin.write("\n")
            agent.stdin.flush()
            assert agent.stdout.readline() == "at\n"
            seen.page.wait_for_selector("footer .live:has-text('1 new row')", state="attached")
            seen.page.wait_for_selector(".rows:has-text('second words')", timeout=15_000)
            assert seen.page.evaluate("document.activeElement.id") == focused
            assert seen.page.evaluate("scrollY") == 0
            seen.page.click(".unseen:has-text('1 new row')")
            assert "second words" in chosen(seen)
            agent.stdin.write("\n")
            agent.stdin.flush()
            assert agent.stdout.readline() == "ended\n"
            seen.page.wait_for_selector("header.bar:has-text('nothing runs')", timeout=15_000)
            seen.page.wait_for_selector(".rows:has-text('completed')")
    finally:
        agent.stdin.close()
        agent.stdout.close()
        agent.kill()
        agent.wait()
