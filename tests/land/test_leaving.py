"""Every way to leave a process: what was emitted has landed, once, and nothing was dropped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer
from support.kept_stores import migrated
from support.representatives import few
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

AGENT = Path(__file__).with_name("leaving_agent.py")

ONE_PROCESS = {
    "falls_off_the_end": 0,
    "exits_in_a_handler": 0,
    "leaves_at_once": 7,
    "is_terminated": -signal.SIGTERM,
    "is_hung_up": -signal.SIGHUP,
    "is_terminated_with_a_turn_open": -signal.SIGTERM,
    "is_terminated_and_exits": 5,
    "is_terminated_and_flushes": 6,
    "replaces_itself": 0,
    "ends_with_a_turn_open": 4,
    "exits_in_a_thread": 0,
    "leaves_threads_behind": 0,
    "is_interrupted": -signal.SIGINT,
    "flushes_and_stops_twice": 0,
    "configures_again": 0,
}
"""The cases of ``leaving_agent`` and how their processes end."""
SEVERAL_PROCESSES = (
    "forks_and_leaves",
    "forks_and_terminates",
    "forks_and_stops",
    "forks_and_judges",
    "forks_unnoticed",
    "forks_and_replaces",
    "forks_in_a_turn",
    "forks_in_a_turn_that_goes_on",
    "becomes_a_daemon",
    "forks_under_load",
    "forks_while_loading",
    "pools_fork",
    "pools_spawn",
    "pools_forkserver",
    "children_are_terminated_unheard",
    "child_records_nothing",
    "child_outlives_its_work",
)
CASES = ONE_PROCESS | dict.fromkeys(SEVERAL_PROCESSES, 0)
OFTEN = (
    *("falls_off_the_end", "leaves_at_once", "is_terminated_with_a_turn_open", "exits_in_a_thread"),
    *("is_interrupted", "replaces_itself", "forks_and_leaves", "forks_and_terminates"),
    *("forks_in_a_turn", "pools_fork", "becomes_a_daemon"),
)
"""The cases of `make test`; the others, and all on a server, are tried before a release."""
SELDOM = tuple(case for case in CASES if case not in OFTEN)
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "often": ("embedded", OFTEN),
    "seldom": ("embedded", SELDOM),
    "server": ("server", tuple(CASES)),
}
"""The cases that share a store, and its kind."""
TURNS = {
    "is_terminated_with_a_turn_open": [("open", "interrupted", "interrupted")],
    "is_terminated_and_exits": [("open", "final", "error")],
    "ends_with_a_turn_open": [("open", "interrupted", "interrupted")],
    "exits_in_a_thread": [("thread", "final", "error")],
    "is_interrupted": [("interrupted", "final", "user_aborted")],
    "forks_in_a_turn": [("forking", "final", "completed")],
    "forks_in_a_turn_that_goes_on": [("forking", "final", "completed")],
    "forks_under_load": [("busy", "final", "completed")],
}
"""The decorated turns of the cases that have any: agent, status, stop reason; each is one row."""


NOT_YET = re.compile(r"Turnspan has not landed everything: queued .* dropped 0\.")
"""Said at exit where a busy server took longer than five seconds; the spool keeps what is left."""


@dataclass(frozen=True)
class Left:
    """What a case left behind."""

    code: int
    stderr: str
    emitted: list[str]


@dataclass(frozen=True)
class Landed:
    """What is in the store when all cases are over, without ``final``: duplicates would show."""

    cases: Mapping[str, Left]
    rows: Mapping[str, int]
    turns: Mapping[str, list[tuple[str, str, str]]]
    dropped: Mapping[str, int]


@pytest.fixture(scope="module")
def known() -> dict[str, Landed]:
    """What is in the store of each group that was tried already."""
    return {}


@pytest.fixture
def landed(
    request: pytest.FixtureRequest,
    known: dict[str, Landed],
    clickhouse_server: ClickHouseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Landed:
    """What is in the store of a group of cases."""
    group: str = request.param
    if group not in known:
        known[group] = tried(*GROUPS[group], clickhouse_server, tmp_path_factory)
    return known[group]


def tried(
    kind: str,
    cases: tuple[str, ...],
    clickhouse_server: ClickHouseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Landed:
    """Cases side by side, on one store; then `ship`, as the next command would."""
    home = tmp_path_factory.mktemp(f"leaving-{kind}")
    dsn = Dsn("chdb", path=home / "store")
    if kind == "server":
        dsn = clickhouse_server.dsn(f"leaving_{uuid.uuid4().hex[:8]}")
    spool = Spool(home / "spool")
    with migrated(dsn):
        pass
    environment = {
        **os.environ,
        "TURNSPAN_STORE": str(dsn),
        "TURNSPAN_SPOOL": str(spool.folder),
        "PYTHONPATH": str(AGENT.parents[1]),
    }

    def run(case: str) -> Left:
        log = home / f"{case}.log"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(AGENT), case, str(log)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Left(done.returncode, done.stderr, log.read_text().split())

    with ThreadPoolExecutor(3) as pool:
        left = dict(zip(cases, pool.map(run, cases), strict=True))
    with open_store(dsn) as store:
        shipped = ship(store, spool=spool)
        assert shipped.ok, shipped
        rows = store.query(
            "SELECT id, count() FROM (SELECT call_id AS id FROM tool_call"
            " UNION ALL SELECT response_id FROM llm_call UNION ALL SELECT comment FROM annotation)"
            " GROUP BY id",
            settings={"final": 0},
        ).rows
        turns: dict[str, list[tuple[str, str, str]]] = {}
        for case, *turn in store.query(
            "SELECT project, agent_name, status, stop_reason FROM turn_summary WHERE agent_name"
            " != '' ORDER BY ALL"
        ).rows:
            turns.setdefault(str(case), []).append((str(turn[0]), str(turn[1]), str(turn[2])))
    if kind == "server":
        clickhouse_server.run(f"DROP DATABASE {dsn.database} SYNC")
    return Landed(
        left, {str(name): int(count) for name, count in rows}, turns, spool.usage().dropped
    )


@pytest.mark.parametrize(
    ("landed", "case"),
    [
        *(("often", case) for case in OFTEN),
        *(pytest.param("seldom", case, marks=pytest.mark.release) for case in SELDOM),
        *(pytest.param("server", case, marks=pytest.mark.release) for case in CASES),
    ],
    indirect=["landed"],
)
def test_what_was_emitted_landed_once(landed: Landed, case: str) -> None:
    """Row by row; the process ends as it would without us, and says nothing that it would not."""
    left = landed.cases[case]
    # An import while the interpreter ends (of what ships) makes Python forget that it was Ctrl-C.
    codes = {CASES[case], 1} if case == "is_interrupted" else {CASES[case]}
    assert left.code in codes, left.stderr
    said = [line for line in left.stderr.splitlines() if not NOT_YET.fullmatch(line)]
    assert said == [] or case == "is_interrupted", left.stderr
    assert len(left.emitted) == len(set(left.emitted)) >= 25
    missing = Counter(name.split("/")[1] for name in left.emitted if name not in landed.rows)
    assert missing == {}
    again = [name for name, count in landed.rows.items() if count > 1]
    assert again == []
    assert landed.turns.get(case, []) == TURNS.get(case, [])
    assert landed.dropped == {}


@pytest.mark.parametrize("landed", few(GROUPS, ["often"]), indirect=True)
def test_nothing_landed_that_was_not_emitted(landed: Landed) -> None:
    """Except what threads were about to note when their process ended: one piece each."""
    emitted = {name for left in landed.cases.values() for name in left.emitted}
    others = Counter(name.split("/")[1] for name in landed.rows if name not in emitted)
    assert {*others} <= {"daemon-0", "daemon-1"}
    assert {*others.values()} <= {1}
