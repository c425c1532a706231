"""Comparing in the page: blind, ranked by keys, stored as ids, and only where it makes pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.camp_rows import ATTEMPTS, LINEAGE, camp_rows
from support.improved import Improved
from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, ServedPage, Watched, served
from support.rows import PROJECT
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records import compare, find

IDS = ("answer-one", "answer-two", "answer-three", "answer-four")
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m"
BY_IDS = f"/compare?by=ada&ids={quote(','.join(IDS))}"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page over four answers to one question, and one to another."""
    folder = tmp_path_factory.mktemp("compare")
    made = Improved()
    for id_ in IDS:
        text = f"The boots of {id_}, {HOSTILE if id_ == IDS[3] else 'size 42'}.\n" * 40
        made.turn(id_, "Which boots?", text, response_text=text, user_message="Which boots?",
                  agent_version=f"version-{id_}")  # fmt: skip
    made.turn("other-question", "Which shoes?", "Those.", response_text="Those.")
    with migrated(Dsn(scheme="chdb", path=folder / "store")) as store:
        insert(store, *made.rows, *camp_rows())
        shown = compare(store, [find(store, id_)[0] for id_ in IDS])
        EXPECTED.update({one.id: (one.version, one.calls, one.text) for one in shown.answers})
    with served(f"chdb://{folder / 'store'}", folder) as served_page:
        yield served_page


EXPECTED: dict[str, tuple[str, int, str]] = {}


def columns(seen: Watched) -> list[str]:
    """Which answer each column shows, by its text."""
    seen.page.wait_for_selector('.compare[aria-busy="false"] .answer')
    texts = seen.page.locator(".answer").all_inner_texts()
    return [re.findall(r"answer-\w+", text)[0] for text in texts]


def preferences(page: ServedPage, *ids: str) -> set[tuple[str, str]]:
    """Chosen and rejected of what holds."""
    told = [
        one
        for id_ in ids
        for one in page.ask(f"/api/review/turn?project={PROJECT}&turn={id_}").json()["judgments"]
    ]
    return {(one["chosen_id"], one["rejected_id"]) for one in told if one["holds"]}


def test_an_order_by_keys_is_stored_as_ids(look: Look, page: ServedPage) -> None:
    """Shuffled and without names until then; a reload has the same order; undo takes it back."""
    seen = look(page, BY_IDS)
    order = columns(seen)
    assert sorted(order) == sorted(IDS)
    assert "version-" not in seen.page.inner_text(".side header >> nth=0")
    assert "answer-" not in seen.page.inner_text(".side header >> nth=0")
    seen.page.reload()
    assert columns(seen) == order, "the address has the seed"
    seen.press("o", "3", "1", "2", "=", "4")
    assert seen.page.inner_text("output") == "3 > 1 > 2 = 4"
    assert len(seen.page.query_selector_all(".pair")) == 5
    seen.press("Enter")
    seen.page.wait_for_selector('[role="status"]:has-text("5 preferences stored")')
    first, second, third, fourth = order[2], order[0], order[1], order[3]
    assert preferences(page, *IDS) == {
        *((first, second), (first, third), (first, fourth)),
        *((second, third), (second, fourth)),
    }
    assert "version-" in seen.page.inner_text(".side header >> nth=0")
    assert columns(seen) == order
    seen.press("z")
    seen.page.wait_for_selector('[role="status"]:has-text("5 judgments taken back")')
    assert preferences(page, *IDS) == set()


@pytest.mark.release
def test_other_seeds_give_other_places(look: Look, page: ServedPage) -> None:
    """So that no answer is always the first; without `blind` they are as they were named."""
    seen = look(page, f"{BY_IDS}&seed=1")
    found = {tuple(columns(seen))}
    for seed in (2, 3):
        seen.go(f"{BY_IDS}&seed={seed}")
        found.add(tuple(columns(seen)))
    assert len(found) > 1
    seen.go(f"{BY_IDS}&blind=0")
    assert columns(seen) == list(IDS)
    for id_, header in zip(IDS, seen.page.locator(".column header").all_inner_texts(), strict=True):
        version, _, _ = EXPECTED[id_]
        assert version[:12] in header


