"""OTLP over gRPC: Python's own exporters, limits, answers, and senders that mean no good."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # it has none
import pytest
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExportResult

from receive.otlp import Count, Made, metrics, request
from receive.serving import Served, serving
from receive.test_order import TWO_AGENTS, ask
from turnspan_clickhouse.receive.decoded import InternCache
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
HEALTH = "/grpc.health.v1.Health/Check"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
MAX = 2**20


@contextlib.contextmanager
def channel(served: Served) -> Generator[Any]:
    """A connection of its own."""
    address = f"127.0.0.1:{served.grpc_port}"
    made = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
    try:
        yield made
    finally:
        made.close()


def call(served: Served, method: str, body: bytes, **options: Any) -> bytes:
    """Send one message; its answer."""
    with channel(served) as opened:
        answer: bytes = opened.unary_unary(method)(body, timeout=20, **options)
    return answer


def refused(served: Served, method: str, body: bytes, **options: Any) -> tuple[str, str, float]:
    """The code, the message and after how many seconds it may be sent again; 0: never."""
    with pytest.raises(grpc.RpcError) as raised:
        call(served, method, body, **options)
    error: Any = raised.value
    told: list[bytes] = [
        value for key, value in error.trailing_metadata() if key == "grpc-status-details-bin"
    ]
    again = RetryInfo()
    for detail in Status.FromString(b"".join(told)).details:
        detail.Unpack(again)
    return error.code().name, error.details(), again.retry_delay.seconds


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """The store of the tests that look at answers only."""
    return Dsn("chdb", path=tmp_path_factory.mktemp("grpc") / "store")


@pytest.fixture(scope="module")
def served(dsn: Dsn) -> Iterator[Served]:
    """A receiver with small limits."""
    with serving(
        dsn,
        grpc=True,
        tokens=["secret"],
        max_request_bytes=MAX,
        max_connections=40,
        head_timeout=1.0,
        read_timeout=1.0,
        event_patience=0.0,
    ) as running:
        yield running


AS_US = {"metadata": (("authorization", "Bearer secret"),)}


def test_python_s_own_exporter(embedded_dsn: Dsn) -> None:
    """Plain and with gzip; what was acknowledged is in the store, each span once."""
    body = request("python", TWO_AGENTS).SerializeToString()
    spans = [one.span for one in decode_protobuf(body, InternCache()).spans]
    with serving(embedded_dsn, grpc=True) as running:
        for compression in (None, grpc.Compression.Gzip):
            exporter: Any = OTLPSpanExporter(
                f"http://127.0.0.1:{running.grpc_port}", insecure=True, compression=compression
            )
            assert exporter.export(spans) is SpanExportResult.SUCCESS
            exporter.shutdown()
        assert running.receiver.counts["again"] == len(spans)
        assert running.receiver.answers == {"grpc OK": 2}
    counted = ask(
        embedded_dsn, "SELECT count() AS turns, sum(llm_call_count) AS n FROM turn_summary"
    )
    assert counted == [{"turns": 2, "n": 4}]


def test_who_may_send(served: Served) -> None:
    """The tokens are those of HTTP; without one not even a message is read."""
    code, message, again = refused(served, TRACES, b"\0" * 2 * MAX)
    assert (code, again) == ("UNAUTHENTICATED", 0)
    assert "secret" not in message
    other = (("authorization", "Bearer other"),)
    assert refused(served, LOGS, b"", metadata=other)[0] == "UNAUTHENTICATED"
    assert call(served, TRACES, b"", **AS_US) == b""
    assert call(served, HEALTH, b"") == b"\x08\x01"


def test_what_cannot_be_taken_is_said(served: Served) -> None:
    """The rest is; the numbers and reasons are those of HTTP."""
    made = request("partial", [*TWO_AGENTS, Made("no id", "x", 1, 2)])
    made.resource_spans[0].scope_spans[0].spans[-1].span_id = b""
    answer = ExportTraceServiceResponse.FromString(
        call(served, TRACES, made.SerializeToString(), **AS_US)
    )
    assert answer.partial_success.rejected_spans == 1
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(event_name="of something else")
    told = ExportLogsServiceResponse.FromString(
        call(served, LOGS, logs.SerializeToString(), **AS_US)
    )
    assert told.partial_success.rejected_log_records == 1


@pytest.mark.parametrize("body", [b"\xff" * 100, b"\x0a\x7f", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_no_otlp(served: Served, body: bytes) -> None:
    """It need not be sent again."""
    code, message, again = refused(served, TRACES, body, **AS_US)
    assert (code, again) == ("INVALID_ARGUMENT", 0)
    assert "not an OTLP trace export request" in message


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
def test_a_message_that_is_too_large(served: Served, compression: Any) -> None:
    """As sent and decompressed; one that is compressed a thousand times is not unpacked whole."""
    size = 2 * MAX if compression is None else 50 * MAX
    code, _, again = refused(served, TRACES, b"\0" * size, compression=compression, **AS_US)
    assert (code, again) == ("RESOURCE_EXHAUSTED", 0)
    assert call(served, TRACES, b"", **AS_US) == b""
    assert served.app.intake.waiting == 0


def test_other_services(served: Served) -> None:
    """Metrics are taken, and named where they are left out; other services are not there."""
    sent = metrics([Count("codex.tool.call", 1)]).SerializeToString()
    said = ExportMetricsServiceResponse.FromString(call(served, METRICS, sent, **AS_US))
    assert said.partial_success.rejected_data_points == 1
    assert "1 refused: codex.tool.call: " in said.partial_success.error_message
    assert refused(served, "/any.Service/Call", b"", **AS_US)[0] == "UNIMPLEMENTED"


def test_when_too_much_is_under_way(served: Served) -> None:
    """It may be sent again, and gRPC's own way of saying so is there."""
    served.app.intake.waiting += served.app.intake.settings.max_waiting_bytes
    try:
        body = request("much", TWO_AGENTS).SerializeToString()
        code, _, again = refused(served, TRACES, body, **AS_US)
    finally:
        served.app.intake.waiting = 0
    assert (code, again) == ("RESOURCE_EXHAUSTED", 5)


