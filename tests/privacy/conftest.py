"""Fixtures: runs of an application with secrets everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.canary import AGENT, Left, Run
from support.model_stub import ModelStub
from support.otlp_receiver import OtlpReceiver
from turnspan_clickhouse.store.dsn import Dsn


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs the application against a store, with more environment."""
    receiver = OtlpReceiver()
    receiver.start()
    with ModelStub() as stub:

        def once(dsn: Dsn, **environment: str) -> Left:
            metrics = tmp_path / "metrics.json"
            known = {
                k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))
            }
            known |= {
                "TURNSPAN_STORE": str(dsn),
                "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
                **({"TURNSPAN_SPOOL": str(dsn.spool)} if not dsn.embedded else {}),
                **environment,
            }
            command = [sys.executable, "-W", "ignore", str(AGENT), stub.url, str(metrics)]
            done = subprocess.run(
                command, env=known, capture_output=True, text=True, timeout=120, check=False
            )
            assert done.returncode == 0, done.stderr
            bodies = list(receiver.bodies)
            return Left(dsn, done.stdout, done.stderr, metrics.read_text(), bodies)

        yield once
    receiver.stop()
