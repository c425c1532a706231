"""Every number that is shown is that of the records: of SQL that is written here, and of the SQL
that the page itself shows, over the demo's records and real runs of others."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import orjson
import pytest
from playwright.sync_api import expect

from support.pages import Look, ServedPage, Watched
from support.screens import ROWS
from turnspan_console.values import dollars, seconds

DEMO = "project=demo"
UNKNOWN = "\u2013"
PANELS = """
() => [...document.querySelectorAll("main .panel")].map((panel) => ({
  title: panel.getAttribute("aria-label"),
  sql: panel.querySelector("a.sql")?.getAttribute("href") ?? "",
  heads: [...panel.querySelectorAll("thead th")].map((one) => one.innerText),
  rows: [...panel.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("td")].map((one) => one.innerText)),
  text: panel.innerText,
}))
"""
CELLS = """
() => [...document.querySelectorAll("main table.list tbody tr")].map((row) => [
  row.querySelector("a")?.getAttribute("href") ?? "",
  ...[...row.querySelectorAll("td")].map((one) => one.innerText.replaceAll("\\n", " "))])
"""


def ask(page: ServedPage, sql: str) -> list[dict[str, Any]]:
    """The rows of a statement, which nobody but us has written or which the page shows."""
    body = orjson.dumps({"sql": sql, "parameters": {}})
    answer = page.ask("/api/sql", method="POST", body=body, content_type="application/json")
    assert answer.status == 200, answer.body
    told = answer.json()
    return [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]


def shown(value: Any, column: str) -> str:
    """As the page writes a value of a column: by the names that the diagnostics give."""
    if value is None:
        return UNKNOWN
    if column.endswith("_usd"):
        return dollars(value)
    if column.endswith(("_rate", "_share")):
        return f"{value * 100:.1f}%"
    if column.endswith(("_seconds", "duration")):
        return seconds(value)
    return f"{value:,}"


def param(address: str, name: str) -> str:
    """A parameter of an address of the page."""
    [value] = parse_qs(urlsplit(address).query)[name]
    return value


def path_of(address: str) -> str:
    """Its path."""
    return urlsplit(address).path


def settled(seen: Watched, path: str, ready: str) -> None:
    """Open a screen, and wait until all of it is there."""
    seen.turn_to(path)
    seen.page.wait_for_selector(ready)
    expect(seen.page.locator(".stale, .waiting")).to_have_count(0)


@pytest.fixture
def seen(look: Look, whole_page: ServedPage) -> Watched:
    """The page, to be turned to its screens."""
    return look(whole_page, "/settings", width=1600, height=1000)


def test_the_overview(seen: Watched, whole_page: ServedPage) -> None:
    """Ends, cost and durations; each panel's rows are those of the SQL behind it, run again."""
    settled(seen, f"?{DEMO}", ".plot canvas")
    expect(seen.page.locator("main .panel a.sql")).to_have_count(5)
    panels = {panel["title"]: panel for panel in seen.page.evaluate(PANELS)}
    for tab in ("Failing tools", "Expensive calls", "Slow calls"):
        name = tab.lower().replace(" ", "_")
        settled(seen, f"?{DEMO}&tab={name}", f"[aria-label='{tab}'] a.sql")
        panels |= {panel["title"]: panel for panel in seen.page.evaluate(PANELS)}
    where = "FROM turn_summary WHERE project = 'demo' AND parent_turn_id = ''"
    ended = ask(whole_page, f"SELECT if(status = 'final', splitByChar(':', stop_reason)[1], status)"
                f" AS end, count() AS turns {where} GROUP BY end")  # fmt: skip
    bars = seen.page.eval_on_selector_all(
        "[aria-label='How turns ended'] .bars tr",
        "all => all.map(one => [one.querySelector('a').title, one.cells[2].innerText])",
    )
    assert dict(bars) == {f"Stored as {one['end']}": str(one["turns"]) for one in ended}
    [sums] = ask(whole_page, "SELECT count() AS turns, sum(cost_usd) AS cost,"
                 " quantilesExact(0.5, 0.95)(duration) AS took, sum(tool_call_count) AS tools,"
                 f" sum(tool_error_count) AS failed {where}")  # fmt: skip
    figures = seen.page.inner_text(".figures")
    for told in (
        dollars(sums["cost"]),
        seconds(sums["took"][0]),
        f"95% took less than {seconds(sums['took'][1])}",
        f"{sums['turns']:,} turns that ended",
        f"{sums['tools']:,} executed tools",
    ):
        assert told in figures
    assert f"{sums['turns']:,} turns" in seen.page.inner_text("footer")
    compared = 0
    for panel in panels.values():
        sql = param(panel["sql"], "q")
        again = ask(whole_page, sql)
        if panel["title"] == "What to look at":
            for one in again:
                noun = "turn" if one["turns"] == 1 else "turns"
                assert f"{one['turns']} {noun} " in panel["text"]
        if not panel["heads"]:
            continue
        assert len(panel["rows"]) == len(again)
        for row, one in zip(panel["rows"], again, strict=True):
            names = {re.sub("_(usd|seconds)$", "", name).replace("_", " "): name for name in one}
            for head, cell in zip(panel["heads"], row, strict=True):
                value = one[names[head]]
                if isinstance(value, (int, float)):
                    assert cell == shown(value, names[head]), (panel["title"], head)
                    compared += 1
    assert compared > 30


