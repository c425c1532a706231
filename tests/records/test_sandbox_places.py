"""Where in a statement the thing is that was refused, by what the engine and the guard say."""

from __future__ import annotations

import pytest

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Store
from turnspan_records.sandbox import RefusedError, Sandbox, place_of

pytestmark = pytest.mark.both_kinds

WRONG: tuple[tuple[str, str, list[str]], ...] = (
    ("SELECT 1,\n  frm x y", "y", []),
    ("SELECT '\u65e5\u672c', \U0001f600 FROM one", "\U0001f600", []),
    ("SELECT 1 +", "", []),
    ("SELECT 'x FROM t", "'", []),
    ("SELECT '-- stop_raeson' /* stop_raeson */, stop_raeson FROM turn_summary", "stop_raeson",
     ["stop_reason"]),
    ("SELECT t.stop_raeson FROM turn_summary AS t", "t.stop_raeson", ["t.stop_reason"]),
    ("SELECT 1 FROM one, system.users", "system.users", []),
    ("SELECT {project:String}", "project", []),
    ("-- lenght\nSELECT lenght('lenght')", "lenght", ["length", "lengthUTF8", "JSONLength"]),
    ("SELECT file('/etc/hostname')", "file", []),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "part", "instead"), WRONG)
def test_an_error_has_a_place(sandbox: Sandbox, sql: str, part: str, instead: list[str]) -> None:
    """Outside of strings and comments, counted in characters; the engine counts bytes."""
    with pytest.raises((QueryError, RefusedError)) as caught:
        sandbox.query(sql)
    place = place_of(sql, str(caught.value))
    assert place is not None, caught.value
    assert (sql[place.start : place.end], place.instead) == (part, instead)
    assert place.start == (sql.rindex(part) if "lenght" not in sql else sql.index(part, 10))


def test_a_table_has_one_that_was_meant(sandbox: Sandbox, opened: Store) -> None:
    """Of engines since 26.9, which say one."""
    sql = "SELECT * FROM turn_sumary"
    with pytest.raises(QueryError) as caught:
        sandbox.query(sql)
    place = place_of(sql, str(caught.value))
    assert place is not None and place.start == 14
    assert place.instead == ([f"{opened.database}.turn_summary"] if opened.dsn.embedded else [])


def test_what_says_no_place_has_none() -> None:
    for message in ("", "Only one statement is run at a time", "Illegal type String of argument"):
        assert place_of("SELECT 1; SELECT 2", message) is None


def test_a_plan_runs_nothing(sandbox: Sandbox) -> None:
    """It is of a SELECT, and guarded as that is."""
    plan = sandbox.plan(
        "WITH 1 AS a SELECT a FROM turn_summary WHERE project = {p:String};", {"p": ""}
    )
    assert any("turn_summary" in str(row[0]) for row in plan.rows)
    for sql in (
        *("SHOW TABLES", "EXPLAIN SELECT 1", "SELECT file('/etc/hostname')", "DROP TABLE llm_call"),
        *("SELECT * FROM url('http://127.0.0.1:9/')", "SELECT 1; SELECT 2"),
    ):
        with pytest.raises(RefusedError):
            sandbox.plan(sql)
