"""The overview: its numbers are those of the records, and each leads to the turns behind it."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from support.pages import Look, ServedPage, Watched
from support.shared import REPOSITORY
from turnspan.turn.stop_reasons import LOOP_DETECTED, STOP_REASONS

DEMO = "project=demo&since=30d"
ROWS = "table.list tbody tr"


def filter_of(href: str | None) -> str:
    """The filter of an address of the list of turns."""
    return parse_qs(urlsplit(href or "").query).get("f", [""])[0]


def ended(seen: Watched) -> list[tuple[str, str, str]]:
    """The filter, words and number of each row of the ends."""
    rows = seen.page.locator('[aria-label="How turns ended"] .bars tr')
    return [
        (filter_of(row.locator("a").get_attribute("href")), words, number)
        for row in rows.all()
        for words, _, number, *_ in [row.inner_text().split("\t")]
    ]


def test_every_end_has_words() -> None:
    """Each stop reason and status; an application's own reason is shown as it is."""
    source = REPOSITORY / "console" / "page" / "src" / "parts" / "end.tsx"
    known = dict(
        re.findall(
            r'^  (\w+): kind\("([^"]+)"', source.read_text("utf-8").partition("} as const")[0], re.M
        )
    )
    assert {*STOP_REASONS, LOOP_DETECTED.rstrip(":"), "running", "interrupted"} == set(known)
    assert len(set(known.values())) == len(known)
    assert not any("_" in words for words in known.values())


def test_the_glossary_is_that_of_the_documentation() -> None:
    """Word for word; what the documentation does not have names a fact of a screen."""
    sources = REPOSITORY / "console" / "page" / "src"
    table = (sources / "parts" / "glossary.ts").read_text("utf-8")
    terms = dict(re.findall(r'^  "?([\w ]+)"?: "([^"]+)",$', table, re.M))
    assert len(terms) == table.count('",\n')
    words = (REPOSITORY / "docs" / "index.md").read_text("utf-8").partition("## Words")[2]
    told = {
        term: re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", meaning)
        for term, meaning in re.findall(r"^- \*\*([^*]+)\*\*: (.+)$", words, re.MULTILINE)
    }
    shared = {term: meaning for term, meaning in terms.items() if term in told}
    assert len(shared) >= 6
    assert shared == {term: told[term] for term in shared}
    inspector = (sources / "replay" / "inspector.tsx").read_text("utf-8")
    facts = set(re.findall(r'<Fact name="([^"]+)"|^  \["([^"]+)", "\w+_tokens"', inspector, re.M))
    assert set(terms) - set(told) <= {one or other for one, other in facts}


def test_a_bar_leads_to_its_turns(look: Look, demo_page: ServedPage) -> None:
    """As many as it says; the bars are the diagnostic's rows. So does the same end in the chart."""
    told = demo_page.ask(f"/api/overview/ends?{DEMO}").json()["ends"]
    expected = demo_page.ask(f"/api/diagnostic?name=how_turns_end&{DEMO}").json()["rows"]
    assert [(one["end"], one["turns"]) for one in told] == [tuple(row[:2]) for row in expected]
    seen = look(demo_page, f"/?{DEMO}")
    expect(seen.page.locator(".plot canvas")).to_have_count(3)
    found = ended(seen)
    assert [(f, number) for f, _, number in found] == [
        (f"stop:{one['end']}", str(one["turns"])) for one in told
    ]
    assert "cut by the token limit" in {words.strip() for _, words, _ in found}
    swatches = seen.page.locator('[aria-label="Cost by model"] .swatch')
    colors = swatches.evaluate_all("all => all.map((one) => one.style.background)")
    assert len(colors) == len(set(colors)) > 4
    plot = seen.page.locator('[aria-label="How turns ended"] .u-over')
    box = plot.bounding_box()
    assert box is not None
    # The last stretch is at the right; what most turns did stands at the bottom of its bar.
    seen.page.mouse.move(box["x"] + box["width"] - 12, box["y"] + box["height"] - 8)
    expect(plot.locator(".tip")).to_contain_text("completed: ")
    seen.page.mouse.down()
    seen.page.mouse.up()
    seen.page.wait_for_selector(ROWS)
    assert filter_of(seen.path) == "stop:completed"
    assert "since=2" in seen.path and "until=2" in seen.path
    seen.page.go_back()
    seen.page.click(".bars a >> text=cut by the token limit")
    [count] = [one["turns"] for one in told if one["end"] == "max_tokens"]
    expect(seen.page.locator(ROWS)).to_have_count(count)


