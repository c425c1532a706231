"""What the view says of consortium runs, against runs that were computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import openai
import pytest

import turnspan
from support.consortium_rows import JURY, QUIET, asked, at, consortium_rows, made
from support.landing import insert
from support.rows import PROJECT, call
from turnspan import semconv
from turnspan.testing import ModelServer
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.both_kinds(False)]


def runs(store: Store) -> dict[str, dict[str, Any]]:
    found = store.query("SELECT * FROM consortium_run").dicts()
    return {str(row["consortium_id"]): row for row in found}


def test_a_run_by_hand(store: Store) -> None:
    """Every column of it; calls of no run are in none."""
    insert(store, *consortium_rows(), call("0", 0.1, cost_usd=Decimal(1)))
    found = runs(store)

    assert set(found) == {JURY, QUIET}
    row = found[JURY]
    started = row.pop("started_at")
    assert started.timestamp() * 1e9 == pytest.approx(at(0), abs=1e3)
    assert row == {
        "project": PROJECT, "consortium_id": JURY, "name": "jury", "strategy": "rank",
        "status": "finished", "source": "live", "duration": 9.0, "session_id": "s1",
        "turn_id": "", "trace_id": "f" * 32, "outer_id": "", "iterations": 2,
        "members": ["m-a", "m-b", "m-b#2", "m-c"], "answers": 5, "failed_answers": 1,
        "arbiter": "judge-2", "winner": "m-b#2", "ranking": ["m-b#2", "m-a"],
        "confidences": [0.4, 0.9], "confidence": 0.9, "calls": 9, "input_tokens": 90,
        "output_tokens": 45, "cost_usd": Decimal("0.008"), "unpriced": 1,
        "longest_member": "m-b#2", "longest_member_seconds": 3.5,
        "compared_answers": 2, "agreement": 1.0, "error_type": "",
    }  # fmt: skip
    quiet = found[QUIET]
    assert (quiet["status"], quiet["source"], quiet["error_type"]) == (
        "failed",
        "import",
        "ValueError",
    )
    assert (quiet["members"], quiet["arbiter"], quiet["winner"]) == ([], "", "")
    assert (quiet["agreement"], quiet["confidence"], quiet["cost_usd"]) == (None, None, None)


@pytest.mark.parametrize(
    ("answers", "agreement"),
    [
        (["4", "5"], 0.0),
        (["4", " 4\n", "5"], 1 / 3),
        (["abcd", "abcd", "abcd"], 1.0),
        (["abcd"], None),
        (["abcd", "", "  "], None),
        (["x" * 50_000, "x" * 60_000], 1.0),
    ],
)
def test_agreement(store: Store, answers: list[str], agreement: float | None) -> None:
    """The mean over all pairs; short answers, long ones, blank ones and a single one."""
    insert(
        store,
        *(
            made(tables.ConsortiumMember, JURY, iteration=1, member_id=f"{n}", answer=text)
            for n, text in enumerate(answers)
        ),
        made(tables.ConsortiumMember, JURY, iteration=0, member_id="early", answer="zzzz"),
    )
    found = runs(store)[JURY]["agreement"]
    assert found == (None if agreement is None else pytest.approx(agreement))


def test_rows_that_came_again_and_an_arbiter_that_was_asked_again(store: Store) -> None:
    """The newest row of each counts, and the last decision on an iteration."""
    decided = {"iteration": 1, "model": "judge"}
    insert(store, made(tables.Consortium, JURY, status="running", started_at=at(0)))
    insert(store, asked("1", "x", 1, consortium_role=1))
    insert(
        store,
        made(tables.ConsortiumIteration, JURY, arbiter_id="w", started_at=at(1), **decided,
             error_type="KeyError", ranking=["b"]),
        made(tables.ConsortiumIteration, JURY, arbiter_id="x", started_at=at(2), **decided,
             confidence=0.5, ranking=["a"]),
    )  # fmt: skip
    again = made(tables.Consortium, JURY, status="finished", started_at=at(0))
    again.written_at += 1
    row = asked("1", "x", 1, consortium_role=2)
    row.written_at += 1
    insert(store, again, row)

    found = runs(store)[JURY]
    assert (found["status"], found["calls"], found["winner"]) == ("finished", 1, "a")
    assert found["confidences"] == [0.5]


def test_calls_alone(store: Store) -> None:
    """Where nobody told of the run itself (its process died, or its spans came from elsewhere),
    they say who was asked."""
    iteration = EncodedMap.of({semconv.CONSORTIUM_ITERATION: "2"})
    insert(
        store,
        asked("1", "x", 1, response_text="a"),
        asked("2", "", 2, attributes=iteration, request_model="b", response_text="b"),
        asked("3", "", 3, consortium_role=1, request_model="judge"),
    )

    found = runs(store)[JURY]
    assert (found["status"], found["calls"], found["members"]) == ("", 3, ["b", "gpt-4o"])
    assert (found["iterations"], found["arbiter"], found["compared_answers"]) == (2, "judge", 1)
    assert found["started_at"].timestamp() * 1e9 == pytest.approx(at(1), abs=1e3)


def test_a_run_is_looked_up_without_the_calls_of_others(store: Store) -> None:
    """Granules without a call of a run are left out, by an index."""
    insert(store, *consortium_rows())
    insert(store, *(call(f"{n:016x}", n, session_id=f"z{n % 50}") for n in range(30_000)))
    asked_for = "SELECT span_id FROM llm_call WHERE consortium_id != ''"
    plan = store.query(f"EXPLAIN indexes = 1 {asked_for}", settings={"final": 0}).rows

    text = "\n".join(str(row[0]) for row in plan)
    assert "by_consortium" in text
    assert runs(store)[JURY]["calls"] == 9


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(default="yes") as started:
        yield started


def test_a_live_run_lands(store_dsn: Dsn, server: ModelServer) -> None:
    """Whenever its rows are written: a call that has landed as the final arbiter's is written again
    when another iteration begins."""
    turnspan.configure(service_name="shop", store=str(store_dsn), exporters=["turnspan"])
    turnspan.instrument()
    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)

    def ask(model: str) -> None:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "q"}])

    try:
        with turnspan.consortium("Which?", name="jury") as run:
            for iteration in (1, 2):
                for model in ("gpt-4o", "gpt-4.1"):
                    with run.member(model):
                        ask(model)
                with run.arbiter(model="gpt-5") as arbiter:
                    ask("gpt-5")
                    arbiter.decided("yes", confidence=iteration / 2, ranking=["gpt-4o"])
                assert turnspan.flush(local=True).ok
                ship(store_dsn, spool=Spool(store_dsn.spool))
                with open_store(store_dsn) as store:
                    row = runs(store)[run.id]
                    assert (row["status"], row["iterations"]) == ("running", iteration)
            run.final("yes")
        assert turnspan.flush(local=True).ok
    finally:
        turnspan.uninstrument()
        turnspan.shutdown()
    ship(store_dsn, spool=Spool(store_dsn.spool))
    with open_store(store_dsn) as store:
        row = runs(store)[run.id]
        roles = store.query(
            "SELECT request_model, consortium_role FROM llm_call ORDER BY start_time"
        ).rows
    asked_for = ["gpt-4o", "gpt-4.1", "gpt-5"] * 2
    assert roles == list(zip(asked_for, [0, 0, 2, 0, 0, 1], strict=True))
    assert (row["status"], row["source"], row["name"]) == ("finished", "live", "jury")
    assert (row["members"], row["answers"]) == (["gpt-4.1", "gpt-4o"], 4)
    assert (row["arbiter"], row["winner"], row["confidences"]) == ("gpt-5", "gpt-4o", [0.5, 1.0])
    assert (row["calls"], row["input_tokens"], row["unpriced"]) == (6, 60, 0)
    assert row["cost_usd"] > 0
    assert (row["compared_answers"], row["agreement"]) == (2, 1.0)
