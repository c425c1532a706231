"""``turnspan receive`` as a process: its end in order, by kill -9, and what status tells of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from receive.otlp import request
from receive.serving import PROTOBUF
from receive.test_order import TWO_AGENTS, ask
from support.settings import WITHOUT_SDKS
from support.story import ENTRY
from turnspan_clickhouse.receive.decoded import InternCache
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema


class Process:
    """A running ``turnspan receive``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        self.first = process.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", self.first)
        assert found is not None, self.first + process.stderr.read()
        self.endpoint = found[0]

    @property
    def grpc_port(self) -> str:
        """The port for gRPC."""
        found = re.search(r"gRPC on [\d.]+:(\d+)", self.first)
        assert found is not None
        return found[1]

    def spans(self, salt: str) -> list[ReadableSpan]:
        """The spans of a story."""
        body = request(salt, TWO_AGENTS).SerializeToString()
        return [one.span for one in decode_protobuf(body, InternCache()).spans]

    def send(self, salt: str, seconds: float = 60) -> bool:
        """Export a story with Python's own exporter, which tries as long as it is told; whether it
        was acknowledged."""
        exporter = OTLPSpanExporter(f"{self.endpoint}/v1/traces", timeout=seconds)
        try:
            return exporter.export(self.spans(salt)) is SpanExportResult.SUCCESS
        finally:
            exporter.shutdown()  # type: ignore[no-untyped-call]

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal; returns the exit code and what it said."""
        self.process.send_signal(number)
        said = self.process.communicate(timeout=30)[1]
        return self.process.returncode, said


def spawn(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [sys.executable, "-c", ENTRY, *arguments]
    env = {**os.environ, **WITHOUT_SDKS}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


@contextlib.contextmanager
def receiving(dsn: Dsn, *options: str) -> Generator[Process]:
    """The command, on a free port."""
    command = [sys.executable, "-c", ENTRY, "--store", str(dsn), "receive", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ})
    try:
        yield Process(process)
    finally:
        process.kill()
        process.communicate()


def test_sigterm_ends_in_order(embedded_dsn: Dsn) -> None:
    """What was acknowledged is there, with its turns; status tells what was done."""
    with receiving(embedded_dsn) as one:
        assert one.send("ordered")
        assert one.send("ordered")
        code, said = one.end(signal.SIGTERM)
    rows = ask(embedded_dsn, "SELECT count() AS turns, sum(llm_call_count) AS n FROM turn_summary")
    status = spawn("--store", str(embedded_dsn), "status")
    told = json.loads(spawn("--store", str(embedded_dsn), "status", "--format", "json").stdout)

    assert (code, said) == (
        0,
        "turnspan: stopped; 11 spans taken, 11 sent again, 0 refused, 0 lost\n",
    )
    assert rows == [{"turns": 2, "n": 4}]
    assert "11 spans taken, 11 sent again" in status.stdout
    (receiver,) = told["receivers"]
    assert (receiver["spans"], receiver["alive"], receiver["answers"]) == (11, False, {"200": 2})


def test_what_was_acknowledged_survives_kill_9(embedded_dsn: Dsn) -> None:
    """Clients send while the receiver is killed and started again; each call is there once."""
    sent: list[str] = []
    with receiving(embedded_dsn) as one:
        stop = threading.Event()

        def send() -> None:
            for number in range(10_000):
                if stop.is_set() or not one.send(f"killed {number}", 5):
                    return
                sent.append(f"killed {number}")

        thread = threading.Thread(target=send)
        thread.start()
        while len(sent) < 5:
            stop.wait(0.01)
        one.process.kill()
        stop.set()
        thread.join()
    with receiving(embedded_dsn) as another:
        for salt in sent:  # a client whose answer was lost sends again
            assert another.send(salt)
        assert another.end(signal.SIGTERM)[0] == 0
    counts = ask(
        embedded_dsn,
        "SELECT trace_id, count() AS n, uniqExact(span_id) AS u FROM llm_call GROUP BY trace_id",
    )

    assert len(counts) in (len(sent), len(sent) + 1)  # the last was perhaps not acknowledged
    assert {(row["n"], row["u"]) for row in counts} == {(4, 4)}


def test_tokens_come_from_a_file(embedded_dsn: Dsn, tmp_path: Path) -> None:
    """The standard variables of an exporter carry it; an empty file is a mistake."""
    tokens = tmp_path / "tokens"
    tokens.write_text("\n\n")
    bad = spawn("--store", str(embedded_dsn), "receive", "--port", "0", "--token-file", str(tokens))
    assert (bad.returncode, bad.stderr) == (2, f"turnspan: {tokens} holds no token.\n")
    tokens.write_text("secret-1\nsecret-2\n")
    with receiving(embedded_dsn, "--token-file", str(tokens)) as one:
        host = one.endpoint.removeprefix("http://")
        for token, status in (("secret-2", 200), ("other", 401)):
            connection = http.client.HTTPConnection(host, timeout=10)
            headers = {**PROTOBUF, "authorization": f"Bearer {token}"}
            connection.request("POST", "/v1/traces", b"", headers)
            assert connection.getresponse().status == status
            connection.close()
        said = one.end(signal.SIGTERM)[1]
    assert "401" in said
    assert "secret" not in said


def test_a_port_that_is_taken(embedded_dsn: Dsn) -> None:
    """One sentence and an exit code, whichever it is."""
    with receiving(embedded_dsn) as one:
        for option, port in (
            ("--port", one.endpoint.rpartition(":")[2]),
            ("--grpc-port", one.grpc_port),
        ):
            again = spawn("--store", str(embedded_dsn), "receive", "--port", "0", option, port)
            assert again.returncode == 3
            assert again.stderr.startswith(f"turnspan: 127.0.0.1:{port} cannot be listened on:")
    assert "--no-grpc" in again.stderr


def test_grpc_beside_http(embedded_dsn: Dsn) -> None:
    """One process takes both, ends in order, and status says where it listens; or HTTP alone."""
    with receiving(embedded_dsn) as one:
        exporter: Any = GrpcExporter(f"http://127.0.0.1:{one.grpc_port}", insecure=True)
        assert exporter.export(one.spans("by gRPC")) is SpanExportResult.SUCCESS
        exporter.shutdown()
        assert one.send("by HTTP")
        doctor = spawn("--store", str(embedded_dsn), "doctor").stdout
        assert "it takes OTLP over HTTP and gRPC" in " ".join(doctor.split())
        assert one.end(signal.SIGTERM)[0] == 0
    told = json.loads(spawn("--store", str(embedded_dsn), "status", "--format", "json").stdout)
    (receiver,) = told["receivers"]
    assert receiver["answers"] == {"200": 1, "grpc OK": 1}
    assert f"gRPC 127.0.0.1:{one.grpc_port}" in receiver["address"]
    with receiving(embedded_dsn, "--no-grpc") as one:
        assert "gRPC" not in one.first
