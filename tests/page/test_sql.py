"""SQL of one's own, and the ways to what an id means."""

from __future__ import annotations

import time
from urllib.parse import quote

import orjson
import pytest
from playwright.sync_api import Route, expect

from support.pages import Look, Reply, ServedPage
from turnspan_console.values import dollars

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
    """In the editor, which completes; the address keeps it; cells of sessions lead to them."""
    seen = look(demo_page, "/sql")
    editor = seen.page.get_by_role("textbox", name="Statement")
    seen.page.wait_for_selector(".schema details")  # what can be completed is known
    seen.page.wait_for_selector(".cm-content")
    seen.press("/")
    seen.press("Control+a")
    seen.page.keyboard.type("SELECT project, session_id AS session FROM turn_summ")
    info = seen.page.locator(".cm-completionInfo")
    expect(info).to_contain_text("One row per agent turn")
    seen.page.click(
        ".cm-completionLabel >> text=turn_summary"
    )  # Enter waits a moment for its reader
    seen.page.keyboard.type(" LIMIT 3 OFFSET session_i")
    expect(seen.page.locator(".cm-completionLabel").first).to_have_text("session_id")
    expect(seen.page.locator(".cm-completionDetail").first).to_have_text("String")
    seen.press("Escape")  # closes what may be completed, and is not the page's
    expect(seen.page.locator(".cm-completionLabel")).to_have_count(0)
    expect(editor).to_be_focused()
    seen.press(*["Backspace"] * 9, "0")
    seen.press("Control+Enter")
    expect(seen.page.locator(ROWS)).to_have_count(3)
    assert "q=SELECT+project%2C+session_id" in seen.path
    assert seen.page.locator(f"{ROWS} a").count() == 3
    seen.press("Tab")  # no trap
    expect(seen.page.get_by_role("button", name="Run", exact=True)).to_be_focused()
    seen.press("Shift+Tab", "Escape")
    expect(editor).not_to_be_focused()
    seen.page.reload()
    expect(seen.page.locator(ROWS)).to_have_count(3)


def test_an_error_is_shown_where_it_is(look: Look, demo_page: ServedPage) -> None:
    """In UTF-16 as the page counts, with what the engine thinks was meant."""
    sql = "SELECT '\U0001f600',\n  stop_raeson FROM turn_summary"
    seen = look(demo_page, f"/sql?q={quote(sql)}")
    seen.expected = ("422",)
    expect(seen.page.locator(".problem")).to_contain_text("stop_raeson")
    expect(seen.page.locator(".cm-wrong")).to_have_text("stop_raeson")
    seen.page.click("text=Line 2, column 3")
    seen.press("ArrowRight")
    seen.page.keyboard.type("x")
    expect(seen.page.locator(".cm-line").nth(1)).to_have_text("  stop_raesonx FROM turn_summary")
    expect(seen.page.locator(".cm-wrong")).to_have_count(0)
    seen.press("Backspace")
    seen.page.click("text=Use stop_reason")
    seen.press("Control+Enter")
    expect(seen.page.locator(ROWS).first).to_contain_text("\U0001f600")


def test_without_the_editor_there_is_a_field(look: Look, demo_page: ServedPage) -> None:
    """Where its file cannot be loaded."""
    seen = look(demo_page, "/turns?project=demo")
    seen.expected = ("Failed to load resource",)
    seen.page.route("**/static/editor.js", lambda route: route.abort())
    seen.go("/sql")
    seen.page.fill("textarea", "SELECT 1 AS one, coutn() FROM turn_summary")
    seen.press("Control+Enter")
    seen.page.click("text=Use count")
    seen.press("Control+Enter")
    expect(seen.page.locator(ROWS)).to_have_count(1)


@pytest.mark.release
def test_the_editor_comes_while_somebody_types(look: Look, demo_page: ServedPage) -> None:
    """Each key is in the text, and the next one goes where the last one went."""
    seen = look(demo_page, "/turns?project=demo")
    held: list[Route] = []
    seen.page.route("**/static/editor.js", lambda route: held.append(route))
    seen.go("/sql")
    seen.page.click("textarea")
    seen.press("Control+a")
    seen.page.keyboard.type("SELECT 1 AS one,")
    seen.page.wait_for_function("document.querySelector('textarea').value.endsWith('one,')")
    held.pop().continue_()
    typed = " ".join(str(number) for number in range(40))
    seen.page.keyboard.type(f" '{typed}'", delay=10)
    text = seen.page.get_by_role("textbox", name="Statement")
    expect(seen.page.locator(".cm-content")).to_have_text(f"SELECT 1 AS one, '{typed}'")
    expect(text).to_be_focused()


