"""Other backends that are away: said once, and no reason for a process to end late.

OpenTelemetry's exporters try again for ten seconds, with a line for each time, also while the
process waits for them to end. Here a process that ends gives them a second where nothing answers
and two where an answer takes long, or what OTEL_BSP_EXPORT_TIMEOUT or OTEL_EXPORTER_OTLP_TIMEOUT
says if it is set; and what such an exporter logs becomes one line when an outage begins and one
when it is over.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from turnspan.config import logger
from turnspan.pipeline.redacting_exporter import RedactingExporter
from turnspan.runtime import otel_private
from turnspan.runtime.guard import guard

FAILING_SECONDS: Final = 0.8
"""How long after its begin the end of a process lets an exporter go on that has failed once: it
tries again after about a second, so one more time."""
SILENT_SECONDS: Final = 2.0
"""How long one is waited for of which nothing is heard."""
_LOGGERS: Final = ("opentelemetry.exporter.", "urllib3.connectionpool")
_QUOTED: Final = 200

_thread = threading.local()
_signals = 1
"""How many kinds of telemetry share the time: spans, and where we set them up, metrics and logs."""


def patience() -> float | None:
    """Seconds that the user gives an exporter; ``None`` where the environment does not say."""
    for name, unit in (
        ("OTEL_BSP_EXPORT_TIMEOUT", 1000.0),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", 1.0),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", 1.0),
    ):
        try:
            seconds = float(os.environ.get(name, "")) / unit
        except ValueError:
            continue
        if 0 < seconds < 86_400:
            return seconds
    return None


def _seconds() -> float:
    return patience() or SILENT_SECONDS / _signals


class QuietExporter(RedactingExporter):
    """A redacting exporter whose failures are said once an outage, and that can be given up."""

    def __init__(self, exporter: SpanExporter) -> None:
        super().__init__(exporter)
        self._name = otel_private.endpoint_of(exporter) or type(exporter).__name__
        self._reason = ""
        self._lost = 0
        self._said = False
        self._give_up_at = float("inf")
        self._closed = False
        _listen()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Redact, then export; count and say what did not arrive."""
        _thread.exporter = self
        try:
            result = super().export(spans)
        finally:
            _thread.exporter = None
        if result is SpanExportResult.SUCCESS:
            if self._said:
                logger.warning("Spans reach %s again; %d were lost.", self._name, self._lost)
            self._said, self._reason, self._lost = False, "", 0
        else:
            self._lost += len(spans)
            self.say()
        return result

    def heard(self, record: logging.LogRecord) -> None:
        """The exporter, or a library below it, logs while it exports."""
        if record.levelno >= logging.WARNING:
            self._reason = self._reason or _short(record)
            if time.monotonic() >= self._give_up_at:
                self.shutdown()

    def leave(self, seconds: float) -> None:
        """The process ends: from so many seconds on, a failure is the last one."""
        self._give_up_at = time.monotonic() + seconds

    def shutdown(self) -> None:
        """Shut the wrapped exporter down, which ends its waiting; again does nothing."""
        if not self._closed:
            self._closed = True
            before, _thread.exporter = getattr(_thread, "exporter", None), self
            try:
                super().shutdown()
            finally:
                _thread.exporter = before

    def say(self) -> None:
        """Log that spans do not arrive, unless that was said since they last did."""
        if not self._said:
            self._said = True
            logger.warning(
                "Spans do not reach %s now and are lost: %s",
                self._name,
                self._reason or "no answer",
            )


class BoundedProcessor(BatchSpanProcessor):
    """OpenTelemetry's batch processor, with an end in time."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.quiet = QuietExporter(exporter)
        super().__init__(self.quiet)

    def leaving(self) -> float:
        """The process ends: how many seconds it waits at most."""
        given = patience()
        self.quiet.leave(FAILING_SECONDS / _signals if given is None else given)
        return _seconds()

    def shutdown(self) -> None:
        """Export what is queued, within the bound."""
        seconds = self.leaving()
        begun = time.monotonic()
        batch = otel_private.batch_of(self)
        if batch is None:
            untyped: Any = super()
            untyped.shutdown()
        else:
            batch.shutdown(timeout_millis=seconds * 1000)
        if time.monotonic() - begun >= seconds:
            self.quiet.say()

    def force_flush(self, timeout_millis: int | None = None) -> bool:
        """Export what is queued; False where that takes longer, and goes on."""
        done: list[bool] = []
        worker = threading.Thread(
            target=lambda: done.append(super(BoundedProcessor, self).force_flush()),
            name="turnspan-flush",
            daemon=True,
        )
        try:
            worker.start()
        except RuntimeError:  # the interpreter is ending
            return super().force_flush(timeout_millis)
        worker.join(None if timeout_millis is None else timeout_millis / 1000)
        return done == [True]


# -- metrics and logs, where the environment has us set them up ------------------


def bound_the_rest(meters: Any, logs: Any) -> None:
    """At the process's end, give the exporters of these providers no longer than those of spans;
    and have them log a failure once a minute."""
    global _signals
    for name in [*logging.root.manager.loggerDict]:
        if name.startswith(_LOGGERS[0]):
            logging.getLogger(name).addFilter(_Seldom())
    _signals = 1 + hasattr(meters, "shutdown") + bool(otel_private.batches_of_logs(logs))
    atexit.register(_end, meters, logs)  # before the providers' own handlers, which do no more then


def _end(meters: Any, logs: Any) -> None:
    milliseconds = int(1000 * _seconds())
    with guard("exit.logs"):
        for batch in otel_private.batches_of_logs(logs):
            batch.shutdown(timeout_millis=milliseconds)
    with guard("exit.metrics"):
        if hasattr(meters, "shutdown"):  # the API's own has none
            meters.shutdown(timeout_millis=milliseconds)


class _Seldom(logging.Filter):
    """Lets a warning or an error through once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is time again."""
        now = time.monotonic()
        if record.levelno < logging.WARNING:
            return True
        if now < self._next:
            return False
        self._next = now + 60
        return True


def _listen() -> None:
    """Hear what is logged where exporters do."""
    for name in [*logging.root.manager.loggerDict]:
        if name.startswith(_LOGGERS):
            found = logging.getLogger(name)
            if _not_ours not in found.filters:
                found.addFilter(_not_ours)


def _not_ours(record: logging.LogRecord) -> bool:
    """Takes the lines about our own exports out of the log."""
    exporter: QuietExporter | None = getattr(_thread, "exporter", None)
    if exporter is None:
        return True
    exporter.heard(record)
    return False


def _short(record: logging.LogRecord) -> str:
    text = record.getMessage().strip().partition("\n")[0]
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."
