"""Errors on the page: as the records count them, with what a tool was fed and what came next."""

from __future__ import annotations

from playwright.sync_api import expect

from support.pages import Look, ServedPage

ROWS = "table.list tbody tr"


def test_they_are_what_the_records_say(look: Look, demo_page: ServedPage) -> None:
    """Shape by shape, with the times and the rate."""
    told = demo_page.ask("/api/errors?project=demo").json()["shapes"]
    assert told
    seen = look(demo_page, "/errors?project=demo")
    rows = seen.page.locator(ROWS)
    expect(rows).to_have_count(len(told))
    for at, one in enumerate(told):
        cells = [cell.strip() for cell in rows.nth(at).inner_text().split("\t")]
        assert cells[0].endswith(one["name"])
        assert cells[1:3] == [one["error"], str(one["times"])]
        rate = f"{one['times'] / one['of']:.1%}" if one["of"] else ""
        assert cells[3] == rate


def test_a_tool_is_looked_at_closely(look: Look, demo_page: ServedPage) -> None:
    """With keys alone: arguments that fail beside those that work, and what the model did next."""
    told = demo_page.ask("/api/errors/tool?project=demo&tool=run_query").json()
    seen = look(demo_page, "/errors?project=demo")
    expect(seen.page.locator(ROWS).first).to_contain_text("run_query")
    seen.press("j", "Enter")
    panel = seen.page.locator(".panel")
    expect(panel.locator(".fed")).to_have_count(len(told["fed"]))
    for step in told["next_steps"]:
        expect(panel.locator(".looks")).to_contain_text(step["did"])
    for one in told["fed"]:
        expect(panel).to_contain_text(one["arguments"][:40])
    seen.press("Escape")
    expect(panel).to_have_count(0)
