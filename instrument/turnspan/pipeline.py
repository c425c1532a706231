"""The pipeline: ``RecordProcessor`` takes finished spans off the calling thread.

``on_end`` appends to a bounded queue and does nothing else. A daemon thread drains it into the
exporter every flush interval, or as soon as a batch is full. Beyond the bound the oldest spans are
dropped and counted. After a fork the child starts with an empty queue and a thread of its own: what
the parent had queued is the parent's to export.
"""

from __future__ import annotations

import os
import random
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from turnspan import semconv
from turnspan.context import active_session, active_turn, scope_attributes
from turnspan.guard import errors, guard
from turnspan.pace import giving_way

_SUPPRESS = "suppress_instrumentation"
DRAIN = 8_192
"""Spans handed to the exporter in one call at most."""


@runtime_checkable
class Accountable(Protocol):
    """An exporter that knows what it still holds and what it had to drop."""

    def remaining(self) -> int:
        """Records accepted but not yet landed."""
        ...

    def dropped(self) -> dict[str, int]:
        """Records lost, by reason."""
        ...

    def after_fork(self) -> None:
        """The process is a forked child: take a new identity, keep nothing of the parent's."""
        ...


class RecordProcessor(SpanProcessor):
    """Feeds one exporter from a bounded queue, on a thread of its own."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        queue_size: int = 65_536,
        batch_size: int = 4_096,
        flush_interval: float = 0.5,
    ) -> None:
        self.exporter = exporter
        self._limit = queue_size
        self._batch = min(batch_size, queue_size)
        self._interval = flush_interval
        self._queue: deque[ReadableSpan] = deque()
        self._dropped: Counter[str] = Counter()
        self.exported = 0
        """Spans that the exporter has accepted."""
        self._closed = False
        self._start_worker()
        reference = weakref.WeakMethod(self._after_fork)
        os.register_at_fork(after_in_child=lambda: _call(reference))

    # -- the calling thread ------------------

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Tie spans of other instrumentations to the turn and the session around them."""
        turn, session = active_turn(parent_context), active_session(parent_context)
        if turn is None and session is None:
            return
        with guard("pipeline.on_start"):
            scope = span.instrumentation_scope
            if scope is not None and scope.name.startswith(semconv.SCOPE_PREFIX):
                return  # ours say it themselves
            said = span.attributes or {}
            missing = scope_attributes(turn, session)
            missing.pop(semconv.AGENT_NAME, None)  # not every span in a turn is the agent's doing
            span.set_attributes({k: v for k, v in missing.items() if v and k not in said})

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a finished span."""
        context = span.context
        if self._closed:
            self._dropped["after_shutdown"] += 1
            return
        if context is None or not context.trace_flags.sampled:
            return
        queue = self._queue
        queue.append(span)
        size = len(queue)
        if size >= self._batch:
            if size > self._limit:
                with guard("pipeline.drop"):
                    queue.popleft()
                    self._dropped["queue_full"] += 1
            if not self._wake.is_set():
                self._wake.set()

    # -- the worker ------------------

    def _start_worker(self) -> None:
        self._wake = threading.Event()
        self._export_lock = threading.Lock()
        self._worker = threading.Thread(target=self._run, name="turnspan-records", daemon=True)
        self._worker.start()

    def _run(self) -> None:
        # Jitter keeps many processes that started together from writing in step.
        while not self._closed:
            self._wake.wait(self._interval * random.uniform(0.8, 1.0))
            self._wake.clear()
            self._drain()

    def _drain(self) -> bool:
        """Export what is queued; False when the exporter failed."""
        fine = True
        token = otel_context.attach(otel_context.set_value(_SUPPRESS, True))
        try:
            with self._export_lock:
                while self._queue:
                    batch: list[ReadableSpan] = []
                    while self._queue and len(batch) < DRAIN:
                        batch.append(self._queue.popleft())
                    fine = self._export(batch) and fine
        except IndexError:  # the calling thread dropped the oldest in between
            pass
        finally:
            otel_context.detach(token)
        return fine

    def _export(self, batch: list[ReadableSpan]) -> bool:
        try:
            # A full batch is a backlog: what is not exported in time would be dropped.
            with giving_way(len(batch) < self._batch):
                result = self.exporter.export(batch)
        except Exception as error:  # noqa: BLE001  an exporter's bug must not stop the worker
            errors.record("pipeline.export", error)
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            self._dropped["export_failed"] += len(batch)
            return False
        self.exported += len(batch)
        return True

    # -- flushing and ending ------------------

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export everything queued now; True when all of it was accepted in time."""
        deadline = time.monotonic() + timeout_millis / 1000
        fine = self._drain()
        left = max(0, int((deadline - time.monotonic()) * 1000))
        return self.exporter.force_flush(left) and fine

    def shutdown(self) -> None:
        """Export what is queued, then end the worker and the exporter."""
        if self._closed:
            return
        self._closed = True
        self._wake.set()
        if self._worker is not threading.current_thread():
            self._worker.join(timeout=5)
        self._drain()
        self.exporter.shutdown()

    # -- accounts ------------------

    def remaining(self) -> int:
        """Spans queued plus what the exporter still holds."""
        return self.queued() + self.held()

    def queued(self) -> int:
        """Spans waiting for their export."""
        return len(self._queue)

    def held(self) -> int:
        """What the exporter has accepted and not yet landed (see ``Accountable.remaining``)."""
        return self.exporter.remaining() if isinstance(self.exporter, Accountable) else 0

    def dropped(self) -> dict[str, int]:
        """Spans and records lost, by reason."""
        counts = Counter(self._dropped)
        if isinstance(self.exporter, Accountable):
            counts.update(self.exporter.dropped())
        return dict(counts)

    def _after_fork(self) -> None:
        self._queue = deque()
        self._dropped = Counter()
        self.exported = 0
        if isinstance(self.exporter, Accountable):
            self.exporter.after_fork()
        if not self._closed:
            self._start_worker()


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        with guard("pipeline.after_fork"):
            method()
