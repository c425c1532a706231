"""Metrics: counted once a call, whether or not its span is sampled, off the calling thread.

Recording one value through the metrics SDK takes microseconds, and a model call has a dozen of
them. So the calling thread only queues what it measured; the queue is emptied whenever a reader
collects, by the callback of an observable instrument (readers run those first), and by a daemon
thread when many have gathered. Without a MeterProvider nothing is measured at all.

Only the OpenTelemetry API is used here.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from turnspan import semconv
from turnspan._version import __version__
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.otel_private import METER_PROVIDER, globals_of_metrics

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

    from turnspan.metrics.instruments import Callback, Instruments
    from turnspan.metrics.measurements import Measurement, Pricer
    from turnspan.runtime.stats import Pipeline, PipelineStats, Stats

GATHER: Final = 256
"""Measurements that wake the thread; fewer wait for the next collection."""
LIMIT: Final = 65_536
"""Measurements kept at most; beyond it the oldest are dropped and counted."""

_API: Final = "opentelemetry.metrics"
_VARIABLE: Final = "OTEL_PYTHON_METER_PROVIDER"
_CREATE = guard("metrics.create")
_RECORD = guard("metrics.record")
_DROP = guard("metrics.drop")


class Metrics:
    """The queue between the threads that run agents and the instruments.

    ``stats`` is what became of the records, observed at every collection.
    """

    def __init__(self, stats: Stats) -> None:
        self._stats = stats
        self.instruments: Instruments | None = None
        self.pricer: Pricer | None = None
        self.dropped = 0
        self._given: MeterProvider | None = None
        self._source: MeterProvider | None = None
        self._idle: object = None
        self._named: bool | None = None
        self._kept: dict[str, Any] | None = None
        """Where the API keeps the global provider, once it is known to."""
        self._create_lock = threading.Lock()
        self._forget()
        me: weakref.ref[Metrics] = weakref.ref(self)  # nobody can take such a call back
        in_child(lambda: _forked(me))

    def _forget(self) -> None:
        self._queue: deque[Measurement] = deque()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    # -- the calling thread ------------------

    def enabled(self) -> bool:
        """Whether anybody wants metrics: a MeterProvider was given, or the global one was set."""
        return self.instruments is not None or self.find_provider()

    def chunk_clock(self) -> array[float] | None:
        """Takes the times of a stream's further chunks; ``None`` where nobody wants them."""
        return array("d") if self.enabled() else None

    def record(self, measurement: Measurement) -> None:
        """Record a measurement, soon. Only worth making while ``enabled()``."""
        queue = self._queue
        queue.append(measurement)
        size = len(queue)
        if size < GATHER:
            return
        if size > LIMIT:
            with _DROP:
                queue.popleft()
                self.dropped += 1
        if not self._wake.is_set():
            self._wake.set()
            if self._worker is None:
                self._start_worker()

    def find_provider(self) -> bool:
        """Whether a MeterProvider has come; makes the instruments when it has."""
        provider: Any = self._given
        if provider is None:
            kept = self._kept
            # The short way, of a process without metrics; this is asked several times a call.
            if kept is not None and kept[METER_PROVIDER] is None:
                return False
            provider = self._global()
        if provider is None or provider is self._idle:
            return False
        if type(provider).__module__.startswith(_API):  # the API's own records nothing
            self._idle = provider
            return False
        with _CREATE:
            self._create(provider)
        return self.instruments is not None

    def use(self, provider: MeterProvider | None) -> None:
        """Record under this provider from now on; ``None`` means the global one."""
        self.drain()
        with self._create_lock:
            self._given = provider
            self._idle = None
            if provider is None:
                provider = self._global()
            if provider is not self._source:
                self.instruments = None
        self.find_provider()

    def _global(self) -> Any:
        # get_meter_provider() reads the environment each time (0.8 us); what it keeps is a variable
        # of a module that is imported by whoever sets a provider. Where that variable has moved,
        # the function is asked all the same.
        if self._named is None:
            self._named = _VARIABLE in os.environ
        if not self._named:
            kept = globals_of_metrics()
            known: Any = None if kept is None else kept.get(METER_PROVIDER, self)
            if known is None:
                self._kept = kept
                return None
            if known is not self:
                return known
        from opentelemetry.metrics import get_meter_provider

        self._named = False
        try:
            return get_meter_provider()
        except Exception:  # noqa: BLE001  OTEL_PYTHON_METER_PROVIDER names none: no metrics
            return None

    def _create(self, provider: MeterProvider) -> None:
        # Only where somebody wants metrics.
        from turnspan.metrics.instruments import Instruments

        with self._create_lock:
            if self.instruments is None:
                self._idle = self._source = provider  # not tried again where it fails
                meter = provider.get_meter(semconv.SCOPE_DECORATORS, __version__)
                self.instruments = Instruments(meter, self._callbacks())
                self._idle = None

    # -- elsewhere ------------------

    def drain(self, *, yielding: bool = False) -> None:
        """Record everything queued; ``yielding`` lets other threads in between."""
        with self._lock:
            while True:
                try:
                    measurement = self._queue.popleft()
                except IndexError:
                    return
                instruments = self.instruments
                if instruments is not None:
                    with _RECORD:
                        measurement.into(instruments, self.pricer)
                if yielding:
                    time.sleep(0)

    def _start_worker(self) -> None:
        with self._create_lock:
            if self._worker is None:
                self._worker = threading.Thread(
                    target=self._run, name="turnspan-metrics", daemon=True
                )
                self._worker.start()

    def _run(self) -> None:
        wake = self._wake
        while True:
            wake.wait()
            wake.clear()
            self.drain(yielding=True)

    def after_fork(self) -> None:
        """In a forked child: what the parent had queued is the parent's to record."""
        self._create_lock = threading.Lock()
        self._forget()

    # -- what became of the records, looked up at every collection ------------------

    def _callbacks(self) -> dict[str, Callback]:
        from opentelemetry.metrics import Observation

        stats = self._stats

        def of_pipeline(read: Callable[[Pipeline], int]) -> Callback:
            def observe(_: CallbackOptions) -> Iterable[Observation]:
                running = stats.pipeline
                return [] if running is None else [Observation(read(running))]

            return observe

        def of_spool(read: Callable[[PipelineStats], int]) -> Callback:
            return lambda _: [Observation(read(stats.snapshot()))]

        def queued(options: CallbackOptions) -> Iterable[Observation]:
            self.drain()  # a reader calls the observable instruments before it reads the others
            return of_pipeline(lambda running: running.queued())(options)

        def by(attribute: str, counts: Mapping[str, int]) -> list[Observation]:
            return [Observation(count, {attribute: name}) for name, count in counts.items()]

        return {
            semconv.METRIC_QUEUED: queued,
            semconv.METRIC_PENDING: of_pipeline(lambda running: running.pending()),
            semconv.METRIC_EXPORTED: of_pipeline(lambda running: running.exported),
            semconv.METRIC_SPOOLED: of_spool(lambda known: known.spooled),
            semconv.METRIC_SHIPPED: of_spool(lambda known: known.shipped),
            semconv.METRIC_REJECTED: of_spool(lambda known: known.rejected),
            semconv.METRIC_DROPPED: lambda _: by(semconv.DROP_REASON, stats.dropped()),
            semconv.METRIC_INTERNAL_ERRORS: lambda _: by(semconv.ERROR_PLACE, errors.counts()),
        }


def _forked(metrics: weakref.ref[Metrics]) -> None:
    found = metrics()
    if found is not None:
        found.after_fork()
