"""Agents whose imports are watched from the moment that ``configure`` has returned.

usage: watched_agent.py CASE SEEN   (the store comes from TURNSPAN_STORE; PYTHONPATH=tests)

``SEEN`` gets a line for every module that a thread of ours imports; see ``support.import_watch``.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from support.import_watch import ImportWatch

WATCH = ImportWatch(Path(sys.argv[2]))


def demo() -> None:
    """Every run, and off the end without a flush: the exit handlers have work to do."""
    import turnspan

    turnspan.configure(service_name="demo", project="demo")
    WATCH.arm()
    turnspan.instrument()
    play()


def everything_on() -> None:
    """Metrics, events, other backends, and a hook that fails: errors are logged with traceback."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import (
        ConsoleMetricExporter,
        InMemoryMetricReader,
        PeriodicExportingMetricReader,
    )

    import turnspan

    nowhere = open(os.devnull, "w")  # noqa: SIM115  until the end
    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter(nowhere)))
    reader = PeriodicExportingMetricReader(ConsoleMetricExporter(nowhere), 300)
    turnspan.configure(
        service_name="demo",
        exporters=["turnspan", "otlp"],
        redact=fails_now_and_then,
        emit_events=True,
        classify_intent=True,
        content_limit_bytes=200,
        meter_provider=MeterProvider([reader, InMemoryMetricReader()]),
        logger_provider=logs,
    )
    WATCH.arm()
    turnspan.instrument()
    play()
    turnspan.flush(timeout=60)
    turnspan.shutdown(timeout=60)


def fails_now_and_then(text: str, where: str) -> str:
    """A hook with a fault."""
    if where == "tool_result":
        raise ValueError(text[:10])
    return text


def without_configure() -> None:
    """An exporter that OpenTelemetry loads by its name and feeds from a thread of its own."""
    from opentelemetry import trace
    from opentelemetry.sdk._configuration import (
        _initialize_components,  # pyright: ignore[reportPrivateUsage]
    )

    initialize: Any = _initialize_components
    initialize(trace_exporter_names=["turnspan"])
    WATCH.arm()
    import turnspan

    turnspan.instrument()
    play()
    provider: Any = trace.get_tracer_provider()
    provider.force_flush()


def in_children() -> None:
    """Children that are forked, record, and are ended by their parent in the middle of it."""
    import turnspan

    turnspan.configure(service_name="demo", project="demo")
    WATCH.arm()
    turnspan.instrument()
    context = multiprocessing.get_context("fork")
    working = [context.Process(target=work) for _ in range(2)]
    for child in working:
        child.start()
    time.sleep(2)
    for child in working:
        child.terminate()
        child.join()
    play(1)


def work() -> None:
    """A child's."""
    play(2)
    while True:
        time.sleep(60)


def terminated() -> None:
    """An operator's SIGTERM."""
    demo()
    os.kill(os.getpid(), signal.SIGTERM)


def killed() -> None:
    """What is left by this is the next one's to see to."""
    import turnspan

    demo()
    with turnspan.agent("unfinished"):
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGKILL)


def play(limit: int = 100) -> None:
    """The demonstration's runs, through the real SDKs."""
    from turnspan_demo.runner import play_all, sessions
    from turnspan_demo.written import shipped

    play_all(sessions(shipped()[:limit]))
    gc.collect()


CASES = (demo, everything_on, without_configure, in_children, terminated, killed)

if __name__ == "__main__":
    next(case for case in CASES if case.__name__ == sys.argv[1])()
