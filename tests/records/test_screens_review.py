"""What the page's review asks: nothing is kept between two questions, so nothing can be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.artifacts import artifact
from support.landing import insert
from support.rows import PROJECT, T0, answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.judgment_tables import ArtifactCheckRow
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.judging.annotation import annotate, judge, withdraw
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.judging.queues import Progress, Queue, progress, summary, waiting
from turnspan_records.judging.review import last_said, left, signal, undo
from turnspan_records.judging.unlanded import land, unlanded
from turnspan_records.lookup import RecordRef
from turnspan_records.screens.reading_view import Utterance, tell


def made(store: Store, count: int = 4) -> Spool:
    """Turns ``t0`` and on; the spool that judgments go to."""
    insert(store, *(turn(f"t{n}", n * 60, session_id=f"s{n}") for n in range(count)))
    return Spool(store.dsn.spool)


def give(spool: Spool, turn_id: str, author: str = "ada", id: str = "", **what: Any) -> None:
    """Judge, as the page does; the id says of what and by whom where none is given."""
    turn = RecordRef("turn", turn_id, PROJECT)
    judge(spool, [turn], author, id or f"{turn_id}-{author}-1234", **what)


def reviewed(store: Store, turn_id: str) -> list[JudgmentRecord]:
    """What a reviewer is shown that others said of a turn."""
    return judgments(store, PROJECT, "turn", turn_id, also=land(store))


def test_what_waits_counts_and_lands_with_the_next_question(store: Store) -> None:
    """A judgment is on disk when it was given; queue, progress and history have it from the spool
    until it has landed, and the same after."""
    spool = made(store)
    give(spool, "t0", outcome="used")
    give(spool, "t1", score=7)
    give(spool, "t1", score=7)  # told again, since an answer was lost
    give(spool, "t2", comment="hm")
    withdraw(spool, RecordRef("turn", "t1", PROJECT), "score", id="t1-ada-1234", author="ada")
    queue = Queue()

    def seen(also: Any) -> tuple[Any, ...]:
        told = judgments(store, PROJECT, "turn", "t1", also=also)
        return (
            progress(store, queue, "ada", also=also),
            [one.id for one in waiting(store, queue, "bob", also=also)],
            [(one.kind, one.verdict, one.author, one.holds, one.withdrawn_by) for one in told],
        )

    also = unlanded(spool)
    assert len(also) == 5
    before = seen(also)
    assert before == (Progress(4, 3), ["t1", "t2", "t3"], [("score", "7", "ada", False, "ada")])
    ship(store, spool=spool)
    assert seen(also) == before  # landed between the two questions
    after = left(store, queue, "bob")
    assert (after.progress, [one.id for one in after.next], after.waiting) == (*before[:2], 0)
    assert seen(unlanded(spool)) == before


def test_undo_takes_back_the_last_until_nothing_is_left(store: Store) -> None:
    """Across restarts: the last of this reviewer in the page, whatever others and commands said."""
    spool = made(store)
    give(spool, "t0", outcome="used")
    give(spool, "t0", outcome="rejected", id="t0-second")
    give(spool, "t1", "bob", outcome="used")
    annotate(spool, RecordRef("turn", "t3", PROJECT), outcome="used", author="ada")
    ship(store, spool=spool)
    give(spool, "t2", training_flag=-1)
    assert [one.subject_id for one in last_said(store, "ada", limit=9)] == ["t2", "t0", "t0"]

    for turn_id, kind in (("t2", "training_flag"), ("t0", "outcome")):
        said = undo(store, spool, "ada")
        assert said is not None
        assert (said.subject_id, said.kind) == (turn_id, kind)
    told = reviewed(store, "t0")
    assert [(one.outcome, one.holds) for one in told] == [
        ("used", True),
        ("rejected", False),
    ]
    assert any(one.settles for one in told)
    assert undo(store, spool, "ada") is not None
    assert undo(store, spool, "ada") is None
    assert not any(one.settles for one in reviewed(store, "t0"))
    rows = store.query("SELECT count() FROM annotation").rows[0][0]
    assert rows == 5, "nothing is deleted"


def test_each_reviewer_judges_each_and_all_of_them_count(embedded: Store) -> None:
    """Two reviewers: one queue for anyone, one for each; what each of them has said."""
    spool = made(embedded)
    give(spool, "t0", outcome="used")
    give(spool, "t0", "bob", outcome="rejected")
    give(spool, "t1", "bob", training_flag=1)
    give(spool, "t2", "bob", score=8)
    of = RecordRef("turn", "t0", PROJECT)
    annotate(spool, of, outcome="modified", author="passive:git", source="machine")
    assert left(embedded, Queue(), "ada").progress == Progress(4, 1)
    assert left(embedded, Queue(each=True), "ada").progress == Progress(4, 3)
    assert left(embedded, Queue(each=True), "bob").progress == Progress(4, 1)
    ada, bob = (summary(embedded, Queue(), name) for name in ("ada", "bob"))
    assert (ada.outcomes, ada.both, ada.alike) == ({"used": 1}, 1, 0)
    assert (bob.outcomes, bob.flags, bob.scores, bob.mean_score) == (
        {"rejected": 1},
        {"1": 1},
        1,
        8.0,
    )
    give(spool, "t0", "bob", outcome="modified", id="bob-again")
    ship(embedded, spool=spool)
    assert summary(embedded, Queue(), "bob").alike == 1


def test_a_turn_is_told_with_its_tools_and_what_became_of_it(embedded: Store) -> None:
    """System prompt, question, thoughts, tools with results, reply; the passive signal, and the
    text that a person made of the agent's."""
    system = message("system", said("Be brief."))
    question = message("user", said("Is size 42 there?"))
    asking = message("assistant", asked("k1", "stock", size=42))
    result = message("tool", answered("k1", "none left"))
    reply = message("assistant", said("No."))
    insert(
        embedded,
        *(system, question, asking, result, reply),
        turn("t1", user_message="Is size 42 there?", response_text="No.", session_id="s1"),
        call("c1", 1, turn_id="t1", input_messages=[system.hash, question.hash],
             output_messages=[asking.hash], response_thoughts="I look."),
        tool("k1", 2, turn_id="t1", name="stock", call_id="k1", failed=True, result="none left"),
        call("c2", 3, turn_id="t1", output_messages=[reply.hash], error_type="Timeout",
             input_messages=[system.hash, question.hash, asking.hash, result.hash]),
        turn("n1", 4, parent_turn_id="t1", session_id="s1", response_text="Nested.",
             agent_name="helper"),
        *artifact("page", "wiki/Boots", "Size 42.", turn_id="t1"),
        *artifact("mended", "wiki/Boots", "Size 43.", turn_id="t1", kind="correction"),
        ArtifactCheckRow(project=PROJECT, source="git", artifact_id="page", turn_id="t1",
                      target="wiki/Boots", decision="modified", correction_id="mended",
                      similarity=0.83, checked_at=T0, decided_at=T0, revised_at=T0),
    )  # fmt: skip
    spool = Spool(embedded.dsn.spool)
    of = RecordRef("turn", "t1", PROJECT)
    annotate(spool, of, outcome="modified", author="passive:git", source="machine")

    judged = reviewed(embedded, "t1")
    shown = tell(embedded, PROJECT, "t1")

    def told(one: Utterance) -> tuple[str, str, int, bool]:
        return one.kind, one.text, one.depth, one.failed

    assert list(map(told, shown.told)) == [
        ("system", "Be brief.", 0, False),
        ("user", "Is size 42 there?", 0, False),
        ("thinking", "I look.", 0, False),
        ("tool", '{\n  "size": 42\n}', 0, True),
        ("result", "none left", 0, True),
        ("assistant", "No.", 0, False),
        ("error", "Timeout", 0, True),
        ("turn", "completed", 1, False),
        ("assistant", "Nested.", 1, False),
    ]
    assert (shown.number, shown.turns, any(one.settles for one in judged)) == (1, 1, False)
    known = signal(embedded, PROJECT, "t1", judged)
    assert (known.suggests, known.checks[0].similarity) == ("modified", 0.83)
    assert [one.corrected for one in known.revisions] == ["Size 43."]
    with pytest.raises(KeyError):
        tell(embedded, PROJECT, "gone")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"outcome": "good"}, "outcome is one of"),
        ({"score": 11}, "from 0 to 10"),
        ({"score": 1, "outcome": "used"}, "name one of"),
        ({"comment": ""}, "name one of"),
        ({"outcome": "used", "id": "x"}, "8 to 64"),
        ({"outcome": "used", "author": " "}, "has a name"),
        ({"outcome": "used", "author": "passive:git"}, "of a machine"),
    ],
)
def test_what_is_no_judgment_is_refused(tmp_path: Path, given: dict[str, Any], why: str) -> None:
    """With what would be one; nothing is written."""
    spool = Spool(tmp_path / "spool")
    with pytest.raises(ValueError, match=why):
        give(spool, "t1", **{"id": "t1-ada-1234", **given})
    assert not unlanded(spool)