def test_a_spool_that_cannot_be_written(embedded_dsn: Dsn) -> None:
    """Nothing is acknowledged that is not on disk, and health says it."""
    with serving(embedded_dsn, grpc=True) as running:
        folder = running.receiver.spool.folder
        running.receiver.spool.limit_bytes = 1
        body = request("full", TWO_AGENTS).SerializeToString()
        code, message, again = refused(running, TRACES, body)
        assert (code, again) == ("UNAVAILABLE", 5)
        assert f"{folder} is full" in message
        assert call(running, HEALTH, b"") == b"\x08\x02"
        running.receiver.spool.limit_bytes = 2**30
        assert call(running, TRACES, body) == b""


def test_messages_that_do_not_come(served: Served) -> None:
    """Calls that begin and send nothing are given up in time; others are taken meanwhile."""
    done = threading.Event()

    def never() -> Iterator[bytes]:
        done.wait(20)
        yield from ()

    with channel(served) as opened:
        slow = [opened.stream_unary(TRACES).future(never(), **AS_US) for _ in range(8)]
        assert call(served, TRACES, b"", **AS_US) == b""
        assert {one.exception().code().name for one in slow} == {"DEADLINE_EXCEEDED"}
        done.set()
    assert served.app.intake.waiting == 0


def test_calls_that_are_given_up(served: Served) -> None:
    """By the sender, in the middle: nothing of them is left."""
    body = request("gone", TWO_AGENTS).SerializeToString()
    with channel(served) as opened:
        for _ in range(20):
            opened.unary_unary(TRACES).future(body, **AS_US).cancel()
    assert call(served, TRACES, body, **AS_US) == b""
    assert served.app.intake.waiting == 0


def test_what_was_refused_is_not_kept(served: Served) -> None:
    """A message of nothing but empty values takes thirty times its size while it is decoded: eight
    that were kept would be 240 MB."""
    body = b"\x0a\x00" * (MAX // 2 - 10)
    assert refused(served, TRACES, body, **AS_US)[0] == "INVALID_ARGUMENT"
    before = resident_mb()
    for _ in range(8):
        refused(served, TRACES, body, **AS_US)
    assert resident_mb() - before < 150


def resident_mb() -> float:
    """This process's memory, in which the receiver is."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_what_speaks_no_grpc(served: Served) -> None:
    """Another protocol, or noise: others are answered all the same."""
    address = ("127.0.0.1", served.grpc_port)
    noise = os.urandom(4096)
    for said in (b"GET /v1/traces HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00", PREFACE + noise):
        connection = socket.create_connection(address, timeout=10)
        with connection, contextlib.suppress(ConnectionError):
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert call(served, TRACES, b"", **AS_US) == b""
    huge = (*AS_US["metadata"], ("x-huge", "a" * 2**18))
    assert refused(served, TRACES, b"", metadata=huge)[0] in ("RESOURCE_EXHAUSTED", "UNAVAILABLE")


def test_connections_that_say_nothing(served: Served) -> None:
    """Or half of it: each is closed in time, and as many as may be open keep nobody out for
    longer."""
    address = ("127.0.0.1", served.grpc_port)
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(address)) for _ in range(50)]
        for one in silent[:10]:
            one.sendall(PREFACE[:10])
        time.sleep(2.5)
        for one in silent:
            one.settimeout(5)
            with contextlib.suppress(ConnectionResetError):
                while one.recv(4096):
                    pass
    assert call(served, TRACES, b"", **AS_US) == b""
