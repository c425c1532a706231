"""Migrations: idempotent, resumable, safe side by side, and the same columns as the records."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from support.landing import insert
from support.representatives import few, first_on
from support.rows import call
from turnspan_clickhouse.errors import QueryError, StoreError
from turnspan_clickhouse.rows.tables import RECORDS, columns
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import (
    SCHEMA_VERSION,
    Applied,
    current_version,
    due,
    migrate,
    migrations,
    pending,
    render,
    statements,
)
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.both_kinds(False)


@pytest.mark.both_kinds
def test_a_fresh_store_is_brought_to_the_code_s_version_once(store_dsn: Dsn) -> None:
    """Every file is applied once, in order; a second run does nothing."""
    with open_store(store_dsn) as store:
        assert current_version(store) == 0
        applied = migrate(store)
        assert [one.version for one in applied] == [one.version for one in migrations()]
        assert current_version(store) == SCHEMA_VERSION
        assert pending(store) == []
        assert migrate(store) == []


def test_the_ledger_says_what_was_applied_by_which_client(store: Store) -> None:
    """Version, name, checksum and client version, in the store itself."""
    rows = store.query("SELECT version, name, checksum, client_version FROM schema_migration").rows
    found = {int(row[0]): (row[1], row[2]) for row in rows}
    assert found == {one.version: (one.name, one.checksum) for one in migrations()}
    assert all(row[3] for row in rows)


def test_the_tables_have_the_records_columns(store: Store) -> None:
    """Names and types (``LowCardinality`` aside) of DDL and record class agree. A table has its own
    order, since blocks are written and read by the columns' names."""
    result = store.query(
        "SELECT table, name, type FROM system.columns WHERE database = {database:String}"
        " AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')",
        {"database": store.database},
    )
    found: dict[str, dict[str, str]] = {}
    for table, name, kind in result.rows:
        found.setdefault(table, {})[name] = _plain(kind)
    assert {record.table: found[record.table] for record in RECORDS} == {
        record.table: {name: kind.replace(" ", "") for name, kind in columns(record)}
        for record in RECORDS
    }


def _plain(kind: str) -> str:
    while "LowCardinality(" in kind:
        before, _, rest = kind.partition("LowCardinality(")
        inner, _, after = rest.partition(")")
        kind = before + inner + after
    return kind.replace(" ", "")


class Killed(BaseException):
    """What the test throws in the place of a kill -9."""


