"""The overview: its numbers are those of the records, and each leads to the turns behind it."""

from __future__ import annotations

from playwright.sync_api import expect

from support.pages import Look, ServedPage

DEMO = "project=demo&since=30d"


def test_a_bar_leads_to_its_turns(look: Look, demo_page: ServedPage) -> None:
    """As many as it says; the bars are the diagnostic's rows."""
    told = demo_page.ask(f"/api/overview/ends?{DEMO}").json()["ends"]
    expected = demo_page.ask(f"/api/diagnostic?name=how_turns_end&{DEMO}").json()["rows"]
    assert [(one["end"], one["turns"]) for one in told] == [tuple(row[:2]) for row in expected]
    seen = look(demo_page, f"/?{DEMO}")
    rows = seen.page.locator(".bars tr")
    expect(rows).to_have_count(len(told))
    for at, one in enumerate(told):
        text = rows.nth(at).inner_text()
        assert one["end"] in text
        assert str(one["turns"]) in text
    seen.page.click(".bars a >> text=max_tokens")
    [count] = [one["turns"] for one in told if one["end"] == "max_tokens"]
    expect(seen.page.locator("table.list tbody tr")).to_have_count(count)


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
    seen = look(demo_page, f"/?{DEMO}")
    seen.page.click('.panel[aria-label="Failing tools"] a:has-text("run_query")')
    expect(seen.page.locator(".fed").first).to_be_visible()
    assert seen.path.startswith("/errors?") and "tool=run_query" in seen.path


def test_plots_have_tables(look: Look, demo_page: ServedPage) -> None:
    """One key shows what was drawn; the figures are the records'."""
    trend = demo_page.ask(f"/api/overview/trend?{DEMO}").json()
    seen = look(demo_page, f"/?{DEMO}")
    expect(seen.page.locator(".plot canvas")).to_have_count(2)
    seen.press("T")
    cost = seen.page.locator('.panel[aria-label^="Cost"] tbody tr')
    expect(cost).to_have_count(len(trend["buckets"]))
    assert f"{trend['total']['cost_usd']:.4f}" in seen.page.inner_text("h2 >> text=Cost")


def test_each_panel_has_its_sql(look: Look, demo_page: ServedPage) -> None:
    """Every one; with a key it is open, runs, and says what the panel did."""
    seen = look(demo_page, f"/?{DEMO}")
    expect(seen.page.locator(".panel a.sql")).to_have_count(8)
    ends = demo_page.ask(f"/api/overview/ends?{DEMO}").json()["ends"]
    seen.press("j", "S")
    rows = seen.page.locator(".result tbody tr")
    expect(rows).to_have_count(len(ends))
    for at, one in enumerate(ends):
        assert rows.nth(at).inner_text().split() == [one["end"], str(one["turns"])]


def test_nothing_says_how_to_begin(look: Look, demo_page: ServedPage) -> None:
    """The lines that record something."""
    seen = look(demo_page, "/?project=nobody")
    expect(seen.page.locator(".nothing")).to_contain_text("turnspan.configure()")
