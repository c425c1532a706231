"""Consortium runs in a log of llm's that is imported."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from support.consortium_runs import Maker, Shape, made_log
from support.llm_logs import LlmLog, recorded
from support.llm_samples import import_llm, rows_of
from support.representatives import few
from turnspan_clickhouse.store.client import Store
from turnspan_llm.grouping.log_writer import write
from turnspan_llm.grouping.model import FINAL_ARBITER, MatchKey
from turnspan_llm.grouping.runs import beside, group

GENERATIONS = pytest.mark.parametrize("generation", few(["tools", "turns"], ["tools"]))


_FOUND_BY = """
SELECT DISTINCT arrayJoin(splitByChar(',', attributes['turnspan.consortium.grouped_by']))
FROM consortium
"""


def query(store: Store, sql: str) -> list[Any]:
    return [tuple(row) for row in store.query(sql).rows]


def as_project(store: Store, project: str) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a project as if they were of the usual one."""
    return {
        table: sorted(
            (tuple("llm" if value == project else value for value in row) for row in rows),
            key=repr,
        )
        for table, rows in rows_of(store, project).items()
    }


@GENERATIONS
def test_runs_land_as_those_that_were_told_live(
    embedded: Store, tmp_path: Path, generation: str
) -> None:
    """Each call has the run and the role that grouping finds, and each run is in the view; a log
    that was grouped before comes to the same."""
    path = tmp_path / "logs.db"
    made_log(path, 3, Shape(runs=8, hostile=0.2), generation)
    report = import_llm(embedded, path)

    assert report.problem_count == 0
    grouping = group(path)
    assert len(grouping.runs) == 8
    found = query(
        embedded,
        "SELECT attributes['llm.response.id'], consortium_id, consortium_role FROM llm_call FINAL",
    )
    assert {row[0]: row[1:] for row in found if row[1]} == {
        id_: (place.consortium_id, place.role) for id_, place in grouping.places.items()
    }
    shown = {
        row[0]: row[1:]
        for row in query(
            embedded,
            "SELECT consortium_id, name, source, status, iterations, answers, arbiter,"
            " calls, length(confidences) FROM consortium_run",
        )
    }
    for run in grouping.runs:
        members = sum(len(each.members) for each in run.iterations)
        arbiter = next((each for each in run.rows() if each.role == FINAL_ARBITER), None)
        assert shown[run.consortium_id] == (
            *("council", "import", "finished", len(run.iterations), members),
            *(arbiter.row.model if arbiter else "", len(run.rows()), len(run.iterations)),
        )
    (texts,) = query(
        embedded,
        "SELECT countIf(f.body = l.response_text), count() FROM consortium AS c FINAL"
        " INNER JOIN (SELECT * FROM definition FINAL) AS f ON f.hash = c.final_text"
        " INNER JOIN (SELECT * FROM llm_call FINAL) AS l ON l.span_id = c.span_id",
    )
    assert texts == (5, 5)  # three outputs are blank
    at_once = as_project(embedded, "llm")
    grouped = tmp_path / "grouped" / "logs.db"
    grouped.parent.mkdir()
    shutil.copy(path, grouped)
    assert write(grouped, group(grouped)).rows
    import_llm(embedded, grouped, project="grouped")
    found_by = {row[0] for row in query(embedded, _FOUND_BY)}
    assert found_by <= {*(key.value for key in MatchKey)} - {"assigned"} and "interval" in found_by
    assert as_project(embedded, "grouped") == at_once


@GENERATIONS
def test_a_run_that_newer_rows_complete_is_imported_again_whole(
    embedded: Store, tmp_path: Path, generation: str
) -> None:
    """Its output is logged last: until then its calls are those of nobody."""
    log = LlmLog(tmp_path / "logs.db", generation)
    log.configs({"council": {"models": {"m/a": 1}, "arbiter": "m/judge"}})
    calls = list(Maker(5, Shape(runs=6)).calls())
    for end in (len(calls) // 3, len(calls) // 2, len(calls)):
        done = log.db.execute(f"SELECT count(*) FROM {_table(generation)}").fetchone()[0]
        log.log(*calls[done:end])
        import_llm(embedded, log.path)
    import_llm(embedded, log.path, project="at once")

    assert query(embedded, "SELECT count() FROM consortium_run WHERE project = 'llm'") == [(6,)]
    assert as_project(embedded, "llm") == as_project(embedded, "at once")


def _table(generation: str) -> str:
    return "turns" if generation == "turns" else "responses"


def test_what_llm_consortium_keeps_in_a_file_of_its_own_is_imported_with_it(
    embedded: Store, tmp_path: Path
) -> None:
    """Its members' calls, and its tables' word about what arbiters decided."""
    path = recorded("llm0.31.1_lc0.8.0", tmp_path)
    report = import_llm(embedded, path, consortium_db=beside(path))

    assert report.seen["consortium_logs.db: responses", "model calls"] == 313
    assert report.seen["responses", "model calls"] == 62
    (run,) = query(
        embedded,
        "SELECT count(), sum(answers), countIf(agreement > 0), countIf(confidence > 0)"
        " FROM consortium_run",
    )
    assert run == (45, 231, 44, 44)  # one arbiter said nothing that can be read
    (held,) = query(
        embedded,
        "SELECT countIf(refinement_areas = ['Check edge cases', 'Tighten the wording']) > 0,"
        " countIf(synthesis != '') = count() FROM consortium_iteration FINAL",
    )
    assert held == (True, True)
    again = import_llm(embedded, path, consortium_db=beside(path))
    assert again.rows == {}
