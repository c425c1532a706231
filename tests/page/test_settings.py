"""Settings: the doctor's findings, and what the store holds."""

from __future__ import annotations

from pathlib import Path

import orjson
from playwright.sync_api import expect

from support.pages import Look, ServedPage, served


def test_findings_and_tables_are_those_of_the_store(look: Look, demo_page: ServedPage) -> None:
    """Each finding with its remedy; tables with rows and bytes."""
    told = demo_page.ask("/api/settings").json()
    checks = told["checks"] + demo_page.ask("/api/surroundings").json()["checks"]
    assert {one["area"] for one in checks} >= {"store", "spool"}
    assert all(one["level"] != "fail" for one in checks), checks
    rows = {one["table"]: one["rows"] for one in told["tables"]}
    assert rows["turn_summary"] >= 49
    seen = look(demo_page, "/settings")
    expect(seen.page.locator(".checks li")).to_have_count(len(checks))
    tables = seen.page.locator('.panel[aria-label="Store"] tbody tr')
    expect(tables).to_have_count(len(told["tables"]))
    assert "turnspan doctor" in seen.page.inner_text(".status .command")


def test_who_listens_and_what_is_recorded(look: Look, demo_page: ServedPage) -> None:
    """The names that are answered, the settings by their variables; what would go, when asked."""
    names = demo_page.ask("/api/serving").json()["names"]
    assert demo_page.address.removeprefix("http://").rstrip("/") in names
    recording = {one["name"]: one for one in demo_page.ask("/api/surroundings").json()["recording"]}
    assert (recording["mask_secrets"]["value"], recording["mask_secrets"]["given"]) == (
        "yes",
        False,
    )
    seen = look(demo_page, "/settings")
    listens = seen.page.locator('.panel[aria-label="Servers"]')
    expect(listens).to_contain_text(", ".join(names))
    expect(listens).to_contain_text("page-token")
    assert demo_page.token not in seen.page.content()
    kept = seen.page.locator('.panel[aria-label="Retention"]')
    expect(kept).to_contain_text("90 days")
    assert not kept.locator('[role="status"]').count()
    kept.get_by_role("button", name="What would be deleted now?").click()
    expect(kept.locator('[role="status"]')).to_contain_text("0 rows would be deleted")


def test_without_its_store(look: Look, tmp_path: Path) -> None:
    """Who listens, what waits in the spool and what is recorded is known without it."""
    with served("http://127.0.0.1:9/away", tmp_path) as page:
        seen = look(page, "/settings")
        seen.expected = ("503",)
        seen.page.wait_for_selector("main > .problem")
        expect(seen.page.locator(".checks li").first).to_be_visible()
        assert "spool" in seen.page.inner_text(".checks")
        places = seen.page.locator('.panel[aria-label="Store"]')
        expect(places).to_contain_text("127.0.0.1:9/away")
        expect(seen.page.locator('.panel[aria-label="Servers"]')).to_contain_text("page-token")
        expect(seen.page.locator('.panel[aria-label="Recording"]')).to_contain_text("default")
        expect(seen.page.locator(".problem")).to_have_count(1)


def test_traces_lead_to_jaeger(look: Look, demo_page: ServedPage) -> None:
    """Once its address is given; one that is a program is refused."""
    sql = "SELECT project, span_id, trace_id FROM llm_call WHERE project = 'demo' LIMIT 1"
    body = orjson.dumps({"sql": sql})
    told = demo_page.ask("/api/sql", method="POST", body=body, content_type="application/json")
    [[project, span, trace]] = told.json()["rows"]
    seen = look(demo_page, "/settings")
    for address in ("javascript:alert(1)", "http://127.0.0.1:16686/"):
        seen.page.fill('input[name="jaeger"]', address)
        seen.press("Enter")
        refused = int(address.startswith("javascript"))
        expect(seen.page.locator("#jaeger-wrong")).to_have_count(refused)
    seen.go(f"/call/{project}/{span}")
    link = seen.page.locator('a:has-text("Jaeger")')
    expect(link).to_have_attribute("href", f"http://127.0.0.1:16686/trace/{trace}")
    expect(link).to_have_attribute("rel", "noreferrer")
