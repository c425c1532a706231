"""A consortium run whose process died is interrupted; that of a living process is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.representatives import first_on
from turnspan_clickhouse.ship.interrupted_work import interrupt_work
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.consortium.run_detail import consortium_run

pytestmark = pytest.mark.with_schema

SEEDS = range(6)
ROWS = "SELECT consortium_id, status, duration FROM consortium FINAL"


def states(dsn: Dsn) -> dict[str, tuple[str, float]]:
    ship(dsn, spool=Spool(dsn.spool))
    with open_store(dsn) as store:
        assert interrupt_work(store, ["nobody"]) == 0
        return {str(id_): (str(status), took) for id_, status, took in store.query(ROWS).rows}


@first_on("server")
@pytest.mark.release  # killed at any moment
def test_runs_of_processes_that_were_killed(store_dsn: Dsn) -> None:
    """At any moment: what had ended stays finished, nothing of the dead is running for ever."""
    program = Path(__file__).with_name("crashing_runs.py")
    with subprocess.Popen(
        [sys.executable, str(program), str(store_dsn), *map(str, SEEDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        certain: dict[str, str] = {}
        for line in process.stdout:
            what, _, run = line.strip().partition(" ")
            certain[run] = what
            if what == "open":
                break
        (alive,) = [run for run, what in certain.items() if what == "open"]

        found = states(store_dsn)
        assert found.pop(alive) == ("running", 0.0)
        assert set(found) >= set(certain) - {alive}  # what was on disk is there
        assert {run for run, what in certain.items() if what == "ended"} <= {
            run for run, (status, _) in found.items() if status == "finished"
        }
        cut_short = [run for run, (status, _) in found.items() if status != "finished"]
        assert {found[run][0] for run in cut_short} == {"interrupted"}
        assert 1 <= len(cut_short) <= len(SEEDS)
        assert all(took >= 0 for _, took in found.values())
        assert {**states(store_dsn)} == {**found, alive: ("running", 0.0)}  # twice is once

        process.stdin.close()
        assert process.wait(60) == 9
    assert states(store_dsn)[alive] == ("interrupted", 0.0)
    with open_store(store_dsn) as store:
        shown = consortium_run(store, "jury", alive)
    assert (shown.status, shown.error_type) == ("interrupted", "")
    assert shown.error_message == "the process ended before the run did"
