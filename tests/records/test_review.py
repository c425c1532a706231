"""Queues and a reviewer's way through one, without a terminal."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from support.landing import insert
from support.rows import turn
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.judging.annotation import annotate, withdraw
from turnspan_records.judging.queues import (
    BUILT_IN,
    Progress,
    Queue,
    progress,
    queues,
    save_queue,
    waiting,
)
from turnspan_records.judging.review import Review, ReviewItem
from turnspan_records.lookup import RecordRef


def of(id_: str) -> RecordRef:
    return RecordRef("turn", id_, "shop", "s1", "f" * 32, id_)


def ids(store: Store, queue: Queue, author: str = "ada") -> list[str]:
    """The turns that a reviewer is to judge."""
    return [one.id for one in waiting(store, queue, author)]


def said(store: Store, id_: str, author: str, **what: Any) -> None:
    """Judge a turn, at once."""
    spool = Spool(store.dsn.spool)
    annotate(spool, of(id_), author=author, **what)
    ship(store, spool=spool)


@pytest.fixture
def shop(store: Store) -> Store:
    """Turns of all sorts: two that do not count, since one runs and one is another's."""
    insert(
        store,
        turn("t1", 0, cost_usd=Decimal("0.1"), agent_name="clerk"),
        turn("t2", 60, cost_usd=Decimal("0.3"), stop_reason="max_tokens"),
        turn("t3", 120, stop_reason="loop_detected:search, again and again"),
        turn("t4", 180, cost_usd=Decimal("0.2"), project="other"),
        turn("t5", 240, status="interrupted", stop_reason=""),
        turn("n1", 1, parent_turn_id="t1", stop_reason="error"),
        turn("r1", 300, status="running", stop_reason=""),
    )
    return store


def test_orders_and_filters(shop: Store) -> None:
    """Oldest first, dearest first, what stopped oddly; by project, agent, time and stop reason."""
    assert ids(shop, BUILT_IN["unassessed"]) == ["t1", "t2", "t3", "t4", "t5"]
    assert ids(shop, BUILT_IN["dearest"]) == ["t2", "t4", "t1", "t3", "t5"]
    assert ids(shop, BUILT_IN["odd"]) == ["t5", "t3", "t2"]
    assert ids(shop, Queue(order="newest", project="other")) == ["t4"]
    assert ids(shop, Queue(agent="clerk")) == ["t1"]
    assert ids(shop, Queue(stop_reasons=("loop_detected", "interrupted"))) == ["t3", "t5"]
    assert ids(shop, Queue(since="2026-09-21T14:14", until="2026-09-21T14:16")) == ["t2", "t3"]
    with pytest.raises(ValueError, match="order is one of oldest"):
        ids(shop, Queue(order="1; DROP TABLE annotation"))


def test_what_is_judged_and_by_whom(shop: Store) -> None:
    """Anyone's judgment is enough, or each one's own: not a machine's, not one that was withdrawn,
    nor that nothing is decided yet, nor a note."""
    anyone, each = Queue(project="shop"), Queue(project="shop", each=True)
    said(shop, "t1", "bob", outcome="used")
    said(shop, "t2", "bob", outcome="pending", training_flag=0, comment="hm")
    said(shop, "t3", "passive:mediawiki", outcome="used")
    assert ids(shop, anyone) == ["t2", "t3", "t5"]
    assert ids(shop, each) == ["t1", "t2", "t3", "t5"]
    assert ids(shop, each, "bob") == ["t2", "t3", "t5"]
    assert progress(shop, anyone, "ada") == Progress(4, 3)
    said(shop, "t5", "ada", score=4)
    assert progress(shop, each, "ada") == Progress(4, 3)
    withdraw(Spool(shop.dsn.spool), of("t1"), "outcome", author="bob")
    ship(shop, spool=Spool(shop.dsn.spool))
    assert ids(shop, anyone) == ["t1", "t2", "t3"]


def test_a_sample_is_the_same_for_everybody_and_later(shop: Store) -> None:
    """It is drawn by its seed from all that match, judged or not."""
    queue = Queue(sample=3, each=True)
    drawn = ids(shop, queue)
    assert len(drawn) == 3
    assert drawn == ids(shop, queue, "bob") != ids(shop, replace(queue, seed=2))
    said(shop, drawn[0], "ada", score=4)
    assert ids(shop, queue) == drawn[1:]
    assert progress(shop, queue, "ada") == Progress(3, 2)


def test_a_saved_queue_comes_back_as_it_was(shop: Store) -> None:
    """The newest of a name counts; a sample is drawn from what there was when it was saved."""
    spool = Spool(shop.dsn.spool)
    for odd in (False, True):
        saved = save_queue(spool, Queue("näme", odd=odd, stop_reasons=("error", "refusal")))
    ship(shop, spool=spool)
    assert queues(shop)["näme"] == saved
    assert (saved.odd, saved.until) == (True, "")
    assert save_queue(spool, Queue("few", sample=3)).until != ""
    for name in ("", "sample"):
        with pytest.raises(ValueError, match="a name of its own"):
            save_queue(spool, Queue(name))


def test_through_a_queue_and_back(shop: Store) -> None:
    """Each turn with its conversation; what another judged meanwhile is left out; an undo takes
    back exactly what was said last."""

    @contextmanager
    def opened() -> Generator[Store]:
        yield shop

    review = Review(opened, Spool(shop.dsn.spool), Queue(project="shop"), "ada")
    first = shown(review.next())
    assert (first.record.id, first.number, first.judgments) == ("t1", 1, [])
    assert review.progress == Progress(4, 4)
    review.judge(outcome="used")
    review.judge(outcome="rejected")
    told = shown(review.judge(outcome="used")).judgments
    assert [one.outcome for one in told] == ["used", "rejected", "used"]
    assert review.progress == Progress(4, 3)

    said(shop, "t2", "bob", score=2)
    assert shown(review.next()).record.id == "t3"
    assert review.elsewhere == 1
    undone = shown(review.undo())
    assert (undone.record.id, [one.holds for one in undone.judgments]) == (
        "t1",
        [False, True, False],
    )
    assert [one.holds for one in shown(review.undo()).judgments] == [True, False, False]
    assert review.progress.left == 2
    shown(review.undo())
    assert (review.undo(), review.progress.left) == (None, 3)

    assert shown(review.next()).record.id == "t3"
    assert shown(review.next()).record.id == "t5"
    assert review.next() is None
    assert shown(review.back()).record.id == "t5"


def shown(item: ReviewItem | None) -> ReviewItem:
    """The turn that is shown."""
    assert item is not None
    assert item.turn.turn_id == item.record.id
    return item
