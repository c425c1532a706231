"""Imports of home-made tables, killed at any moment while others write: in the end nothing is
missing, and nothing is there twice.

One moment; TURNSPAN_KILLS=30 takes as many.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from support import home_tables as made
from support.clickhouse_server import ClickHouseServer
from support.databases import RealDatabase
from support.kept_stores import migrated
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing import import_run
from turnspan_records.importing.home_tables import table_chunks
from turnspan_records.importing.home_tables.address import parse_address
from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry

pytestmark = pytest.mark.release

KILLS = int(os.environ.get("TURNSPAN_KILLS", "1"))
TABLE = "killed"
TURNS = 24
CHUNK, TOGETHER = 7, 60
PROGRAM = """
import sys
from contextlib import closing
from pathlib import Path
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.importing import import_run
from turnspan_records.importing.home_tables import table_chunks
from turnspan_records.importing.home_tables.address import parse_address
from turnspan_records.importing.home_tables.telemetry_log import AgentTelemetry

dsn, spool, source, table, project, chunk, together = sys.argv[1:]
table_chunks.CHUNK_ROWS, import_run._ROWS_TOGETHER = int(chunk), int(together)
import_run._WRITES_TOGETHER = 2
print("ready", flush=True)
with AgentTelemetry(parse_address(source, table)) as log:
    import_run.import_log(
        lambda: open_store(parse(dsn)), Spool(Path(spool)), log, project=project,
        progress=lambda done, total: print(done, flush=True),
    )
"""


@pytest.fixture(scope="module")
def store(clickhouse_server: ClickHouseServer) -> Iterator[Store]:
    with migrated(clickhouse_server.dsn("home_killed")) as opened:
        yield opened


def bring(database: RealDatabase, store: Store, spool: Path, project: str) -> None:
    with AgentTelemetry(parse_address(database.dsn(), TABLE)) as log:
        import_run.import_log(lambda: nullcontext(store), Spool(spool), log, project=project)


def tables(store: Store, project: str) -> dict[str, Any]:
    """The records of a project; when a message or definition came first depends on the import."""
    found: dict[str, Any] = {}
    for name in ("llm_call", "turn_summary", "tool_call", "span", "message", "definition"):
        more = "first_seen" if name in ("message", "definition") else "writer"
        sql = f"SELECT * EXCEPT (project, written_at, {more}) FROM {name} FINAL"
        sql += " WHERE project = {project:String} ORDER BY ALL"
        found[name] = store.query(sql, {"project": project}).rows
    return found


def tables_of(database: RealDatabase, store: Store, folder: Path, project: str) -> dict[str, Any]:
    """The records, with what was written to the source since."""
    bring(database, store, folder / project, project)
    return tables(store, project)


def killed(database: RealDatabase, store: Store, spool: Path, project: str, after: int) -> None:
    """An import in a process of its own, which is killed after so many rows."""
    arguments = (str(store.dsn), str(spool), database.dsn(), TABLE, project, CHUNK, TOGETHER)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    write_while_it_runs(database, project)
    while int(process.stdout.readline()) < after:
        pass
    time.sleep(random.Random(after).uniform(0, 0.05))
    process.kill()
    process.wait()
    process.stdout.close()


def write_while_it_runs(database: RealDatabase, project: str) -> None:
    """A turn whose rows get their ids first and are committed last, and one of another session."""
    number = 1_000 + 10 * int(project.rpartition(" ")[2])
    late, other = database.connect(), database.connect()
    try:
        database_rows = (made.made_turn(number, 900), made.made_turn(number + 5, 910))
        late.autocommit = False if database.scheme == "postgresql" else late.autocommit
        if database.scheme == "mariadb":
            late.begin()
        for connection, rows in zip((late, other), database_rows, strict=True):
            made.insert_through(database, connection, TABLE, rows)
        late.commit()
    finally:
        late.close()
        other.close()


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb"])
def test_killed_at_any_moment_and_gone_on_with(
    request: pytest.FixtureRequest,
    store: Store,
    scheme: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed, gone on with and compared with an import that nobody disturbed."""
    database: RealDatabase = request.getfixturevalue(f"real_{scheme}")
    monkeypatch.setattr(table_chunks, "CHUNK_ROWS", CHUNK)
    monkeypatch.setattr(import_run, "_ROWS_TOGETHER", TOGETHER)
    made.make_table(database, made.TELEMETRY, TABLE)
    rows = [row for number in range(TURNS) for row in made.made_turn(number, number)]
    made.insert_rows(database, TABLE, rows)
    moments = random.Random(17)

    projects = [
        f"{scheme} {n}" for n in range(KILLS if scheme == "postgresql" else max(1, KILLS // 3))
    ]
    resumed = 0
    for project in projects:
        killed(database, store, tmp_path / project, project, moments.randrange(len(rows)))
        identity = parse_address(database.dsn(), TABLE).identity
        known = import_run.position_of(store, "agent-telemetry", identity, project)
        resumed += known is not None
        bring(database, store, tmp_path / project, project)
    whole = tables_of(database, store, tmp_path, f"{scheme} whole")

    assert {name: len(rows) for name, rows in whole.items()}["turn_summary"] == TURNS + 2 * len(
        projects
    )
    for project in projects:
        assert tables_of(database, store, tmp_path, project) == whole, project
    print(f"{resumed} of {len(projects)} imports had come to a position")
