"""Reviewing in the page: with keys alone, from anywhere, by several people, and nothing lost."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from support.kept_stores import migrated
from support.landing import insert
from support.pages import Look, ServedPage, Watched, served
from support.rows import PROJECT, answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.judging.queues import Queue, progress

TURNS = 30
VERDICTS = 20
HOSTILE = "<img src=x onerror=alert(1)></script>\u202egnp.exe\x1b[31m\x00"


def conversation(number: int) -> list[Record]:
    """A session of one turn that asks a tool."""
    ids: dict[str, Any] = {"session_id": f"s{number}"}
    scope = f"s{number}"
    text = HOSTILE if number == 0 else f"Question {number}?"
    question = message("user", said(text), scope=scope)
    asking = message("assistant", asked("k", "stock", size=number), scope=scope)
    result = message("tool", answered("k", f"{number} left"), scope=scope)
    reply = message("assistant", said(f"Answer {number}."), scope=scope)
    first = [question.hash]
    return [
        *(question, asking, result, reply),
        turn(f"t{number}", number * 60, **ids, user_message=text, agent_name="clerk",
             response_text=f"Answer {number}."),
        call(f"c{number}a", number * 60 + 1, **ids, turn_id=f"t{number}", input_messages=first,
             output_messages=[asking.hash]),
        tool(f"k{number}", number * 60 + 2, **ids, turn_id=f"t{number}", call_id="k",
             result=f"{number} left"),
        call(f"c{number}b", number * 60 + 3, **ids, turn_id=f"t{number}",
             input_messages=[*first, asking.hash, result.hash], output_messages=[reply.hash]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store is, with its sessions; a process that is served has it open."""
    folder = tmp_path_factory.mktemp("review")
    with migrated(Dsn(scheme="chdb", path=folder / "store")) as store:
        insert(store, *(row for number in range(TURNS) for row in conversation(number)))
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[ServedPage]:
    """The page over them."""
    with served(f"chdb://{folder / 'store'}", folder) as made:
        yield made


def shown(seen: Watched) -> str:
    """The turn that is shown, once nothing is under way."""
    seen.page.wait_for_selector('.judging[aria-busy="false"]')
    return seen.path.partition("at=")[2].partition("&")[0]


def press(seen: Watched, key: str) -> str:
    """Press a key that goes on; the turn that is shown then."""
    before = shown(seen)
    seen.press(key)
    seen.page.wait_for_function("before => !location.search.includes(`at=${before}`)", arg=before)
    return shown(seen) if "at=" in seen.path else ""


def told(folder: Path, *turns: str) -> list[JudgmentRecord]:
    """What is in the store of some turns, when nobody else has it open."""
    with open_dsn(Dsn(scheme="chdb", path=folder / "store")) as store:
        return [one for id_ in turns for one in judgments(store, PROJECT, "turn", id_)]


def left(folder: Path) -> int:
    """How many turns wait for a verdict, when nobody else has the store open."""
    with open_dsn(Dsn(scheme="chdb", path=folder / "store")) as store:
        return progress(store, Queue(), "kim").left


def test_verdicts_by_keys(look: Look, page: ServedPage) -> None:
    """Two keys a verdict at most, no mouse; each is of the turn that was shown. Hostile text is
    text."""
    seen = look(page, "/review?by=ada&l=3")
    first = shown(seen)
    assert first == "t0"
    words = seen.page.inner_text(".told.user .words")
    assert "onerror" in words and "U+202E" in words and "ESC" in words
    order: list[str] = []
    for number in range(VERDICTS):
        order.append(shown(seen))
        if number % 10 == 0:
            seen.press("s", "7")
            seen.page.wait_for_selector('fieldset button[aria-pressed="true"]:text-is("7")')
            shown(seen)
        press(seen, str(number % 3 + 1))
    assert order == [f"t{number}" for number in range(VERDICTS)]
    assert f"{VERDICTS} of {TURNS}" in seen.page.inner_text(".progress")
    answer = page.ask(f"/api/review/turn?project={PROJECT}&turn=t11").json()
    given = [
        (one["kind"], one["outcome"], one["author"], one["source"]) for one in answer["judgments"]
    ]
    assert given == [("outcome", "rejected", "ada", "console")]
    summary = page.ask("/api/review/summary?by=ada").json()
    assert (summary["outcomes"], summary["scores"], summary["mean_score"]) == (
        {"used": 7, "modified": 7, "rejected": 6},
        2,
        7.0,
    )


def test_undo_back_skip_flag_and_note(look: Look, page: ServedPage) -> None:
    """Undo goes to the turn that it was of, and appends; what was skipped comes again."""
    seen = look(page, "/review?by=ada")
    here = shown(seen)
    assert here == "t20"
    assert press(seen, "2") == "t21"
    assert press(seen, "z") == "t20"
    assert seen.page.query_selector('button[aria-pressed="true"]') is None
    assert "withdrawn by ada" in seen.page.inner_text("aside")
    assert press(seen, "+") == "t21"
    assert press(seen, "b") == "t20"
    seen.page.wait_for_selector('button[aria-pressed="true"]:has-text("good")')
    seen.press("0")
    seen.page.wait_for_selector('button[aria-pressed="true"]', state="detached")
    shown(seen)
    seen.press("e")
    seen.page.keyboard.type("1 2 3 z: keys of a field are its own")
    seen.press("Control+Enter")
    seen.page.wait_for_selector(".said-before li:has-text('keys of a field')")
    assert shown(seen) == "t20"
    assert press(seen, " ") == "t21"
    assert press(seen, "b") == "t20"
    assert press(seen, "Enter") == "t21"
    assert press(seen, "1") == "t22"
    counted = seen.page.inner_text(".progress").partition(" ·")[0]
    seen.page.reload()
    assert shown(seen) == "t22"
    assert (
        seen.page.inner_text(".progress").partition(" ·")[0]
        == counted
        == f"{VERDICTS + 2} of {TURNS}"
    )
    assert press(seen, "b") != "t22"


