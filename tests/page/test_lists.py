"""What lists of turns, sessions and errors have in common: order, columns, rows that open, and rows
that come while they are looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.kept_stores import copy_schema
from support.pages import Look, ServedPage, served

ROWS = "table.list tbody tr"
STYLES = Path(__file__).resolve().parents[2] / "console" / "page" / "src" / "styles"


def test_every_list_sorts_by_its_headings(look: Look, demo_page: ServedPage) -> None:
    """The server does, the address says it, and a heading turns it round."""
    seen = look(demo_page, "/turns?project=demo")
    for path, head, sort, field in (
        ("turns", "cost", "-cost", "cost_usd"),
        ("sessions", "calls", "-calls", "calls"),
        ("errors", "message", "message", "shape"),
    ):
        seen.go(f"/{path}?project=demo")
        key = {"errors": "shapes"}.get(path, path)
        for way in (sort, sort[1:] if sort[0] == "-" else f"-{sort}"):
            seen.page.click(f"th button:text-is('{head}')")
            order = "descending" if way[0] == "-" else "ascending"
            expect(seen.page.locator(f"th[aria-sort='{order}']")).to_contain_text(head)
            assert f"sort={way}" in seen.path
            answer = demo_page.ask(f"/api/{path}?project=demo&sort={way}").json()[key]
            values = [one[field] for one in answer if one[field] is not None]
            assert values == sorted(values, reverse=way[0] == "-")
            command = seen.page.locator(".status .command")
            expect(command).to_have_text(f"$ turnspan {path} --project demo --sort {way}")
    seen.expected = ("400",)
    seen.go("/turns?sort=colour")
    expect(seen.page.locator(".problem")).to_contain_text("There is no sort 'colour'")
    # Where there is no room for headings, a list of them.
    narrow = look(demo_page, "/turns?project=demo&sort=rounds", width=390)
    narrow.page.get_by_label("Sort by").select_option("-seconds")
    assert "sort=-seconds" in narrow.path


@pytest.mark.release
def test_columns_are_chosen_and_kept(look: Look, demo_page: ServedPage) -> None:
    """The address has them for whoever it is given to; this browser remembers them."""
    seen = look(demo_page, "/turns?project=demo")
    seen.page.click(".column-choice summary")
    seen.page.get_by_label("session", exact=True).check()
    seen.page.get_by_label("rounds", exact=True).uncheck()
    heads = ["time", "tools", "cost", "duration", "session"]
    expect(seen.page.locator("th button").nth(7)).to_have_text("session")
    assert [one.strip() for one in seen.page.locator("th button").all_inner_texts()[3:]] == heads
    seen.go("/turns?project=demo&stop=1")
    seen.page.wait_for_url("**cols=time%2Ctools%2Ccost%2Cduration%2Csession*")
    shared = look(demo_page, "/turns?project=demo&cols=cost")
    expect(shared.page.locator("th")).to_have_count(3)
    seen.page.click(".column-choice summary")
    seen.page.click("text=Usual columns")
    expect(seen.page.locator("th button").nth(4)).to_have_text("rounds")


def test_facets_and_completions_make_a_filter(look: Look, demo_page: ServedPage) -> None:
    """Of several values of a name one is enough; values are found by typing; attributes are cards;
    names and values are completed by keys alone."""
    counted = demo_page.ask("/api/facets?project=demo").json()["facets"]
    turns = {one["name"]: {v["value"]: v["turns"] for v in one["values"]} for one in counted}
    assert {"stop", "agent", "user", "model", "cost", "seconds"} <= turns.keys()
    seen = look(demo_page, "/turns?project=demo")
    for chosen in (["wiki-editor"], ["wiki-editor", "travel-agent"]):
        seen.page.click(f".facets .value:has-text('{chosen[-1]}')")
        wanted = sum(turns["agent"][one] for one in chosen)
        expect(seen.page.locator(ROWS)).to_have_count(wanted)
        expect(seen.page.locator(".facets [aria-pressed=true]")).to_have_count(len(chosen))
    assert "f=agent%3Awiki-editor%2Ctravel-agent" in seen.path
    cost = seen.page.locator("section[aria-label=cost] .value").first
    number = int(cost.locator(".number").inner_text())
    cost.click()
    expect(seen.page.locator(ROWS)).to_have_count(number)
    fold = seen.page.locator(".fold:has-text('agent')")
    fold.click()
    seen.go("/turns?project=demo")
    expect(fold).to_have_attribute("aria-expanded", "false")

    seen.press("/")
    field = seen.page.get_by_label("Filter", exact=True)
    seen.page.keyboard.type("ag")
    expect(seen.page.locator(".completed [role=option]")).to_have_text(["agent: the agent's name"])
    seen.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == "filter-choice-0"
    seen.press("Enter")
    seen.page.keyboard.type("WI")
    of_wiki = turns["agent"]["wiki-editor"]
    expect(seen.page.locator(".completed [role=option]")).to_have_text([f"wiki-editor {of_wiki}"])
    seen.press("ArrowDown", "Tab")
    seen.page.keyboard.type(" -look:r")
    expect(seen.page.locator(".completed [role=option]")).to_have_text(["running "])
    seen.press("Escape")
    expect(field).to_have_value("agent:wiki-editor -look:r")
    expect(field).to_be_focused()
    field.fill("agent:wiki-editor")
    seen.press("Enter")
    expect(seen.page.locator(ROWS)).to_have_count(of_wiki)

    narrow = look(demo_page, "/turns?project=demo", width=390)
    expect(narrow.page.locator(ROWS)).to_have_count(39)
    assert not narrow.page.locator(".facets .value").first.is_visible()
    narrow.page.click(".drawer")
    assert narrow.page.locator(".facets .value").first.is_visible()


def test_a_view_is_saved_found_renamed_and_removed(look: Look, demo_page: ServedPage) -> None:
    """It is an address: with its filter, order and columns, without the row one stands on."""
    seen = look(demo_page, "/turns?project=demo&f=rounds%3E2&sort=-cost&cols=cost")
    seen.page.wait_for_selector(ROWS)
    seen.press("j")
    seen.page.click("text=Save view")
    seen.page.keyboard.type("Long ones")
    seen.press("Enter")
    link = seen.page.locator(".saved-views a")
    expect(link).to_have_text("Long ones")
    expect(link).to_have_attribute("aria-current", "page")
    other = look(demo_page, "/sessions")
    other.page.wait_for_selector(ROWS)
    other.press("Control+k")
    other.page.keyboard.type("long o")
    other.page.click("[role=option]:has-text('view Long ones')")
    assert other.path.split("?")[0] == "/turns"
    expect(other.page.locator("th[aria-sort=descending]")).to_have_text("cost")
    expect(other.page.locator("th")).to_have_count(3)
    seen.page.click(".save-view")
    seen.page.keyboard.type("Costly")
    seen.page.click("button:text-is('Rename')")
    expect(link).to_have_text("Costly")
    for path, body, words in (
        ("save", b'{"name":"x","address":"//elsewhere.example/"}', "address"),
        ("save", b'{"name":"x","address":"javascript:1"}', "address"),
        ("save", b'{"name":"a\\u202eb","address":"/turns"}', "choose another"),
        ("rename", b'{"name":"none","new":"x"}', "No view is saved as 'none'; there are: Costly"),
        ("remove", b'{"name":"none"}', "No view is saved as 'none'"),
    ):
        reply = demo_page.ask(
            f"/api/views/{path}", method="POST", body=body, content_type="application/json"
        )
        assert reply.status == 400 and words in reply.json()["error"], reply
    seen.page.click(".save-view")
    seen.page.click("button:text-is('Remove')")
    expect(link).to_have_count(0)
    assert demo_page.ask("/api/views").json() == {"views": []}


AGENT = """
import sys, turnspan
turnspan.configure(capture_content=True, project="live", running_calls_after=0.01)

