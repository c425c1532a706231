"""The users and limits that deploy/ ships, on a real server."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from support.deployment import JOBS, Answer, Deployment
from support.old_log import Made
from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.ship.interrupted_work import interrupt_turns, interrupt_work
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.read_only import QUERY_WAS_CANCELLED, Cancellation
from turnspan_records.importing.import_run import import_log
from turnspan_records.sandbox import PAGE, Sandbox

ACCESS_DENIED, READONLY, WRONG_PASSWORD = 497, 164, 516
DONE = Answer(0, "")
OVER_CONSTRAINT, TOO_MANY_ROWS = 452, 396

FORBIDDEN_DDL = [
    "CREATE TABLE turnspan.other (n UInt8) ENGINE = Memory",
    "DROP TABLE turnspan.llm_call",
    "TRUNCATE TABLE turnspan.llm_call",
    "ALTER TABLE turnspan.llm_call DELETE WHERE 1",
    "CREATE DATABASE other",
    "DROP DATABASE turnspan",
    "SYSTEM SHUTDOWN",
    "GRANT SELECT ON turnspan.* TO turnspan_writer",
]


def insert_call(deployment: Deployment, span_id: str, model: str, written_at: int) -> None:
    """Land one llm_call row as the writer would."""
    answer = deployment.ask(
        "turnspan_writer",
        "INSERT INTO turnspan.llm_call (trace_id, span_id, start_time, response_model, written_at)"
        f" VALUES ('{'a' * 32}', '{span_id}', '2026-01-01 00:00:00', '{model}', {written_at})",
    )

    assert answer == DONE


def test_the_writer_appends_records_and_reads_no_prompts(deployment: Deployment) -> None:
    """It can insert into every table but the ledger, and what the model was told stays shut."""
    insert_call(deployment, "b" * 16, "gpt-5", 1)

    ledger = deployment.ask("turnspan_writer", "SELECT max(version) FROM turnspan.schema_migration")
    refused = [
        deployment.ask("turnspan_writer", sql).code
        for sql in (
            "SELECT * FROM turnspan.llm_call",
            "SELECT parts FROM turnspan.message",
            "SELECT body FROM turnspan.definition",
            "SELECT result FROM turnspan.tool_call",
            "INSERT INTO turnspan.schema_migration (version) VALUES (9999)",
        )
    ]

    assert ledger.code == 0
    assert int(ledger.text) >= 1
    assert refused == [ACCESS_DENIED] * 5


def test_the_writer_closes_the_turns_of_a_process_that_died(deployment: Deployment) -> None:
    """Shipping needs no other user: what the dead process got done is counted, the turn ends."""
    turn, writer = "d" * 16, "host-1-dead"
    for sql in (
        "INSERT INTO turnspan.turn_summary (trace_id, span_id, turn_id, start_time, status, writer)"
        f" VALUES ('{turn * 2}', '{turn}', '{turn}', '2026-01-01 00:00:00', 'running', '{writer}')",
        "INSERT INTO turnspan.llm_call (trace_id, span_id, turn_id, start_time, duration,"
        " input_tokens, response_text)"
        f" VALUES ('{turn * 2}', 'e', '{turn}', '2026-01-01 00:00:01', 2, 40, 'so far')",
    ):
        assert deployment.ask("turnspan_writer", sql) == DONE

    with open_store(deployment.dsn("writer")) as store:
        closed = interrupt_turns(store, [writer])
    seen = deployment.ask(
        "turnspan_reader",
        "SELECT status, llm_call_count, input_tokens, duration, response_text"
        f" FROM turnspan.turn_summary WHERE turn_id = '{turn}'",
    )

    assert closed == 1
    assert seen.text == "interrupted\t1\t40\t3\tso far\n"


def test_the_writer_closes_the_attempts_of_a_process_that_died(deployment: Deployment) -> None:
    """As its turns: an attempt, and a consortium run, lasted until the last end of a model call. A
    call that has not ended never did."""
    writer = "host-2-dead"
    for sql in (
        "INSERT INTO turnspan.rollout (rollout_id, started_at, status, writer)"
        f" VALUES ('r-{writer}', '2026-01-01 00:00:00', 'running', '{writer}')",
        "INSERT INTO turnspan.attempt (attempt_id, rollout_id, started_at, status, writer)"
        f" VALUES ('a-{writer}', 'r-{writer}', '2026-01-01 00:00:00', 'running', '{writer}')",
        "INSERT INTO turnspan.consortium (consortium_id, started_at, status, writer)"
        f" VALUES ('k-{writer}', '2026-01-01 00:00:00', 'running', '{writer}')",
        "INSERT INTO turnspan.llm_call"
        " (trace_id, span_id, attempt_id, consortium_id, start_time, duration)"
        f" VALUES ('{'c' * 32}', 'f', 'a-{writer}', 'k-{writer}', '2026-01-01 00:00:01', 2)",
        "INSERT INTO turnspan.llm_call_running (span_id, start_time, status, writer)"
        f" VALUES ('e', '2026-01-01 00:00:03', 'running', '{writer}')",
    ):
        assert deployment.ask("turnspan_writer", sql) == DONE

    with open_store(deployment.dsn("writer")) as store:
        closed = interrupt_work(store, [writer])
    attempt, rollout, run = (
        deployment.ask(
            "turnspan_reader",
            f"SELECT status, duration FROM turnspan.{table} WHERE writer = '{writer}'",
        ).text
        for table in ("attempt", "rollout", "consortium")
    )

    running = f"SELECT status FROM turnspan.llm_call_running WHERE writer = '{writer}'"
    assert deployment.ask("turnspan_reader", running).text == "interrupted\n"
    assert closed == 4
    assert attempt == run == "interrupted\t3\n"
    assert rollout.startswith("interrupted\t")


@pytest.mark.parametrize("sql", FORBIDDEN_DDL)
def test_the_writer_changes_no_table(deployment: Deployment, sql: str) -> None:
    """A leaked writer password cannot delete or reshape what was recorded."""
    assert deployment.ask("turnspan_writer", sql).code == ACCESS_DENIED


@pytest.mark.parametrize(
    "sql", [*FORBIDDEN_DDL, "INSERT INTO turnspan.llm_call (span_id) VALUES ('x')"]
)
def test_the_reader_changes_nothing(deployment: Deployment, sql: str) -> None:
    """A reader's statement that would write is refused."""
    assert deployment.ask("turnspan_reader", sql).code in (ACCESS_DENIED, READONLY)