@pytest.mark.release
@first_on("embedded")
def test_killed_and_run_again_it_converges(store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the first statement, in the middle, before and after the ledger is written: the
    next run does again what the last one had not recorded."""
    real = Store.command
    left = 0

    def command(
        self: Store,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        nonlocal left
        if left == 0:
            raise Killed  # whatever a killed process still wants to do
        real(self, sql, parameters, settings)
        left -= 1
        if left == 0:
            raise Killed

    monkeypatch.setattr(Store, "command", command)
    with open_store(store_dsn) as store:
        whole = len(migrations())
        for left in (1, whole // 2, whole - 1, whole):  # noqa: B007 - counted down by command
            with pytest.raises(Killed):
                migrate(store)
            assert len(pending(store)) == len(migrations())
        left = whole + 1
        with pytest.raises(Killed):
            migrate(store)
        assert pending(store) == []
        left = 2
        assert migrate(store) == []
        assert store.query("SELECT count() FROM agent_telemetry").rows == [(0,)]


def test_what_was_applied_before_an_error_is_recorded(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Running again continues where the engine refused a statement."""
    real = Store.command
    refused = 5

    def command(
        self: Store,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        nonlocal refused
        refused -= 1
        real(self, "SELECT throwIf(1, 'refused')" if refused == 0 else sql, parameters, settings)

    monkeypatch.setattr(Store, "command", command)
    with open_store(store_dsn) as store:
        with pytest.raises(QueryError, match="refused"):
            migrate(store)
        assert len(pending(store)) == len(migrations()) - 4
        assert len(migrate(store)) == len(migrations()) - 4


def test_a_setting_that_the_engine_does_not_know_is_left_out(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that is older than a setting of a table works without it."""
    real = Store.command

    def command(
        self: Store,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        real(
            self, sql.replace("text_index_dictionary_", "of_a_later_engine_"), parameters, settings
        )

    monkeypatch.setattr(Store, "command", command)
    with open_store(store_dsn) as store:
        assert len(migrate(store)) == len(migrations())
        assert pending(store) == []


@first_on("server")
def test_two_migrations_at_once_are_safe(store_dsn: Dsn) -> None:
    """Both succeed; the schema is there once. An embedded store is migrated one after the other."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with open_store(store_dsn, wait=120) as store:
                migrate(store)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with open_store(store_dsn) as store:
        assert pending(store) == []
        tables = store.query(
            "SELECT count() FROM system.tables WHERE database = {database:String}",
            {"database": store.database},
        )
        made = {name for one in migrations() for name in one.subjects(store.dsn)}
        assert tables.rows == [(len(made),)]


def _record(store: Store, version: int, checksum: str) -> None:
    store.command(
        "INSERT INTO schema_migration (version, name, checksum, client_version)"
        " VALUES ({version:UInt32}, 'x', {checksum:String}, '9')",
        {"version": version, "checksum": checksum},
    )


def test_a_newer_store_is_refused_in_one_sentence(store: Store) -> None:
    """It says to upgrade, and changes nothing."""
    _record(store, 9999, "x")
    with pytest.raises(StoreError, match=r"schema version 9999, newer than the \d+ .*: upgrade it"):
        migrate(store)
    assert current_version(store) == 9999


def test_an_older_client_keeps_writing_to_a_newer_schema(store: Store) -> None:
    """A newer version's columns have defaults: an older client's records land, before and after its
    tables were merged, and its own columns read as before."""
    store.command("ALTER TABLE llm_call ADD COLUMN mood LowCardinality(String) DEFAULT 'unknown'")
    store.command("ALTER TABLE llm_call ADD COLUMN weight Nullable(Float64) AFTER span_id")
    _record(store, 9999, "x")
    insert(store, call("c1", input_tokens=7), call("c2", 1.0))
    question = "SELECT span_id, input_tokens, mood, weight FROM llm_call ORDER BY span_id"
    landed = [("c1", 7, "unknown", None), ("c2", None, "unknown", None)]
    assert store.query(question).rows == landed
    store.command("OPTIMIZE TABLE llm_call FINAL")
    assert store.query(question).rows == landed
    assert store.query("SELECT count() FROM agent_telemetry").rows == [(2,)]


def test_an_older_store_refuses_what_it_has_no_column_for(store: Store) -> None:
    """A newer client's record is refused as a whole, naming the column, until the store is
    migrated: nothing is cut off silently (the shipper lets such segments wait)."""
    store.command("ALTER TABLE llm_call DROP COLUMN tries")
    with pytest.raises(QueryError, match="tries"):
        insert(store, call("c1"))
    assert store.query("SELECT count() FROM llm_call").rows == [(0,)]
    store.command("ALTER TABLE llm_call ADD COLUMN tries UInt8 AFTER stream_outcome")
    insert(store, call("c1"))
    assert store.query("SELECT count(), any(tries) FROM llm_call").rows == [(1, 1)]


def test_tables_keep_a_partition_in_one_part_once_it_is_settled(store: Store) -> None:
    """A partition is a week, and a table that has partitions is told to merge each of them."""
    tables = store.query(
        "SELECT name, partition_key, create_table_query FROM system.tables"
        " WHERE database = currentDatabase() AND partition_key NOT IN ('', 'pass')"
    ).dicts()
    calls = {"llm_call", "turn_summary", "tool_call", "span"}
    assert {row["name"] for row in tables} == calls | {"context_assembly", "context_item"}
    for row in tables:
        assert row["partition_key"] == "toMonday(start_time)"
        assert "min_age_to_force_merge_on_partition_only = 1" in row["create_table_query"]


def test_a_changed_table_file_is_refused(store: Store) -> None:
    """Applied tables are changed by new numbers only."""
    _record(store, 1, "another text")
    with pytest.raises(StoreError, match="0001_llm_call differs"):
        migrate(store)


def test_a_changed_view_is_applied_again(store: Store) -> None:
    """A view holds no data: its newest definition counts."""
    _record(store, 20, "another text")
    store.command("CREATE OR REPLACE VIEW llm_call_full AS SELECT 1 AS old")
    assert migrate(store) == [Applied(20, "llm_call_full", again=True)]
    described = [row[0] for row in store.query("DESCRIBE llm_call_full").rows]
    assert "chat_history" in described
    assert pending(store) == []


@pytest.mark.parametrize("name", few(["span", "turn_full", "schema_migration"], ["turn_full"]))
def test_what_was_dropped_is_made_again(store: Store, name: str) -> None:
    """The ledger says that it was applied, the store that it is gone."""
    kind = "VIEW" if name == "turn_full" else "TABLE"
    store.command(f"DROP {kind} {name}{' SYNC' if kind == 'TABLE' else ''}")
    due_now = [migration.name for migration in due(store)]
    if name != "schema_migration":
        assert migrate(store) == []
    assert [one.name for one in migrate(store, restore=True)] == due_now
    assert name in due_now
    assert store.query(f"SELECT count() FROM {name}").rows[0][0] >= 0
    assert due(store) == []


def test_each_file_is_about_one_object(embedded_dsn: Dsn) -> None:
    """Which it names as its SQL does, on a cluster too."""
    for dsn in (embedded_dsn, dataclasses.replace(embedded_dsn, cluster="east")):
        for migration in migrations():
            for name in migration.subjects(dsn):
                written = re.compile(rf"\.{name}\s")
                assert any(written.search(sql) for sql in statements(migration, dsn))


def test_views_are_made_after_the_tables_and_again_when_tables_change(store: Store) -> None:
    """A view fixes its columns when it is made: a new table file, whatever its number, makes every
    view pending, and a migration that died in between still knows."""
    order = [migration.view for migration in migrations()]
    assert order == sorted(order)
    view = next(migration for migration in migrations() if migration.view)
    assert view.checksum != hashlib.sha256(view.template.encode()).hexdigest()
    _record(store, view.version, hashlib.sha256(view.template.encode()).hexdigest())
    assert [migration.version for migration in pending(store)] == [view.version]


def test_a_database_s_name_may_need_quoting(server_dsn: Dsn) -> None:
    """Dashes and quotes in it are no way into the SQL."""
    dsn = dataclasses.replace(server_dsn, database="odd-name`; DROP")
    with open_store(dsn) as store:
        migrate(store)
        assert store.query("SELECT count() FROM ephemera_agent_log").rows == [(0,)]
        store.command("DROP DATABASE `odd-name\\`; DROP` SYNC")


# -- what would run ------------------


def test_the_dry_run_is_what_runs(embedded_dsn: Dsn) -> None:
    """One statement a file, in order, without macros."""
    rendered = render(embedded_dsn)
    assert [name for name, _ in rendered][:2] == ["0000_schema_migration", "0001_llm_call"]
    assert len(rendered) == len(migrations())
    for _, sql in rendered:
        assert "turnspan." in sql
        assert "ON CLUSTER" not in sql
        assert not any(macro in sql for macro in ("{table", "{replacing", "{on_cluster", "{shard"))


def test_on_a_cluster_tables_are_replicated_behind_distributed_ones(embedded_dsn: Dsn) -> None:
    """Every statement names the cluster and parses; a scope's calls and messages share a shard."""
    cluster = Dsn(scheme="https", host="h", port=8443, database="agents", cluster="main")
    rendered = dict[str, list[str]]()
    for name, sql in render(cluster):
        rendered.setdefault(name, []).append(sql)
    assert len(rendered["0000_schema_migration"]) == 1  # one ledger, the same on every node
    assert "/{database}/{table}/all', '{shard}_" in rendered["0000_schema_migration"][0]
    for name, group in rendered.items():
        assert all("ON CLUSTER main" in sql for sql in group), name
    for record in RECORDS:
        (group,) = [found for name, found in rendered.items() if name.endswith(f"_{record.table}")]
        local, distributed = group
        assert f"agents.{record.table}_local" in local
        assert (
            "ENGINE = ReplicatedReplacingMergeTree("
            "'/clickhouse/tables/{database}/{table}/{shard}', '{replica}', written_at)"
        ) in local
        assert (
            f"Distributed(main, agents, {record.table}_local, cityHash64(project, " in distributed
        )
    with open_store(embedded_dsn) as store:
        for group in rendered.values():
            for sql in group:
                assert store.query(f"EXPLAIN AST {sql}").rows
