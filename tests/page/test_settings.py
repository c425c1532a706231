"""Settings: the doctor's findings, and what the store holds."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from support.barriers import barriers
from support.pages import Look, Scheme, ServedPage


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


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_nobody_is_kept_out(look: Look, demo_page: ServedPage, scheme: Scheme) -> None:
    """No barrier on a wide and on a narrow page."""
    width = 1440 if scheme == "dark" else 400
    seen = look(demo_page, "/settings", width=width, scheme=scheme, bypass_csp=True)
    seen.page.wait_for_selector(".checks li")
    assert barriers(seen) == []