def test_a_chart_and_a_plan(look: Look, demo_page: ServedPage) -> None:
    """By the types, with the table behind it; the address says which."""
    bars = (
        "SELECT stop_reason, count() AS turns FROM turn_summary WHERE project = 'demo' GROUP BY 1"
    )
    seen = look(demo_page, f"/sql?q={quote(bars)}")
    expect(seen.page.locator(ROWS).first).to_be_visible()
    seen.press("T")
    expect(seen.page.locator("caption")).to_have_text("turns")
    assert "view=chart" in seen.path
    stops = run(demo_page, bars).json()["rows"]
    shown = seen.page.locator(".charted tr").all_inner_texts()
    assert [" ".join(one.split()) for one in shown] == [f"{one} {turns}" for one, turns in stops]
    lines = "SELECT start_time, agent_name, rounds FROM turn_summary"
    seen.go(f"/sql?view=chart&q={quote(lines)}")
    seen.page.wait_for_selector(".charted canvas")
    assert seen.page.locator(".legend li").count() == 8
    expect(seen.page.locator("main")).to_contain_text("more of agent_name")
    seen.page.click("button:text('Plan')")
    expect(seen.page.locator(".plan")).to_contain_text("ReadFromMergeTree")
    seen.page.reload()
    expect(seen.page.locator(".plan")).to_contain_text("turn_summary")


def test_the_reader_picks_the_chart(look: Look, demo_page: ServedPage) -> None:
    """Its kind and its columns, which stand in the address; cost is drawn as any number is, and
    rows that share a time and a name are added up."""
    sql = (
        "SELECT toStartOfYear(start_time) AS year, agent_name AS agent, models[1] AS model,"
        " sum(cost_usd) AS cost_usd, count() AS turns FROM turn_summary"
        " WHERE project = 'demo' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    rows = run(demo_page, sql).json()["rows"]
    agents = {agent for _, agent, *_ in rows}
    seen = look(demo_page, f"/sql?view=chart&q={quote(sql)}")
    page = seen.page
    expect(page.locator(".charted")).to_have_count(2)
    for name, value in (("Value", "cost_usd"), ("Split by", "agent")):
        page.click(f"[aria-label^='{name}:']")
        page.keyboard.type(value)
        seen.press("Enter")
    page.click("text=Stacked bars")
    assert {"kind=stacked", "value=cost_usd", "split=agent"} <= set(seen.path.split("&"))
    expect(page.locator(".charted h2")).to_have_text("cost_usd")
    expect(page.locator(".legend li")).to_have_count(len(agents))
    expect(page.locator("main")).to_contain_text("Rows of one time and name are added up.")
    box = page.locator(".charted .u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 60)
    for agent in agents:
        cost = sum(float(row[3] or 0) for row in rows if row[1] == agent)
        expect(page.locator(".tip")).to_contain_text(f"{agent}: {dollars(cost)}")
    page.click("[aria-label^='Across:']")
    page.keyboard.type("model")
    seen.press("Enter")
    expect(page.locator(".charted caption")).to_have_text("cost_usd")
    page.reload()
    expect(page.locator(".charted caption")).to_have_text("cost_usd")
    assert "across=model" in seen.path


def test_who_leaves_ends_the_query(look: Look, demo_page: ServedPage) -> None:
    """In the engine as well: the next one would wait for it otherwise, for 10 seconds."""
    slow = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"
    seen = look(demo_page, f"/sql?q={quote(slow)}")
    for leaving in (("Escape",), ("g", "t")):
        expect(seen.page.get_by_text("Running …")).to_be_visible()
        begun = time.monotonic()
        seen.press(*leaving)
        assert run(demo_page, "SELECT 1").json()["rows"] == [[1]]
        assert time.monotonic() - begun < 9  # the limit of a statement is ten
        seen.go(f"/sql?q={quote(slow)}")


def test_a_statement_is_saved(look: Look, demo_page: ServedPage) -> None:
    """It has an address, is found by the palette, and the command line knows it."""
    sql = "SELECT count() FROM turn_summary WHERE project = {project:String}"
    seen = look(demo_page, f"/sql?p.project=demo&q={quote(sql)}")
    expect(seen.page.locator(ROWS)).to_have_count(1)
    seen.page.click("text=Save …")
    seen.page.keyboard.type("how many")
    seen.press("Enter")
    seen.page.wait_for_url("**saved=how+many**")
    assert "q=" not in seen.path
    command = "turnspan sql --saved 'how many' --param project=demo"
    expect(seen.page.locator(".status .command")).to_contain_text(command)
    seen.go("/turns?project=demo")
    seen.press("Control+k")
    seen.page.keyboard.type("how ma")
    expect(seen.page.locator(".palette [role=option]").first).to_have_text("SQL how many")
    seen.press("Enter")
    expect(seen.page.locator(ROWS)).to_have_count(1)
    assert {"name": "how many", "sql": sql} in demo_page.ask("/api/sql/saved").json()["queries"]
    seen.go("/sql?saved=none")
    expect(seen.page.get_by_role("alert")).to_contain_text("No statement is saved as “none”")


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


@pytest.mark.release
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
    seen.page.keyboard.type("switch between plot")
    seen.press("Enter")
    expect(seen.page.locator(".histogram table")).to_be_visible()
    seen.go("/go/ffffffffffff")
    expect(seen.page.locator(".nothing")).to_contain_text("No record has this id")
