"""An empty store on the page: three ways to its first record, each of which works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.barriers import barriers
from support.clickhouse_server import ANALYST_PASSWORD, ClickHouseServer
from support.kept_stores import migrated
from support.pages import Look, served
from turnspan_clickhouse.store.dsn import Dsn

DEMO = "api/first-records/demo"
# The screen comes anew as soon as there is a store.
OFFERED = """
() => {
  window.offered = false;
  new MutationObserver(() => {
    const button = document.querySelector(".welcome button.primary");
    offered ||= Boolean(button && !button.disabled);
  }).observe(document.body, { childList: true, subtree: true, attributes: true });
}
"""


@pytest.mark.release
def test_an_empty_store_gets_its_first_records(look: Look, tmp_path: Path) -> None:
    """The lines name the store, OTLP is tested, and the demo's records are shown as they arrive.
    Then it is not played again, and a time without turns is no empty store."""
    store = Dsn(scheme="chdb", path=tmp_path / "no store yet")
    with served(str(store), tmp_path / "home", "--receive-port", "0") as page:
        seen = look(page, "/turns", width=390, scheme="dark", bypass_csp=True)
        seen.expected = ("503",)
        expect(seen.page.get_by_role("heading", level=1)).to_have_text("Nothing is recorded yet")
        expect(seen.page.get_by_text("Waiting for the first record.")).to_be_visible()
        lines = seen.page.locator("pre.lines")
        expect(lines).to_contain_text(f'store="{store}",')
        expect(seen.page.get_by_text("Tested: it takes spans for this store.")).to_be_visible()
        (otlp,) = page.ask("/api/first-records").json()["otlp"]
        expect(seen.page.get_by_role("button", name=otlp["endpoint"])).to_be_visible()
        assert barriers(seen) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        seen.page.get_by_role("button", name="Play the demo into this store").press("Enter")
        expect(seen.page.get_by_role("button", name="Playing the demo")).to_be_disabled()
        seen.page.evaluate(OFFERED)
        expect(seen.page.get_by_text("The first record has arrived, in project")).to_be_visible()
        assert not seen.page.evaluate("offered"), "the demo was offered while it was played"
        expect(seen.page.get_by_role("heading", level=1)).to_have_text("Turns")
        assert page.ask("/api/store").json()["projects"] == ["demo"]

        again = page.ask(DEMO, method="POST", body=b"{}", content_type="application/json")
        assert again.status == 400
        assert f"{store} has records already" in again.json()["error"]
        seen.turn_to("/?project=demo&since=2020-01-01&until=2020-01-02")
        expect(seen.page.get_by_text("The project demo has none in this time.")).to_be_visible()
        seen.page.get_by_role("link", name="Show all projects and all times").click()
        expect(seen.page.get_by_text("completed").first).to_be_visible()


def test_the_demo_is_not_played_into_a_store_that_is_only_read(
    server_dsn: Dsn, clickhouse_server: ClickHouseServer, tmp_path: Path
) -> None:
    """Who may not write is told so before anything is played; a receiver that is gone is not
    named."""
    with migrated(server_dsn):
        reader = clickhouse_server.dsn(
            server_dsn.database, user="analyst", password=ANALYST_PASSWORD
        )
    address = str(reader).replace("analyst@", f"analyst:{ANALYST_PASSWORD}@")
    with served(address, tmp_path / "home") as page:
        answer = page.ask(DEMO, method="POST", body=b"{}", content_type="application/json")
        ways = page.ask("/api/first-records")
    assert answer.status == 403, answer.body
    assert "start `turnspan console` as a user who may" in answer.json()["error"]
    assert json.loads(ways.body) == {"store": str(reader), "otlp": [], "demo_problem": ""}
    assert ANALYST_PASSWORD not in ways.body.decode()
