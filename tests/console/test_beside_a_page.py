"""An embedded store while a page is open on it and is looked at all the time: nobody is locked out.

The commands run in this process, as one more of those that have the store open.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExportResult

import turnspan_records
from receive.otlp import request
from receive.test_order import TWO_AGENTS
from support.pages import ServedPage, served
from support.story import TURN, Invoke, fill
from turnspan_clickhouse.receive.decoded import InternCache
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf
from turnspan_clickhouse.store.dsn import Dsn

AGENT = """
import turnspan
turnspan.configure(service_name="beside")
for number in range(3):
    with turnspan.session("beside"), turnspan.agent("beside"):
        pass
turnspan.shutdown()
"""
COMMANDS = (
    ("sql", "SELECT count() FROM turn_summary"),
    ("diagnose", "how_turns_end"),
    ("sessions",),
    ("replay", "thread-7"),
    ("annotate", TURN, "--outcome", "used"),
    ("ship",),
    ("status",),
)


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """The story, in a store of these tests, which write."""
    made = Dsn("chdb", path=tmp_path_factory.mktemp("beside") / "store")
    fill(made)
    return made


@pytest.fixture(scope="module")
def page(dsn: Dsn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page, which takes OTLP too."""
    home = tmp_path_factory.mktemp("page-home")
    with served(str(dsn), home, "--receive-port", "0") as running:
        yield running


@pytest.fixture(scope="module")
def grpc_port(page: ServedPage) -> str:
    """Where the page's process takes gRPC, as it says."""
    assert page.process.stderr is not None
    said = page.process.stderr.readline()
    found = re.search(r"taking OTLP on http://[\d.]+:\d+ and for gRPC on [\d.]+:(\d+)", said)
    assert found is not None, said
    return found[1]


@contextmanager
def looked_at(page: ServedPage) -> Generator[list[int]]:
    """Somebody looks at the page, four times a second; the answers' codes."""
    codes: list[int] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.25):
            codes.append(page.ask("/api/turns").status)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield codes
    finally:
        stop.set()
        thread.join()
    assert set(codes) == {200}


def test_every_command_beside_a_page(dsn: Dsn, page: ServedPage, invoke: Invoke) -> None:
    """None fails, none takes much longer than alone, and the page goes on answering."""
    took: list[float] = []
    with looked_at(page) as codes:
        for command in COMMANDS:
            began = time.monotonic()
            done = invoke("--store", str(dsn), *command)
            took.append(time.monotonic() - began)
            # On a machine that does much else it may say that it waits.
            said = [line for line in done.stderr.splitlines() if ": waiting for" not in line]
            assert (done.exit_code, said) == (0, []), (command, done.output)
    assert len(codes) >= 5
    assert median(took) < 2.0 * max(1.0, os.getloadavg()[0])


@pytest.mark.release
def test_a_notebook_an_agent_and_a_page(dsn: Dsn, page: ServedPage) -> None:
    """The notebook's store stays open over what others write, and sees it."""
    with turnspan_records.open(str(dsn)) as notebook, looked_at(page):
        before = notebook.query("SELECT count() FROM turn_summary")
        environment = {**os.environ, "TURNSPAN_STORE": str(dsn)}
        subprocess.run([sys.executable, "-c", AGENT], env=environment, check=True, timeout=60)
        with turnspan_records.open(str(dsn)) as another:  # which lands it
            assert another.query("SELECT 1").rows == [(1,)]
        after = notebook.query("SELECT count() FROM turn_summary")
    assert after.rows[0][0] == before.rows[0][0] + 3


def test_otlp_into_the_page_s_process(dsn: Dsn, page: ServedPage, grpc_port: str) -> None:
    """What an agent sends is on the page at the next look."""
    body = request("into the page", TWO_AGENTS).SerializeToString()
    spans = [one.span for one in decode_protobuf(body, InternCache()).spans]
    exporter: Any = OTLPSpanExporter(f"http://127.0.0.1:{grpc_port}", insecure=True)
    assert exporter.export(spans) is SpanExportResult.SUCCESS
    exporter.shutdown()
    until = time.monotonic() + 20
    while b'"session":"auto-' not in (shown := page.ask("/api/turns").body):
        assert time.monotonic() < until, shown
        time.sleep(0.2)


def test_a_page_whose_receiving_port_is_taken(dsn: Dsn, page: ServedPage, tmp_path: Path) -> None:
    """It is a second page all the same, and says what it does not do."""
    with socket_taken() as port, served(str(dsn), tmp_path, "--receive-port", port) as second:
        assert second.process.stderr is not None
        assert "OTLP is not received: 127.0.0.1:" in second.process.stderr.readline()
        assert second.ask("/api/turns").status == page.ask("/api/turns").status == 200


@contextmanager
def socket_taken() -> Generator[str]:
    """A port where somebody listens."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield str(taken.getsockname()[1])