def test_each_figure_leads_to_its_turns(look: Look, demo_page: ServedPage) -> None:
    """Six: the values are those of the answer, and the filter lists as many turns. Where the
    time has a beginning, each says what changed against as long before."""
    total = demo_page.ask(f"/api/overview/trend?{DEMO}").json()["total"]
    seen = look(demo_page, f"/?{DEMO}")
    figures = seen.page.locator(".figure")
    expect(figures).to_have_count(6)
    values = [text.strip() for text in figures.locator("b").all_inner_texts()]
    share = total["completed"] / (total["completed"] + total["problems"])
    assert values[:3] == [str(total["turns"]), f"{share:.1%}", f"${total['cost_usd']:.4f}"]
    assert values[5] == str(total["failed_tools"])
    filters = [filter_of(one.get_attribute("href")) for one in figures.all()]
    assert filters[:3] == ["", "stop:completed", "cost>0"]
    slow = demo_page.ask(f"/api/turns?{DEMO}&limit=500&filter={filters[3]}").json()["turns"]
    assert slow and all(one["duration"] >= total["p95_seconds"] for one in slow)
    failed = demo_page.ask(f"/api/turns?{DEMO}&limit=500&filter={filters[5]}").json()["turns"]
    assert sum(one["failed_tools"] for one in failed) == total["failed_tools"]
    figures.nth(1).click()
    expect(seen.page.locator(ROWS)).to_have_count(total["completed"])


@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_nothing_is_cut(look: Look, demo_page: ServedPage, width: int) -> None:
    """No table or text is wider than its card; the tab that is shown stands in the address."""
    seen = look(demo_page, f"/?{DEMO}&tab=expensive_calls", width=width)
    table = seen.page.locator('[aria-label="Expensive calls"] tbody tr')
    expect(table).to_have_count(6)
    expect(seen.page.locator(".plot canvas")).to_have_count(3)
    cut = seen.page.evaluate(
        """() => [...document.querySelectorAll("main :is(.panel, .figure, .behind)")]
          .filter((one) => one.scrollWidth > one.clientWidth + 1)
          .map((one) => `${one.className}: ${one.scrollWidth} > ${one.clientWidth}`)"""
    )
    assert cut == []
    small = seen.page.evaluate(
        """() => [...new Set([...document.querySelectorAll("#page *")]
          .filter((one) => one.childNodes.length && one.checkVisibility())
          .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 12)
          .map((one) => one.outerHTML.slice(0, 80)))]"""
    )
    assert small == []
    seen.page.click("text=Slow calls")
    expect(seen.page.locator('[aria-label="Slow calls"] tbody tr')).to_have_count(6)
    assert "tab=slow_calls" in seen.path


def test_what_to_look_at_leads_to_it(look: Look, demo_page: ServedPage) -> None:
    """The number is that of the list."""
    seen = look(demo_page, f"/?{DEMO}")
    link = seen.page.locator(".looks a").first
    count = int(link.inner_text().split()[0])
    link.click()
    expect(seen.page.locator("table.list tbody tr")).to_have_count(count)
    assert "f=look%3A" in seen.path


def test_a_failing_tool_leads_to_what_it_was_fed(look: Look, demo_page: ServedPage) -> None:
    """In Errors."""
    seen = look(demo_page, f"/?{DEMO}&tab=failing_tools")
    seen.page.click('.panel[aria-label="Failing tools"] a:has-text("run_query")')
    expect(seen.page.locator(".fed").first).to_be_visible()
    assert seen.path.startswith("/errors?") and "tool=run_query" in seen.path


def test_plots_have_tables(look: Look, demo_page: ServedPage) -> None:
    """One key shows what was drawn, the newest first; the figures are the records', and a stretch
    leads to its turns."""
    trend = demo_page.ask(f"/api/overview/trend?{DEMO}").json()
    seen = look(demo_page, f"/?{DEMO}")
    expect(seen.page.locator(".plot canvas")).to_have_count(3)
    seen.press("T")
    cost = seen.page.locator('.panel[aria-label="Cost by model"] .behind tbody tr')
    costly = [any(of) for of in zip(*(one["costs"] for one in trend["models"]), strict=True)]
    expect(cost).to_have_count(sum(costly))
    cost.first.locator("a").click()
    expect(seen.page.locator(ROWS).first).to_be_visible()
    assert filter_of(seen.path) == "cost>0"


def test_each_panel_has_its_sql(look: Look, demo_page: ServedPage) -> None:
    """Every one; with a key it is open, runs, and says what the panel did."""
    seen = look(demo_page, f"/?{DEMO}")
    expect(seen.page.locator(".panel a.sql")).to_have_count(5)
    ends = demo_page.ask(f"/api/overview/ends?{DEMO}").json()["ends"]
    seen.press("j", "S")
    rows = seen.page.locator(".result tbody tr")
    expect(rows).to_have_count(len(ends))
    for at, one in enumerate(ends):
        assert rows.nth(at).inner_text().split() == [one["end"], str(one["turns"])]


def test_a_project_without_turns_leads_to_those_that_have_some(
    look: Look, demo_page: ServedPage
) -> None:
    """The store is not empty: nobody is told how to begin."""
    seen = look(demo_page, "/?project=nobody")
    expect(seen.page.locator(".nothing")).to_contain_text("The project nobody has none")
    seen.page.get_by_role("link", name="Show all projects and all times").click()
    expect(seen.page.locator(".figure")).to_have_count(6)
