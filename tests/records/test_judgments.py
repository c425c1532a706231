"""What was said of a record, as records, and how far reviewers agree."""

from __future__ import annotations

import random
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, turn
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.diagnostics import find as diagnostic
from turnspan_records.judging.annotation import annotate, prefer, rank, withdraw
from turnspan_records.judging.history import judgments
from turnspan_records.lookup import RecordRef


def of(id_: str) -> RecordRef:
    """A turn of the shop."""
    return RecordRef("turn", id_, PROJECT)


def said(subject: str, author: str, kind: str, at: int = 1, **values: Any) -> Annotation:
    """A judgment of a turn ``at`` nanoseconds after T0."""
    return Annotation(
        project=PROJECT,
        subject_kind="turn",
        subject_id=subject,
        annotation_id=f"{author}-{kind}-{at}",
        kind=kind,
        author=author,
        created_at=T0 + at,
        written_at=T0 + at,
        **values,
    )


def test_a_history_has_what_was_said_and_what_was_withdrawn(store: Store) -> None:
    """In the order of time, with who, from where, how sure; also what was chosen over it."""
    spool = Spool(store.dsn.spool)
    insert(store, turn("t1"), turn("t2"), turn("t3"))
    assert judgments(store, PROJECT, "turn", "t1") == []
    annotate(spool, of("t1"), outcome="used", author="ada", confidence=0.5, source="form")
    annotate(spool, of("t1"), outcome="rejected", author="bob", comment="no")
    prefer(spool, of("t2"), [of("t1"), of("t3")], reason="shorter", author="ada")
    withdraw(spool, of("t1"), "outcome", author="bob", reason="a slip")
    ship(store, spool=spool)

    told = judgments(store, PROJECT, "turn", "t1")
    assert sorted((one.kind, one.verdict, one.author, one.holds) for one in told) == [
        ("comment", "no", "bob", True),
        ("outcome", "rejected", "bob", False),
        ("outcome", "used", "ada", True),
        ("preference", "t2 over t1", "ada", True),
    ]
    assert told == sorted(told, key=lambda one: one.created_at)
    first, last = told[0], told[-1]
    assert (first.confidence, first.source, first.withdrawn_at) == (0.5, "form", None)
    assert (last.chosen_id, last.rejected_id, last.comment) == ("t2", "t1", "shorter")
    (gone,) = [one for one in told if one.withdrawn_at is not None]
    assert (gone.outcome, gone.withdrawn_by, gone.reason) == ("rejected", "bob", "a slip")
    assert gone.withdrawn_at is not None and gone.created_at <= gone.withdrawn_at
    assert len(judgments(store, PROJECT, "turn", "t2")) == 2


def test_a_ranking_is_told_from_preferences(store: Store) -> None:
    """Its pairs have one id in common, and none for ties."""
    spool = Spool(store.dsn.spool)
    ids = [of(name) for name in ("a", "b", "c")]
    assert rank(spool, ids, ties=[[of("b"), of("c")]], author="ada") == 2
    prefer(spool, of("a"), [of("b")], author="ada")
    ship(store, spool=spool)
    told = judgments(store, PROJECT, "turn", "a")
    ranked = [one for one in told if one.ranking_id]
    assert sorted(one.verdict for one in ranked) == ["a over b", "a over c"]
    assert len({one.ranking_id for one in ranked}) == 1
    assert len(told) == 3
    # Of a pair one holds: the newest.
    assert sorted(one.rejected_id for one in told if one.holds) == ["b", "c"]


@pytest.mark.parametrize(
    ("best_first", "ties", "why"),
    [
        (["a"], [], "at least two"),
        (["a", "b"], [["a", "b"]], "at least two"),
        (["a", "b", "a"], [], "each id once"),
        (["a", "b"], [["a", "z"]], "ids of the ranking: not 'z'"),
        (["a", "b", "c"], [["a", "c"]], "beside each other"),
        ([str(n) for n in range(201)], [], "at most 200"),
    ],
)
def test_what_is_no_ranking_is_refused(
    embedded_dsn: Any, best_first: list[str], ties: list[list[str]], why: str
) -> None:
    """The error says why."""
    with pytest.raises(ValueError, match=why):
        rank(
            Spool(embedded_dsn.spool),
            [of(one) for one in best_first],
            ties=[[of(one) for one in tie] for tie in ties],
        )


ADA = ["used", "used", "used", "rejected", "modified", "rejected"]
BOB = ["used", "used", "rejected", "rejected", "modified", "used"]


def agreement(store: Store) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = diagnostic("reviewer_agreement").run(store).dicts()
    return {(row["judgment"], row["reviewer"], row["other_reviewer"]): row for row in rows}