def test_the_reader_sees_each_record_once_without_final(deployment: Deployment) -> None:
    """The newest state of a record is the only one, before any merge, in plain SQL."""
    insert_call(deployment, "c" * 16, "old", 1)
    insert_call(deployment, "c" * 16, "new", 2)
    where = f"WHERE span_id = '{'c' * 16}'"
    sql = f"SELECT response_model FROM turnspan.llm_call {where}"

    stored = deployment.server.run(f"SELECT count() FROM turnspan.llm_call {where}")
    plain = deployment.ask("turnspan_reader", sql)
    with open_store(deployment.dsn("reader")) as store:
        through_our_client = store.query(sql).rows

    assert stored.strip() == "2"
    assert plain.text == "new\n"
    assert [tuple(row) for row in through_our_client] == [("new",)]


def test_the_reader_cannot_lift_its_limits_but_may_lower_them(deployment: Deployment) -> None:
    """Drivers may send settings; memory, time and rows stay capped, 'no limit' included."""
    for name, more in (
        ("max_execution_time", 3600),
        ("max_execution_time", 0),
        ("max_memory_usage", 64_000_000_000),
        ("max_memory_usage", 0),
        ("max_result_rows", 0),
        ("max_concurrent_queries_for_user", 0),
        ("readonly", 0),
    ):
        refused = deployment.ask("turnspan_reader", "SELECT 1", settings={name: more})
        assert refused.code in (OVER_CONSTRAINT, READONLY), (name, more, refused)

    lowered = deployment.ask(
        "turnspan_reader", "SELECT 1", settings={"max_execution_time": 5, "final": 0}
    )
    too_many = deployment.ask(
        "turnspan_reader", "SELECT number FROM numbers(100)", settings={"max_result_rows": 10}
    )

    assert lowered == deployment.ask("turnspan_reader", "SELECT 1")
    assert too_many.code == TOO_MANY_ROWS


