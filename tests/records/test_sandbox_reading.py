"""What reads records runs in the sandbox, with parameters, and with files when asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.clickhouse_server import ANALYST_PASSWORD, ClickHouseServer
from support.kept_stores import migrated
from support.representatives import first_on
from support.shared import REPOSITORY
from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.window import EARLIEST, LATEST, as_parameter
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import RefusedError, Sandbox
from turnspan_records.sandbox.tree import parse

pytestmark = pytest.mark.both_kinds
SECRET = "canary-of-the-sandbox"
"""As in conftest.py."""
WRITES = (
    "INSERT INTO annotation (project) VALUES ('a')",
    "DROP TABLE llm_call",
    "SET readonly = 0",
)


PARAMETERS = (
    ("SELECT {a:String}", {"a": "x'y\\z\n"}, "x'y\\z\n"),
    ("SELECT '%(a)s'", {"a": "', file('/etc/hostname'), '"}, "%(a)s"),
    ("SELECT '{a:' || '%(a)s'", {"a": "', file('/etc/hostname'), '"}, "{a:%(a)s"),
    ("SELECT '%s %d 100%'", {"a": "1"}, "%s %d 100%"),
    ("SELECT count() FROM {t:Identifier}", {"t": "turn_summary"}, 2),
)


@pytest.mark.parametrize(("statement", "given", "wanted"), PARAMETERS)
def test_parameters_never_become_part_of_the_statement(
    sandbox: Sandbox, statement: str, given: dict[str, str], wanted: object
) -> None:
    assert sandbox.query(statement, given).rows[0][0] == wanted


def test_what_a_parameter_names_is_looked_at_too(sandbox: Sandbox) -> None:
    for table in ("elsewhere.secrets", "system.users"):
        database, name = table.split(".")
        with pytest.raises(RefusedError):
            sandbox.query("SELECT * FROM {d:Identifier}.{t:Identifier}", {"d": database, "t": name})
    with pytest.raises(RefusedError):
        sandbox.query("SELECT $a$", {"$a$": "1"})


HARMLESS = (
    "SELECT 1;", "SELECT 1 -- a\n", "/* ; */ SELECT ';'", "SELECT $$a;b$$",
    "SELECT 1 /* nested /* */ */",
    "SHOW TABLES", "SHOW TABLES LIKE 'llm%'", "SHOW COLUMNS FROM llm_call",
    "SHOW CREATE TABLE llm_call", "DESCRIBE TABLE llm_call", "DESC turn_full",
    "EXISTS TABLE llm_call",
    "EXISTS TABLE nope", "EXPLAIN SELECT 1", "EXPLAIN PLAN actions = 1 SELECT 1", "SHOW DATABASES",
    "EXPLAIN indexes = 1 SELECT * FROM llm_call", "EXPLAIN SYNTAX SELECT 1",
    "SHOW SETTINGS LIKE 'max%'",
    "SHOW FUNCTIONS LIKE 'upper'", "SHOW INDEXES FROM llm_call",
    "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'llm_call'",
    "SELECT count() FROM system.parts", "SELECT name FROM system.settings LIMIT 1",
    "SELECT * FROM numbers(3)", "SELECT * FROM generate_series(1, 3)",
    "SELECT * FROM view(SELECT 1)",
    "SELECT * FROM values('a Int8', 1, 2)", "SELECT * FROM null('a Int8')",
    "SELECT format('{} {}', 'a', 'b'), SUM(1), countDistinct(1), quantileIf(0.5)(1, 1)",
    "SELECT number % 2, number BETWEEN 1 AND 2, NOT number, number IS NULL FROM numbers(2)",
    "SELECT CAST(1 AS String), 1::String, INTERVAL 1 DAY, [1, 2][1], (1, 2).1, map('a', 1)['a']",
    "SELECT trim(BOTH 'a' FROM 'aba'), extract(year FROM now()), substring('abc' FROM 1 FOR 2)",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
    "SELECT * EXCEPT (turn_id) REPLACE (upper(project) AS project) FROM turn_summary",
    "SELECT COLUMNS('_id$') FROM llm_call", "SELECT t.* FROM turn_summary AS t",
    "SELECT turn_id, row_number() OVER (PARTITION BY project ORDER BY rounds) FROM turn_summary",
    "SELECT sum(rounds) OVER w FROM turn_summary WINDOW w AS (ORDER BY rounds ROWS 1 PRECEDING)",
    "SELECT * FROM turn_summary AS t ANY LEFT JOIN llm_call AS c USING (turn_id)",
    "SELECT turn_id FROM turn_summary WHERE turn_id IN (SELECT turn_id FROM llm_call)",
    "SELECT turn_id FROM turn_summary WHERE turn_id IN ('t1', 't2') AND (1, 2) IN ((1, 2))",
    "SELECT x FROM (SELECT [1, 2] AS a) ARRAY JOIN a AS x",
    "SELECT untuple((1, 2)), 1 = ANY (SELECT 1)",
    "SELECT stop_reason, count() FROM turn_summary GROUP BY ALL ORDER BY ALL LIMIT 1 WITH TIES",
    "SELECT project, count() FROM turn_summary GROUP BY project WITH ROLLUP",
    "SELECT EXISTS(SELECT 1), (SELECT max(rounds) FROM turn_summary)",
    "FROM turn_summary SELECT turn_id",
    "SELECT count() FROM turn_summary SETTINGS final = 0",
    "SELECT uniqExact(turn_id) FROM llm_call",
    "SELECT * FROM (SELECT 'SETTINGS a = 1' FROM llm_call SETTINGS final = 0) SETTINGS final = 1",
)  # fmt: skip


@pytest.mark.parametrize("statement", HARMLESS)
def test_what_reads_records_runs_and_answers_the_same(
    sandbox: Sandbox, opened: Store, statement: str
) -> None:
    """As the engine writes a statement it means what it meant as it was given."""
    given = sandbox.query(statement)
    plain = opened.query(statement.rstrip(";"))
    assert (given.names, given.types) == (plain.names, plain.types)
    if "now()" not in statement and "EXPLAIN" not in statement and "SETTINGS" not in statement:
        assert sorted(map(str, given.rows)) == sorted(map(str, plain.rows))


@first_on("server", "module_store")
def test_diagnostics_seed_queries_and_views_run(sandbox: Sandbox, opened: Store) -> None:
    parameters = {
        "project": "", "since": as_parameter(EARLIEST), "until": as_parameter(LATEST), "limit": 5,
    }  # fmt: skip
    for one in diagnostics().values():
        mine = sandbox.query(one.sql, parameters)
        assert mine == opened.query(one.sql, parameters), one.name
    seeds = (REPOSITORY / "tests" / "land" / "seed_queries.sql").read_text(encoding="utf-8")
    statements = [one for one in seeds.split(";") if "SELECT" in one]
    assert len(statements) == 7
    for statement in statements:
        sandbox.query(statement)
    for (view,) in opened.query("SHOW TABLES").rows:
        sandbox.query(f"SELECT * FROM {view} LIMIT 1")


def test_queries_of_the_documentation_run(sandbox: Sandbox) -> None:
    """Every statement of a ``turnspan sql`` or ``query(...)`` that a page shows is allowed."""
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    pages += [REPOSITORY / "deploy" / "README.md"]
    found: list[str] = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        found += re.findall(r"turnspan sql(?! --local-files)[^\"\n`]*\"(SELECT[^\"]+)\"", text)
        found += re.findall(r"\bquery\(\s*\"(SELECT[^\"]+)\"", text)
        for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
            found += [
                one for one in block.split(";") if re.match(r"\s*(--.*\n\s*)*(SELECT|WITH)", one)
            ]
    assert len(found) >= 3
    values = {"s": "t", "id": "t", "session": "t", "project": "p"}
    for statement in found:
        try:
            sandbox.query(statement, values)
        except QueryError as error:  # of a table of the reader's own, or with three dots in it
            assert "..." in statement or error.code in (36, 60), (statement, error)


def test_other_files_are_reached_only_when_that_is_asked_for(opened: Store, outside: Path) -> None:
    """With ``files`` a query reads files and writes them, and still not the store."""
    with Sandbox(opened, files=True) as sandbox:
        for statement in WRITES:
            with pytest.raises(RefusedError):
                sandbox.query(statement)
        assert sandbox.query("SELECT 1 SETTINGS max_threads = 1").rows[0][0] == 1
        assert sandbox.query("SELECT s FROM elsewhere.secrets").rows[0][0] == SECRET
        if opened.dsn.embedded:
            read = f"SELECT * FROM file('{outside / 'secret.txt'}', 'LineAsString')"
            assert sandbox.query(read).rows[0][0] == SECRET
            out = outside / "out.csv"
            done = sandbox.query(f"SELECT 1 AS a, 'b' AS b INTO OUTFILE '{out}' FORMAT CSV")
            assert done.names == () and out.read_text() == '1,"b"\n'
    assert int(opened.query("SELECT count() FROM annotation").rows[0][0]) == 0


def test_a_user_with_more_than_reading_is_warned_of(
    clickhouse_server: ClickHouseServer, server_dsn: Dsn
) -> None:
    with migrated(server_dsn) as store, Sandbox(store) as sandbox:
        (warning,) = sandbox.warnings()
    assert "INSERT" in warning and "turnspan_reader" in warning
    stranger = clickhouse_server.dsn(server_dsn.database, user="stranger")
    with open_store(stranger) as store, Sandbox(store) as sandbox:
        assert sandbox.warnings() == []


def test_a_reader_with_readonly_2_is_guarded_as_well(
    clickhouse_server: ClickHouseServer, server_dsn: Dsn
) -> None:
    """Such a user may change settings and cannot be made readonly=1: the guard holds alone."""
    with open_store(server_dsn) as store:
        migrate(store)
    analyst = clickhouse_server.dsn(server_dsn.database, user="analyst", password=ANALYST_PASSWORD)
    with open_store(analyst) as store, Sandbox(store) as sandbox:
        assert sandbox.query("SELECT count() FROM llm_call").rows[0][0] == 0
        for refused in (
            "SELECT 1 SETTINGS max_execution_time = 0",
            "SELECT * FROM url('http://127.0.0.1:9/', 'CSV', 'a Int8')",
            "SELECT file('/etc/hostname')",
        ):
            with pytest.raises(RefusedError):
                sandbox.query(refused)


@pytest.mark.parametrize(
    "text",
    [
        "", "SelectQuery (children 1)", "A (children 1)\n B\n B", "A (children 1)\n  B", "A\nB",
        "A (children 2)\n B (children 1)\n C", "  A",
    ],
)  # fmt: skip
def test_a_tree_that_does_not_add_up_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a node|out of place|cut short"):
        parse(text)
