"""``turnspan review`` in a real terminal: one key each, undone and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.kept_stores import migrated
from support.landing import insert
from support.rows import turn
from support.story import Invoke, fill
from support.terminal import Typing
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.commands import review
from turnspan_records.judging.queues import ORDERS

FIRST, SECOND, THIRD = (name * 16 for name in "abc")
PROMPT = "? keys"


@pytest.fixture
def dsn(tmp_path: Path) -> Dsn:
    """A store with three turns in three sessions, the second of which stopped oddly."""
    made = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(made) as store:
        insert(store, *three())
    return made


def three() -> list[Any]:
    return [
        turn(FIRST, 0, session_id="one", user_message="Bread?", response_text="At nine."),
        turn(SECOND, 60, session_id="two", user_message="Milk?", stop_reason="max_tokens"),
        turn(THIRD, 120, session_id="three", user_message="\x1b]0;Cheese\x07 \x1b[2J?"),
    ]


def judged(dsn: Dsn) -> list[tuple[Any, ...]]:
    """What holds, by subject."""
    with open_store(dsn) as store:
        return rows(store)


def rows(store: Store) -> list[tuple[Any, ...]]:
    sql = """
        SELECT left(subject_id, 1) AS turn, kind, outcome, training_flag, score, comment, author
        FROM annotation_current ORDER BY turn, kind
    """
    return [tuple(row) for row in store.query(sql).rows]


def test_each_key_says_one_thing_and_the_queue_goes_on(dsn: Dsn) -> None:
    """Outcome, flag, score and note of a turn, then the next one, until nothing is left."""
    with Typing("--store", str(dsn), "review", "--author", "ada") as screen:
        shown = screen.wait(PROMPT)
        assert "unassessed: 0 of 3 judged, 3 left" in shown
        assert FIRST in shown and "Bread?" in shown and "At nine." in shown
        screen.press("u", "✓ outcome used")
        screen.press("g", "✓ training flag 1")
        screen.press("0", "✓ score 10")
        screen.type("n")
        screen.wait("note: ", line=True)
        screen.type("fresh, and\x7f\x7f\x7fwarm\n")
        screen.wait("✓ comment noted")
        assert "1 of 3 judged, 2 left" in screen.press("\r", "Milk?")
        screen.press("x", "✓ training flag -1")
        shown = screen.press(" ", "Cheese")
        assert "\x1b]0;" not in shown and "\x07" not in shown
        assert "Nothing is left" in screen.press("s", "Nothing is left")
        screen.type("\r")
        assert screen.end() == 0
        assert "5 judgments; 1 left to judge." in screen.shown
    assert judged(dsn) == [
        ("a", "comment", "", None, None, "fresh, warm", "ada"),
        ("a", "outcome", "used", None, None, "", "ada"),
        ("a", "score", "", None, 10.0, "", "ada"),
        ("a", "training_flag", "", 1, None, "", "ada"),
        ("b", "training_flag", "", -1, None, "", "ada"),
    ]


def test_undo_back_and_going_on_later(dsn: Dsn) -> None:
    """An undo withdraws and goes back to the turn; who was killed goes on with what is left."""
    arguments = ("--store", str(dsn), "review", "--author", "ada", "--quick")
    with Typing(*arguments) as screen:
        screen.wait(PROMPT)
        assert "first one" in screen.press("b", "first one")
        assert "nothing to undo" in screen.press("z", "nothing to undo")
        screen.press("r", "Milk?")
        screen.press("7", "Cheese")
        shown = screen.press("z", "Milk?")
        assert "withdrawn" in shown and "1 of 3 judged" in shown
        shown = screen.press("b", "Bread?")
        assert "outcome rejected" in shown and "by ada (review)" in shown
        screen.press("m", "Milk?")
        screen.press("z", "Bread?")  # what held before holds again
        screen.press("\x1b[C", "Milk?")
        screen.press("p", "good candidate for training")  # no such key: what there is
        screen.press("ur", "good candidate for training")  # pasted, not meant
        screen.press("v", "Session two")
    assert judged(dsn) == [("a", "outcome", "rejected", None, None, "", "ada")]
    with Typing(*arguments) as screen:
        assert "1 of 3 judged, 2 left" in screen.wait("Milk?")
        screen.wait(PROMPT)
        screen.type("\x03")
        assert screen.end() == 130


@pytest.mark.release
def test_two_reviewers_see_each_other(dsn: Dsn) -> None:
    """At the same embedded store at once: what one has judged the other is not asked, or shown
    where each judges each."""
    quick = ("--store", str(dsn), "review", "--quick")
    with Typing(*quick, "--author", "ada") as ada, Typing(*quick, "--author", "bob") as bob:
        ada.wait(PROMPT)
        bob.wait(PROMPT)
        ada.press("u", "Milk?")
        ada.press("u", "Cheese")
        shown = bob.press("s", "Cheese")
        assert "Milk?" not in shown and "1 of 3 judged, 2 left" in shown
        for screen in (bob, ada):
            screen.type("q")
            assert screen.end() == 0
    with Typing(*quick, "sample", "--order", "oldest", "--author", "bob") as bob:
        shown = bob.wait(PROMPT)
        assert "sample: 0 of 3 judged" in shown
        assert "outcome used" in shown and "by ada (review)" in shown


@pytest.mark.release
def test_a_queue_is_saved_for_everybody(dsn: Dsn, invoke: Invoke) -> None:
    """With all that it is made of; the list says how far each is."""
    assert tuple(ORDERS) == review.ORDERS
    saved = invoke("--store", str(dsn), "review", "odd", "--since", "2026-01-01", "--each",
                   "--save", "cut off")  # fmt: skip
    assert saved.output == "Saved: turnspan review cut off\n"
    invoke("--store", str(dsn), "annotate", SECOND, "--score", "3", "--author", "ada")
    listed = invoke("--store", str(dsn), "review", "--list", "--format", "json", "--author", "ada")
    found = {row["queue"]: row for row in json.loads(listed.stdout)}
    assert list(found) == ["unassessed", "dearest", "odd", "sample", "cut off"]
    assert found["cut off"] == {
        "queue": "cut off", "order": "newest", "judged_by": "each reviewer",
        "turns": 1, "judged": 1, "left": 0,
    }  # fmt: skip
    assert found["unassessed"]["left"] == 2
    with Typing("--store", str(dsn), "review", "cut off", "--author", "bob") as screen:
        assert SECOND in screen.wait(PROMPT)


@pytest.mark.release
def test_what_is_no_queue_is_refused(dsn: Dsn, invoke: Invoke, tmp_path: Path) -> None:
    """An unknown name, the name of one that comes with it, no terminal, a time that is none."""
    for arguments, why in (
        (("nightly",), "There is no queue 'nightly', but unassessed, dearest"),
        (("--save", "sample"), "a name of its own"),
        ((), "needs a terminal"),
        (("--since", "yesteryear"), "is not a time"),
    ):
        said = invoke("--store", str(dsn), "review", *arguments)
        assert (said.exit_code, why in said.stderr) == (2, True), said.stderr
    other = Dsn(scheme="chdb", path=tmp_path / "other")
    fill(other)
    with Typing("--store", str(other), "review", "--agent", "nobody") as screen:
        screen.wait("Nothing is left in this queue.")
        screen.type("q")
        assert screen.end() == 0