def test_the_lists(seen: Watched, whole_page: ServedPage) -> None:
    """Each turn and each session: rounds, tools, cost, time, calls."""
    settled(seen, f"turns?{DEMO}", ROWS)
    turns = {one["turn_id"]: one for one in ask(whole_page,
        "SELECT turn_id, rounds, tool_call_count AS tools, tool_error_count AS failed, cost_usd,"
        " duration FROM turn_summary WHERE project = 'demo' AND parent_turn_id = ''")}  # fmt: skip
    rows = seen.page.evaluate(CELLS)
    assert len(rows) == len(turns)
    for href, *cells in rows:
        turn = param(href, "at")
        one = turns[turn]
        failed = f" {one['failed']} failed" if one["failed"] else ""
        expected = [str(one["rounds"]), f"{one['tools']}{failed}",
                    shown(one["cost_usd"], "cost_usd"),
                    shown(one["duration"], "duration")]  # fmt: skip
        assert cells[3:7] == expected, turn

    settled(seen, f"sessions?{DEMO}", ROWS)
    # A turn's cost holds that of the turns inside of it, its counts do not.
    sessions = {quote(one["session_id"], safe="!'()*~"): one for one in ask(whole_page,
        "SELECT session_id, countIf(parent_turn_id = '') AS turns, sum(llm_call_count) AS calls,"
        " sum(tool_call_count) AS tools, sumIf(cost_usd, parent_turn_id = '') AS cost_usd"
        " FROM turn_summary WHERE project = 'demo' AND session_id != ''"
        " GROUP BY session_id")}  # fmt: skip
    rows = seen.page.evaluate(CELLS)
    assert len(rows) == len(sessions)
    for href, *cells in rows:
        one = sessions[path_of(href).removeprefix("/s/demo/")]
        name = one["session_id"]
        assert [int(cell.split()[0]) for cell in (cells[2], *cells[4:6])] == [
            one["turns"], one["calls"], one["tools"]], name  # fmt: skip
        assert cells[6] == shown(one["cost_usd"], "cost_usd"), name


def test_a_replay_and_its_calls(seen: Watched, whole_page: ServedPage) -> None:
    """Of a real run and a played one: the header, each call's row, and the facts of a call."""
    named = ask(whole_page, "SELECT session_id, countIf(parent_turn_id = '') AS roots, count() AS"
                " turns, sumIf(cost_usd, parent_turn_id = '') AS cost_usd FROM turn_summary WHERE"
                " project = 'demo' GROUP BY session_id HAVING session_id LIKE 'few#%' OR"
                " session_id LIKE 'data-broken-query%' ORDER BY session_id")  # fmt: skip
    assert len(named) > 2
    for one in named:
        name = one["session_id"]
        settled(seen, f"s/demo/{quote(name, safe='')}", ".row")
        calls = ask(whole_page, "SELECT lower(span_id) AS span, input_tokens, output_tokens,"
                    " cost_usd, duration, cache_read_tokens, reasoning_tokens FROM llm_call"
                    f" WHERE project = 'demo' AND session_id = '{name}'")  # fmt: skip
        head = seen.page.inner_text("header.bar")
        assert f" {len(calls)} call" in head and f"{one['turns']} turn" in head
        assert shown(one["cost_usd"], "cost_usd") in head
        for call in calls:
            row = seen.page.text_content(f'[id="row {call["span"]}"]') or ""
            assert shown(call["duration"], "duration") in row
            assert f"{call['input_tokens']:,} tokens in, {call['output_tokens']:,} out" in row
            assert shown(call["cost_usd"], "cost_usd") in row
        settled(seen, f"call/demo/{calls[0]['span']}", ".call-screen .facts")
        listed = seen.page.locator('section[aria-label="Facts"]')
        names, values = (listed.locator(kind).all_inner_texts() for kind in ("dt", "dd"))
        facts = dict(zip(names, values, strict=True))
        first = calls[0]
        assert facts["tokens in"] == shown(first["input_tokens"], "")
        assert facts["tokens out"] == shown(first["output_tokens"], "")
        cached, reasoned = first["cache_read_tokens"], first["reasoning_tokens"]
        assert facts["from the cache"] == (f"{cached:,}" if cached else "no cache used")
        assert facts.get("reasoning", "0") == f"{reasoned or 0:,}"
        assert seen.page.inner_text(".cost").startswith(shown(first["cost_usd"], "cost_usd"))


def test_the_errors(seen: Watched, whole_page: ServedPage) -> None:
    """How often, of how many, in how many turns: the shown SQL's, and all failures that are."""
    settled(seen, f"errors?{DEMO}", ROWS)
    rows = [cells for _, *cells in seen.page.evaluate(CELLS)]
    seen.press("S")
    seen.page.wait_for_selector(".result tbody tr")
    sql = param(seen.path, "q")
    again = ask(whole_page, sql)
    assert len(rows) == len(again)
    assert [[cells[2], cells[4]] for cells in rows] == [
        [shown(one["times"], "times"), shown(one["turns"], "turns")] for one in again
    ]
    counts = ask(whole_page, "SELECT 'tool ' || name AS what, countIf(failed) AS times, count() AS"
                 " n FROM tool_call WHERE project = 'demo' GROUP BY name HAVING times")  # fmt: skip
    for one in counts:
        of_it = [cells for cells in rows if " ".join(cells[0].split()) == one["what"]]
        assert sum(int(cells[2]) for cells in of_it) == one["times"]
        for cells in of_it:
            assert cells[3] == shown(int(cells[2]) / one["n"], "_rate")
