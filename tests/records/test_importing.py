"""The frame of imports: what every kind of log is imported by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from support.old_log import Made
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing.import_run import import_log, position_of
from turnspan_records.importing.sources import Part, Problem, SourceLogError

PROJECT = "old logs"

Run = Callable[[Made], Any]


@pytest.fixture
def run(store: Store) -> Run:
    def opened() -> AbstractContextManager[Store]:
        return nullcontext(store)

    return lambda log: import_log(opened, Spool(store.dsn.spool), log, project=PROJECT)


def tables(store: Store) -> dict[str, Any]:
    return {
        table: store.query(
            f"SELECT * EXCEPT (written_at, {more}) FROM {table} FINAL ORDER BY ALL"
        ).rows
        for table, more in (
            ("llm_call", "writer"), ("turn_summary", "writer"), ("span", "writer"),
            ("message", "first_seen"), ("annotation", "created_at"),
        )
    }  # fmt: skip


def test_what_a_log_says_is_in_the_store(store: Store, run: Run) -> None:
    report = run(Made(12))

    assert report.seen == {("talk", "calls"): 24, ("note", "judgments"): 12}
    assert (report.problem_count, report.waiting, report.resumed) == (0, "", False)
    found = store.query(
        "SELECT count(), uniqExact(session_id), uniqExact(toMonday(start_time)), any(project),"
        " any(scope_name), sum(length(input_messages)), countIf(request_model = 'made-1')"
        " FROM llm_call"
    ).rows
    assert found == [(24, 12, 12, PROJECT, "turnspan.import.made", 36, 24)]
    assert store.query("SELECT count() FROM turn_summary").rows == [(24,)]
    assert store.query("SELECT count(), any(comment) FROM annotation").rows == [(12, "fine")]


def test_an_import_that_stopped_goes_on_and_comes_to_the_same(store: Store, run: Run) -> None:
    run(Made(6))
    at_once = tables(store)
    for table in (*at_once, "import_position", "definition"):
        store.command(f"TRUNCATE TABLE {table}")

    with pytest.raises(SourceLogError, match="went away"):
        run(Made(6, stops_at=4))
    assert position_of(store, "made", "the one", PROJECT) == ("3", 9)
    rest = run(Made(6))

    assert rest.resumed
    assert rest.source_rows == 9
    assert tables(store) == at_once
    assert position_of(store, "made", "the one", PROJECT) == ("6", 18)


def test_what_is_imported_again_takes_its_own_place(store: Store, run: Run) -> None:
    run(Made(3))
    before = tables(store)

    assert run(Made(3)).source_rows == 0  # nothing new
    import_log(
        lambda: nullcontext(store), Spool(store.dsn.spool), Made(3), project=PROJECT, again=True
    )

    assert tables(store) == before


def test_a_report_names_so_many_problems_and_counts_the_rest(run: Run) -> None:
    class Odd(Made):
        def parts(self, after: str) -> Iterator[Part]:
            del after
            yield Part(problems=[Problem(f"row {n}", "odd") for n in range(1_500)])

    report = run(Odd(1))

    assert (len(report.problems), report.problem_count) == (1_000, 1_500)
