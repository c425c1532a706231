"""A log is grouped a stretch at a time, to the same result as at once."""

from __future__ import annotations

import random
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest

from support.consortium_runs import Maker, Shape, made_log
from support.llm_logs import LlmLog, recorded
from support.llm_samples import import_llm
from support.representatives import few
from turnspan_clickhouse.store.client import Store
from turnspan_llm.grouping import runs
from turnspan_llm.grouping.model import Grouping
from turnspan_llm.grouping.runs import beside, group, opened_log
from turnspan_llm.grouping.stretches import cuts

HOUR = 3_600_000_000
MIXED = Shape(*(24, 2, 0.5, 0.5, 0.2, 0.2, 0.3), standalone=1, version="0.4", pause=4 * HOUR)


def at_once(path: Path) -> Grouping:
    with opened_log(path, beside(path), whole=True) as log:
        assert len(log) == 1
        return log.grouped(0)


def stretches(path: Path) -> int:
    with opened_log(path, beside(path)) as log:
        return len(log)


def places(found: Grouping) -> dict[str, tuple[str, int]]:
    return {row.row.id: (run.output.row.id, row.role) for run in found.runs for row in run.rows()}


@pytest.mark.parametrize("kind", ["tools", "turns"])
def test_between_pauses_nothing_is_lost(tmp_path: Path, kind: str) -> None:
    """Nothing that belongs together is further apart than the window: runs, places and the list for
    review are those of all rows at once."""
    for seed in range(3):
        path = tmp_path / f"{seed}.db"
        made_log(path, seed, MIXED, kind, shuffle=True)
        assert stretches(path) > 4
        assert group(path) == at_once(path)


def test_a_duration_that_cannot_be_keeps_nothing_together(tmp_path: Path) -> None:
    """Unless it is an output's: then its run may have taken as long."""
    path = tmp_path / "logs.db"
    made_log(path, 2, MIXED, "tools")
    before = stretches(path)
    log = LlmLog.opened(path)
    log.db.execute("UPDATE responses SET duration_ms = 1e9 WHERE rowid = 3 AND model != 'council'")
    log.db.execute("UPDATE responses SET duration_ms = 1000000000000 WHERE rowid = 4")
    assert stretches(path) == before > 4
    assert group(path) == at_once(path)
    log.db.execute("UPDATE responses SET duration_ms = 1000000000000 WHERE model = 'council'")
    assert stretches(path) < before
    assert group(path) == at_once(path)


@pytest.mark.parametrize("name", ["llm0.31.1_lc0.8.0", "llm0.36_lc0.5"])
def test_runs_that_tables_tell_are_cut_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever their rows are: of three databases' worth of times, many are cut here."""
    monkeypatch.setattr(runs, "MOST", 20)
    path = recorded(name, tmp_path)
    assert stretches(path) > 4
    cut, whole = group(path, consortium_db=beside(path)), at_once(path)
    assert cut.runs == whole.runs
    assert cut.places == whole.places


def test_a_log_without_pauses_is_cut_where_nothing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs with an output are whole, and no row is where it does not belong."""
    monkeypatch.setattr(runs, "MOST", 40)
    for seed in range(4):
        shape = Shape(*(30, 2, 0.5, 0.5, 0.3, 0.1, 0.3), standalone=0.5)
        made = made_log(tmp_path / f"{seed}.db", seed, shape)
        assert stretches(tmp_path / f"{seed}.db") > 3
        found = group(tmp_path / f"{seed}.db")
        assert all(made.rows[row] == place for row, place in places(found).items())
        assert len(found.runs) == made.runs
        assert places(found) == places(at_once(tmp_path / f"{seed}.db"))


def test_where_a_log_is_cut() -> None:
    """At every pause longer than the window; else, where there are many rows, at the longest
    moment of their later half in which nothing went on; nowhere while something does."""
    second = 1_000_000
    calls = [(at * second, at * second + second // 2) for at in range(10)]
    assert list(cuts(calls, 5 * second, 100)) == []
    later = [(began + HOUR, ended + HOUR) for began, ended in calls]
    assert list(cuts([*calls, *later], 5 * second, 100)) == [HOUR]
    slow = [*calls[:7], (6 * second + 1, 6 * second + 2), (8 * second, 9 * second)]
    assert list(cuts(slow, HOUR, 9)) == [8 * second]
    assert list(cuts([(0, HOUR), *calls], HOUR, 5)) == []
    assert list(cuts([(-1, -1), (-1, -1), *calls], HOUR, 100)) == [0]


def test_a_long_log_is_cut_into_bounded_stretches() -> None:
    chance = random.Random(4)
    begins = sorted(chance.randrange(HOUR) for _ in range(5_000))
    found = list(cuts([(began, began + 10) for began in begins], HOUR, 100))
    sizes = [sum(a <= each < b for each in begins) for a, b in pairwise([0, *found, HOUR])]
    assert max(sizes) <= 100
    assert found == sorted(found)


@pytest.mark.parametrize("store_kind", ["embedded"])
@pytest.mark.parametrize("kind", few(["tools", "turns"], ["tools"]))
def test_imported_in_any_order_calls_are_where_grouping_puts_them(
    store: Store, tmp_path: Path, kind: str
) -> None:
    """After each import every call has the place that grouping the whole log gives it, also one
    that was imported before a row came that makes its run another."""
    shape = Shape(*(14, 2, 0.7, 0.7, 0, 0.1, 0.3), standalone=0.5, pause=HOUR)
    calls = list(Maker(8, shape).calls())
    random.Random(2).shuffle(calls)
    log = LlmLog(tmp_path / "logs.db", kind)
    log.configs({"council": {"models": {"m/a": 1}, "arbiter": "m/judge"}})
    landed: dict[str, tuple[str, int]] = {}
    for end in range(0, len(calls), len(calls) // 5 + 1):
        log.log(*calls[end : end + len(calls) // 5 + 1])
        import_llm(store, log.path)
        landed = {
            str(id_): (str(run), int(role))
            for id_, run, role in store.query(
                "SELECT attributes['llm.response.id'], consortium_id, consortium_role"
                " FROM llm_call FINAL WHERE consortium_id != ''"
            ).rows
        }
        expected = at_once(log.path).places
        assert landed == {id_: (each.consortium_id, each.role) for id_, each in expected.items()}
    assert landed


@pytest.mark.parametrize("store_kind", ["embedded"])
def test_only_what_has_new_neighbours_is_grouped_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is older than the pause before it is not read."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=8, pause=3 * HOUR))
    import_llm(store, path)
    more = [call for _, call in Maker(9, Shape(runs=1, failed_runs=0)).run("and this")]
    log = LlmLog.opened(path)
    log.log(*more)
    whole = stretches(path)
    read: list[int] = []
    grouped = runs.Log.grouped

    def noting(self: runs.Log, number: int, *args: object, **named: object) -> Grouping:
        read.append(number)
        return grouped(self, number, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(runs.Log, "grouped", noting)
    report = import_llm(store, path)

    assert report.rows["consortium"] == 1
    assert whole > 4
    assert len(set(read)) == 1
    assert sqlite3.connect(path).execute("SELECT count(*) FROM responses").fetchone()[0] > 50