def test_cohens_kappa_where_two_judged_the_same(store: Store) -> None:
    """Of outcomes 4 of 6 agree where chance gives 14 of 36: 0.455; of scores by distance. People
    are compared with the passive signal, which is not compared with itself."""
    for at, (ada, bob) in enumerate(zip(ADA, BOB, strict=True)):
        insert(
            store,
            said(f"t{at}", "ada", "outcome", outcome=ada),
            said(f"t{at}", "bob", "outcome", outcome=bob),
            said(f"t{at}", "passive:mediawiki", "outcome", outcome=ada),
            said(f"t{at}", "passive:git", "outcome", outcome=ada),
            said(f"t{at}", "ada", "score", score=at + 1.0),
            said(f"t{at}", "bob", "score", score=at + 2.0),
        )
    insert(store, said("t0", "", "outcome", outcome="used"), said("t9", "ada", "score", score=3.0))
    found = agreement(store)
    assert {key[1:] for key in found} == {
        ("ada", "bob"),
        *((one, f"passive:{two}") for one in ("ada", "bob") for two in ("mediawiki", "git")),
    }
    outcome = found["outcome", "ada", "bob"]
    assert (outcome["both_judged"], outcome["agreed"], outcome["kappa"]) == (6, 4, 0.455)
    assert found["outcome", "ada", "passive:git"]["kappa"] == 1
    score = found["score", "ada", "bob"]
    assert (score["agreed"], score["counted"], score["kappa"]) == (0, "by distance", 0.854)


def test_agreement_is_of_what_holds(store: Store) -> None:
    """Each reviewer's newest, without what is withdrawn or says nothing; where all is the same
    there is no kappa. Of preferences a pair is one thing, whichever way round."""
    insert(
        store,
        said("t1", "ada", "outcome", 1, outcome="used"),
        said("t1", "ada", "outcome", 2, outcome="rejected"),
        said("t1", "bob", "outcome", 1, outcome="rejected"),
        said("t2", "ada", "outcome", 3, outcome="used"),
        said("t2", "bob", "outcome", 3, outcome="pending"),
        said("t3", "ada", "training_flag", 1, training_flag=1),
        said("t3", "bob", "training_flag", 1, training_flag=-1),
        said("a", "ada", "preference", chosen_id="a", rejected_id="b"),
        said("b", "bob", "preference", chosen_id="b", rejected_id="a"),
        Withdrawal(
            project=PROJECT,
            subject_kind="turn",
            subject_id="t3",
            kind="training_flag",
            withdrawal_id="w",
            annotation_id="bob-training_flag-1",
            created_at=T0 + 5,
        ),
    )
    found = agreement(store)
    assert sorted(found) == [("outcome", "ada", "bob"), ("preference", "ada", "bob")]
    assert (found["outcome", "ada", "bob"]["agreed"], found["outcome", "ada", "bob"]["kappa"]) == (
        1,
        None,
    )
    assert found["preference", "ada", "bob"]["agreed"] == 0


def test_what_holds_is_what_the_view_shows(store: Store) -> None:
    """Worked out apart, for the speed of it, and the same: people, machines, pairs, withdrawals."""
    chance = random.Random(12)
    made: list[Annotation | Withdrawal] = []
    for at in range(60):
        subject, other = chance.sample(["a", "b", "c"], 2)
        author = chance.choice(["ada", "bob", "passive:git"])
        kind = chance.choice(["outcome", "score", "preference"])
        values: dict[str, Any] = {"outcome": chance.choice(["used", "rejected"])}
        if kind == "preference":
            values = {"chosen_id": subject, "rejected_id": other}
        made.append(said(subject, author, kind, at, **values))
        if chance.random() < 0.3:
            taken_back = chance.choice([one for one in made if isinstance(one, Annotation)])
            made.append(
                Withdrawal(
                    project=PROJECT,
                    subject_kind="turn",
                    subject_id=taken_back.subject_id,
                    kind=taken_back.kind,
                    withdrawal_id=str(at),
                    annotation_id=chance.choice([taken_back.annotation_id, ""]),
                    author=chance.choice(["", "ada"]),
                    created_at=T0 + at,
                )
            )
    insert(store, *made)
    sql = """
        SELECT annotation_id FROM annotation_current WHERE {id:String} IN (subject_id, rejected_id)
    """
    for subject in "abc":
        shown = {str(row[0]) for row in store.query(sql, {"id": subject}).rows}
        told = judgments(store, PROJECT, "turn", subject)
        assert {one.id for one in told if one.holds} == shown
        assert len(shown) > 2