@pytest.mark.release
def test_the_best_one_all_bad_and_a_score(look: Look, page: ServedPage) -> None:
    """Two keys for the best, one for none; a score of the column that is chosen."""
    seen = look(page, f"{BY_IDS}&blind=0")
    assert columns(seen) == list(IDS)
    seen.press("p", "2", "Enter")
    seen.page.wait_for_selector('[role="status"]:has-text("3 preferences stored")')
    others = {IDS[0], IDS[2], IDS[3]}
    assert preferences(page, *IDS) == {(IDS[1], other) for other in others}
    seen.press("3", "s", "8")
    seen.page.wait_for_selector('[role="status"]:has-text("score 8")')
    seen.press("v")
    seen.page.wait_for_selector('[role="status"]:has-text("rejected")')
    third = page.ask(f"/api/review/turn?project={PROJECT}&turn={IDS[2]}").json()["judgments"]
    said = {(one["kind"], one["outcome"], one["score"], one["source"]) for one in third}
    assert {("score", "", 8.0, "console"), ("outcome", "rejected", None, "console")} <= said
    seen.press("z")
    seen.page.wait_for_selector('[role="status"]:has-text("8 judgments taken back")')


def test_no_pair_of_different_prompts(look: Look, page: ServedPage) -> None:
    """A sentence before anything is said, and a refusal when it is said all the same."""
    seen = look(page, f"/compare?by=ada&blind=0&ids={IDS[0]},other-question")
    seen.page.wait_for_selector(".prompts .bad")
    assert "they answer different prompts" in seen.page.inner_text(".prompts .bad")
    seen.press("o", "1", "2")
    assert len(seen.page.query_selector_all(".refused")) == 1
    seen.expected = ("400",)
    seen.press("Enter")
    seen.page.wait_for_selector('.order [role="alert"]')
    assert "No pair is made of these" in seen.page.inner_text('.order [role="alert"]')
    assert preferences(page, "other-question") == set()


def test_columns_scroll_together_and_show_what_is_recorded(look: Look, page: ServedPage) -> None:
    """Differences are marked, hostile text is text, and the numbers are those of the records."""
    seen = look(page, f"{BY_IDS}&blind=0", width=1440)
    assert columns(seen) == list(IDS)
    answers = seen.page.locator(".answer")
    assert seen.page.locator(".column >> nth=1").locator("mark").count() > 0
    hostile = answers.nth(3).inner_text()
    assert "onerror" in hostile and "U+202E" in hostile and "ESC" in hostile
    answers.nth(0).evaluate("one => { one.scrollTop = one.scrollHeight; }")
    seen.page.wait_for_function("() => document.querySelectorAll('.answer')[2].scrollTop > 50")
    seen.press("d")
    seen.page.wait_for_selector("mark", state="detached")
    shown = page.ask(f"/api/compare?ids={'&ids='.join(IDS)}").json()["answers"]
    assert {one["id"]: (one["version"], one["calls"], one["text"]) for one in shown} == EXPECTED


@pytest.mark.release
def test_what_is_locked_stays_when_others_change(look: Look, page: ServedPage) -> None:
    """The others give way to other answers to the same prompt; the address has both."""
    seen = look(page, f"/compare?by=ada&blind=0&ids={IDS[0]},{IDS[1]}")
    assert columns(seen) == [*IDS[:2]]
    seen.press("2", "L", "O")
    seen.page.wait_for_selector('.answer:has-text("answer-three"), .answer:has-text("answer-four")')
    first, second = columns(seen)
    assert (first in IDS[2:], second) == (True, IDS[1])
    assert f"lock={IDS[1]}" in seen.path
    seen.press("O")
    seen.page.wait_for_function("before => !document.URL.includes(before)", arg=f"={first}")
    assert columns(seen)[1] == IDS[1]
    told = page.ask(f"/api/compare/alike?project={PROJECT}&turn={IDS[2]}").json()
    assert told == {"turns": [*reversed(IDS)]}
    none = page.ask(f"/api/compare/alike?project={PROJECT}&turn=nothing-here").json()
    assert none == {"turns": []}


