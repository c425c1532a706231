"""What people say of lineages from outside the application, and what holds of it."""

from __future__ import annotations

from typing import Any

import pytest

from support.camp_rows import ATTEMPTS, LINEAGE, ROLLOUTS, at, camp_rows, made
from support.landing import insert
from support.rows import PROJECT, turn
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records import experiment
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.directives import LONGEST, Word, lines_of, steer
from turnspan_records.loop.improvement import LineageRecord

SECRET = "sk-ant-api03-" + "a1B2" * 23 + "-abcdefAA"


@pytest.fixture
def camp(store: Store) -> Store:
    insert(store, *camp_rows())
    return store


def tell(store: Store, word: Word, text: str = "", id: str = "") -> None:
    """Say it, and land it."""
    spool = Spool(store.dsn.spool)
    lineages = [(PROJECT, LINEAGE), (PROJECT, LINEAGE)]
    assert steer(spool, lineages, word, text, author="ada", id=id or f"{word}-{text}") == 1
    assert ship(store).ok


def now(store: Store) -> LineageRecord:
    """The lineage as it is."""
    (lineage,) = experiment(store, "camp").lineages
    return lineage


def test_what_is_said_holds(camp: Store) -> None:
    """The newest directive, until it is taken back; locks; each word with who said it."""
    tell(camp, "directive", "be brief")
    tell(camp, "directive", "name your sources")
    tell(camp, "locked", "the best")
    assert (now(camp).directive, now(camp).locked) == ("name your sources", True)
    tell(camp, "directive")
    tell(camp, "unlocked")
    assert (now(camp).directive, now(camp).locked) == ("", False)
    said = [(one.kind, one.text, one.author) for one in now(camp).events][1:]
    assert said[2:] == [
        ("locked", "the best", "ada"),
        ("directive", "", "ada"),
        ("unlocked", "", "ada"),
    ]


def test_what_is_asked_for_the_next_cycle_is_used_up_by_it(camp: Store) -> None:
    tell(camp, "once", "add prices")
    tell(camp, "once", "add a map")
    tell(camp, "evolve", "judged")
    assert (now(camp).once, now(camp).evolve) == (["add prices", "add a map"], True)
    after: Any = at(10**9)
    insert(
        camp,
        made(rows.RolloutRow, lineage_id=LINEAGE, rollout_id="c" * 32, cycle=3, started_at=after),
    )
    assert (now(camp).once, now(camp).evolve) == ([], False)


def test_said_again_it_is_the_same_word(camp: Store) -> None:
    """Whoever did not hear the answer asks again with the same id."""
    for _ in range(2):
        tell(camp, "once", "add prices", id="word-0001")
    assert now(camp).once == ["add prices"]


def test_nothing_secret_is_kept(camp: Store) -> None:
    tell(camp, "directive", f"use {SECRET}")
    assert SECRET not in now(camp).directive
    assert now(camp).directive.startswith("use [REDACTED")


def test_the_lineage_of_an_answer(camp: Store) -> None:
    """Of whatever is of one; a turn of none has none, and one whose lineage is not recorded only
    its id."""
    insert(camp, turn("apart"), turn("early", lineage_id="5" * 32))
    tell(camp, "locked")
    found = [
        RecordRef(kind, id_, PROJECT)
        for kind, id_ in (
            ("lineage", LINEAGE),
            ("rollout", ROLLOUTS[0]),
            ("attempt", ATTEMPTS[1]),
            ("turn", "1" * 16),
            ("call", "2" * 16),
            ("artifact", "9" * 32),
            ("turn", "apart"),
            ("session", LINEAGE),
            ("turn", "early"),
        )
    ]
    *ours, apart, session, early = lines_of(camp, found)
    assert {(one and one.id, one and one.label, one and one.locked) for one in ours} == {
        (LINEAGE, "A", True)
    }
    assert (apart, session) == (None, None)
    assert early is not None
    assert (early.id, early.label, early.locked) == ("5" * 32, "", False)


@pytest.mark.parametrize(
    ("word", "text", "said"),
    [
        ("stop", "", "a lineage takes directive, once"),
        ("once", " ", "write what to do differently"),
        ("directive", "x" * (LONGEST + 1), "20,000 characters"),
    ],
)
def test_what_cannot_be_said(camp: Store, word: Any, text: str, said: str) -> None:
    spool = Spool(camp.dsn.spool)
    with pytest.raises(ValueError, match=said):
        steer(spool, [(PROJECT, LINEAGE)], word, text, author="ada", id="x")
    assert not spool.names()