@turnspan.agent(name="first")
def first(said):
    turnspan.flush(local=True)
    print("at", flush=True)
    sys.stdin.readline()

@turnspan.agent(name="second")
def second(said):
    return "done"

first("Still at it?")
second("What is new?")
turnspan.flush(local=True)
print("ended", flush=True)
sys.stdin.readline()
asked = [{"role": "user", "content": "Without \u202e<b>agent</b>?"}]
with turnspan.inference(model="m", messages=asked) as call:
    turnspan.flush(local=True)
    print("at", flush=True)
    sys.stdin.readline()
    call.response(text="Indeed.")
turnspan.flush(local=True)
print("ended", flush=True)
"""


@pytest.mark.release
def test_rows_come_without_moving_what_is_read(
    look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that ends changes where it is, a new one is counted; a running turn without a session
    opens by a click anywhere on it."""
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
            seen = look(page, "/turns")
            seen.expected = ("ERR_CONNECTION_REFUSED",)  # of the server that ends before the page
            expect(seen.page.locator(ROWS)).to_contain_text("running")
            seen.page.locator(f"{ROWS} td").last.click()
            expect(seen.page.locator("main")).to_contain_text("it runs")
            assert seen.path.startswith("/s/live/~?")
            # The list shows what it has, and asks again: that answer may not hold the second turn.
            with seen.page.expect_response("**/api/turns*"):
                seen.page.go_back()
            expect(seen.page.locator(ROWS)).to_have_count(1)
            agent.stdin.write("\n")
            agent.stdin.flush()
            assert agent.stdout.readline() == "ended\n"
            expect(seen.page.locator(".fresh")).to_have_text("1 new turn")
            expect(seen.page.locator(ROWS)).not_to_contain_text("running")
            assert seen.page.locator(ROWS).count() == 1
            seen.page.click(".fresh button")
            expect(seen.page.locator(ROWS)).to_have_count(2)
            expect(seen.page.locator(ROWS).first).to_contain_text("What is new?")
            # A call outside of any agent is the turn that it begins, while it runs.
            agent.stdin.write("\n")
            agent.stdin.flush()
            assert agent.stdout.readline() == "at\n"
            expect(seen.page.locator(".fresh")).to_have_text("1 new turn")
            expect(seen.page.locator("footer")).to_contain_text("1 turn running")
            seen.page.click(".fresh button")
            expect(seen.page.locator(ROWS).first).to_contain_text("running")
            expect(seen.page.locator(ROWS).first).to_contain_text("<b>agent</b>?")
            seen.page.locator(ROWS).first.locator("td").last.click()
            expect(seen.page.locator("main")).to_contain_text("running for")
            seen.page.go_back()
            agent.stdin.write("\n")
            agent.stdin.flush()
            assert agent.stdout.readline() == "ended\n"
            expect(seen.page.locator(ROWS).first).to_contain_text("completed")
            assert seen.page.locator(ROWS).count() == 3
    finally:
        agent.stdin.close()
        agent.stdout.close()
        agent.kill()
        agent.wait()


