"""The pipeline: ``RecordProcessor`` takes finished spans off the calling thread.

``on_end`` appends to a bounded queue and does nothing else. A daemon thread drains it into the
exporter every flush interval, or as soon as a batch is full; only that thread exports, so that a
signal's handler may flush whatever it has interrupted. Beyond the bound the oldest spans are
dropped and counted. After a fork the child starts with an empty queue, and with a thread of its own
once it records: what the parent had queued is the parent's to export. While the interpreter ends, a
span is exported by the thread that ends it.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from turnspan import semconv
from turnspan.pipeline.record_exporter import RecordExporter
from turnspan.runtime import rerun_scope
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.stats import PipelineStats, Untold
from turnspan.runtime.throttle import giving_way
from turnspan.tracing import handed
from turnspan.tracing.context import active_session, active_turn, scope_attributes
from turnspan.tracing.framework_sessions import session_of
from turnspan.tracing.state import current, within

_SUPPRESS = "suppress_instrumentation"
DRAIN = 1_024
"""Spans handed to the exporter in one call at most."""
_STUCK_SECONDS = 10.0
"""How long a thread waits for another's export, which it may have interrupted itself."""


class RecordProcessor(SpanProcessor):
    """Feeds one exporter from a bounded queue, on a thread of its own.

    ``child_records`` is called in a forked child, before the first span that it records ends.
    """

    _ready: bool
    """Whether the worker runs and takes what is queued."""
    _awake: bool
    """Whether it was told that a batch is full."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        queue_size: int = 65_536,
        batch_size: int = 1_024,
        flush_interval: float = 0.5,
        child_records: Callable[[], None] | None = None,
    ) -> None:
        self.exporter = exporter
        self._records = exporter if isinstance(exporter, RecordExporter) else RecordExporter()
        """The same, where it lands records; else one that holds and loses none."""
        self._state = current()
        self._limit = queue_size
        self._batch = min(batch_size, queue_size)
        self._interval = flush_interval
        self._child_records = child_records
        self._queue: deque[ReadableSpan] = deque()
        self._dropped: Counter[str] = Counter()
        self._untold = Untold(self.dropped)
        self.exported = 0
        """Spans that the exporter has accepted."""
        self._closed = False
        self._leaving = False
        self._forked = False
        self._renew()
        self._begin()
        reference = weakref.WeakMethod(self._after_fork)
        in_child(lambda: _call(reference))

    # -- the calling thread ------------------

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Tie spans of other instrumentations to the turn and the session around them."""
        if not self._ready or self._pid != os.getpid():
            with guard("pipeline.begin"):
                self._begin()
        rerun = rerun_scope.scope
        if rerun is not None:
            with guard("pipeline.rerun"):
                span.set_attributes({**rerun.attributes})
        context = otel_context.get_current() if parent_context is None else parent_context
        turn, session = active_turn(context), active_session(context)
        if turn is None and session is None:
            with guard("pipeline.on_start"):
                self._hand_down(span, context)
            return
        with guard("pipeline.on_start"):
            scope = span.instrumentation_scope
            if scope is not None and scope.name.startswith(semconv.SCOPE_PREFIX):
                return  # ours say it themselves
            said = span.attributes or {}
            missing = scope_attributes(turn, session)
            missing.pop(semconv.AGENT_NAME, None)  # not every span in a turn is the agent's doing
            tied = {k: v for k, v in missing.items() if v and k not in said}
            # The package may name its own conversation, now or when the span ends.
            given = missing.get(semconv.CONVERSATION_ID, "")
            if given or turn is not None:
                tied[semconv.SESSION_GIVEN] = given
            span.set_attributes(tied)
            if turn is None and session is not None and not session.id:  # an attempt's
                self._hand_down(span, context)

    def _hand_down(self, span: Span, context: Context) -> None:
        """A framework names the conversation on its outermost span, most often, and only there, or
        in a context of its own."""
        session = session_of(context)
        said = span.attributes or {}
        if session and semconv.CONVERSATION_ID not in said and semconv.SESSION_ID not in said:
            span.set_attribute(semconv.CONVERSATION_ID, session)

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a finished span."""
        context = span.context
        if context is None or not context.trace_flags.sampled:
            return
        if handed.running() and (span.parent is None or span.parent.is_remote):
            with guard("pipeline.on_end"):
                handed.root_ended(context.trace_id)
        queue = self._queue
        queue.append(span)
        if not self._ready:  # only now: else a span might slip in behind the last export
            with guard("pipeline.on_end"):
                self._without_worker()
        size = len(queue)
        if size >= self._batch:
            if size > self._limit:
                with guard("pipeline.drop"):
                    queue.popleft()
                    self._dropped["queue_full"] += 1
            if not self._awake:
                self._awake = True
                self._inbox.put(None)

    def _without_worker(self) -> None:
        if self._closed:
            self._dropped["after_shutdown"] += len(self._queue)
            self._queue.clear()
        elif not self._begin():
            self._drain()

    # -- the worker ------------------

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._ready = False
        self._awake = False
        # Its put() may be called by a signal's handler that has interrupted another.
        self._inbox: SimpleQueue[SimpleQueue[bool] | None] = SimpleQueue()
        self._starting = threading.RLock()
        self._exporting = threading.Lock()

    def _own_context(self) -> Context:
        """The worker's: nothing is recorded in it, and its recorder's settings hold."""
        return within(otel_context.set_value(_SUPPRESS, True), self._state)

    def _begin(self) -> bool:
        """Start the worker unless it runs; False when there can be none any more."""
        self._notice_fork()
        with self._starting:
            if self._closed or self._leaving or self._ready:
                return self._ready
            if self._forked:
                self._records.after_fork()
                self._forked = False
                self._untold.reset()
                if self._child_records is not None:
                    with guard("pipeline.child_records"):
                        self._child_records()
            self._worker = threading.Thread(target=self._run, name="turnspan-records", daemon=True)
            try:
                self._worker.start()
            except RuntimeError:  # the interpreter is ending, or the system has no thread to give
                return False
            self._ready = True
            return True

    def _run(self) -> None:
        # Jitter keeps many processes that started together from writing in step.
        inbox, closed = self._inbox, False
        while not closed:
            asked: list[SimpleQueue[bool] | None] = []
            with contextlib.suppress(Empty):
                asked.append(inbox.get(timeout=self._interval * random.uniform(0.8, 1.0)))
                while True:
                    asked.append(inbox.get_nowait())
            self._awake, closed, fine = False, self._closed, False
            with guard("pipeline.drain"):  # one failure must not end the worker
                fine = self._drain(started=any(reply is not None for reply in asked))
            for reply in asked:
                if reply is not None:
                    reply.put(fine)

    def _drain(self, *, started: bool = False) -> bool:
        """Export what is queued, and the turns just begun if asked; False when that failed."""
        own = self._own_context()  # before the lock: what fails here must not keep it
        if not self._exporting.acquire(timeout=_STUCK_SECONDS):
            return False
        token = otel_context.attach(own)
        try:
            fine, left = True, len(self._queue)  # others may go on to fill it
            # A backlog: what is not exported in time would be dropped.
            with giving_way(left < self._batch):
                while left > 0 and (batch := self._take()):
                    left -= len(batch)
                    fine = self._export(batch) and fine
                if started and self._records is self.exporter:
                    fine = self._export([]) and fine
            return fine
        finally:
            otel_context.detach(token)
            self._exporting.release()

    def _take(self) -> list[ReadableSpan]:
        batch: list[ReadableSpan] = []
        with contextlib.suppress(IndexError):  # empty, or the calling thread has dropped the oldest
            while len(batch) < DRAIN:
                batch.append(self._queue.popleft())
        return batch

    def _export(self, batch: list[ReadableSpan]) -> bool:
        try:
            result = self.exporter.export(batch)
        except BaseException as error:  # noqa: BLE001  an exporter's bug must not stop the worker
            errors.record("pipeline.export", error, accounted=True)
            self._dropped["export_failed"] += len(batch)
            return False
        if result is not SpanExportResult.SUCCESS:
            if self._records is not self.exporter:  # that one has counted what it lost
                self._dropped["export_failed"] += len(batch)
            return False
        self.exported += len(batch)
        return True

    # -- flushing and ending ------------------

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export everything queued now; True when all of it was accepted in time, and nothing was
        lost since the last flush, of either kind, that answered."""
        told, deadline = self._untold.reported(), time.monotonic() + timeout_millis / 1000
        self._begin()
        fine = self.flush_to_spool(timeout_millis / 1000)
        left = max(0, int((deadline - time.monotonic()) * 1000))
        fine = self.exporter.force_flush(left) and fine
        return self._untold.nothing_since(told) and fine

    def flush_to_spool(self, timeout: float) -> bool:
        """Export everything queued now, within the seconds, without what the exporter does over a
        network; True when all of that was accepted."""
        self._notice_fork()
        if self._forked:  # and nothing recorded since
            return True
        if not self._ready:
            return self._drain(started=True)
        if threading.current_thread() is self._worker:  # a hook of the application's flushes
            return False
        return self._ask(timeout)

    def flush_to_disk(self, timeout: float) -> bool:
        """As ``force_flush`` for seconds, but to the disk only, and synced; False also where the
        exporter knows no disk."""
        told = self._untold.reported()
        fine = self.flush_to_spool(timeout)
        fine = self._records.sync() and fine
        return self._untold.nothing_since(told) and fine

    def _ask(self, timeout: float) -> bool:
        reply: SimpleQueue[bool] = SimpleQueue()
        self._inbox.put(reply)
        try:
            return reply.get(timeout=timeout)
        except Empty:
            return False

    def drain_at_exit(self, timeout: float = 5.0) -> bool:
        """At the interpreter's end: export what is queued, and from now on each span as it ends.
        Whether all had landed in time, in seconds."""
        self._notice_fork()
        if self._closed or self._leaving:
            return True
        if self._ready and self.flush_to_spool(timeout):
            self._records.close_turns()
        landed = not self._ready or self.force_flush(int(timeout * 1000))
        self._leaving, self._ready = True, False
        # Also where the flush ran out of time: meanwhile other threads have gone on to record.
        written = self._forked or self._drain()
        return landed and written

    def shutdown(self) -> None:
        """Export what is queued, then end the worker and the exporter."""
        self._notice_fork()
        if self._closed or self._leaving:  # the SDK's exit handler comes after ours
            return
        idle = not self._ready
        self._closed, self._ready = True, False
        if idle:  # a forked child that recorded nothing
            return
        self._inbox.put(None)
        if self._worker is not threading.current_thread():
            self._worker.join(timeout=5)
        self._drain()
        self.exporter.shutdown()

    # -- statistics ------------------

    def remaining(self) -> int:
        """Spans queued plus what the exporter still holds."""
        return self.queued() + self.pending()

    def queued(self) -> int:
        """Spans waiting for their export, and rows of theirs that the exporter could not write."""
        return len(self._queue) + self._records.unwritten()

    def pending(self) -> int:
        """What the exporter has accepted and not yet landed (see ``RecordExporter.remaining``)."""
        return self._records.remaining()

    def dropped(self) -> dict[str, int]:
        """Spans and records lost, by reason."""
        counts = Counter(self._dropped)
        counts.update(self._records.dropped())
        return dict(counts)

    def snapshot(self) -> PipelineStats:
        """What its exporter knows of the records (see ``RecordExporter.snapshot``)."""
        return self._records.snapshot()

    def _woken(self) -> None:
        with guard("pipeline.begin"):
            self._begin()

    def _notice_fork(self) -> None:
        # A server written in C may fork without Python's hooks (uWSGI does).
        if self._pid != os.getpid():
            self._after_fork()

    def _after_fork(self) -> None:
        self._queue = deque()
        self._dropped = Counter()
        self._untold.reset()
        self.exported = 0
        self._forked = True  # many children record nothing: all else waits for the first of it
        if not self._closed:
            self._state.content.wake = self._woken
        self._renew()


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        with guard("pipeline.after_fork"):
            method()
