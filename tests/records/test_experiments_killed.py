"""An experiment that is killed and started again: every case once, whenever it was killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import turnspan_records
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_records
from turnspan_records.again.cases.dataset import Case, make_dataset

pytestmark = pytest.mark.with_schema
TESTS = Path(__file__).parent.parent


@pytest.mark.release
@pytest.mark.parametrize(
    ("cases", "versions", "kills"),
    [(40, 1, 1), (200, 3, 5)],
)
@pytest.mark.timeout(1_800)
def test_every_case_finishes_once(
    embedded_dsn: Dsn, tmp_path: Path, cases: int, versions: int, kills: int
) -> None:
    """Killed with SIGKILL in the middle, again and again, and resumed: each case of each version
    has one finished attempt with its scores, and what had finished is not run again."""
    store, log = str(embedded_dsn), tmp_path / "calls"
    with open_records(store) as opened:
        made = [
            Case(f"double {n}", {"answer": str(2 * n), "tools": ["double"]}) for n in range(cases)
        ]
        make_dataset(opened, "doubles", made)
    dice = random.Random(27)
    for version in range(versions):
        log.unlink(missing_ok=True)
        for _ in range(kills):
            wanted = lines(log) + dice.randrange(2, max(3, cases // (kills + 1)))
            with started(store, f"v{version}", log) as process:
                while lines(log) < wanted and process.poll() is None:
                    time.sleep(0.01)
                process.send_signal(signal.SIGKILL)
        with started(store, f"v{version}", log) as process:
            output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        earlier, ran, failed, left = map(int, output.split()[-4:])
        assert (earlier + ran, failed, left) == (cases, cases // 10, 0)
        assert earlier > 0
        again = Counter(log.read_text().splitlines())
        assert set(again) == {f"double {n}" for n in range(cases)}
        # What ran again had not finished: at most four at a time were under way at each kill, and
        # what ended in the moment before.
        assert sum(again.values()) - cases <= kills * 8
    finished = turnspan_records.query(
        "SELECT version, case_id, countIf(status IN ('succeeded', 'failed')) AS n,"
        " maxIf(scores['exact'], status = 'succeeded') AS exact,"
        " maxIf(scores['tools'], status = 'succeeded') AS tools, max(length(scores)) AS scored"
        " FROM experiment_result WHERE experiment_id = 'doubles' GROUP BY version, case_id",
        store=store,
    )
    assert len(finished.rows) == cases * versions
    assert {row[2] for row in finished.rows} == {1}
    assert {row[5] for row in finished.rows} == {2}
    assert sum(row[3] for row in finished.rows) == versions * cases * 8 // 10
    assert sum(row[4] for row in finished.rows) == versions * cases * 9 // 10


def started(store: str, version: str, log: Path) -> subprocess.Popen[str]:
    """The application, running."""
    return subprocess.Popen(
        [sys.executable, "-m", "support.experiment_agent", store, version, str(log)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )


def lines(log: Path) -> int:
    """Calls of the agent so far."""
    return log.read_text().count("\n") if log.exists() else 0
