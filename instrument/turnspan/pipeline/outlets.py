"""Where one recorder's spans go: its records, and other backends beside them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from turnspan.config import Settings, logger
from turnspan.pipeline.providers import Providers
from turnspan.runtime.guard import errors
from turnspan.runtime.stats import Stats

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from turnspan.pipeline.other_backends import BoundedProcessor
    from turnspan.pipeline.processor import RecordProcessor


class Outlets:
    """The processors that a recorder has on its providers, and what is asked of all of them.

    Nothing here raises but ``open``: what fails is counted as an internal error.
    """

    def __init__(self, stats: Stats) -> None:
        self.providers = Providers()
        self.processor: RecordProcessor | None = None
        """What lands records, while recording."""
        self.others: list[BoundedProcessor] = []
        self._stats = stats

    @property
    def are_open(self) -> bool:
        """Whether spans go anywhere."""
        return self.processor is not None or bool(self.others)

    def open(
        self,
        exporters: Sequence[str | SpanExporter],
        settings: Settings,
        store: str | None,
        child_records: Callable[[], None],
    ) -> None:
        """Put a processor for each exporter on the providers.

        Raises:
            ConfigError: ``store`` is not understood.
        """
        # The SDK, when something is recorded.
        from turnspan.pipeline import backends
        from turnspan.pipeline.other_backends import BoundedProcessor
        from turnspan.pipeline.processor import RecordProcessor
        from turnspan.pipeline.record_exporter import RecordExporter

        for item in exporters:
            named = isinstance(item, str) and item != "none"
            exporter = backends.load(str(item), store) if named else item
            if exporter is None or isinstance(exporter, str):
                continue
            if isinstance(exporter, RecordExporter):
                self.processor = self._stats.pipeline = RecordProcessor(
                    exporter,
                    queue_size=settings.queue_size,
                    batch_size=settings.batch_size,
                    flush_interval=settings.flush_interval,
                    child_records=child_records,
                )
                self.providers.add(self.processor)
            else:
                self.others.append(BoundedProcessor(exporter))
                self.providers.add(self.others[-1])
        self._stats.former = None

    def flush(self, timeout: float) -> tuple[bool, int]:
        """Bring all to where it is to go, within the seconds: whether that worked, and what is
        left."""
        deadline = time.monotonic() + timeout
        ok, remaining = True, 0
        try:
            if self.processor is not None:
                ok = self.processor.force_flush(int(timeout * 1000))
                remaining = self.processor.remaining()
            for other in self.others:
                left = max(0, int((deadline - time.monotonic()) * 1000))
                ok = bool(other.force_flush(left)) and ok
        except Exception as error:  # noqa: BLE001  never raises into the application
            errors.record("flush", error)
            ok = False
        return ok, remaining

    def flush_to_disk(self, timeout: float) -> tuple[bool, int]:
        """Bring all records to the local disk, synced: whether that worked, and what is queued."""
        ok, queued = True, 0
        try:
            if self.processor is not None:
                ok = self.processor.flush_to_disk(timeout)
                queued = self.processor.queued()
        except Exception as error:  # noqa: BLE001  never raises into the application
            errors.record("flush", error)
            ok = False
        return ok, queued

    def leave_others(self) -> None:
        """Other backends have a moment from now on, however slowly they answer."""
        for other in self.others:
            other.leaving()

    def close(self) -> None:
        """End the processors and take them off the providers."""
        for processor in (self.processor, *self.others):
            if processor is None:
                continue
            self.providers.remove(processor)
            try:
                processor.shutdown()
            except Exception as error:  # noqa: BLE001  never raises into the application
                errors.record("shutdown", error)
        self._stats.former = self._stats.pipeline or self._stats.former
        self.processor = self._stats.pipeline = None
        self.others = []

    def refused(self) -> int:
        """How many spans other backends have refused."""
        return sum(one.quiet.failed for one in self.others)

    # -- leaving ------------------

    def at_exit(self) -> None:
        """At the interpreter's end: to the spool, which is local and fast, and for a moment to the
        store."""
        # The SDK, when something is recorded.
        from turnspan.pipeline.record_exporter import RecordExporter

        processor = self.processor
        if processor is None:
            return
        try:
            landed = processor.drain_at_exit()
            if not landed or processor.dropped():
                logger.warning("Turnspan has not landed everything: %s.", self._stats.snapshot())
            exporter = processor.exporter
            farewell = exporter.farewell() if isinstance(exporter, RecordExporter) else ""
            if farewell:
                print(farewell, file=sys.stderr)
        except Exception as error:  # noqa: BLE001  the interpreter is leaving
            errors.record("exit", error)

    def write_out(self, patience: float) -> None:
        """Before the process is gone without an exit: to the spool, and out to other backends."""
        try:
            if self.processor is not None:
                self.processor.flush_to_spool(patience)
            for other in self.others:
                other.force_flush(int(min(other.leaving(), patience) * 1000))
        except Exception as error:  # noqa: BLE001  the process is leaving
            errors.record("exit", error)
