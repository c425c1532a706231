"""``ClickHouseSpanExporter``: the OpenTelemetry face of the landing side.

``export`` turns spans into records, encodes them and writes spool segments: when it returns, they
survive a kill -9 and any outage of ClickHouse. It never talks to a store. One daemon thread of the
exporter writes the rows of turns that have just begun and, for a server store, ships segments.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from turnspan.pipeline.record_exporter import RecordExporter
from turnspan.runtime import rerun_scope
from turnspan.runtime.guard import errors, guard, logger
from turnspan.runtime.limit_usage import counters
from turnspan.runtime.stats import PipelineStats, Untold
from turnspan.runtime.throttle import gives_way
from turnspan.tracing.content_store import StartedTurn
from turnspan.tracing.state import current
from turnspan.wire.gaps import watch
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.files.lock_holders import host_and_pid
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.pricing.prices import cost_of_call
from turnspan_clickhouse.rows.batch import Batch, Clock
from turnspan_clickhouse.rows.native_encoder import blocks
from turnspan_clickhouse.rows.tables import RECORDS, Definition, MessageRow, Record
from turnspan_clickhouse.ship.first_run import what_next
from turnspan_clickhouse.ship.preload import prepare_writing
from turnspan_clickhouse.ship.unwritten import ROOM_BYTES, EncodedRows, Unwritten
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.spool.totals import WriterStats
from turnspan_clickhouse.spool.unrecorded_calls import write_unrecorded
from turnspan_clickhouse.store import dsn as dsns
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION

if TYPE_CHECKING:
    from turnspan_clickhouse.ship.background import BackgroundShipper

MAX_CONTENT = 2**20
"""Characters of messages that are written at once, if they are of several calls."""
PACED_CONTENT = 2**18
"""The same where others are given way: a block is made in C, without letting go of the interpreter,
and the fewer rows wait for it, the fewer a garbage collection finds alive (those that it finds make
the next full one come sooner)."""

_TICK_SECONDS = 0.5
_JOINS_NS = 5 * 10**8
"""A turn that began in no session may join one that begins inside it so soon."""
_SUPPRESS = "suppress_instrumentation"


class ClickHouseSpanExporter(RecordExporter):
    """Write spans into ClickHouse as ``llm_call``, ``turn_summary``, ``tool_call`` and other
    records.

    Works under any span processor. ``store`` is a DSN (default: TURNSPAN_STORE, else the embedded
    store in the user's data folder). ``project`` groups the records (default: TURNSPAN_PROJECT,
    else the service's name).

    If the environment names no usable place, records go to a temporary folder, and the log says so.

    Raises:
        DsnError: ``store`` is not a valid DSN; the message shows a valid one.
    """

    def __init__(self, store: str | None = None, *, project: str = "") -> None:
        self._dsn, wrong = dsns.for_recording(store)
        if wrong:
            with contextlib.suppress(OSError):  # where that is the temporary folder
                dsns.claim(self._dsn)
            logger.warning("%s See `turnspan doctor`.", wrong)
        if self._dsn.host:
            rerun_scope.landing_hosts.add(self._dsn.host)
        self._state = current()
        self._content = self._state.content
        self._spool = Spool(self._dsn.spool)
        self._writer = SpoolWriter(self._spool, self._writer_stats)
        shared = SharedAnswers(self._dsn.spool)
        self._normaliser = Normaliser(
            self._content, project, shared=shared, settings=lambda: self._state.settings
        )
        self._clock = Clock()
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._unwritten = Unwritten(self._write_block, self._lost)
        self._failing = False
        self._losing = False
        self._lost_rows = 0
        self._ticker: threading.Thread | None = None
        self._pid = self._configured_by = os.getpid()
        self._untold = Untold(self._gone)
        self._known, self._remaining = PipelineStats(), 0  # as last seen
        self._look_anew()
        self._unrecorded = watch.total()
        self._shipper: BackgroundShipper | None = None
        self._content.attach()
        prepare_writing()
        self._state.metrics.pricer = counters.price = cost_of_call
        counters.share(self._dsn.spool)
        self._start_threads()

    # -- SpanExporter ------------------

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans' records to the spool.

        Returns FAILURE if the spool cannot take some of them now. These wait in memory; what does
        not fit there counts as ``dropped``."""
        if os.getpid() != self._pid:  # under a processor that does not tell us of a fork
            self.after_fork()
        if self._ticker is None:
            self._start_ticker()
        with self._lock:
            batch = self._batch()
            soon = bool(spans)  # a flush asks by none
            self._add_announced(batch, spans, soon=soon)
            fine, limit = True, PACED_CONTENT if gives_way() else MAX_CONTENT

            def relieve() -> None:
                """Write the messages so far if they are many; the other rows can wait."""
                nonlocal fine
                if batch.content >= limit:
                    fine = self._write(batch, (MessageRow,)) is SpanExportResult.SUCCESS and fine
                    batch.content = 0

            self._normalise(spans, batch, relieve, again=soon)
            self._normaliser.running(batch, spans)
            self._normaliser.finish(batch)
            fine = self._write(batch) is SpanExportResult.SUCCESS and fine
            return SpanExportResult.SUCCESS if fine else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what has begun and, for a server store, ship what is spooled, within the time.

        True if that worked and nothing was lost since the last flush or ``sync`` that answered."""
        told, fine = self._untold.reported(), True
        # The lock only then: we may be in a signal's handler.
        if self._content.has_facts or self._unwritten.rows:
            fine = self._write_announced() is SpanExportResult.SUCCESS
        if self._shipper is not None:
            fine = self._shipper.flush(timeout_millis / 1000) and fine
        self._writer.publish_stats()
        self._tell_unrecorded()
        return self._nothing_since(told) and fine

    def sync(self) -> bool:
        """Make what was exported survive a power cut. True as for ``force_flush``."""
        told = self._untold.reported()
        fine = self._writer.sync() and not self._unwritten.rows
        return self._nothing_since(told) and fine

    def close_turns(self) -> None:
        """Write the turns that still wait for results of tools, as they stand."""
        self._write_announced(last=True)

    def shutdown(self) -> None:
        """Stop the threads and ship for a bounded time. The next start ships the rest."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self._ticker is not None and self._ticker is not threading.current_thread():
            self._ticker.join(timeout=2)
        self._write_announced(last=True)
        self._unwritten.give_up(SpoolError("the process ends"))
        landed = self._shipper is None or self._shipper.stop(timeout=5.0)
        if self.dropped() or not landed:
            logger.warning("Turnspan has not landed everything: %s.", self._state.stats.snapshot())
        self._writer.close()
        self._tell_unrecorded()
        self._content.detach()

    # -- statistics ------------------

    def remaining(self) -> int:
        """Segments in the spool that have not landed (0 for an embedded store: a reader lands them
        when it opens the store)."""
        if not self._dsn.embedded:
            with contextlib.suppress(OSError):  # too many open files
                self._remaining = len(self._spool.names())
        return self._remaining

    def unwritten(self) -> int:
        """Rows in memory that the spool could not take."""
        return self._unwritten.rows

    def dropped(self) -> dict[str, int]:
        """Records lost, by reason."""
        counts = Counter(self._dropped)
        counts.update(self._spool.dropped)
        return dict(counts)

    def snapshot(self) -> PipelineStats:
        """What is spooled, landed and refused, for all processes that write this spool."""
        with contextlib.suppress(OSError):  # too many open files
            self._known = replace(self._spool.usage().stats, queued=0, dropped={})
        return self._known

    def _nothing_since(self, told: Mapping[str, int]) -> bool:
        try:
            return self._untold.nothing_since(told)
        except OSError:  # too many open files: nobody knows
            return False

    def _look_anew(self) -> None:
        with contextlib.suppress(OSError):  # as above
            self._untold.reset()

    def _gone(self) -> dict[str, int]:
        """As ``dropped``, and what others refused or gave up of this process's segments."""
        elsewhere = self._spool.gone_of(host_and_pid(os.getpid()))
        return {**self.dropped(), **elsewhere}

    def farewell(self) -> str:
        """A message for the person who started the program, at its end; usually empty."""
        return what_next(self._dsn) if os.getpid() == self._configured_by else ""

    def _writer_stats(self) -> WriterStats:
        """What this process says of itself, for others to read."""
        running = self._state.stats.pipeline
        if running is None or running.exporter is not self:
            return WriterStats(0, self.dropped())
        return WriterStats(running.queued(), self._state.stats.dropped())

    def _tell_unrecorded(self) -> None:
        """Write down what the process saw that nothing records, if that is more than before."""
        calls = watch.total()
        if calls > self._unrecorded:
            self._unrecorded = calls
            with guard("exporter.unrecorded"):
                write_unrecorded(self._spool.folder, self._writer.token, watch.seen())

    def after_fork(self) -> None:
        """Give a forked child a writer of its own, without the parent's records."""
        self._unrecorded = 0
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._dropped = Counter()
        self._failing = self._losing = False
        self._unwritten.forget()
        self._content.after_fork()
        self._writer.after_fork()
        self._look_anew()
        self._normaliser.after_fork()
        self._start_threads()

    # -- writing ------------------

    def _batch(self) -> Batch:
        return Batch(self._writer.token, self._clock.now())

    def _write_announced(self, *, soon: bool = False, last: bool = False) -> SpanExportResult:
        with self._lock:
            batch = self._batch()
            self._add_announced(batch, (), soon=soon)
            self._normalise((), batch, again=soon)
            self._normaliser.running(batch, last=last)
            self._normaliser.finish(batch, last=last)
            return self._write(batch)

    def _normalise(
        self,
        spans: Sequence[ReadableSpan],
        batch: Batch,
        between: Callable[[], None] | None = None,
        *,
        again: bool,
    ) -> None:
        for error in self._normaliser.spans(spans, batch, between, again=again):
            errors.record("normalise", error, accounted=True)
            self._dropped["normalise_failed"] += 1

    def _add_announced(
        self, batch: Batch, spans: Sequence[ReadableSpan], *, soon: bool = False
    ) -> None:
        """Add what was told beside spans; of turns that have begun, those that have not ended.

        Where it is written again ``soon``, a turn that has just begun and may still join a session
        is kept for then: a row that has landed cannot change its session.
        """
        facts = self._content.take_facts()
        ended = {s.context.span_id for s in spans if s.context is not None} if facts else ()
        for fact in facts:
            passing = isinstance(fact, StartedTurn)
            if isinstance(fact, StartedTurn) and fact.span_id in ended:
                continue
            if soon and isinstance(fact, StartedTurn) and _may_join(fact, batch.written_at):
                self._content.tell(fact)
                continue
            try:
                self._normaliser.fact(fact, batch)
            except BaseException as error:  # noqa: BLE001  a poison fact costs only itself
                # Of a turn that runs, only that it does: its row follows when it ends.
                errors.record("normalise.fact", error, accounted=not passing)
                if not passing:
                    self._dropped["normalise_failed"] += 1

    def _write(self, batch: Batch, kinds: Sequence[type[Record]] = RECORDS) -> SpanExportResult:
        """Write a batch's rows of these kinds, and take them out of it, and what waits."""
        wrote, lost = self._unwritten.rows > 0, self._lost_rows
        failed = self._unwritten.write() if wrote else None
        for kind in kinds:
            rows = batch.rows.pop(kind, None)
            if not rows:
                continue
            wrote = True
            for count, block in blocks(kind, rows, self._not_encoded):
                self._unwritten.add(EncodedRows(kind, count, block))
                failed = self._unwritten.write()
        fine = failed is None and self._lost_rows == lost
        if wrote:
            if failed is not None or fine:
                self._say(failed)
            if self._shipper is not None:
                self._shipper.wake()
        return SpanExportResult.SUCCESS if fine else SpanExportResult.FAILURE

    def _write_block(self, block: EncodedRows) -> None:
        self._writer.write(block.kind.table, SCHEMA_VERSION, block.content)

    def _say(self, failed: SpoolError | None) -> None:
        """One line when the spool cannot be written, one when it can again."""
        if failed is None:
            if self._failing:
                logger.warning("Turnspan writes its spool again.")
            self._failing = self._losing = False
        elif not self._failing:
            self._failing = True
            logger.warning(
                "Turnspan cannot write its spool, records wait in memory, up to %d MB of them: %s",
                ROOM_BYTES // 2**20,
                failed,
            )

    def _not_encoded(self, error: Exception) -> None:
        errors.record("encode", error, accounted=True)
        self._dropped["encode_failed"] += 1

    def _lost(self, block: EncodedRows, error: SpoolError) -> None:
        self._dropped[f"spool_failed:{block.kind.table}"] += block.rows
        self._lost_rows += block.rows
        if block.kind in (MessageRow, Definition):
            self._normaliser.forget()  # they have not landed after all
        if not self._losing:  # one line for an outage, not one a batch
            self._losing = True
            logger.warning("Turnspan cannot write its spool, records are being lost: %s", error)

    # -- threads ------------------

    def _start_threads(self) -> None:
        self._ticker = None
        self._start_ticker()
        if not self._dsn.embedded:
            # 6 ms, which an embedded store need not pay. Not on a thread of ours: see preload.
            from turnspan_clickhouse.ship.background import BackgroundShipper

            self._shipper = BackgroundShipper(self._dsn, self._spool)
            self._shipper.start()

    def _start_ticker(self) -> None:
        ticker = threading.Thread(target=self._tick, name="turnspan-exporter", daemon=True)
        with contextlib.suppress(RuntimeError):  # the system has no thread to give: next time
            ticker.start()
            self._ticker = ticker

    def _tick(self) -> None:
        otel_context.attach(otel_context.set_value(_SUPPRESS, True))
        closed = self._closed
        while not closed.wait(_TICK_SECONDS):
            try:
                self._write_announced(soon=True)
                self._content.sweep()
                self._writer.publish_stats()
                self._tell_unrecorded()
            except BaseException as error:  # noqa: BLE001  the thread must live on
                errors.record("exporter.tick", error)


def _may_join(started: StartedTurn, now: int) -> bool:
    return not started.turn.placed and now - started.start_time < _JOINS_NS