@pytest.mark.release
def test_what_is_to_become_of_lineages(look: Look, page: ServedPage) -> None:
    """A directive, a lock and `evolve` are said of the lineage that an answer is of, and land."""
    seen = look(page, f"/compare?by=ada&blind=0&ids={ATTEMPTS[1]},{ATTEMPTS[2]}")
    header = seen.page.locator(".side header").first
    expect(header).to_contain_text("lineage A")
    seen.press("1", "!")
    seen.page.keyboard.type("be brief")
    seen.press("Enter")
    expect(header).to_contain_text("from now on: be brief")
    seen.press("!")
    seen.page.keyboard.type("add prices")
    seen.page.get_by_label("in the next cycle only").check()
    seen.page.get_by_role("button", name="Enter store").click()
    expect(header).to_contain_text("next time: add prices")
    seen.press("L")
    expect(seen.page.locator(".stays")).to_have_count(2)  # both are of the one lineage
    seen.press("E")
    expect(seen.page.locator("body")).to_contain_text("All their lineages are locked.")
    seen.press("L")
    expect(seen.page.locator(".stays")).to_have_count(0)
    seen.press("E")
    expect(header).to_contain_text("may be evolved")
    told = page.ask(f"/api/lineage?session=camp&project={PROJECT}").json()
    (line,) = [one for one in told["lineages"] if one["lineage_id"] == LINEAGE]
    assert (line["directive"], line["once"]) == ("be brief", ["add prices"])
    assert (line["locked"], line["evolve"]) == (False, True)
    seen.page.reload()
    expect(header).to_contain_text("from now on: be brief")
    asked = {"lineages": [{"project": PROJECT, "id": LINEAGE}], "word": "once", "by": "ada"}
    refused = page.ask(
        "/api/lineage/steer",
        method="POST",
        body=json.dumps({**asked, "id": "word-0001"}).encode(),
        content_type="application/json",
    )
    assert refused.status == 400 and b"do differently" in refused.body


def test_reasons_and_directives_are_kept(look: Look, page: ServedPage) -> None:
    """A reason with each pair of the order, a directive with its answer; undo takes both back."""
    seen = look(page, f"/compare?by=ada&blind=0&ids={IDS[0]},{IDS[1]}")
    columns(seen)
    seen.press("2", "!")
    seen.page.keyboard.type("be brief 1")
    seen.press("Enter")
    seen.page.wait_for_selector('[role="status"]:has-text("Answer 2: directive stored")')
    seen.press("o", "1", "2", "e")
    seen.page.keyboard.type("shorter")
    seen.press("Enter")
    seen.page.wait_for_selector('[role="status"]:has-text("1 preference stored")')
    assert ("shorter", "") in said(page, IDS[0], "preference")
    assert said(page, IDS[1], "directive") == [("", "be brief 1")]
    seen.page.evaluate("document.activeElement.blur()")
    seen.press("z")
    seen.page.wait_for_selector('[role="status"]:has-text("2 judgments taken back")')
    assert ("shorter", "") not in said(page, IDS[0], "preference")
    assert said(page, IDS[1], "directive") == []


def said(page: ServedPage, turn: str, kind: str) -> list[tuple[str, str]]:
    """What holds of an answer: comment and directive."""
    told = page.ask(f"/api/review/turn?project={PROJECT}&turn={turn}").json()["judgments"]
    return [
        (one["comment"], one["directive"]) for one in told if one["kind"] == kind and one["holds"]
    ]


@pytest.mark.release
def test_selected_turns_are_judged_at_once(look: Look, page: ServedPage) -> None:
    """After a question that says how many; one key takes all of it back. They also become a
    dataset, once."""
    seen = look(page, f"/turns?by=ada&f=version%3A{','.join(f'version-{one}' for one in IDS)}")
    rows = seen.page.locator("table.list tbody tr")
    rows.first.wait_for()
    for at in range(3):
        seen.press("j")
        expect(rows.nth(at)).to_be_focused()
        seen.press("x")
        expect(seen.page.locator(".selected")).to_contain_text(f"{at + 1} turn")
    seen.page.click("text=make a dataset")
    seen.page.fill(".selected input", "chosen")
    for words in ("1 case, 0 with an expected answer", "nothing is new"):
        seen.page.press(".selected input", "Enter")
        seen.page.wait_for_selector(f'.selected .saving:has-text("{words}")')
    seen.page.click(".selected >> text=Close")
    seen.press("A")
    expect(seen.page.locator(".selected .verdicts")).to_be_visible()
    seen.press("3")
    seen.page.wait_for_selector('.selected:has-text("Judge 3 turns as rejected?")')
    before = outcomes(page)
    seen.press("Enter")
    seen.page.wait_for_selector('[role="status"]:has-text("3 turns judged: rejected")')
    assert len(outcomes(page)) == len(before) + 3
    seen.press("z")
    seen.page.wait_for_selector('[role="status"]:has-text("3 judgments taken back")')
    assert outcomes(page) == before
    seen.press("Escape")
    expect(seen.page.locator(".selected .verdicts")).to_have_count(0)
    seen.press("Escape")
    expect(seen.page.locator(".selected")).to_have_count(0)


def outcomes(page: ServedPage) -> list[str]:
    """What holds of the answers."""
    return [
        one["outcome"]
        for id_ in IDS
        for one in page.ask(f"/api/review/turn?project={PROJECT}&turn={id_}").json()["judgments"]
        if one["kind"] == "outcome" and one["holds"]
    ]