@pytest.mark.release
def test_any_two_are_compared(look: Look, demo_page: ServedPage) -> None:
    """One is chosen, the tab keeps it on the way to the other; calls by what they were sent."""
    found = demo_page.ask("/api/turns?project=demo&sort=-calls&limit=2").json()["turns"]
    one, other = found
    seen = look(demo_page, f"/s/demo/{one['session']}")
    seen.page.click("header.bar >> text=Compare with …")
    expect(seen.page.locator(".comparing")).to_contain_text(one["session"][:12])
    seen.go("/sessions?project=demo")  # another document: the tab keeps it
    seen.page.click(f"{ROWS} >> text={other['session']}")
    seen.page.click("header.bar >> text=Compare with the last turn of")
    assert seen.path.startswith("/compare?") and "%2C" in seen.path
    seen.page.wait_for_selector("main :text-is('Compare')")
    expect(seen.page.locator(".comparing")).to_have_count(0)
    calls = [
        demo_page.ask(f"/api/outline?project=demo&session={turn['session']}").json()["outline"]
        for turn in found
    ]
    first, second = (outline["calls"][0]["span_id"] for outline in calls)
    seen.go(f"/call/demo/{first}")
    seen.page.click("header.bar >> text=Compare with …")
    seen.go(f"/call/demo/{second}")
    seen.page.click("header.bar >> text=Compare with call")
    assert seen.path.startswith(f"/diff/demo/{first}..{second}")
    expect(seen.page.locator("h1")).to_contain_text("What changed")


@pytest.mark.release
def test_no_list_is_wider_than_its_window(look: Look, whole_page: ServedPage) -> None:
    """On both sides of each width at which the layout changes, at 200 % and on a phone; with all
    columns too, which scroll without the frame."""
    styles = "".join(path.read_text(encoding="utf-8") for path in STYLES.glob("*.css"))
    edges = {int(width) for width in re.findall(r"\(max-width: (\d+)px\)", styles)}
    assert len(edges) > 3
    every = "time,rounds,calls,tools,input,output,cost,duration,session,user,version,service,error"
    seen = look(whole_page, "/turns")
    wide: list[str] = []
    for path in ("turns", f"turns?cols={every}", "sessions", "errors", "consortium"):
        seen.go(path)
        seen.page.wait_for_selector(ROWS)
        for width in sorted({390, 720, 1280, *edges, *(edge + 1 for edge in edges)}):
            seen.page.set_viewport_size({"width": width, "height": 800})
            over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            wide += [f"{path} at {width}: {over} too wide"] if over > 0 else []
    assert wide == []


def test_what_stays_at_the_top_stands_below_the_bar(look: Look, demo_page: ServedPage) -> None:
    """The headings, and what is done with selected rows: neither is covered."""
    seen = look(demo_page, "/turns?project=demo")
    seen.page.wait_for_selector(ROWS)
    below = """one => document.querySelector(one).getBoundingClientRect().top
      - document.querySelector(".top").getBoundingClientRect().bottom"""
    seen.page.evaluate("scrollTo(0, 700)")
    assert abs(seen.page.evaluate(below, "th")) <= 1
    seen.press(*["j"] * 20, "x")
    assert abs(seen.page.evaluate(below, ".selected")) <= 1
