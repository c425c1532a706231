"""Another backend that is away costs a line and a moment at the end of a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from support.representatives import few
from turnspan.pipeline.other_backends import BoundedProcessor

SCRIPT = """
import time, sys, logging
from typing import Any
handler = logging.StreamHandler()
handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
logging.getLogger().addHandler(handler)
if sys.argv[1] == "auto":
    from turnspan.auto import TurnspanConfigurator, TurnspanDistro
    TurnspanDistro().configure()
    TurnspanConfigurator().configure()
import turnspan
if sys.argv[1] != "auto":
    turnspan.configure(service_name="x")
from opentelemetry.metrics import get_meter_provider
get_meter_provider().get_meter("x").create_counter("c").add(1)
logging.getLogger("application").warning("a log record")

@turnspan.tool
def tool() -> None: ...

for _ in range(10):
    tool()
if sys.argv[1] == "shutdown":
    turnspan.shutdown()

class Last:
    now = time.monotonic
    began = time.monotonic()
    def __del__(self) -> None:
        print("took", self.now() - self.began)

last = Last()
if sys.argv[1] == "shutdown":
    Last.began = 0.0
"""


@pytest.fixture(params=["closed", "silent"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port that nobody listens at, or where nobody answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        if request.param == "silent":
            listening.listen(16)
        found: int = listening.getsockname()[1]
        if request.param == "closed":
            listening.close()
        yield found


def ended(way: str, port: int, folder: Path, **environ: str) -> tuple[float, list[str]]:
    """Run the script; how long its end took, and what was logged of backends."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    clean |= {
        "TURNSPAN_STORE": f"chdb://{folder / 'store'}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_TRACES_EXPORTER": "turnspan,otlp",
    }
    command = [sys.executable, "-c", SCRIPT, way]
    done = subprocess.run(
        command, env=clean | environ, capture_output=True, text=True, timeout=90, check=True
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith(("WARNING", "ERROR"))]
    took = float(done.stdout.split()[-1])
    return took, [line for line in lines if " application " not in line]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_script_ends_in_time(protocol: str, port: int, tmp_path: Path) -> None:
    """Ten spans, no flush: a second or two, and not the ten of OpenTelemetry's own exporter."""
    took, lines = ended("script", port, tmp_path, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)

    assert took < 9, lines
    assert len(lines) == 1, lines
    assert f"127.0.0.1:{port}" in lines[0]
    assert list((tmp_path / "store" / "spool").glob("*.tool_call.native"))


@pytest.mark.parametrize("protocol", few(["http/protobuf", "grpc"], ["grpc"]))
def test_metrics_and_logs_too(protocol: str, port: int, tmp_path: Path) -> None:
    """Where ``opentelemetry-instrument`` has us set them up, all three share the time."""
    took, lines = ended(
        "auto",
        port,
        tmp_path,
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        OTEL_METRICS_EXPORTER="otlp",
        OTEL_LOGS_EXPORTER="otlp",
    )

    assert took < 9, lines
    assert len(lines) <= 3, lines


def test_the_variables_of_the_standard_count(tmp_path: Path) -> None:
    """Who sets them is waited with for as long."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        at = listening.getsockname()[1]
        took, _ = ended("script", at, tmp_path, OTEL_BSP_EXPORT_TIMEOUT="5000")

    assert took > 4.5


class Slow(SpanExporter):
    """An exporter that fails, works, or takes its time."""

    def __init__(self) -> None:
        self.result = SpanExportResult.FAILURE
        self.go_on = threading.Event()
        self.go_on.set()
        self.spans = 0

    def export(self, spans: Any) -> SpanExportResult:
        """As it is told."""
        self.go_on.wait(60)
        self.spans += len(spans)
        return self.result


def test_an_outage_is_said_once_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    """One line when spans begin to be lost, one with their number when they arrive again."""
    exporter = Slow()
    provider = TracerProvider()
    processor = BoundedProcessor(exporter)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("x")
    for result in (SpanExportResult.FAILURE, SpanExportResult.SUCCESS):
        exporter.result = result
        for _ in range(3):
            span = tracer.start_span("s")
            assert isinstance(span, ReadableSpan)
            span.end()
            lost = processor.quiet.failed
            processor.force_flush()
            assert processor.quiet.failed - lost == (result is SpanExportResult.FAILURE)
    provider.shutdown()

    said = [record.getMessage() for record in caplog.records if record.name == "turnspan"]
    assert said == [
        "Spans do not reach Slow now and are lost: no answer",
        "Spans reach Slow again; 3 were lost.",
    ]


def test_a_flush_takes_no_longer_than_it_may() -> None:
    """The timeout of ``flush`` holds for other backends as well; the export goes on."""
    exporter = Slow()
    exporter.result = SpanExportResult.SUCCESS
    exporter.go_on.clear()
    provider = TracerProvider()
    processor = BoundedProcessor(exporter)
    provider.add_span_processor(processor)
    provider.get_tracer("x").start_span("s").end()

    assert processor.force_flush(200) is False
    assert exporter.spans == 0
    exporter.go_on.set()
    provider.shutdown()
    assert exporter.spans == 1
