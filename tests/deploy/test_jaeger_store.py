"""Jaeger over the records: its own ClickHouse storage reads our spans through views.

The real Jaeger is asked where there is one new enough (deploy/jaeger/build says how to get it), and
elsewhere the views alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support import jaeger as jaegers
from support.clickhouse_server import ClickHouseServer
from support.cluster import Cluster
from support.demo_records import land
from support.deployment import Deployment
from support.jaeger import Jaeger
from support.kept_stores import migrated
from support.landing import insert
from support.rows import T0
from support.semconv_registry import registry
from turnspan import semconv
from turnspan_clickhouse.rows.tables import SpanRow
from turnspan_clickhouse.store import jaeger as views
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

NEEDED = (2, 18, 0)
TRACE, OTHER = "ab" * 16, "cd" * 16
needs_jaeger = pytest.mark.skipif(
    jaegers.version() < NEEDED,
    reason="no Jaeger here whose ClickHouse storage can search (2.18 or newer):"
    f" {jaegers.binary() or 'none'} {'.'.join(map(str, jaegers.version()))}",
)


def spans() -> list[SpanRow]:
    """A call from one service to another, with attributes of every kind, an event and a link."""
    event = {"name": "exception", "time": T0 + 7, "attributes": {"exception.type": "E", "n": 3}}
    return [
        SpanRow(project="shop", service="front", trace_id=TRACE, span_id="a" * 16, name="ask",
                kind="CLIENT", start_time=T0, duration=1.5, status_code="ERROR",
                status_message="gone", scope_name="s", scope_version="1", written_at=T0,
                attributes={"gen_ai.usage.input_tokens": "12", "gen_ai.request.top_p": "0.5",
                            "gen_ai.request.stream": "true", "user.id": "42",
                            "gen_ai.usage.output_tokens": "many"},
                resource={"service.name": "front"}, events=json.dumps([event]),
                links=json.dumps([{"trace_id": OTHER, "span_id": "9" * 16}])),
        SpanRow(project="shop", service="back", trace_id=TRACE, span_id="b" * 16,
                parent_span_id="a" * 16, name="answer", kind="SERVER", start_time=T0 + 9,
                duration=1e-9, status_code="OK", written_at=T0),
        SpanRow(project="shop", service="", trace_id=OTHER, span_id="c" * 16, name="alone",
                kind="INTERNAL", start_time=T0, status_code="UNSET", written_at=T0),
    ]  # fmt: skip


def test_the_views_show_a_span_as_jaegers_table_would(server_dsn: Dsn) -> None:
    """Kinds, states, nanoseconds, typed attributes; what is no number stays text."""
    with migrated(server_dsn) as store:
        views.create(store)
        insert(store, *spans())
        insert(store, *spans())
        database = views.database(server_dsn)
        rows = store.query(
            "SELECT id, kind, status_code, duration, int_attributes.key, int_attributes.value,"
            " double_attributes.value, bool_attributes.value, str_attributes.key, events.name,"
            " toUnixTimestamp64Nano(events.timestamp[1]), events.str_attributes.value,"
            " links.trace_id, service_name, resource_str_attributes.key"
            f" FROM {database}.spans s WHERE s.trace_id = {{trace:String}} ORDER BY id",
            {"trace": TRACE},
            {"final": 0},
        ).rows
        calls = store.query(f"SELECT dependencies_json FROM {database}.dependencies").rows
        services = store.query(f"SELECT name FROM {database}.services ORDER BY name").rows
        store.command(f"DROP DATABASE {database} SYNC")

    assert [tuple(row) for row in rows] == [
        ("a" * 16, "client", "Error", 1_500_000_000, ["gen_ai.usage.input_tokens"], [12], [0.5],
         [True], ["user.id", "gen_ai.usage.output_tokens"], ["exception"], T0 + 7, [["E", "3"]],
         [OTHER], "front", ["service.name"]),
        ("b" * 16, "server", "Ok", 1, [], [], [], [], [], [], 0, [], [], "back", []),
    ]  # fmt: skip
    assert [json.loads(row[0]) for row in calls] == [
        [{"parent": "front", "child": "back", "callCount": 1}]
    ]
    assert services == [("back",), ("front",), ("unknown",)]


def test_every_typed_attribute_of_the_conventions_gets_its_type_back(server_dsn: Dsn) -> None:
    """The list in the view is the registry's, and what Turnspan adds to it."""
    with migrated(server_dsn) as store:
        views.create(store)
        database = views.database(server_dsn)
        rows = store.query(f"SELECT attribute_key, type FROM {database}.attribute_type").rows
        store.command(f"DROP DATABASE {database} SYNC")
    names = {"int": "int", "double": "double", "boolean": "bool"}
    wanted = {name: names[kind] for name, kind in registry().types.items() if kind in names}

    assert wanted
    assert {name: kind for name, kind in rows if str(name).startswith("gen_ai.")} == wanted
    counts = {*semconv.COMPLETED_USAGE.values(), *semconv.USAGE_BY_MODALITY.values()}
    counts |= {
        name
        for constant, name in vars(semconv).items()
        if constant.startswith("USAGE_") and isinstance(name, str)
    }
    assert counts <= {name for name, _ in rows}


