"""Backups, tiers and times to live as docs/scale.md gives them, on a real server."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer, start_server
from support.demo_records import land
from support.deployment import DEPLOY, Deployment
from support.kept_stores import migrated
from support.landing import insert
from support.rows import SECOND, call, message, said, turn
from turnspan_clickhouse.rows import loop_tables
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.opening import open_store

CLICKHOUSE = DEPLOY / "clickhouse"
DAY = 86_400 * SECOND
NOW = time.time_ns()
MOVED = "['default','cold']"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """A server with deploy/'s two disks."""
    home = Path(tmp_path_factory.mktemp("upkeep"))
    tiers = re.sub(
        r"</?clickhouse>|<!--.*?-->", "", (CLICKHOUSE / "tiers.xml").read_text(), flags=re.S
    )
    tiers = tiers.replace("/mnt/cold/clickhouse/", f"{home}/cold/")
    started = start_server(home, extra_config=tiers)
    yield started
    started.kill()


@pytest.fixture
def store(server: ClickHouseServer) -> Iterator[Store]:
    """The empty database ``turnspan`` on it."""
    with migrated(server.dsn("turnspan")) as opened:
        yield opened
        opened.command("DROP DATABASE turnspan SYNC")


def counts(server: ClickHouseServer, database: str) -> dict[str, str]:
    """What tells two stores apart: every row of every table, hashed."""
    return {
        table: server.run(f"SELECT count(), sum(cityHash64(*)) FROM {database}.{table}")
        for table in ("schema_migration", *(record.table for record in RECORDS))
    }


@pytest.mark.release
def test_the_documented_backup_restores_every_row(
    deployment: Deployment, demo_blocks: Mapping[str, bytes]
) -> None:
    """Each statement of docs/scale.md, as turnspan_admin on a server with the shipped files: to a
    file, whole and then what is new since; restored beside the original and where it was lost."""
    shown = re.search(
        r"```sql\n(BACKUP.*?)```", (DEPLOY.parent / "docs/scale.md").read_text(), re.S
    )
    assert shown is not None
    whole, newer, beside, lost = re.sub(r";.*", "", shown[1]).strip().splitlines()

    def done(sql: str) -> None:
        answer = deployment.ask("turnspan_admin", sql)
        assert answer.code == 0, answer.text

    with open_store(deployment.dsn("admin")) as store:
        land(store, demo_blocks)
        done(whole)
        insert(store, turn("after", session_id="after"))
        done(newer)
    wanted = counts(deployment.server, "turnspan")
    done(beside)
    found = counts(deployment.server, "turnspan_beside")
    views = deployment.ask("turnspan_admin", "SELECT count() FROM turnspan_beside.agent_telemetry")
    done("DROP DATABASE turnspan_beside SYNC")
    done("DROP DATABASE turnspan SYNC")
    done(lost)

    assert found == counts(deployment.server, "turnspan") == wanted
    assert int(views.text) > 50
    assert int(wanted["llm_call"].split()[0]) > 50
    assert (deployment.server.home / "data" / "backups" / "monday.tar.gz").exists()
    for job in ("writer", "reader", "reviewer", "jaeger"):
        assert deployment.ask(f"turnspan_{job}", whole).code in (164, 497)


@pytest.mark.release
def test_old_records_move_to_the_cold_disk_and_end(server: ClickHouseServer, store: Store) -> None:
    """ttl.sql as it is: today's rows stay, last month's move, last year's are gone."""
    ages = {"new": 1, "old": 100, "past": 400}
    for name, days in ages.items():
        start = NOW - days * DAY
        insert(
            store,
            turn(name, start_time=start, session_id=name),
            call(name, start_time=start, session_id=name),
            message("user", said(name), scope=name, first_seen=start),
        )
    for statement in re.sub(r"--.*", "", (CLICKHOUSE / "ttl.sql").read_text()).split(";"):
        if statement.strip():
            server.run(statement)
    forever = server.run(
        "SELECT groupArray(name) FROM system.tables WHERE database = 'turnspan'"
        " AND endsWith(engine, 'MergeTree') AND position(create_table_query, ' TTL ') = 0"
    )
    judged = {"annotation", "artifact_check", "definition", "review_queue", "schema_migration"}
    judged |= {"dataset_case", "import_position", "keeping_row", "tombstone", "withdrawal"}
    assert set(re.findall(r"\w+", forever)) == judged | {
        kind.table for kind in RECORDS if kind.__module__ == loop_tables.__name__
    }  # ttl.sql says why
    left: dict[str, str] = {}
    disks: dict[str, str] = {}
    for table, column in (("turn_summary", "session_id"), ("llm_call", "session_id"),
                          ("message", "scope")):  # fmt: skip
        server.run(f"OPTIMIZE TABLE turnspan.{table} FINAL")
        rows = f"SELECT arraySort(groupArray({column})) FROM turnspan.{table}"
        left[table] = server.run(rows).strip()
    for table in ("turn_summary", "llm_call"):
        disks[table] = disks_once_moved(server, table)

    assert left == dict.fromkeys(left, "['new','old']")
    assert set(disks.values()) == {MOVED}
    assert store.query("SELECT count() FROM llm_call_full").rows == [(2,)]


def disks_once_moved(server: ClickHouseServer, table: str) -> str:
    """The disks of a table's parts, newest first; parts move by and by, within ten seconds."""
    where = f"database = 'turnspan' AND table = '{table}' AND active AND rows > 0"
    parts = f"SELECT disk_name FROM system.parts WHERE {where} ORDER BY max_time DESC"
    give_up = time.monotonic() + 60
    while True:
        disks = server.run(f"SELECT groupArray(disk_name) FROM ({parts})").strip()
        if disks == MOVED or time.monotonic() > give_up:
            return disks
        time.sleep(0.2)
