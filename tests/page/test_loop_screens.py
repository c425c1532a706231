"""Contexts, consortium runs and lineages in the page: what the records say, by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.assembled import FULL, assembled
from support.camp_rows import LINEAGE, VERSIONS, camp_rows
from support.consortium_rows import JURY, QUIET, consortium_rows
from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, ServedPage, served
from support.rows import PROJECT, call, message, said, turn
from turnspan_clickhouse.rows.tables import Definition
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records import consortium_run, experiment
from turnspan_records.consortium.run_detail import ConsortiumRun
from turnspan_records.loop.improvement import ExperimentRecord

SENT = "7a" * 8
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


class Known:
    """What the records say, read before the page has the store."""

    run: ConsortiumRun
    camp: ExperimentRecord


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over a store with one of each."""
    folder: Path = tmp_path_factory.mktemp("loop")
    asked = message("user", said(f"What now? {HOSTILE}"))
    with migrated(Dsn(scheme="chdb", path=folder / "store")) as store:
        insert(store, *assembled(), *consortium_rows(), asked)
        insert(store, *camp_rows())
        insert(
            store,
            call(SENT, input_messages=[asked.hash], input_tokens=1234),
            turn("to-review", user_message=HOSTILE, response_text=HOSTILE, agent_name=HOSTILE),
            Definition(project=PROJECT, hash=b"i" * 16, kind="context_item", body=HOSTILE,
                       written_at=2),
        )  # fmt: skip
        Known.run = consortium_run(store, PROJECT, JURY)
        Known.camp = experiment(store, "camp")
    with served(f"chdb://{folder / 'store'}", folder) as made:
        yield made


def test_a_context_with_what_was_dropped(look: Look, page: ServedPage) -> None:
    """The budget, the steps, what was dropped first, each item with its text; `o` says how turns
    ended that had it."""
    seen = look(page, f"/go/{FULL}")
    seen.page.wait_for_selector(".context tbody tr")
    assert seen.path.startswith(f"/context/{PROJECT}/{FULL}")
    head = seen.page.inner_text(".context .switches")
    assert "budget 100 tokens · used 130 (over the budget)" in head
    assert "kept 2 of 3" in head
    rows = seen.page.locator(".context tbody tr").all_inner_texts()
    assert [row.split()[1] for row in rows] == ["Tides", "Rules", "Cabo"]
    assert ["dropped" in row and "budget" in row for row in rows] == [True, False, False]
    assert "line 40" in seen.page.inner_text(".assembled aside")
    seen.press("j", "j", "j")
    text = seen.page.inner_text(".assembled aside")
    assert "onerror" in text and "U+202E" in text
    seen.press("o")
    seen.page.wait_for_selector(".assembled aside li")
    assert "kept: not judged 1 turn" in seen.page.inner_text(".assembled aside ul")


def test_of_a_call_without_one_the_parts_are_estimates(look: Look, page: ServedPage) -> None:
    """Marked as such; of a record that is none there is a sentence."""
    seen = look(page, f"/context/{PROJECT}/{SENT}")
    seen.page.wait_for_selector("table tbody tr")
    cells = seen.page.locator("tbody td").all_inner_texts()
    assert (cells[0], cells[-1]) == ("new", "~1,234")
    assert "the provider counted 1,234" in seen.page.inner_text("main")
    seen.expected = ("404",)
    seen.go(f"/context/{PROJECT}/nothing-here")
    seen.page.wait_for_selector(".problem")
    assert "There is no record 'nothing-here'" in seen.page.inner_text(".problem")


@pytest.mark.release
def test_what_hangs_off_a_lineage_has_a_place(look: Look, page: ServedPage) -> None:
    """An id of the experiment's tree leads to its row there."""
    [rollout, attempt] = page.ask(
        "/api/sql",
        method="POST",
        body=b'{"sql": "SELECT rollout_id, attempt_id FROM attempt LIMIT 1"}',
        content_type="application/json",
    ).json()["rows"][0]
    seen = look(page, "/")
    for id_ in (LINEAGE, rollout, attempt):
        seen.go(f"/go/{id_}")
        seen.page.wait_for_selector('.lineage tr[aria-selected="true"]')
        assert seen.path.startswith(f"/lineage/{PROJECT}/camp?")
        assert id_ in seen.path
        assert page.ask(f"/api/lookup?id={id_}").json()["found"][0]["experiment"] == "camp"