@pytest.mark.release
def test_keys_are_queued_and_answers_corrected(look: Look, page: ServedPage) -> None:
    """Ten keys in 200 ms are ten verdicts, each of the next turn; a key that is held is one. A
    correction shows how it differs; it and a label are judgments of the turn, and can be undone."""
    seen = look(page, "/review?by=flo&each=1&order=oldest", width=390)
    assert shown(seen) == "t0"
    seen.page.evaluate(
        """async () => {
            const press = (key, repeat) =>
                dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true }));
            for (let at = 0; at < 10; at += 1) {
                press("123"[at % 3], false);
                press("1", true);
                await new Promise((done) => setTimeout(done, 20));
            }
        }"""
    )
    seen.page.wait_for_function("() => location.search.includes('at=t10')")
    assert shown(seen) == "t10"
    outcomes = ("used", "modified", "rejected")
    for number in range(10):
        path = f"/api/review/turn?project={PROJECT}&turn=t{number}"
        mine = [one for one in page.ask(path).json()["judgments"] if one["author"] == "flo"]
        assert [one["outcome"] for one in mine] == [outcomes[number % 3]]
    assert not seen.page.locator("main kbd:visible").count()
    seen.page.click("text=Correct the answer")
    field = seen.page.get_by_label("What the answer should have been")
    assert field.input_value() == "Answer 10."
    field.fill("Answer ten.")
    assert seen.page.inner_text(".note ins") == "ten"
    seen.page.click("text=Save the correction")
    seen.page.wait_for_selector(".said-before:has-text('correction Answer ten.')")
    seen.page.fill(".labels input", "wrong unit")
    seen.page.click(".labels button")
    seen.page.wait_for_selector(".said-before:has-text('wrong unit yes')")
    assert seen.page.locator("text=Save the correction").is_disabled()
    seen.page.evaluate("document.activeElement.blur()")
    assert shown(seen) == "t10"
    seen.press("z")
    seen.page.wait_for_selector(".said-before .withdrawn:has-text('wrong unit')")
    told = page.ask(f"/api/review/turn?project={PROJECT}&turn=t10").json()
    kinds = [(one["kind"], one["comment"], one["holds"]) for one in told["judgments"]]
    assert ("evaluation:correction", "Answer ten.", True) in kinds
    assert told["done_by"].count("flo") == 0, "neither is a verdict"
    body = {"project": PROJECT, "turn": "t10", "by": "flo", "id": "12345678"}
    for odd in ({"label": "correction"}, {"label": "a\nb"}, {"correction": " "}, {}):
        sent = json.dumps({**body, **odd}).encode()
        refused = page.ask("/api/review/judge", method="POST", body=sent,
                           content_type="application/json")  # fmt: skip
        assert refused.status == 400, refused


def test_two_reviewers(look: Look, page: ServedPage) -> None:
    """Each sees what the other said; what one has judged meanwhile the other is not asked about,
    unless each judges each."""
    ada, bob = look(page, "/review?by=ada"), look(page, "/review?by=bob")
    same = shown(ada)
    assert shown(bob) == same
    after = press(ada, "1")
    press(bob, "3")
    assert shown(bob) == after
    assert press(bob, "b") == same
    assert {"ada", "bob"} <= set(bob.page.inner_text(".said-before").split())
    each = look(page, "/review?queue=unassessed&each=1&by=eve")
    assert shown(each) == "t0"
    assert f"0 of {TURNS}" in each.page.inner_text(".progress")


@pytest.mark.release  # console/test_review goes on after a kill
def test_a_killed_server_loses_nothing(
    browser: Browser, look: Look, folder: Path, page: ServedPage
) -> None:
    """A verdict is on disk before the next turn is shown; after `kill -9` and in another tab one
    goes on there, and nothing is judged twice."""
    page.process.send_signal(signal.SIGINT)
    page.process.wait(30)
    dsn = f"chdb://{folder / 'store'}"
    before = left(folder)  # tests that run before this one judge some
    judged: list[str] = []
    with served(dsn, folder) as first:
        seen = look(first, "/review?by=kim")
        seen.expected = ("Failed to load resource",)
        for key in "123":
            judged.append(shown(seen))
            press(seen, key)
        first.process.kill()
        first.process.wait()
        left_at = shown(seen)
        seen.press("1")
        seen.page.wait_for_selector('[role="alert"]')
        assert shown(seen) == left_at, "what is not on disk is not judged"
    with served(dsn, folder) as second:
        again = look(second, "/review?by=kim")
        assert shown(again) == left_at
        assert press(again, "b") == judged[-1]
        again.press("z")
        again.page.wait_for_selector(".said-before .withdrawn")
        assert shown(again) == judged[-1]
        press(again, "2")
    each = [one for one in told(folder, *judged) if one.author == "kim"]
    assert [(one.outcome, one.holds) for one in each] == [
        ("used", True),
        ("modified", True),
        ("rejected", False),
        ("modified", True),
    ]
    assert left(folder) == before - len(judged)
