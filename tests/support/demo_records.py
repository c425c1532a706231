"""What ``turnspan demo`` lands, as blocks that any store takes."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store


@pytest.fixture(scope="session")
def demo_blocks(
    clickhouse_server: ClickHouseServer, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, bytes]:
    """The records of the shipped runs by table, each as one Native block."""
    database = f"demo_{uuid.uuid4().hex[:8]}"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    spool = tmp_path_factory.mktemp("demo") / "spool"
    subprocess.run(
        [str(Path(sys.executable).parent / "turnspan"), "demo"],
        check=True,
        capture_output=True,
        timeout=120,
        env={
            **kept,
            "TURNSPAN_STORE": clickhouse_server.url(database),
            "TURNSPAN_SPOOL": str(spool),
        },
    )
    blocks = {
        record.table: clickhouse_server.ask(
            f"SELECT * FROM {database}.{record.table} FORMAT Native"
        )
        for record in RECORDS
    }
    clickhouse_server.run(f"DROP DATABASE {database} SYNC")
    return {table: block for table, block in blocks.items() if block}


def land(store: Store, blocks: Mapping[str, bytes]) -> None:
    """Insert the blocks as the shipper inserts segments."""
    for table, block in blocks.items():
        store.insert_native(table, block, token=f"demo-{table}")
