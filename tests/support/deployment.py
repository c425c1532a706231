"""A real ClickHouse server under the configuration that deploy/ ships."""

from __future__ import annotations

import http.client
import importlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support.clickhouse_server import ClickHouseServer, start_server
from support.kept_stores import migrated
from turnspan_clickhouse.store import jaeger
from turnspan_clickhouse.store.dsn import Dsn

JOBS = ("admin", "writer", "reader", "reviewer", "jaeger")
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

# What the image's own config.xml switches on, and every other log the engine has.
SYSTEM_LOGS = [
    "aggregated_zookeeper_log",
    "asynchronous_insert_log",
    "asynchronous_metric_log",
    "azure_queue_log",
    "background_schedule_pool_log",
    "backup_log",
    "blob_storage_log",
    "crash_log",
    "dead_letter_queue",
    "delta_lake_metadata_log",
    "error_log",
    "filesystem_cache_log",
    "filesystem_read_prefetches_log",
    "iceberg_metadata_log",
    "latency_log",
    "metric_log",
    "opentelemetry_span_log",
    "part_log",
    "predicate_statistics_log",
    "processors_profile_log",
    "query_log",
    "query_metric_log",
    "query_thread_log",
    "query_views_log",
    "s3queue_log",
    "session_log",
    "text_log",
    "trace_log",
    "transactions_info_log",
    "transposed_metric_log",
    "zookeeper_connection_log",
    "zookeeper_log",
]
# The image's config.xml asks for these too; the bare engine does not.
ACCESS_CONTROL = """<access_control_improvements>
  <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
  <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
</access_control_improvements>"""


def require_kubernetes(resource: object, version: str) -> None:
    """Raises where Kubernetes would refuse a resource, or knows a field of it not."""
    # Not when tests are collected: to import it takes 2 s, in each process of a parallel run.
    checks: Any = importlib.import_module("kubernetes_validate")
    checks.validate(resource, version, strict=True)


@dataclass(frozen=True)
class Answer:
    """A statement's outcome: ``code`` is ClickHouse's error code, 0 where it succeeded."""

    code: int
    text: str


@dataclass(frozen=True)
class Deployment:
    """The server, and one way to ask it as one of its users."""

    server: ClickHouseServer

    def dsn(self, job: str) -> Dsn:
        """The DSN that docs/deploy.md gives for a job, one of JOBS."""
        return self.server.dsn("turnspan", user=f"turnspan_{job}", password=f"{job}-secret")

    def ask(
        self,
        user: str,
        sql: str,
        *,
        password: str | None = None,
        source: str = "127.0.0.1",
        settings: Mapping[str, int | str] | None = None,
    ) -> Answer:
        """Run ``sql`` as ``user`` from the loopback address ``source``."""
        key = password if password is not None else f"{user.removeprefix('turnspan_')}-secret"
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.http_port, timeout=30, source_address=(source, 0)
        )
        try:
            headers = {"X-ClickHouse-User": user, "X-ClickHouse-Key": key}
            connection.request("POST", "/?" + urlencode(settings or {}), sql.encode(), headers)
            reply = connection.getresponse()
            code = int(reply.headers.get("X-ClickHouse-Exception-Code", "0"))
            return Answer(code, reply.read().decode())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A server with deploy/'s users and configuration, migrated by its admin."""
    home = tmp_path_factory.mktemp("deployed")
    for folder in ("config.d", "users.d"):
        shutil.copytree(DEPLOY / "clickhouse" / folder, home / folder)
    logs = (f"<{n}><database>system</database><table>{n}</table></{n}>" for n in SYSTEM_LOGS)
    with pytest.MonkeyPatch.context() as environment:
        for job in JOBS:
            environment.setenv(f"TURNSPAN_{job.upper()}_PASSWORD", f"{job}-secret")
        server = start_server(home, extra_config=ACCESS_CONTROL + "".join(logs))
    try:
        found = Deployment(server)
        with migrated(found.dsn("admin")) as store:
            jaeger.create(store)
        yield found
    finally:
        server.kill()  # nobody wants its data; an orderly end takes seconds
