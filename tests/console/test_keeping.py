"""The commands that look after a store: status, doctor, migrate, ship."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.clickhouse_server import ANALYST_PASSWORD, READER_PASSWORD, ClickHouseServer
from support.rows import call, turn
from support.story import Invoke, fill
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrations
from turnspan_console.checks import store as checks

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

Findings = dict[str, tuple[str, str]]


def address(dsn: Dsn) -> str:
    """The DSN as text, password and all."""
    if dsn.path is not None:
        return str(dsn)
    return f"http://{dsn.user}:{dsn.password}@{dsn.host}:{dsn.port}/{dsn.database}"


def spool_rows(dsn: Dsn, *rows: Record, schema_version: int = SCHEMA_VERSION) -> None:
    writer = SpoolWriter(Spool(dsn.spool))
    for row in rows:
        writer.write(row.table, schema_version, encode_block(type(row), [row]))
    writer.close()


@pytest.fixture
def examine(invoke: Invoke) -> Callable[..., Findings]:
    """Run the doctor; its findings by name, as (level, finding with remedy)."""

    def run(*arguments: str) -> Findings:
        shown = invoke(*arguments, "doctor", "--format", "json")
        found: list[dict[str, Any]] = json.loads(shown.stdout)
        failed = any(one["level"] == "fail" for one in found)
        assert shown.exit_code == int(failed), shown.output
        assert all(bool(one["remedy"]) == (one["level"] != "ok") for one in found)
        return {one["name"]: (one["level"], f"{one['finding']} {one['remedy']}") for one in found}

    return run


# -- migrate --------------------------------------------------------------------------------------


@pytest.mark.with_schema(False)
def test_migrate_creates_the_schema_once(invoke: Invoke, store_dsn: Dsn) -> None:
    store = address(store_dsn)
    dry = invoke("--store", store, "migrate", "--dry-run")
    assert dry.exit_code == 0 and "CREATE TABLE IF NOT EXISTS" in dry.stdout
    first = invoke("--store", store, "migrate")
    assert first.exit_code == 0 and len(first.stdout.splitlines()) == len(migrations())
    assert f"schema version {SCHEMA_VERSION}" in first.stderr
    again = invoke("--store", store, "migrate")
    assert again.exit_code == 0 and again.stdout == "" and "nothing to do" in again.stderr
    assert invoke("--store", store, "migrate", "--dry-run").stdout == ""
    assert "CREATE TABLE" in invoke("--store", store, "migrate", "--dry-run", "--all").stdout


@pytest.mark.with_schema(False)
def test_a_dry_run_makes_nothing(invoke: Invoke, embedded_dsn: Dsn) -> None:
    assert invoke("--store", str(embedded_dsn), "migrate", "--dry-run").exit_code == 0
    assert embedded_dsn.path is not None and not embedded_dsn.path.exists()


# -- ship -----------------------------------------------------------------------------------------


def test_ship_lands_what_waits_once(invoke: Invoke, store_dsn: Dsn) -> None:
    store = address(store_dsn)
    spool_rows(store_dsn, call("a1"), call("a2"), turn("t1"))
    assert invoke("--store", store, "ship").stdout == "3 rows in 3 segments landed\n"
    assert invoke("--store", store, "ship").stdout == "nothing to land\n"
    count = invoke("--store", store, "sql", "SELECT count() AS n FROM llm_call", "--format", "csv")
    assert count.stdout == "n\n2\n"


def test_ship_fails_on_refused_segments_and_tries_them_again_when_told(
    invoke: Invoke, store_dsn: Dsn
) -> None:
    store, spool = address(store_dsn), Spool(store_dsn.spool)
    whole = encode_block(type(call("a1")), [call("a1")])
    writer = SpoolWriter(spool)
    path = writer.write("llm_call", SCHEMA_VERSION, whole[:-40])
    writer.close()
    shown = invoke("--store", store, "ship")
    assert shown.exit_code == 1 and "refused 1 segments for good" in shown.stderr
    assert spool.segments() == []
    (spool.rejected_folder / path.name).write_bytes(whole)
    again = invoke("--store", store, "ship", "--rejected")
    assert again.exit_code == 0 and again.stdout == "1 rows in 1 segments landed\n"


def test_ship_to_an_unreachable_server_keeps_the_records(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    dsn = Dsn(scheme="http", host="127.0.0.1", port=9, database="x")
    spool_rows(dsn, call("a1"))
    shown = invoke("--store", address(dsn), "ship", "--timeout", "1")
    assert shown.exit_code == 3 and "does not answer" in shown.stderr
    assert len(Spool(dsn.spool).segments()) == 1


# -- status ---------------------------------------------------------------------------------------


def test_status_tells_the_spool_the_store_and_the_versions(invoke: Invoke, store_dsn: Dsn) -> None:
    fill(store_dsn)
    spool_rows(store_dsn, call("a1"), call("a2"), turn("t1"))
    shown = invoke("--store", address(store_dsn), "status", "--format", "json")
    assert shown.exit_code == 0
    told = json.loads(shown.stdout)
    assert told["store"]["reachable"] and told["store"]["schema_version"] == SCHEMA_VERSION
    assert told["store"]["tables"]["llm_call"]["rows"] == 2
    assert told["store"]["tables"]["message"]["bytes"] > 0
    assert told["spool"]["segments"] == 3 and told["spool"]["writers_dead"] == 1
    assert told["spool"]["tables"]["llm_call"]["segments"] == 2
    assert told["versions"]["chdb-core"] and told["versions"]["turnspan"]
    assert store_dsn.password == "" or store_dsn.password not in shown.stdout
    text = invoke("--store", address(store_dsn), "status").stdout
    for words in ("llm_call", "3 segments wait", "Versions", "1 closed or dead"):
        assert words in text
    assert len(Spool(store_dsn.spool).segments()) == 3  # looking lands nothing


def test_status_of_a_store_that_does_not_exist_makes_none(invoke: Invoke) -> None:
    shown = invoke("status")
    assert shown.exit_code == 3 and "does not exist" in shown.stdout
    assert shown.stderr.startswith("turnspan: There is no store ")
    assert not Path(os.environ["XDG_DATA_HOME"]).exists()


def test_status_without_the_server_still_tells_the_spool(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    dsn = Dsn(scheme="http", host="127.0.0.1", port=9, database="x", password="hidden")
    spool_rows(dsn, call("a1"))
    shown = invoke("--store", address(dsn), "status")
    assert shown.exit_code == 3 and "1 segments wait" in shown.stdout
    assert "does not answer" in shown.stderr and "hidden" not in shown.output


# -- doctor ---------------------------------------------------------------------------------------


def test_the_doctor_finds_nothing_wrong_with_a_good_store(
    examine: Callable[..., Findings], store_dsn: Dsn
) -> None:
    fill(store_dsn)
    found = examine("--store", address(store_dsn))
    assert {level for level, _ in found.values()} == {"ok"}, found
    names = {"reachable", "schema", "select", "insert", "clock", "writable", "waiting", "refused"}
    assert names <= set(found)
    assert "version" in found["schema"][1]
    assert "pure Python" in found["Turnspan"][1] or "compiled" in found["Turnspan"][1]
    for sdk in ("openai SDK", "anthropic SDK", "google_genai SDK", "mcp SDK"):
        assert "recorded by Turnspan" in found[sdk][1]


def test_the_doctor_says_what_a_broken_setting_does(
    examine: Callable[..., Findings], filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "OTEL_SDK_DISABLED": "TRUE",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": "0.1",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://u:secret@collector:4318",
        "TURNSPAN_QUEUE_SIZE": "many",
        "TURNSPAN_CAPTURE_CONTENT": "false",
    }.items():
        monkeypatch.setenv(name, value)
    found = examine("--store", filled)
    levels = {name: level for name, (level, _) in found.items()}
    assert levels["OTEL_SDK_DISABLED"] == "fail"
    assert levels["OTEL_TRACES_SAMPLER"] == levels["OTEL_TRACES_EXPORTER"] == "warn"
    assert levels["TURNSPAN_QUEUE_SIZE"] == levels["content"] == "warn"
    assert "turnspan,otlp" in found["OTEL_TRACES_EXPORTER"][1]
    assert "collector:4318" in found["OTLP"][1] and "secret" not in str(found)


def test_the_doctor_knows_who_else_would_trace_the_same_sdk(
    examine: Callable[..., Findings], filled: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = tmp_path / "opentelemetry_instrumentation_openai_v2-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: opentelemetry-instrumentation-openai-v2\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(
        "[opentelemetry_instrumentor]\nopenai = opentelemetry.instrumentation.openai_v2:X\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    level, told = examine("--store", filled)["one tracer a call"]
    assert level == "ok" and "opentelemetry-instrumentation-openai-v2 stay off" in told
    monkeypatch.setenv("OTEL_PYTHON_DISTRO", "vendor")
    level, told = examine("--store", filled)["one tracer a call"]
    assert level == "warn" and "opentelemetry-instrumentation-openai-v2" in told
    assert "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=openai" in told
    monkeypatch.setenv("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "openai")
    assert examine("--store", filled)["one tracer a call"][0] == "ok"


def test_the_doctor_sees_the_engine_s_own_logs_outgrow_the_records(
    examine: Callable[..., Findings],
    server_dsn: Dsn,
    clickhouse_server: ClickHouseServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T-23: over a size and a ratio it is a failure, between them a warning, below nothing."""
    fill(server_dsn)
    table = f"system.{server_dsn.database}_log"
    clickhouse_server.run(
        f"CREATE TABLE {table} ENGINE = MergeTree ORDER BY () AS"
        " SELECT generateUUIDv4() AS noise FROM numbers(50000)"
    )
    try:
        assert examine("--store", address(server_dsn))["system logs"][0] == "ok"
        monkeypatch.setattr(checks, "_LOGS_WARN", 1)
        assert examine("--store", address(server_dsn))["system logs"][0] == "warn"
        monkeypatch.setattr(checks, "_LOGS_FAIL", 1)
        level, told = examine("--store", address(server_dsn))["system logs"]
        assert (level, "a TTL" in told) == ("fail", True)
        monkeypatch.setattr(checks, "_LOGS_RATIO", 10**9)
        assert examine("--store", address(server_dsn))["system logs"][0] == "warn"
    finally:
        clickhouse_server.run(f"DROP TABLE {table} SYNC")


