"""Judging answers side by side: what is stored, and that an export makes the same pairs of it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from support.improved import Improved
from support.landing import insert
from support.rows import PROJECT, T0
from support.training import everything
from turnspan_clickhouse.rows.loop_tables import AttemptRow
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records import TrainingSet, export
from turnspan_records.judging.annotation import StoredJudgment, judge, take_back
from turnspan_records.judging.history import judgments
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.lineages import AmbiguousError
from turnspan_records.screens.comparison import order, side_by_side

RANKING = "ranking-1234"
IDS = ("answer-one", "answer-two", "answer-three", "answer-four")


@pytest.fixture
def shop(embedded: Store) -> Store:
    """Four answers to one question, one to another, one that is the same text, and one attempt."""
    made = Improved()
    for id_ in IDS:
        made.turn(id_, "Which boots?", f"Answer of {id_}.")
    made.turn("answer-same", "Which boots?", f"Answer of {IDS[0]}.")
    made.turn("other-question", "Which shoes?", "Those.")
    made.turn("unasked-one", "Which boots?", "No content.", system="Another prompt.")
    made.lineage("A")
    made.result("of-lineage", "A", "Which boots?")
    made.rows.append(AttemptRow(project=PROJECT, attempt_id="attempt-empty", started_at=T0))
    insert(embedded, *made.rows)
    return embedded


def stored(store: Store) -> list[tuple[str, str]]:
    """What holds: chosen over rejected."""
    ship(store, spool=Spool(store.dsn.spool))
    return [
        (str(chosen), str(rejected))
        for chosen, rejected in store.query(
            "SELECT chosen_id, rejected_id FROM annotation_current WHERE kind = 'preference'"
            " ORDER BY created_at, annotation_id"
        ).rows
    ]


def test_an_order_is_stored_as_ids_and_exported_as_it_was_said(shop: Store, tmp_path: Path) -> None:
    """Best first with a tie: five pairs, each chosen id before the rejected one; an export makes
    those pairs and no others."""
    shown = side_by_side(shop, IDS)
    assert shown.same_prompt
    assert shown.why_no_pairs == ""
    one, two, three, four = shown.prompts
    spool = Spool(shop.dsn.spool)
    saved = order(spool, [[three], [one], [two, four]], "ada", RANKING)
    order(spool, [[three], [one], [two, four]], "ada", RANKING)  # told again: the same
    wanted = [
        (IDS[2], IDS[0]),
        *((IDS[2], IDS[1]), (IDS[2], IDS[3])),
        *((IDS[0], IDS[1]), (IDS[0], IDS[3])),
    ]
    assert stored(shop) == wanted
    assert [(one.chosen.id, one.rejected.id, one.why_not) for one in saved.pairs] == [
        (*pair, "") for pair in wanted
    ]
    (said,) = {
        (one.author, one.source, one.ranking_id) for one in judgments(shop, PROJECT, "turn", IDS[1])
    }
    assert said == ("ada", "console", RANKING)

    export(shop, tmp_path / "set", TrainingSet("preference", "trl", pairs=("preferences",)))
    texts = {f"Answer of {id_}.": id_ for id_ in IDS}
    assert sorted(
        (texts[line["chosen"][-1]["content"]], texts[line["rejected"][-1]["content"]])
        for line in everything(tmp_path / "set")
    ) == sorted(wanted)

    assert take_back(shop, spool, saved.given, "ada") == 5
    assert take_back(shop, spool, saved.given, "ada") == 0, "it is taken back already"
    assert stored(shop) == []


def test_no_pair_is_made_of_different_prompts(shop: Store) -> None:
    """Nor of equal texts, nor of what has no sample: each with its reason, and nothing stored; of
    some that fit, those are."""
    ids = (IDS[0], "other-question", "unasked-one", "answer-same", "attempt-empty")
    shown = side_by_side(shop, ids)
    reasons = {
        (a.subject.id, b.subject.id): order_of(a, b) for a, b in combinations(shown.prompts, 2)
    }
    different, same = "they answer different prompts", "they say the same"
    none = "no turn of this attempt is recorded"
    assert reasons[IDS[0], "other-question"] == different
    assert reasons[IDS[0], "unasked-one"] == different
    assert reasons[IDS[0], "answer-same"] == same
    assert reasons[IDS[0], "attempt-empty"] == "they are of two kinds, or two projects"
    assert shown.prompts[4].why_not == none
    spool = Spool(shop.dsn.spool)
    with pytest.raises(ValueError, match=f"no pair is made of these: {different}"):
        order(spool, [[shown.prompts[0]], [shown.prompts[1]]], "ada", RANKING)
    assert stored(shop) == []

    mixed = side_by_side(shop, (IDS[0], IDS[1], "other-question"))
    assert not mixed.same_prompt
    assert mixed.why_no_pairs == ""
    saved = order(spool, [[one] for one in mixed.prompts], "ada", RANKING)
    assert [one.why_not for one in saved.pairs] == ["", different, different]
    assert stored(shop) == [(IDS[0], IDS[1])]


def order_of(one: Any, other: Any) -> str:
    """Why these two make no pair."""
    from turnspan_records.loop.prompts import pair_of

    return pair_of(one, other).why_not


def test_an_attempt_is_preferred_by_its_turn(shop: Store) -> None:
    """So that an export can make a sample of it; its score is the attempt's own."""
    shown = side_by_side(shop, ("a-of-lineage", IDS[0]))
    assert [one.subject.id for one in shown.prompts] == ["of-lineage", IDS[0]]
    spool = Spool(shop.dsn.spool)
    order(spool, [[one] for one in shown.prompts], "ada", RANKING)
    assert stored(shop) == [("of-lineage", IDS[0])]
    subjects = [one.subject for one in shown.prompts]
    given = judge(spool, subjects[1:], "ada", "score-1234", score=8)
    given += judge(spool, subjects[1:], "ada", "directive-1234", directive="add prices")
    bad = judge(spool, subjects, "ada", "allbad-1234", outcome="rejected")
    told = judgments(shop, PROJECT, "turn", IDS[0], also=also(spool))
    assert [(one.kind, one.verdict) for one in told if one.kind != "preference"] == [
        ("score", "8"),
        ("directive", "add prices"),
        ("outcome", "rejected"),
    ]
    with pytest.raises(ValueError, match="only they can take it back"):
        take_back(shop, spool, given, "bob")
    assert take_back(shop, spool, [*given, *bad], "ada") == 4
    assert (
        take_back(shop, spool, [StoredJudgment(PROJECT, "turn", "gone", "score", "x")], "ada") == 0
    )


