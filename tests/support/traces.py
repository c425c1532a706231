"""Fixtures: where OTLP goes to and can be looked at, Jaeger where this machine has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest

from support.jaeger import Jaeger, binary, start
from support.otlp_receiver import OtlpReceiver
from support.seen import SeenTrace


class TraceBackend(Protocol):
    """Where traces are sent to and looked at."""

    @property
    def endpoint(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT takes (HTTP)."""
        ...

    def trace(self, trace_id: str, spans: int, timeout: float = 10.0) -> SeenTrace:
        """The trace, once ``spans`` of its spans are there; fewer after ``timeout`` seconds."""
        ...


def pytest_report_header() -> str:
    """Say which Jaeger the tests use."""
    found = binary()
    if found is not None:
        return f"jaeger: {found}"
    return "jaeger: none here (make jaeger builds one), so OTLP is checked with opentelemetry-proto"


@pytest.fixture
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """A fresh OTLP receiver."""
    receiver = OtlpReceiver()
    receiver.start()
    yield receiver
    receiver.stop()


@pytest.fixture(scope="session")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """One Jaeger for the whole test run."""
    process, running = start(tmp_path_factory.mktemp("jaeger") / "jaeger.log")
    yield running
    process.kill()  # it keeps nothing, and takes ten seconds to leave when asked politely
    process.wait()


@pytest.fixture(params=["otlp_receiver", "jaeger"] if binary() else ["otlp_receiver"])
def trace_backend(request: pytest.FixtureRequest) -> TraceBackend:
    """Our OTLP receiver and, where there is one, a real Jaeger: one test, the same assertions."""
    backend: OtlpReceiver | Jaeger = request.getfixturevalue(request.param)
    return backend