def test_the_reader_sees_sizes_but_not_what_others_asked(deployment: Deployment) -> None:
    """`turnspan doctor` can compare the server's logs with the records; query texts stay shut."""
    deployment.server.run("SYSTEM FLUSH LOGS")

    sizes = deployment.ask(
        "turnspan_reader",
        "SELECT sum(bytes_on_disk) > 0 FROM system.parts WHERE database = 'system'",
    )
    queries = deployment.ask("turnspan_reader", "SELECT query FROM system.query_log LIMIT 1")

    assert (sizes.code, sizes.text) == (0, "1\n")
    assert queries.code == ACCESS_DENIED


def test_the_reader_ends_its_own_statements(deployment: Deployment) -> None:
    """The page does, when one is not waited for any more."""
    cancellation = Cancellation()
    with (
        open_store(deployment.dsn("reader")) as store,
        Sandbox(store, limits=PAGE, cancellation=cancellation) as sandbox,
    ):
        timer = threading.Timer(0.2, cancellation.cancel)
        timer.start()
        with pytest.raises(QueryError) as caught:
            sandbox.query("SELECT sum(sipHash64(number)) FROM numbers(1000000000000)")
        timer.join()

    assert caught.value.code == QUERY_WAS_CANCELLED


def test_jaegers_user_reads_spans_and_no_prompts(deployment: Deployment) -> None:
    """Through the views, which run with the rights of whoever asks."""
    spans = deployment.ask("turnspan_jaeger", "SELECT count() FROM turnspan_jaeger.spans")
    refused = [
        deployment.ask("turnspan_jaeger", sql).code
        for sql in (
            "SELECT count() FROM turnspan.llm_call",
            "SELECT parts FROM turnspan.message",
            "SELECT * FROM turnspan.turn_summary",
            "INSERT INTO turnspan.span (span_id) VALUES ('x')",
            "DROP VIEW turnspan_jaeger.spans",
        )
    ]

    assert spans.code == 0
    assert refused[:3] == [ACCESS_DENIED] * 3
    assert set(refused[3:]) <= {ACCESS_DENIED, READONLY}


def test_the_admin_has_its_one_database_only(deployment: Deployment) -> None:
    """It migrates and deletes inside `turnspan`; other databases and users are out of reach."""
    inside = deployment.ask(
        "turnspan_admin", "ALTER TABLE turnspan.llm_call DELETE WHERE span_id = 'none'"
    )
    outside = [
        deployment.ask("turnspan_admin", sql).code
        for sql in (
            "CREATE DATABASE other",
            "DROP TABLE system.query_log",
            "GRANT SELECT ON turnspan.* TO turnspan_writer",
        )
    ]

    assert inside.code == 0
    assert outside == [ACCESS_DENIED] * 3


@pytest.mark.parametrize("job", JOBS)
def test_passwords_come_from_the_environment(deployment: Deployment, job: str) -> None:
    """The right password is let in from anywhere, a wrong or an empty one nowhere."""
    user = f"turnspan_{job}"

    assert deployment.ask(user, "SELECT 1", source="127.0.0.2").text == "1\n"
    assert deployment.ask(user, "SELECT 1", password="guess").code == WRONG_PASSWORD
    assert deployment.ask(user, "SELECT 1", password="").code == WRONG_PASSWORD


def test_the_default_user_is_for_the_container_alone(deployment: Deployment) -> None:
    """The image's passwordless administrator is let in from the server's own loopback only."""
    hosts = deployment.server.run(
        "SELECT host_ip, host_names, host_names_regexp, host_names_like"
        " FROM system.users WHERE name = 'default'"
    )

    assert hosts == "[]\t['localhost']\t[]\t[]\n"


def test_the_servers_own_logs_are_few_and_expire(deployment: Deployment) -> None:
    """Of all the logs an engine can keep, four tables are left, each with a time to live."""
    deployment.server.run("SYSTEM FLUSH LOGS")
    tables = deployment.server.run(
        "SELECT name, position(create_table_query, 'TTL event_date +') > 0 FROM system.tables"
        " WHERE database = 'system' AND engine = 'MergeTree' ORDER BY name"
    )

    assert tables.splitlines() == ["backup_log\t1", "crash_log\t1", "part_log\t1", "query_log\t1"]


def test_the_writer_imports_logs(deployment: Deployment, tmp_path: Path) -> None:
    """It may see how far each has come, and goes on from there."""

    def opened() -> Store:
        return open_store(deployment.dsn("writer"))

    def run(log: Made) -> int:
        return import_log(opened, Spool(tmp_path / "spool"), log, project="old").source_rows

    assert (run(Made(2)), run(Made(3))) == (6, 3)