@pytest.mark.with_schema(False)
def test_the_doctor_reports_the_spool(
    examine: Callable[..., Findings], server_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool_rows(server_dsn, call("a1"))
    spool = Spool(server_dsn.spool)
    (segment,) = spool.segments()
    old = segment.path.with_name("20250101T000000.000000Z" + segment.name[23:])
    segment.path.rename(old)
    spool.reject(spool.segments()[0], "Code: 33. cannot read all data\nmore")
    spool_rows(server_dsn, call("a2"))
    (segment,) = spool.segments()
    segment.path.rename(old)
    found = examine("--store", address(server_dsn))
    assert found["waiting"][0] == "fail" and "turnspan ship" in found["waiting"][1]
    assert found["refused"][0] == "fail" and "cannot read all data" in found["refused"][1]
    assert "\n" not in found["refused"][1]
    assert found["writers"][0] == "warn"
    assert found["schema"][0] == "fail" and "turnspan migrate" in found["schema"][1]


def test_the_doctor_tells_a_reader_what_its_user_may_not(
    examine: Callable[..., Findings], server_dsn: Dsn, clickhouse_server: ClickHouseServer
) -> None:
    fill(server_dsn)
    analyst = clickhouse_server.dsn(server_dsn.database, user="analyst", password=ANALYST_PASSWORD)
    found = examine("--store", address(analyst))
    assert found["select"][0] == "ok" and found["insert"][0] == "fail"
    reader = clickhouse_server.dsn(server_dsn.database, user="reader", password=READER_PASSWORD)
    found = examine("--store", address(reader))
    assert found["schema"][0] == "fail" and "readonly=2" in found["schema"][1]
    assert READER_PASSWORD not in str(found)


@pytest.mark.parametrize(
    ("store", "name", "said"),
    [
        ("nonsense", "address", "no known scheme"),
        ("http://127.0.0.1:9/x", "reachable", "does not answer"),
        ("chdb:///dev/null/store", "writable", "may not write"),
    ],
)
def test_the_doctor_never_crashes_on_a_store_that_is_not_one(
    examine: Callable[..., Findings], store: str, name: str, said: str
) -> None:
    found = examine("--store", store)
    assert found[name][0] == "fail" and said in found[name][1]
    assert "content" in found  # the other checks still ran


def test_the_doctor_reports_a_broken_engine_folder(
    examine: Callable[..., Findings], tmp_path: Path
) -> None:
    engine = tmp_path / "store" / "engine"
    engine.mkdir(parents=True)
    (engine / "metadata").write_text("not a folder")
    found = examine("--store", f"chdb://{tmp_path}/store")
    assert found["reachable"][0] == "fail"


def test_the_doctor_can_show_problems_only(invoke: Invoke, filled: str) -> None:
    shown = invoke("--store", filled, "doctor", "--problems")
    assert shown.exit_code == 0 and shown.stdout == "Nothing is wrong.\n"
    assert "✓" in invoke("--store", filled, "doctor").stdout
