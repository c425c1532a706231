"""Where one recorder's spans go: its records, and other backends beside them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from turnspan.config import Settings, logger
from turnspan.runtime.guard import guard
from turnspan.runtime.otel_private import remove_processor
from turnspan.runtime.stats import Stats

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from turnspan.pipeline.other_backends import BoundedProcessor
    from turnspan.pipeline.processor import RecordProcessor


class Providers:
    """The TracerProviders that a recorder's processors are on: the one in use, and those that were
    made for it before."""

    def __init__(self) -> None:
        self.made: list[TracerProvider] = []
        """Made here. The newest is in use; the others may still be, by tracers that somebody
        kept."""
        self.current: TracerProvider | None = None

    def use(self, provider: TracerProvider, *, owned: bool) -> None:
        """Record under this provider; ``owned``: it was made here."""
        self.current = provider
        if owned:
            self.made.append(provider)

    def add(self, processor: SpanProcessor) -> None:
        """Put a processor on all of them."""
        for provider in self._all():
            provider.add_span_processor(processor)

    def remove(self, processor: SpanProcessor) -> None:
        """Take a processor off all of them."""
        for provider in self._all():
            with guard("recorder.remove"):
                remove_processor(provider, processor)

    def _all(self) -> list[TracerProvider]:
        current = self.current
        if current is None or current in self.made:
            return list(self.made)
        return [*self.made, current]


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
        arrived, remaining = True, 0
        with guard("flush"):
            if self.processor is not None:
                arrived = self.processor.force_flush(int(timeout * 1000))
                remaining = self.processor.remaining()
            for other in self.others:
                left = max(0, int((deadline - time.monotonic()) * 1000))
                arrived = bool(other.force_flush(left)) and arrived
            return arrived, remaining
        return False, remaining

    def flush_to_disk(self, timeout: float) -> tuple[bool, int]:
        """Bring all records to the local disk, synced: whether that worked, and what is queued."""
        with guard("flush"):
            if self.processor is not None:
                return self.processor.flush_to_disk(timeout), self.processor.queued()
            return True, 0
        return False, 0

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
            with guard("shutdown"):
                processor.shutdown()
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
        with guard("exit"):
            landed = processor.drain_at_exit()
            if not landed or processor.dropped():
                logger.warning("Turnspan has not landed everything: %s.", self._stats.snapshot())
            exporter = processor.exporter
            farewell = exporter.farewell() if isinstance(exporter, RecordExporter) else ""
            if farewell:
                print(farewell, file=sys.stderr)

    def write_out(self, patience: float) -> None:
        """Before the process is gone without an exit: to the spool, and out to other backends."""
        with guard("exit"):
            if self.processor is not None:
                self.processor.flush_to_spool(patience)
            for other in self.others:
                other.force_flush(int(min(other.leaving(), patience) * 1000))
