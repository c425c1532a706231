"""``turnspan import agent-telemetry`` and ``turnspan import ephemera`` from a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from support import home_tables as made
from support.databases import PASSWORD, RealDatabase
from support.kept_stores import copy_schema
from support.story import Invoke
from turnspan_console.failures import UNAVAILABLE
from turnspan_records.importing.home_tables import database as databases
from turnspan_records.importing.home_tables.address import parse_address
from turnspan_records.importing.home_tables.log import Ephemera
from turnspan_records.importing.sources import SourceLogError

pytestmark = pytest.mark.usefixtures("kept_engine")

CANARY = "canary-Zq7"
SECRET = "ghp_" + "aB3dE5gH7j" * 3 + "kL9mN1"
VARIABLES = {"postgresql": "PGPASSWORD", "mariadb": "MYSQL_PWD"}


@pytest.fixture(params=["postgresql", "mariadb"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> RealDatabase:
    """A server, with no password in the surroundings."""
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    found: RealDatabase = request.getfixturevalue(f"real_{request.param}")
    return found


def test_a_table_is_brought_in_and_every_row_is_told_of(
    invoke: Invoke, real_mariadb: RealDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The password comes from the surroundings; the report has every row, and every oddity; the
    password is in nothing that was printed or written."""
    table = "told"
    made.make_table(real_mariadb, made.TELEMETRY, table)
    rows = [*made.made_turn(1, 0), {**made.made_turn(2, 9)[1], "tool_calls": '{"a": 1}'}]
    rows[2]["stop_reason"] = f"error: {SECRET}"
    made.insert_rows(real_mariadb, table, rows)
    real_mariadb.run(f"ALTER TABLE {table} DROP COLUMN response_thoughts")
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    copy_schema(tmp_path / "store")
    given = ("--store", f"chdb://{tmp_path}/store", "import", "agent-telemetry",
             real_mariadb.dsn(password=False), "--table", table)  # fmt: skip

    done = invoke(*given)
    assert done.exit_code == 1  # a row was not taken as it is
    assert "The table has no response_thoughts: records are made without." in done.stderr
    assert "4 rows" in done.stdout and "a model call" in done.stdout
    assert "tool_calls has 1 entries of no known shape" in done.stdout
    second = invoke(*given, "--format", "json")
    assert json.loads(second.stdout)["source_rows"] == 0
    told = invoke("--store", given[1], "sql", "SELECT project_id, stop_reason FROM agent_telemetry")
    assert "shop 1" in told.stdout and "error: " in told.stdout
    printed = [done.stdout, done.stderr, second.stdout, second.stderr]
    for place in (PASSWORD, quote(PASSWORD, safe=""), SECRET):
        assert not any(place in text for text in [*printed, told.stdout])
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or place.encode() not in file.read_bytes(), file


def test_a_refused_login_says_so_without_the_password(
    invoke: Invoke, database: RealDatabase
) -> None:
    dsn = database.dsn().replace(":" + quote(PASSWORD, safe="") + "@", f":{CANARY}@")
    refused = invoke("import", "ephemera", dsn)
    assert refused.exit_code == UNAVAILABLE
    assert "refuses the login" in refused.stderr
    assert CANARY not in refused.stdout + refused.stderr


def test_a_password_is_asked_for(database: RealDatabase) -> None:
    """Where the server wants one and none is given; it is not kept in the log's identity."""
    made.make_table(database, made.EPHEMERA, "asked")
    address = parse_address(database.dsn(password=False), "asked")
    with Ephemera(address, ask_password=lambda: PASSWORD) as log:
        assert log.total("") == 0
        assert log.identity == f"{database.scheme}://127.0.0.1:{database.port}/logs?table=asked"
    with pytest.raises(databases.LoginRefusedError):
        Ephemera(address)


def test_what_is_not_there_is_said(invoke: Invoke, database: RealDatabase) -> None:
    """A table, a server, a key."""
    gone = invoke("import", "ephemera", database.dsn(), "--table", "no_such")
    assert "this user sees no table no_such" in gone.stderr and gone.exit_code == UNAVAILABLE
    database.run("DROP TABLE IF EXISTS keyless", "CREATE TABLE keyless (a TEXT)")
    keyless = invoke("import", "ephemera", database.dsn(table="keyless"))
    assert "neither a primary key of one column" in keyless.stderr
    nobody = database.dsn().replace(f":{database.port}/", ":1/")
    unreachable = invoke("import", "agent-telemetry", nobody)
    assert unreachable.exit_code == UNAVAILABLE
    assert PASSWORD not in unreachable.stderr and "%2Fof" not in unreachable.stderr


def test_without_a_driver_the_extra_is_named(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, scheme in (("psycopg", "postgresql"), ("pymysql", "mysql")):
        monkeypatch.setitem(sys.modules, module, None)
        done = invoke("import", "ephemera", f"{scheme}://u@127.0.0.1/d")
        assert "pip install 'turnspan[databases]'" in done.stderr
        assert done.exit_code == UNAVAILABLE


@pytest.mark.parametrize(
    "dsn",
    [
        f"postgresql://u:{CANARY}/x@h/d",  # a slash that should be encoded
        f"postgresql://u:12{CANARY}@h:{CANARY}/d",
        f"mysql://u:{CANARY}#@h/d",
        f"mysql://u:{CANARY}@h",
        f"postgresql://u@h/d?{CANARY}=1",
        f"sqlite:///{CANARY}",
        f"{CANARY}",
        f"mariadb://u:{CANARY}?@h/d",
    ],
)
def test_a_dsn_that_cannot_be_read_is_not_repeated(dsn: str) -> None:
    """Any part of it may be one of a password."""
    with pytest.raises(SourceLogError) as refused:
        parse_address(dsn)
    assert CANARY not in str(refused.value)


def test_a_dsn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "elsewhere")
    address = parse_address("postgres://a%40b:p%2Fw@h/d?table=s.t&sslmode=require", "ephemera")
    assert (address.user, address.password, address.port) == ("a@b", "p/w", 5432)
    assert (address.names, address.options) == (["s", "t"], {"sslmode": "require"})
    assert "p/w" not in repr(address)
    assert parse_address("postgresql://u@h:99/d", "t").password == "elsewhere"
    assert parse_address("mysql://u@h/d", "t").identity == "mariadb://h:3306/d?table=t"


def test_a_time_zone_that_is_not_known(invoke: Invoke) -> None:
    done = invoke("import", "ephemera", "mysql://u@h/d", "--time-zone", "Mars/Base")
    assert done.exit_code == 2
    assert "this time zone is unknown" in done.stderr
