"""SQL of one's own, and the ways to what an id means."""

from __future__ import annotations

from urllib.parse import quote

import orjson
import pytest
from playwright.sync_api import expect

from support.pages import Look, Reply, ServedPage

ROWS = ".result tbody tr"


def run(page: ServedPage, sql: str, **parameters: str) -> Reply:
    """What the server makes of a statement."""
    body = orjson.dumps({"sql": sql, "parameters": parameters})
    return page.ask("/api/sql", method="POST", body=body, content_type="application/json")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM file('/etc/hostname', 'LineAsString')",
        "SELECT 1 INTO OUTFILE '/tmp/turnspan-page-test.csv'",
        "DROP TABLE turn_summary",
        "INSERT INTO turn_summary SELECT * FROM turn_summary",
        "SELECT 1; SELECT 2",
        "SELECT * FROM url('http://127.0.0.1:9/')",
        "SELECT 1 SETTINGS max_execution_time = 0",
        "KILL QUERY WHERE 1",
        "",
    ],
)
def test_it_reads_and_nothing_else(demo_page: ServedPage, sql: str) -> None:
    """What would do more is refused in a sentence."""
    answer = run(demo_page, sql)
    assert answer.status in (400, 422), answer.body
    assert answer.json()["error"]


def test_an_answer_has_an_end(demo_page: ServedPage) -> None:
    """And says that there was more."""
    answer = run(demo_page, "SELECT number FROM numbers(100000)").json()
    assert (len(answer["rows"]), answer["more"]) == (10_000, True)
    answer = run(demo_page, "SELECT {a:String} AS a, {b:UInt8} AS b", a="'\\", b="7").json()
    assert (answer["columns"], answer["rows"]) == (["a", "b"], [["'\\", 7]])


def test_every_example_runs(demo_page: ServedPage) -> None:
    """With the values that the page gives."""
    given = {"project": "", "since": "1970-01-01 00:00:00", "until": "2200-01-01 00:00:00"}
    told = demo_page.ask("/api/schema").json()
    assert {"turn_summary", "llm_call", "tool_call"} <= {one["name"] for one in told["tables"]}
    for example in told["examples"]:
        answer = run(demo_page, example["sql"], **given, limit="5")
        assert answer.status == 200, (example["name"], answer.body)


def test_a_statement_is_typed_and_run(look: Look, demo_page: ServedPage) -> None:
    """The address keeps it; cells of sessions lead to them; an error is the engine's own words."""
    seen = look(demo_page, "/sql")
    seen.page.wait_for_selector("textarea")
    seen.press("/")
    seen.press("Control+a")
    seen.page.keyboard.type("SELECT project, session_id AS session FROM turn_summary LIMIT 3")
    seen.press("Control+Enter")
    expect(seen.page.locator(ROWS)).to_have_count(3)
    assert "q=SELECT" in seen.path
    assert seen.page.locator(f"{ROWS} a").count() == 3
    seen.page.reload()
    expect(seen.page.locator(ROWS)).to_have_count(3)
    seen.expected = ("422",)
    seen.go(f"/sql?q={quote('SELECT stop_raeson FROM turn_summary')}")
    expect(seen.page.locator(".problem")).to_contain_text("stop_raeson")


def test_what_is_recorded_is_text_here_too(look: Look, demo_page: ServedPage) -> None:
    """In cells, in names of columns, and in what is saved."""
    name = "<img src=x onerror=alert(1)>"
    sql = f"SELECT user_message AS `{name}` FROM turn_summary WHERE project = '<b>hostile</b>'"
    seen = look(demo_page, f"/sql?q={quote(sql)}")
    expect(seen.page.locator(ROWS)).to_have_count(10)
    assert seen.page.locator("main img, main script").count() == 0
    with seen.page.expect_download() as download:
        seen.page.click("text=CSV")
    assert "\x1b" not in download.value.path().read_text()


def test_an_id_leads_to_its_record(look: Look, demo_page: ServedPage) -> None:
    """By its first six characters, from any screen; what is none says so."""
    [turn] = demo_page.ask("/api/turns?project=demo&limit=1").json()["turns"]
    seen = look(demo_page, f"/go/{turn['turn'][:8]}")
    seen.page.wait_for_url(f"**{turn['turn']}**")
    seen.go("/turns?project=demo")
    seen.page.wait_for_selector("table.list tbody tr")
    seen.press("Control+k")
    seen.page.keyboard.type(turn["session"])
    expect(seen.page.locator(".palette [role=option]").first).to_contain_text(turn["session"])
    seen.press("Enter")
    seen.page.wait_for_selector(".palette", state="detached")
    assert quote(turn["session"]) in seen.path
    seen.press("Control+k")
    seen.page.keyboard.type("overv")
    seen.press("Enter")
    expect(seen.page.locator("h1")).to_have_text("Overview")
    for typed, option in (("Wiki-Ed", "agent wiki-editor"), ("run_que", "tool run_query")):
        seen.press("Control+k")
        seen.page.keyboard.type(typed)
        seen.page.locator(".palette [role=option]", has_text=option).first.click()
        assert f"f={quote(option.replace(' ', ':'), safe='')}" in seen.path
        seen.page.wait_for_selector("table.list tbody tr")
    seen.press("Control+k")
    seen.page.keyboard.type("table inst")
    seen.press("Enter")
    expect(seen.page.locator(".histogram table")).to_be_visible()
    seen.go("/go/ffffffffffff")
    expect(seen.page.locator(".nothing")).to_contain_text("Nothing that is recorded")
