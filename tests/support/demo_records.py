"""What ``turnspan demo`` lands, as blocks that any store takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer
from support.shared_folder import made_once
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store


@pytest.fixture(scope="session")
def demo_blocks(
    clickhouse_server: ClickHouseServer, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, bytes]:
    """The records of the shipped runs by table, each as one Native block."""
    folder = made_once(
        tmp_path_factory, "demo-blocks", lambda made: _write(made, clickhouse_server)
    )
    kept = [folder / record.table for record in RECORDS]
    return {path.name: path.read_bytes() for path in kept if path.exists()}


def _write(folder: Path, server: ClickHouseServer) -> None:
    database = f"demo_{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as spool:
        play(server.url(database), TURNSPAN_SPOOL=spool)
    for record in RECORDS:
        block = server.ask(f"SELECT * FROM {database}.{record.table} FORMAT Native")
        if block:
            (folder / record.table).write_bytes(block)
    server.run(f"DROP DATABASE {database} SYNC")


def play(dsn: str, *options: str, **variables: str) -> None:
    """Run ``turnspan demo`` into a store."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    subprocess.run(
        [str(Path(sys.executable).parent / "turnspan"), "demo", *options],
        check=True,
        capture_output=True,
        timeout=120,
        env={**kept, "TURNSPAN_STORE": dsn, **variables},
    )


def land(store: Store, blocks: Mapping[str, bytes]) -> None:
    """Insert the blocks as the shipper inserts segments."""
    for table, block in blocks.items():
        store.insert_native(table, block, token=f"demo-{table}")