@pytest.mark.release
def test_lists_have_their_sql(look: Look, page: ServedPage) -> None:
    """It runs, and gives as many rows. On a phone a number says what it is of."""
    seen = look(page, "/consortium")
    for path, count in (("/lineage", "rollouts"), ("/consortium", "members")):
        seen.go(path)
        expect(seen.page.locator(f"td[data-label={count}]").first).to_be_visible()
    for path in ("/consortium", "/lineage"):
        seen.go(path)
        seen.page.wait_for_selector("table.list tbody tr")
        rows = seen.page.locator("table.list tbody tr").count()
        seen.press("S")
        expect(seen.page.locator(".result tbody tr")).to_have_count(rows)


def test_a_consortium_run_side_by_side(look: Look, page: ServedPage) -> None:
    """Members by iteration with rank and answer, the arbiter's decision, the output."""
    seen = look(page, "/consortium")
    seen.page.wait_for_selector("tbody tr")
    run = Known.run
    assert seen.page.locator(f'a[href*="{JURY}"]').count() == 1
    seen.go(f"/go/{JURY}")
    seen.page.wait_for_selector(".decision")
    iterations = seen.page.locator('section[aria-label^="Iteration"]')
    assert iterations.count() == len(run.iterations)
    for at, iteration in enumerate(run.iterations):
        columns = iterations.nth(at).locator(".column").all_inner_texts()
        assert len(columns) == len(iteration.members)
        for shown, member in zip(columns, iteration.members, strict=True):
            assert shown.startswith(member.label)
            assert ("· won" in shown) == member.won
            assert (member.answer or member.error_type) in shown
            ranking = iteration.decision.ranking if iteration.decision else []
            if member.label in ranking:
                assert f"rank {ranking.index(member.label) + 1}" in shown
    told = page.ask(f"/api/consortium/run?run={JURY}").json()
    cost = None if run.cost_usd is None else float(run.cost_usd)
    assert (told["confidence"], told["agreement"], told["calls"], told["cost_usd"]) == (
        *(run.confidence, run.agreement, run.calls, cost),
    )
    assert run.final_text in seen.page.inner_text('section[aria-label="Output"]')


def test_how_an_import_found_a_run(look: Look, page: ServedPage) -> None:
    seen = look(page, f"/consortium/{PROJECT}/{QUIET}")
    expect(seen.page.locator("main")).to_contain_text("by interval, text; 2 rows not found")


def test_a_lineage_with_what_changed(look: Look, page: ServedPage) -> None:
    """A tree by keys: folded and unfolded, with the scores of the records, and a version's
    difference from the one it was made from."""
    seen = look(page, f"/lineage/{PROJECT}/camp")
    seen.page.wait_for_selector('[role="treegrid"] tbody tr')
    (lineage,) = Known.camp.lineages
    rows = seen.page.locator('[role="treegrid"] tbody tr')
    levels = [int(rows.nth(at).get_attribute("aria-level") or 0) for at in range(rows.count())]
    assert levels == [1, 2, 3, 2, 3]
    scores = [rows.nth(at).locator("td >> nth=2").inner_text().split()[0] for at in (1, 3)]
    assert scores == [f"{version.score:.1f}" for version in lineage.versions]
    # As a graph: the higher score right of what it was made from, and each leads to its row.
    first, second = (seen.page.locator(".versions a").nth(at) for at in (0, 1))
    words = "version A2 of A, score 7.0, the highest, made from A1"
    expect(second.locator("title")).to_have_text(words)
    expect(seen.page.locator(".versions path.good")).to_have_count(1)
    second.click()
    expect(rows.nth(3)).to_have_attribute("aria-selected", "true")
    expect(second).to_have_attribute("aria-current", "true")
    first.click()
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    seen.page.evaluate("history.replaceState(null, '', location.pathname)")
    seen.go(f"/lineage/{PROJECT}/camp")
    rows.first.wait_for()
    seen.press("]")
    assert rows.count() == 8
    seen.press("j", "j", "h")
    assert rows.count() < 8
    seen.press("j")
    at = seen.page.evaluate("new URLSearchParams(location.search).get('at')")
    assert at == f"{LINEAGE} {VERSIONS[1]}", "what is folded is passed over"
    seen.go(f"/lineage/{PROJECT}/camp?at={LINEAGE}%20{VERSIONS[1]}")
    seen.page.wait_for_selector('section[aria-label="The version"]')
    shown = seen.page.inner_text('section[aria-label="The version"]')
    assert "as expected" in shown and "4, then 7 (+3.00)" in shown
    assert seen.page.inner_text("aside ins").strip() == "well"
