"""The improvement loop lands once, and what it came to is computed when judgments come."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import turnspan
from support.representatives import first_on
from turnspan_clickhouse.ship.interrupted_work import interrupt_work
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.both_kinds(False)]


@pytest.fixture
def recorder(store_dsn: Dsn) -> Iterator[None]:
    turnspan.configure(service_name="camp", store=str(store_dsn), exporters=["turnspan"])
    yield
    turnspan.shutdown()


def landed(dsn: Dsn) -> Store:
    turnspan.flush()
    ship(dsn, spool=Spool(dsn.spool))
    return open_store(dsn)


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in store.query(sql).rows]


@first_on("server")
@pytest.mark.usefixtures("recorder")
def test_scores_are_computed_when_they_come(store_dsn: Dsn) -> None:
    """Nothing before both versions are judged; then the difference, by the attempts that count."""
    lineage = turnspan.experiment("camp").lineage("A")
    one, other = lineage.version({"prompt": "a"}), lineage.version({"prompt": "b"})
    made: list[tuple[str, str]] = []
    for cycle, version in ((1, one), (2, other)):
        with lineage.rollout(cycle, version=version) as rollout:
            with pytest.raises(ValueError, match="x"), rollout.attempt() as failed:
                raise ValueError("x")
            with rollout.attempt() as attempt:
                artifact = turnspan.artifact("page", f"text {cycle}")
            turnspan.annotate(failed, score=10)  # of an attempt that does not count
        made.append((attempt.id, artifact))
    evolution = turnspan.evolve(lineage, one, other, hypothesis="better")
    outcome = "SELECT from_score, next_score, score_delta, hypothesis_validated"
    outcome += " FROM evolution_outcome"

    with landed(store_dsn) as store:
        assert rows(store, "SELECT evolution_id FROM evolution") == [(evolution,)]
        assert rows(store, outcome) == [(None, None, None, None)]

    turnspan.annotate(made[0][1], kind="artifact", score=4)
    turnspan.annotate(made[0][0], kind="attempt", score=6)
    turnspan.evaluation("style", score=0.5, subject=made[0][0], kind="attempt")
    with landed(store_dsn) as store:
        assert rows(store, outcome) == [(None, None, None, None)]

    turnspan.annotate(made[1][1], kind="artifact", score=8)
    turnspan.evaluation("style", score=0.1, subject=made[1][1], kind="artifact")
    with landed(store_dsn) as store:
        assert rows(store, outcome) == [(5.0, 8.0, 3.0, 1)]

    turnspan.annotate(made[1][1], kind="artifact", score=3)  # judged anew: the newest holds
    with landed(store_dsn) as store:
        assert rows(store, outcome) == [(5.0, 3.0, -2.0, 0)]
        assert rows(
            store, "SELECT cycle, status, length(attempts) FROM rollout_current ORDER BY cycle"
        ) == [(1, "succeeded", 2), (2, "succeeded", 2)]


@first_on("server")
@pytest.mark.usefixtures("recorder")
def test_only_scores_of_one_kind_are_compared(store_dsn: Dsn) -> None:
    """A number of one scale is never taken from one of another."""
    lineage = turnspan.experiment("camp").lineage("A")
    one, other = lineage.version({"prompt": "a"}), lineage.version({"prompt": "b"})
    for version, judge in (
        (one, {"score": 7.0, "style": 0.2}),
        (other, {"style": 0.6, "wit": 9.0}),
    ):
        rollout = lineage.rollout(1, task=version.id, version=version)
        with rollout.attempt() as attempt:
            pass
        for name, score in judge.items():
            if name == "score":
                turnspan.annotate(attempt, score=score)
            else:
                turnspan.evaluation(name, score=score, subject=attempt)
    turnspan.evolve(lineage, one, other)

    with landed(store_dsn) as store:
        (found,) = rows(store, "SELECT compared, score_delta FROM evolution_outcome")
    assert list(found[0]) == ["evaluation:style"]
    assert found[1] == pytest.approx(0.4)


@first_on("server")
@pytest.mark.usefixtures("recorder")
def test_what_holds_of_a_lineage_now(store_dsn: Dsn) -> None:
    """The newest of each; what was said once, until a rollout has begun."""
    camp = turnspan.experiment("camp")
    lineage = camp.lineage("A", strategy="short", directive="be kind", once="cite", locked=True)
    camp.lineage("B")
    current = "SELECT label, strategy, directive, once, locked FROM lineage_current ORDER BY label"

    with landed(store_dsn) as store:
        found = [(*row[:3], list(row[3]), row[4]) for row in rows(store, current)]
    assert found == [("A", "short", "be kind", ["cite"], 1), ("B", "", "", [], 0)]

    with lineage.rollout(1):
        lineage.unlock()
    lineage.direct("be brief", once="again")
    with landed(store_dsn) as store:
        found = [(*row[:3], list(row[3]), row[4]) for row in rows(store, current)]
    assert found[0] == ("A", "short", "be brief", ["again"], 0)


def test_an_attempt_whose_process_died_is_interrupted(store_dsn: Dsn) -> None:
    """Rollout and turn as well; the attempt that ended before stays as it was. Twice is once."""
    program = Path(__file__).with_name("crashing_attempt.py")
    done = subprocess.run(
        [sys.executable, str(program), str(store_dsn)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 9
    ended, died = done.stdout.split()
    for _ in range(2):
        ship(store_dsn, spool=Spool(store_dsn.spool))
    with open_store(store_dsn) as store:
        found = {
            row[0]: row[1:]
            for row in rows(store, "SELECT attempt_id, status, duration > 0 FROM attempt FINAL")
        }
        assert found == {ended: ("succeeded", 1), died: ("interrupted", 1)}
        assert rows(store, "SELECT status, final_attempt_id FROM rollout_current") == [
            ("interrupted", ended)
        ]
        turn = "SELECT status, attempt_id FROM turn_summary FINAL WHERE agent_name = 'writer'"
        assert rows(store, turn) == [("interrupted", died)]
        assert interrupt_work(store, ["nobody"]) == 0