@pytest.mark.parametrize("option", ["--jaeger", "--jaeger-content"])
def test_migrate_prints_the_views_it_would_make(server_dsn: Dsn, option: str) -> None:
    """Only the second reads what the models saw and said."""
    command = [str(Path(sys.executable).parent / "turnspan"), "migrate", "--dry-run", option]
    store = server_dsn.database
    address = f"http://127.0.0.1:{server_dsn.port}/{store}"
    printed = subprocess.run(
        [*command, "--store", address], check=True, capture_output=True, text=True
    ).stdout

    assert f"CREATE OR REPLACE VIEW {store}_jaeger.spans" in printed
    assert f"CREATE TABLE IF NOT EXISTS {store}.span" in printed
    views_alone = printed[printed.index(f"{store}_jaeger") :]
    assert (f"{store}.llm_call_full" in views_alone) is (option == "--jaeger-content")


@pytest.fixture(scope="module")
def reading(
    deployment: Deployment,
    demo_blocks: Mapping[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Jaeger]:
    """A real Jaeger with deploy/'s configuration and rights, over the demonstration's records."""
    with open_store(deployment.dsn("writer")) as store:
        land(store, demo_blocks)
        insert(store, *spans())
    process, running = over(deployment.server, "turnspan_jaeger", tmp_path_factory.mktemp("store"))
    yield running
    process.kill()
    process.wait()


def over(
    server: ClickHouseServer, database: str, folder: Path, **settings: str
) -> tuple[subprocess.Popen[bytes], Jaeger]:
    """Start a Jaeger that reads a database's views."""
    return jaegers.start(
        folder / "jaeger.log",
        jaegers.CONFIGS / "store.yaml",
        "--feature-gates=storage.clickhouse",
        TURNSPAN_CLICKHOUSE=f"127.0.0.1:{server.http_port}",
        TURNSPAN_JAEGER_DATABASE=database,
        **{"TURNSPAN_JAEGER_PASSWORD": "jaeger-secret", **settings},
    )


def search(jaeger: Jaeger, service: str, **query: str) -> list[Any]:
    """The traces that Jaeger's search page would list."""
    window = {"service": service, "limit": "200", "lookback": "876000h"}
    window |= {"start": "0", "end": str(4 * 10**15)}
    return list(jaeger.ask("/api/traces?" + urlencode({**window, **query}))["data"])


@needs_jaeger
def test_jaeger_lists_and_finds_what_is_in_the_records(
    reading: Jaeger, deployment: Deployment
) -> None:
    """Services, operations, search by tag of each type, by duration, and dependencies."""
    count = "SELECT uniq(trace_id) FROM turnspan.span WHERE service = 'turnspan-demo'"
    traces = int(deployment.server.run(count))
    capped = int(
        deployment.server.run(
            "SELECT uniq(trace_id) FROM turnspan.turn_summary FINAL WHERE stop_reason = 'round_cap'"
        )
    )
    tags = {"turnspan.turn.stop_reason": "round_cap"}
    operations = reading.ask("/api/services/turnspan-demo/operations")["data"]
    calls = reading.ask(f"/api/dependencies?endTs={T0 // 10**6 + 7_200_000}&lookback=86400000")

    assert sorted(reading.ask("/api/services")["data"]) == [
        *("back", "front", "turnspan-demo", "unknown")
    ]
    assert {"invoke_agent coding-agent", "chat gpt-4o"} <= set(operations)
    assert len(search(reading, "turnspan-demo")) == traces > 10
    assert len(search(reading, "turnspan-demo", tags=json.dumps(tags))) == capped > 0
    for found in (
        {"tags": json.dumps({"gen_ai.usage.input_tokens": "12"})},
        {"tags": json.dumps({"gen_ai.request.stream": "true"})},
        {"tags": json.dumps({"gen_ai.usage.output_tokens": "many"})},
        {"tags": json.dumps({"user.id": "42"})},
        {"tags": json.dumps({"exception.type": "E"})},
        {"minDuration": "1s", "operation": "ask"},
    ):
        assert [one["traceID"] for one in search(reading, "front", **found)] == [TRACE], found
    assert search(reading, "front", tags=json.dumps({"user.id": "43"})) == []
    assert calls["data"] == [{"parent": "front", "child": "back", "callCount": 1}]


@needs_jaeger
def test_jaeger_shows_what_it_would_have_stored_itself(
    clickhouse_server: ClickHouseServer, server_dsn: Dsn, tmp_path: Path
) -> None:
    """The same runs sent to one Jaeger over OTLP and read by another from the records: equal
    spans. Lists are the one difference: the records keep them as JSON text."""
    receiving, by_otlp = jaegers.start(tmp_path / "otlp.log")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    store = clickhouse_server.url(server_dsn.database)
    command = [str(Path(sys.executable).parent / "turnspan")]
    environment |= {"TURNSPAN_STORE": store, "TURNSPAN_SPOOL": str(server_dsn.spool)}
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": by_otlp.endpoint}
    subprocess.run(
        [*command, "demo", "--limit", "3"], check=True, env=environment | endpoint, timeout=100,
        capture_output=True,
    )  # fmt: skip
    subprocess.run([*command, "migrate", "--jaeger"], check=True, env=environment, timeout=60)
    database = views.database(server_dsn)
    process, by_store = over(
        clickhouse_server,
        database,
        tmp_path,
        TURNSPAN_JAEGER_USER="default",
        TURNSPAN_JAEGER_PASSWORD="",
    )
    try:
        rows = clickhouse_server.run(
            f"SELECT trace_id, count() FROM {server_dsn.database}.span GROUP BY trace_id"
        )
        wanted = [(line.split()[0], int(line.split()[1])) for line in rows.splitlines()]
        for trace, count in wanted:
            one, two = (
                {span.span_id: as_text(asdict(span)) for span in by.trace(trace, count).spans}
                for by in (by_otlp, by_store)
            )
            assert one == two
            assert len(one) == count
        assert len(wanted) > 3
    finally:
        for running in (receiving, process):
            running.kill()
            running.wait()
        clickhouse_server.run(f"DROP DATABASE {database} SYNC")


def as_text(span: dict[str, Any]) -> dict[str, Any]:
    """A span whose lists are JSON text."""
    attributes = {
        key: json.dumps(value, separators=(",", ":")) if isinstance(value, list) else value
        for key, value in span["attributes"].items()
    }
    return span | {"attributes": attributes}


@needs_jaeger
def test_jaeger_shows_prompts_where_they_were_asked_for(
    clickhouse_server: ClickHouseServer,
    server_dsn: Dsn,
    demo_blocks: Mapping[str, bytes],
    tmp_path: Path,
) -> None:
    """Every model call and tool call carries its content under the names of the conventions."""
    with migrated(server_dsn) as store:
        land(store, demo_blocks)
        views.create(store, content=True)
    process, jaeger = over(
        clickhouse_server,
        views.database(server_dsn),
        tmp_path,
        TURNSPAN_JAEGER_USER="default",
        TURNSPAN_JAEGER_PASSWORD="",
    )
    try:
        found = [span for trace in search(jaeger, "turnspan-demo") for span in trace["spans"]]
    finally:
        process.kill()
        process.wait()
        clickhouse_server.run(f"DROP DATABASE {views.database(server_dsn)} SYNC")
    by_kind: dict[str, list[set[str]]] = {}
    for span in found:
        keys = {str(tag["key"]) for tag in span["tags"]}
        by_kind.setdefault(str(span["operationName"]).split()[0], []).append(keys)

    assert len(by_kind["chat"]) > 50
    assert all("gen_ai.input.messages" in keys for keys in by_kind["chat"])
    assert all("gen_ai.tool.call.arguments" in keys for keys in by_kind["execute_tool"])
    assert not any("gen_ai.input.messages" in keys for keys in by_kind["invoke_agent"])


def test_the_views_read_both_shards_of_a_cluster(
    cluster: Cluster, demo_blocks: Mapping[str, bytes]
) -> None:
    """As many spans, with content and without, as were landed."""
    cluster.migrate("shown")
    with open_store(cluster.dsn("shown")) as store:
        land(store, demo_blocks)
        wanted = store.query("SELECT count(), uniqExact(trace_id) FROM span").rows
        for content in (False, True):
            views.create(store, content=content)
            got = store.query("SELECT count(), uniqExact(trace_id) FROM shown_jaeger.spans").rows
            assert got == wanted
            assert int(wanted[0][0]) > 100