def also(spool: Spool) -> Any:
    """What waits."""
    from turnspan_records.judging.unlanded import unlanded

    return unlanded(spool)


def test_what_cannot_be_compared_says_so(shop: Store) -> None:
    """Too few, twice the same, nothing of that id, several of it, no answer, a bad score."""
    for ids, error, why in (
        (IDS[:1], ValueError, "2 to 6 answers"),
        ((IDS[0], IDS[0]), ValueError, "name each once"),
        ((IDS[0], "nowhere"), KeyError, "nowhere"),
        ((IDS[0], "answer-"), AmbiguousError, "answer-four"),
        ((IDS[0], "s-answer-one"), ValueError, "session s-answer-one has no answer"),
    ):
        with pytest.raises(error, match=why):
            side_by_side(shop, ids)
    spool = Spool(shop.dsn.spool)
    prompts = side_by_side(shop, IDS[:2]).prompts
    with pytest.raises(ValueError, match="not all equally good"):
        order(spool, [prompts], "ada", RANKING)
    with pytest.raises(ValueError, match="judge one of turn"):
        judge(spool, [RecordRef("rollout", "r1", PROJECT)], "ada", "score-1234", score=1)
    with pytest.raises(ValueError, match="from 0 to 10"):
        judge(spool, [prompts[0].subject], "ada", "score-1234", score=11)
    with pytest.raises(ValueError, match="name one of outcome"):
        judge(spool, [prompts[0].subject], "ada", "score-1234", score=1, directive="shorter")
    assert not also(spool)
