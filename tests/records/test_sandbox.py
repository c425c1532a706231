"""Queries that people write read the records and nothing else, on the engine and on a server."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from support.representatives import first_on
from turnspan_clickhouse.errors import QueryError, StoreError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.read_only import QUERY_WAS_CANCELLED, Cancellation, ReadOnlyStore
from turnspan_records.sandbox import FILES, PAGE, WRITE, Limits, RefusedError, Sandbox
from turnspan_records.sandbox.functions import COMBINATORS, functions

pytestmark = pytest.mark.both_kinds
SECRET = "canary-of-the-sandbox"
"""As in conftest.py."""
_DANGEROUS = re.compile(
    r"^(file|ai[A-Z]|AI[A-Z]|catboost|dict(Get|Has|Is)|sleep|joinGet|region|url$|reverseDNS|remote"
    r"|showCertificate|getServer|getMacro|getClient|naiveBayesClassifier|hasColumnInTable|__)"
    r"|[Ee]xecutable|[Pp]ython|[Ss]ystem|Dictionary"
)


def _code(error: StoreError) -> int:
    return error.code if isinstance(error, QueryError) else 0


PLACES = (
    "SELECT {f}", "SELECT 1 WHERE {f} = ''", "SELECT upper({f})", "SELECT (SELECT {f})",
    "SELECT * FROM (SELECT {f})", "WITH {f} AS x SELECT x",
    "WITH x AS (SELECT {f}) SELECT * FROM x",
    "SELECT 1 UNION ALL SELECT {f}", "SELECT 1 INTERSECT SELECT {f}", "(((SELECT {f})))",
    "SELECT arrayMap(x -> {f}, [1])", "SELECT if(1, {f}, '')", "SELECT [{f}]", "SELECT ({f}, 1)",
    "SELECT 1 IN ({f})", "SELECT 1 IN {f}", "SELECT 1 IN (SELECT {f})", "SELECT {f} LIKE 'a'",
    "SELECT 1 GROUP BY {f}", "SELECT 1 GROUP BY GROUPING SETS (({f}))", "SELECT 1 HAVING {f} = ''",
    "SELECT 1 ORDER BY {f}", "SELECT 1 LIMIT length({f})", "SELECT 1 LIMIT 1 OFFSET length({f})",
    "SELECT 1 LIMIT 1 BY {f}", "SELECT 1 QUALIFY {f} = ''", "SELECT DISTINCT ON ({f}) 1",
    "SELECT sum(1) OVER (PARTITION BY {f})", "SELECT sum(1) OVER (ORDER BY {f})",
    "SELECT sum(1) OVER w FROM turn_summary WINDOW w AS (PARTITION BY {f})",
    "SELECT sum(1) OVER (ORDER BY 1 ROWS BETWEEN length({f}) PRECEDING AND CURRENT ROW)",
    "SELECT 1 AS n ORDER BY n WITH FILL FROM 1 TO length({f})",
    "SELECT 1 AS n, '' AS a ORDER BY n WITH FILL FROM 1 TO 3 INTERPOLATE (a AS {f})",
    "SELECT 1 FROM turn_summary AS a JOIN turn_summary AS b ON a.turn_id = {f}",
    "SELECT 1 FROM turn_summary ARRAY JOIN [{f}] AS x", "SELECT 1 FROM llm_call PREWHERE {f} = ''",
    "SELECT * REPLACE ({f} AS turn_id) FROM turn_summary", "SELECT * FROM numbers(length({f}))",
    "SELECT * FROM values('a String', {f})", "SELECT * FROM (VALUES ({f}))",
    "SELECT * FROM view(SELECT {f})", "SELECT quantile(0.5)(length({f}))", "SELECT {f}::String",
    "SELECT CASE WHEN 1 THEN {f} END", "SELECT count() FILTER (WHERE {f} = '')",
    "SELECT toString({f}) AS `a\n Function upper (children 1)`", "EXPLAIN SELECT {f}",
    "EXPLAIN SYNTAX SELECT {f}", "EXPLAIN QUERY TREE SELECT {f}", "EXPLAIN AST SELECT {f}",
    "EXPLAIN PIPELINE SELECT {f}", "EXPLAIN EXPLAIN SELECT {f}", "SHOW TABLES WHERE {f} = ''",
    "SHOW COLUMNS FROM llm_call WHERE {f} = ''", "SELECT * APPLY(x -> {f}) FROM turn_summary",
)  # fmt: skip
"""Everywhere in a statement where a function may stand."""

CALLS = (
    "file('{path}')", "FILE('{path}')", "`file`('{path}')", '"file"(\'{path}\')',
    "file /* a */ -- b\n ('{path}')", "file($${path}$$)", "\x66ile('{path}')", "peep('{path}')",
)  # fmt: skip
"""Ways to write a call that reads a file."""


@pytest.mark.parametrize("place", PLACES)
def test_a_function_that_reads_a_file_is_refused_wherever_it_stands(
    sandbox: Sandbox, outside: Path, place: str
) -> None:
    path = outside / "secret.txt"
    for written in CALLS:
        statement = place.replace("{f}", written.format(path=path))
        with pytest.raises((RefusedError, QueryError)) as caught:
            print(sandbox.query(statement).rows, statement)
        assert isinstance(caught.value, RefusedError) or _code(caught.value) == 62, statement
        assert SECRET not in str(caught.value)


TABLES = (
    "SELECT * FROM {t}", "SELECT * FROM {t} AS x", "SELECT 1 FROM one, {t}", "SELECT 1 IN {t}",
    "SELECT 1 FROM system.one JOIN {t} ON 1", "SELECT * FROM (SELECT * FROM {t})",
    "WITH x AS (SELECT * FROM {t}) SELECT * FROM x", "SELECT (SELECT any(1) FROM {t})",
    "SELECT 1 UNION ALL SELECT 1 FROM {t}", "DESCRIBE TABLE {t}", "DESC (SELECT * FROM {t})",
    "EXPLAIN SELECT * FROM {t}", "SELECT * FROM view(SELECT * FROM {t})", "TABLE {t}", "FROM {t}",
    "SELECT 1 WHERE 1 IN (SELECT 1 FROM {t})", "EXPLAIN AST SELECT * FROM {t}", "SELECT {t}",
    "SELECT 1 FROM viewExplain('EXPLAIN', '', (SELECT * FROM {t}))", "INSERT INTO {t} SELECT 1",
    "INSERT INTO FUNCTION {t} SELECT 1", "WITH 1 AS x INSERT INTO FUNCTION {t} SELECT 1",
    "CREATE TABLE a AS {t}", "SELECT * FROM cluster('default', {t})", "SELECT * FROM loop({t})",
)  # fmt: skip
"""Everywhere in a statement where a table may stand."""


def _named(store: Store, sql: str) -> list[str]:
    return [str(row[0]) for row in store.query(sql).rows]


@first_on("server", "module_store")
def test_every_table_function_is_refused_or_known_to_be_harmless(
    opened: Store, sandbox: Sandbox
) -> None:
    """A new version of the engine cannot open a hole silently: its names are read here."""
    names = _named(opened, "SELECT name FROM system.table_functions")
    assert len(names) > 60
    known = functions()
    assert [name for name in names if not known.is_table(name)] == []
    for name in names:
        if known.allows_table(name):
            continue
        for written, places in (
            # The guard is one for both kinds of store, but not the names that they have.
            (f"{name}()", TABLES if opened.dsn.embedded else TABLES[:2]),
            (f"`{name}`('a', 'b')", TABLES[:2]),
            (f"{name.upper()}('a')", TABLES[:2]),
        ):
            for place in places:
                statement = place.replace("{t}", written)
                if place == "SELECT {t}" and known.allows(name):  # there it is another function
                    continue
                with pytest.raises((RefusedError, QueryError)) as caught:
                    print(sandbox.query(statement).rows, statement)
                refused = isinstance(caught.value, RefusedError)
                # What is no statement, or a call of a harmless function of this name.
                assert refused or _code(caught.value) == 62 or known.allows(name), statement


def test_every_function_was_reviewed(opened: Store) -> None:
    """New names fail here: look at what they do, and put them into functions.txt."""
    known = functions()
    names = _named(opened, "SELECT name FROM system.functions WHERE name != 'peep'")
    assert len(names) > 1500
    assert [name for name in names if not known.reviewed(name)] == []
    allowed = [name for name in names if known.allows(name)]
    assert [name for name in allowed if _DANGEROUS.search(name)] == []
    origins = opened.query("SELECT name, toString(origin) FROM system.functions").rows
    assert [name for name, origin in origins if origin != "System" and known.allows(name)] == []
    combinators = _named(opened, "SELECT name FROM system.aggregate_function_combinators")
    assert set(combinators) <= set(COMBINATORS)


@first_on("server", "module_store")
def test_every_refused_function_is_refused(opened: Store, sandbox: Sandbox) -> None:
    known = functions()
    for name in _named(opened, "SELECT name FROM system.functions"):
        if known.allows(name):
            continue
        for statement in (
            f"SELECT {name}('a')",
            f"SELECT 1 WHERE `{name}`()",
            f"SELECT {name}If(1)",
        ):
            with pytest.raises(RefusedError):
                sandbox.query(statement)


STATEMENTS = (
    ("INSERT INTO annotation (project) VALUES ('a')", WRITE),
    ("/* SELECT */ INSERT INTO annotation (project) SELECT 'a'", WRITE),
    ("-- SELECT 1\nDROP TABLE llm_call", WRITE), ("TRUNCATE TABLE llm_call", WRITE),
    ("WITH x AS (SELECT 1) INSERT INTO annotation (project) SELECT 'a'", WRITE),
    ("ALTER TABLE llm_call DELETE WHERE 1", WRITE), ("DELETE FROM llm_call WHERE 1", WRITE),
    ("CREATE TABLE x (a Int8) ENGINE = Memory", WRITE), ("CREATE VIEW x AS SELECT 1", WRITE),
    ("CREATE TEMPORARY TABLE x (a Int8)", WRITE), ("CREATE FUNCTION f AS x -> x", WRITE),
    ("CREATE DICTIONARY d (a Int8) PRIMARY KEY a SOURCE(FILE(path 'a' format 'CSV'))"
     " LAYOUT(FLAT()) LIFETIME(0)", WRITE),
    ("ATTACH TABLE x FROM '/tmp/x' (a Int8) ENGINE = Memory", WRITE), ("DETACH TABLE llm_call",
    WRITE),
    ("KILL QUERY WHERE 1", WRITE), ("SYSTEM FLUSH LOGS", WRITE), ("SYSTEM SHUTDOWN", WRITE),
    ("SET readonly = 0", WRITE), ("SET max_execution_time = 0", WRITE), ("USE system", WRITE),
    ("OPTIMIZE TABLE llm_call", WRITE), ("RENAME TABLE llm_call TO x", WRITE),
    ("BACKUP DATABASE turnspan TO File('/tmp/x')", WRITE), ("GRANT ALL ON *.* TO default", WRITE),
    ("CHECK TABLE llm_call", WRITE), ("EXCHANGE TABLES llm_call AND span", WRITE),
    ("BEGIN TRANSACTION", WRITE), ("EXPLAIN INSERT INTO annotation (project) SELECT 'a'", WRITE),
    ("EXPLAIN AST CREATE TABLE x (a Int8) ENGINE = Memory", WRITE),
    ("SELECT 1; SELECT 2", WRITE), ("SELECT 1; DROP TABLE llm_call", WRITE),
    ("SELECT ';' ; DROP TABLE llm_call --", WRITE), ("SELECT 1 /* ; */ ; SYSTEM SHUTDOWN", WRITE),
    ("SELECT 1 SETTINGS max_execution_time = 0", FILES), ("SELECT 1 SETTINGS readonly = 0", FILES),
    ("SELECT 1 SETTINGS final = 0, max_execution_time = 0", FILES),
    ("SELECT 1 FROM (SELECT 1 SETTINGS final = 0) SETTINGS max_execution_time = 0", FILES),
    ("SELECT 1 FROM (SELECT 1 SETTINGS max_execution_time = 0) SETTINGS final = 1", FILES),
    ("SELECT * FROM file('{secret}') SETTINGS final = 0", FILES),
    ("SELECT 'SETTINGS final = 0' SETTINGS max_threads = 1", FILES),
    ("SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)", FILES),
    ("WITH x AS (SELECT 1 SETTINGS max_threads = 1) SELECT * FROM x", FILES),
    ("SELECT 1 UNION ALL SELECT 2 SETTINGS max_threads = 1", FILES),
    ("EXPLAIN SELECT 1 SETTINGS max_threads = 1", FILES),
    ("DESCRIBE TABLE llm_call SETTINGS describe_compact_output = 1", FILES),
    ("SELECT 1 INTO OUTFILE '{out}'", FILES), ("SELECT 1 into/**/outfile '{out}'", FILES),
    ("SELECT 1 INTO OUTFILE '{out}' TRUNCATE FORMAT CSV", FILES), ("SELECT 1 FORMAT Null", FILES),
    ("SELECT 1 INTO OUTFILE '{out}' APPEND AND STDOUT", FILES),
    ("EXPLAIN SELECT 1 INTO OUTFILE '{out}'", FILES), ("SHOW TABLES INTO OUTFILE '{out}'", ""),
    ("EXPLAIN AST SELECT 1 INTO OUTFILE '{out}'", FILES),
    ("DESCRIBE TABLE llm_call INTO OUTFILE '{out}'", FILES),
    ("(SELECT 1) UNION ALL (SELECT 2) INTO OUTFILE '{out}'", FILES),
    ("SELECT * FROM elsewhere.secrets", FILES), ("SELECT * FROM `elsewhere`.`secrets`", FILES),
    ('SELECT * FROM "elsewhere" . "secrets"', FILES), ("SELECT 'a' IN elsewhere.secrets", FILES),
    ("SELECT 'a' GLOBAL NOT IN elsewhere.secrets", FILES), ("DESC elsewhere.secrets", FILES),
    ("SELECT 1 FROM llm_call WHERE session_id IN (elsewhere.secrets)", FILES),
    ("SHOW CREATE TABLE elsewhere.secrets", FILES), ("SHOW TABLES FROM elsewhere", FILES),
    ("SHOW COLUMNS FROM secrets FROM elsewhere", FILES), ("EXISTS TABLE elsewhere.secrets", FILES),
    ("SELECT * FROM system.users", FILES), ("SELECT * FROM system.query_log", FILES),
    ("SELECT * FROM system.processes", FILES), ("SELECT * FROM information_schema.tables", FILES),
    ("SHOW PROCESSLIST", ""), ("SHOW GRANTS", ""), ("SHOW USERS", ""), ("SHOW ACCESS", ""),
    ("SHOW CREATE USER default", ""), ("SHOW TABLES FROM system", FILES),
    ("SELECT joinGet('elsewhere.secrets', 's', 1)", FILES), ("SELECT sleep(3)", FILES),
    ("SELECT * APPLY(file) FROM (SELECT '{secret}' AS x)", ""), ("SELECT getMacro('a')", FILES),
    ("SELECT COLUMNS('x') APPLY(file) FROM (SELECT '{secret}' AS x)", ""),
    ("SELECT dictGet('d', 'a', 1)", FILES), ("SELECT dictGetOrDefault('d', 'a', 1, 2)", FILES),
)  # fmt: skip


@pytest.mark.parametrize(("statement", "needs"), STATEMENTS)
def test_what_is_more_than_reading_records_is_refused(
    sandbox: Sandbox, opened: Store, outside: Path, statement: str, needs: str
) -> None:
    """Refused by the guard before it runs, with what would allow it."""
    before = sorted(outside.iterdir())
    text = statement.format(out=outside / "out.csv", secret=outside / "secret.txt")
    with pytest.raises(RefusedError) as caught:
        print(sandbox.query(text).rows)
    assert caught.value.needs == needs
    assert sorted(outside.iterdir()) == before
    assert int(opened.query("SELECT count() FROM llm_call").rows[0][0]) == 2
    assert int(opened.query("SELECT count() FROM annotation").rows[0][0]) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO annotation (project) SELECT 'a'", "CREATE TABLE x (a Int8) ENGINE = Memory",
        "SELECT * FROM file('/etc/hostname', 'LineAsString')", "DROP TABLE llm_call",
        "SELECT * FROM url('http://127.0.0.1:9/', 'CSV', 'a Int8')", "SET readonly = 0",
        "SELECT 1 SETTINGS max_execution_time = 0", "SELECT 1 SETTINGS readonly = 0",
        "INSERT INTO FUNCTION file('/tmp/never.csv') SELECT 1", "SYSTEM FLUSH LOGS",
        "SELECT * FROM remote('127.0.0.1:9', 'system.one')", "CREATE TEMPORARY TABLE x (a Int8)",
    ],
)  # fmt: skip
def test_the_engine_refuses_too(opened: Store, statement: str) -> None:
    """The second layer, without the guard: readonly = 1 and limits that hold."""
    with ReadOnlyStore(opened, Limits().settings()) as reader:
        with pytest.raises(QueryError) as caught:
            reader.text(statement)
        assert caught.value.code == 164
        values = reader.query("SELECT getSetting('readonly'), getSetting('final')").rows
    assert [tuple(map(int, row)) for row in values] == [(1, 1)]
    assert not Path("/tmp/never.csv").exists()


def test_limits_hold(opened: Store) -> None:
    limits = Limits(seconds=1, memory=10**8, rows=1_000)
    with Sandbox(opened, limits=limits) as sandbox:
        begun = time.monotonic()
        with pytest.raises(QueryError) as slow:
            sandbox.query("SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1")
        assert slow.value.code == 159 and time.monotonic() - begun < 20
        with pytest.raises(QueryError) as large:
            sandbox.query("SELECT groupArray(toString(number)) FROM numbers(100000000)")
        assert large.value.code in (159, 241)
        many = sandbox.query("SELECT number FROM numbers(10000000)")
        assert 1_000 <= len(many.rows) < 200_000
    with Sandbox(opened, limits=PAGE) as sandbox:
        assert sandbox.query("SELECT count() FROM turn_summary").rows[0][0] == 2


def test_another_thread_ends_a_statement(opened: Store) -> None:
    """Also one that the engine does not know yet; what comes after does not begin."""
    for patience in (0.0, 0.3):
        cancellation = Cancellation()
        with Sandbox(opened, limits=PAGE, cancellation=cancellation) as sandbox:
            timer = threading.Timer(patience, cancellation.cancel)
            timer.start()
            with pytest.raises(QueryError) as caught:
                sandbox.query("SELECT sum(sipHash64(number)) FROM numbers(1000000000000)")
            timer.join()
            assert caught.value.code == QUERY_WAS_CANCELLED
            with pytest.raises(QueryError, match="cancelled"):
                sandbox.query("SELECT 1")
    running = "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number)%'"
    assert int(opened.query(running).rows[0][0]) == 1  # that asks
