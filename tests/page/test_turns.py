"""Turns and sessions on the page: their numbers are those of turnspan_records."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import expect

from support.hostile_rows import PROJECT, SESSIONS, TEXTS
from support.pages import Look, ServedPage, Watched

ROWS = "table.list tbody tr"


def texts(seen: Watched, selector: str) -> list[str]:
    """The texts of all elements that match."""
    seen.page.wait_for_selector(selector)
    return seen.page.locator(selector).all_inner_texts()


def marks(seen: Watched, *, some: bool) -> int:
    """How many places are marked, as soon as there are some, or none."""
    number = 0
    for _ in range(100):
        number = int(seen.page.evaluate("() => CSS.highlights.get('found')?.size ?? 0"))
        if bool(number) == some:
            break
        seen.page.wait_for_timeout(100)
    return number


def test_the_list_is_what_the_records_say(look: Look, demo_page: ServedPage) -> None:
    """Row by row, in the words of the command line."""
    answer = demo_page.ask("/api/turns?project=demo").json()
    seen = look(demo_page, "/turns?project=demo")
    rows = texts(seen, ROWS)
    assert len(rows) == len(answer["turns"]) == 39
    ends = seen.page.locator(f"{ROWS} .end").evaluate_all("all => all.map(one => one.title)")
    for row, end, turn in zip(rows, ends, answer["turns"], strict=True):
        assert turn["agent"] in row
        assert end.startswith(turn["end"])
        assert " ".join(turn["user_message"].split()) in row
    assert seen.page.inner_text(".status .command") == "$ turnspan turns --project demo"
    assert "39 turns" in seen.page.inner_text(".status")


def test_a_facet_is_a_filter_and_a_chip(look: Look, demo_page: ServedPage) -> None:
    """What it counts is what is then listed; the address keeps it, and back undoes it."""
    seen = look(demo_page, "/turns?project=demo")
    button = seen.page.locator(".facets button", has_text="cut by the token limit")
    counted = int(button.locator(".number").inner_text())
    button.click()
    expect(seen.page.locator(ROWS)).to_have_count(counted)
    assert "f=stop%3Amax_tokens" in seen.path
    assert {end.strip() for end in texts(seen, f"{ROWS} .end")} == {"cut by the token limit"}
    assert "--filter stop:max_tokens" in seen.page.inner_text(".status .command")
    seen.page.go_back()
    expect(seen.page.locator(ROWS)).to_have_count(39)
    seen.page.go_forward()
    seen.page.click(".chip")
    expect(seen.page.locator(ROWS)).to_have_count(39)


def test_a_filter_is_typed(look: Look, demo_page: ServedPage) -> None:
    """With one key to get there; one that is none is a sentence."""
    seen = look(demo_page, "/turns?project=demo")
    texts(seen, ROWS)
    seen.press("/")
    seen.page.keyboard.type("rounds>3")
    seen.press("Enter")
    expect(seen.page.locator(ROWS)).not_to_have_count(39)
    seen.expected = ("400",)
    seen.go("/turns?f=colour%3Ared")
    seen.page.wait_for_selector(".problem")
    assert "There is no filter 'colour'" in seen.page.inner_text(".problem")


def test_the_histogram_is_a_window(look: Look, demo_page: ServedPage) -> None:
    """Its table says what its bars do, and a stretch of bars is a time."""
    told = demo_page.ask("/api/histogram?project=demo").json()
    seen = look(demo_page, "/turns?project=demo")
    seen.page.wait_for_selector(".histogram svg")
    assert seen.page.locator(".histogram g").count() == len(told["bins"])
    seen.press("T")
    in_table = texts(seen, ".histogram tbody td:nth-child(2)")
    assert sum(map(int, in_table)) == told["turns"] == 39
    seen.press("T")
    box = seen.page.locator(".histogram svg").bounding_box()
    assert box is not None
    seen.page.mouse.move(box["x"] + 1, box["y"] + 10)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 10)
    seen.page.mouse.up()
    assert "since=20" in seen.path
    assert "until=20" in seen.path
    expect(seen.page.locator(ROWS)).to_have_count(39)


def test_a_text_is_found_with_how_far_back(look: Look, demo_page: ServedPage) -> None:
    """The hits, each with its place; and that everything was looked through."""
    seen = look(demo_page, "/turns?project=demo&q=lighthouse")
    found = texts(seen, f"{ROWS} mark")
    assert {one.lower() for one in found} == {"lighthouse"}
    assert "the search is complete" in seen.page.inner_text(".reach")
    assert "turnspan find lighthouse" in seen.page.inner_text(".status .command")
    answer = demo_page.ask("/api/find?project=demo&text=lighthouse").json()
    groups = seen.page.locator(".hit .group")
    expect(groups).to_have_count(len({one["session"] for one in answer["hits"]}))
    newest = next(one for one in answer["sessions"] if one["scope"] == answer["hits"][0]["session"])
    for words in (newest["agent"], newest["session"], "hit"):
        expect(groups.first).to_contain_text(words)
    # The facets are those of the sessions in which it was found, and filter the hits.
    value = seen.page.locator("section[aria-label=ended] .value").last
    value.click()
    expect(seen.page.locator(".facets [aria-pressed=true]")).to_have_count(1)
    expect(groups).not_to_have_count(len({one["session"] for one in answer["hits"]}))
    seen.page.go_back()
    seen.page.wait_for_selector(ROWS)
    seen.press("j", "Enter")
    assert seen.path.startswith("/s/demo/")
    assert marks(seen, some=True)
    expect(seen.page.locator("article[aria-current=true]")).to_be_visible()
    seen.page.wait_for_function(
        "() => Math.min(...[...(CSS.highlights.get('found') ?? [])]"
        ".map((one) => one.getBoundingClientRect().top).filter((top) => top > 60)) < 800 / 2"
    )
    seen.press("Escape")
    assert not marks(seen, some=False)


def test_a_hit_opens_its_own_message(look: Look, demo_page: ServedPage) -> None:
    """Not the first place of the session: each hit of a text that many messages have. What is
    found is in the window."""
    answer = demo_page.ask("/api/find?project=demo&text=lighthouse").json()
    order = list(dict.fromkeys(one["session"] for one in answer["hits"]))
    wanted = sorted(answer["hits"], key=lambda one: order.index(one["session"]))
    assert {"user message", "assistant message", "tool arguments"} <= {x["kind"] for x in wanted}
    assert all(bool(one["message"]) == (one["turn"] == "") for one in wanted)
    seen = look(demo_page, "/turns?project=demo&q=lighthouse")
    seen.page.wait_for_selector(f"{ROWS} mark")
    hrefs = seen.page.eval_on_selector_all(f"{ROWS} a", "all => all.map((a) => a.href)")
    targets = [href for href in hrefs if "q=" in href]
    assert len(targets) == len(wanted)
    for hit, target in zip(wanted, targets, strict=True):
        seen.turn_to(target.removeprefix(seen.served.address))
        seen.page.wait_for_function(
            """has => {
              const row = document.querySelector("[aria-current=true].row");
              const seen = [...(CSS.highlights.get("found") ?? [])].find(
                (one) => row?.contains(one.startContainer) && one.getClientRects().length);
              const top = seen?.getBoundingClientRect().top ?? 100;
              return row?.textContent.includes(has) && top > 60 && top < innerHeight - 60;
            }""",
            arg=hit["match"] + re.split(r"[\n\"\\*|{}]", hit["after"])[0][:30],
        )


def test_sessions_are_listed(look: Look, demo_page: ServedPage) -> None:
    """As the records have them."""
    told = demo_page.ask("/api/sessions?project=demo").json()["sessions"]
    seen = look(demo_page, "/sessions?project=demo")
    assert texts(seen, f"{ROWS} .name") == [one["session"] for one in told]
    seen.press("n", "Enter")
    [first] = [one for one in told if one["problems"]][:1]
    assert seen.path.startswith(f"/s/demo/{first['session']}")


def test_rows_have_their_sql_and_their_file(look: Look, demo_page: ServedPage) -> None:
    """What is shown, as a file and as a statement that gives the same; what is selected as a
    file."""
    told = demo_page.ask("/api/turns?project=demo&filter=stop:max_tokens").json()["turns"]
    seen = look(demo_page, "/turns?project=demo&f=stop%3Amax_tokens")
    texts(seen, ROWS)
    for kind in ("JSON", "CSV"):
        with seen.page.expect_download() as saved:
            seen.page.click(f'button:text-is("{kind}")')
        written = Path(saved.value.path()).read_text("utf-8")
        if kind == "JSON":
            assert json.loads(written) == told
        else:
            assert [row["turn"] for row in csv.DictReader(written.splitlines())] == [
                one["turn"] for one in told
            ]
    seen.page.click(f"{ROWS}:nth-child(2) input")
    with seen.page.expect_download() as saved:
        seen.page.click(".selected button:text-is('JSON')")
    assert json.loads(Path(saved.value.path()).read_text("utf-8")) == told[1:2]
    for path in ("", "/sessions?project=demo", "/turns?project=demo&q=lighthouse"):
        if path:
            seen.go(path)
        expected = len(texts(seen, ROWS))
        seen.press("S")
        rows = seen.page.locator(".result tbody tr")
        if "q=" in path:  # a message that a turn has as well is one hit, and two rows
            expect(rows.nth(expected - 1)).to_be_visible()
        else:
            expect(rows).to_have_count(expected)


def test_a_turn_is_looked_at_without_leaving(look: Look, demo_page: ServedPage) -> None:
    """Space shows it beside the list, Escape takes it away."""
    seen = look(demo_page, "/turns?project=demo")
    [row, *_] = texts(seen, ROWS)
    seen.press("j", "Space")
    said = row.strip().split("\n")[0].strip()
    assert said.removesuffix("…")[:60] in seen.page.inner_text(".peek")
    seen.press("Escape")
    seen.page.wait_for_selector(".peek", state="detached")


def test_what_is_recorded_is_text(look: Look, demo_page: ServedPage) -> None:
    """No element comes of it, nothing is fetched, and what hides is shown."""
    project = quote(PROJECT, safe="")
    seen = look(demo_page, f"/turns?project={project}")
    assert len(texts(seen, ROWS)) == len(SESSIONS)
    assert seen.page.locator("main img, main script, main h1 h1, main svg[onload]").count() == 0
    marks = set(texts(seen, f"{ROWS} .unfit"))
    assert {"ESC", "U+202E", "U+202C", "U+200B", "BEL", "NUL", "U+FEFF"} <= marks
    for row in range(len(SESSIONS)):
        seen.press("j")
        seen.press("Space")
        seen.page.wait_for_selector(".peek")
        seen.press("Space")
        assert seen.page.locator("tbody tr").nth(row).get_attribute("aria-selected") == "true"
    seen.go(f"/turns?project={project}&q={quote(TEXTS[0][:30])}")
    assert texts(seen, f"{ROWS} mark")
    seen.go(f"/sessions?project={project}")
    assert len(texts(seen, ROWS)) == len(SESSIONS)


def test_any_session_has_an_address(look: Look, demo_page: ServedPage) -> None:
    """Also one that an address would swallow: it is read back as it was."""
    seen = look(demo_page, f"/sessions?project={quote(PROJECT, safe='')}")
    texts(seen, ROWS)
    links = seen.page.eval_on_selector_all(
        f"{ROWS} a.name", "all => all.map(one => new URL(one.href).pathname)"
    )
    read = seen.page.evaluate(
        """links => links.map(link => link.split("/").slice(1).map(part => {
             const plain = decodeURIComponent(part);
             return plain.startsWith("~") ? plain.slice(1) : plain;
           }))""",
        links,
    )
    assert sorted(read) == sorted(["s", PROJECT, session] for session in SESSIONS)
