"""What judging costs: the views over judgments, and the steps of a review; CPU milliseconds.

    python benchmarks/judging.py [TURNS]

An embedded store of as many turns (320,000 unless said: those of a million model calls), a quarter
of them with an outcome, a flag and a score; then the same with 1,000 of these withdrawn. Medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.landing import insert
from support.rows import PROJECT, T0, turn
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.control_characters import visible
from turnspan_records.access import open_dsn
from turnspan_records.diagnostics import diagnostics
from turnspan_records.judging.history import judgments
from turnspan_records.judging.queues import BUILT_IN
from turnspan_records.judging.review import Review

ROUNDS = 11
BLOCK = 20_000
VIEWS = {
    "annotation_current, one turn": "SELECT * FROM annotation_current WHERE project = 'shop'"
    " AND subject_kind = 'turn' AND subject_id = '0000000000000005'",
    "annotation_current, all": "SELECT count(), sum(score) FROM annotation_current",
    "ephemera_agent_log, newest ten": "SELECT * FROM ephemera_agent_log"
    " ORDER BY timestamp DESC LIMIT 10",
    "ephemera_agent_log, pending": "SELECT count() FROM ephemera_agent_log"
    " WHERE outcome = 'pending'",
}


def median(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """CPU milliseconds of this process, the engine's threads included."""
    taken: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        run()
        taken.append((time.process_time() - begun) * 1e3)
    return statistics.median(taken)


def fill(store: Store, turns: int) -> None:
    """Turns of sessions of four, every fourth of them judged."""
    for at in range(0, turns, BLOCK):
        numbers = range(at, min(at + BLOCK, turns))
        insert(store, *(turn(f"{n:016x}", n * 0.1, session_id=f"s{n // 4}") for n in numbers))
        insert(store, *(one for n in numbers if n % 4 == 0 for one in judged(n)))


def judged(number: int) -> list[Annotation]:
    """Everything that ada says of a turn."""
    words: dict[str, dict[str, Any]] = {
        "outcome": {"outcome": "used"},
        "training_flag": {"training_flag": 1},
        "score": {"score": float(number % 10 + 1)},
    }
    known: dict[str, Any] = {
        "project": PROJECT, "subject_kind": "turn", "subject_id": f"{number:016x}",
        "annotation_id": f"{number:032x}", "author": "ada", "created_at": T0 + number,
    }  # fmt: skip
    return [Annotation(**known, kind=kind, **said) for kind, said in words.items()]


def withdraw(store: Store) -> None:
    """Take a thousand outcomes back."""
    known: dict[str, Any] = {"project": PROJECT, "subject_kind": "turn", "kind": "outcome"}
    insert(
        store,
        *(
            Withdrawal(**known, subject_id=f"{n:016x}", withdrawal_id="w", created_at=T0 + 10**9)
            for n in range(0, 4_000, 4)
        ),
    )


def measure(dsn: Dsn) -> None:
    """Print a line for each question and step."""
    with open_store(dsn) as store:
        for what, sql in VIEWS.items():
            tell(what, median(lambda sql=sql: store.query(sql, settings={"final": 0}).rows))  # type: ignore[misc]
        tell("judgments of a turn", median(lambda: judgments(store, PROJECT, "turn", f"{8:016x}")))
        agreement = diagnostics()["reviewer_agreement"]
        tell("reviewer_agreement", median(lambda: agreement.run(store).rows, 3))

        @contextmanager
        def opened() -> Generator[Store]:
            yield store

        review = Review(opened, Spool(dsn.spool), BUILT_IN["unassessed"], "zoe")
        tell("review, the first turn", median(review.next, 1))
        tell("review, the next turn", median(review.next))
        tell("review, a judgment", median(lambda: review.judge(score=5)))
    tell("opening the store again", median(lambda: open_dsn(dsn).close(), 5))


def tell(what: str, milliseconds: float) -> None:
    print(visible(f"  {what:<34}{milliseconds:8.1f} ms"))


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 320_000
    with tempfile.TemporaryDirectory() as folder:
        dsn = Dsn(scheme="chdb", path=Path(folder) / "store")
        with open_store(dsn) as store:
            migrate(store)
            fill(store, turns)
        print(f"{turns:,} turns, nothing withdrawn")
        measure(dsn)
        with open_store(dsn) as store:
            withdraw(store)
        print("1,000 judgments withdrawn")
        measure(dsn)


if __name__ == "__main__":
    main()
