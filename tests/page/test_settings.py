"""Settings: the doctor's findings, and what the store holds."""

from __future__ import annotations

from playwright.sync_api import expect

from support.pages import Look, ServedPage


def test_findings_and_tables_are_those_of_the_store(look: Look, demo_page: ServedPage) -> None:
    """Each finding with its remedy; tables with rows and bytes."""
    told = demo_page.ask("/api/settings").json()
    assert {one["area"] for one in told["checks"]} >= {"store", "spool"}
    assert all(one["level"] != "fail" for one in told["checks"]), told["checks"]
    rows = {one["table"]: one["rows"] for one in told["tables"]}
    assert rows["turn_summary"] >= 49
    seen = look(demo_page, "/settings")
    expect(seen.page.locator(".checks li")).to_have_count(len(told["checks"]))
    expect(seen.page.locator("table.list tbody tr")).to_have_count(len(told["tables"]))
    assert "turnspan doctor" in seen.page.inner_text(".status .command")
