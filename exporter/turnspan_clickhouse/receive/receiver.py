"""The receiver: spans that came in -> records in the spool, acknowledged when they are there.

One thread takes all requests that wait, normalises their spans together and writes one set of
segments, so that many small requests cost few files. A request is answered after that.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from opentelemetry import context as otel_context

from turnspan.content.ledger import Ledger
from turnspan.guard import errors, logger
from turnspan_clickhouse.background import BackgroundShipper
from turnspan_clickhouse.batch import Batch, Clock
from turnspan_clickhouse.blocks import blocks
from turnspan_clickhouse.dsn import Dsn
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.migrate import SCHEMA_VERSION
from turnspan_clickhouse.normalise import Normaliser
from turnspan_clickhouse.normalise.requested import SCOPE
from turnspan_clickhouse.receive.accounts import (
    BEAT_SECONDS,
    Account,
    forget_old,
    write_account,
)
from turnspan_clickhouse.receive.settings import ReceiveSettings
from turnspan_clickhouse.receive.spans import Decoded, Received, in_order
from turnspan_clickhouse.receive.traces import Trace, TraceBook
from turnspan_clickhouse.records import RECORDS, LlmCall, Record, SpanRow, ToolCall, TurnSummary
from turnspan_clickhouse.spool import Spool, SpoolWriter
from turnspan_clickhouse.totals import Account as WriterAccount

MAX_SPANS_TOGETHER = 8_192
"""Spans of several requests that are written together."""
_TICK_SECONDS = 1.0
_RECOUNT_SECONDS = 2.0
_END_SECONDS = 30.0
_POISON = "the span cannot be read"


@dataclass(slots=True)
class Taken:
    """What became of a request's spans; ``refused`` counts by reason."""

    refused: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class _Request:
    decoded: Decoded
    answer: Future[Taken]


class Receiver:
    """Lands the spans of other processes in a store's spool, and ships it where that is a server's.

    ``project`` groups the records (else TURNSPAN_PROJECT, else the sender's service name).
    """

    def __init__(
        self, dsn: Dsn, *, project: str = "", settings: ReceiveSettings | None = None
    ) -> None:
        self.settings = settings or ReceiveSettings()
        self.spool = Spool(dsn.spool)
        self.writer = SpoolWriter(self.spool, self._of_writer)
        self.counts: Counter[str] = Counter()
        """Spans since it began: ``spans`` taken, ``again`` sent again, ``refused``, ``lost``."""
        self.book = TraceBook(self.settings)
        self._normaliser = Normaliser(Ledger(), project, received=True)
        self._clock = Clock()
        self._unwritten: deque[tuple[str, int, bytes]] = deque()
        self.address = ""
        """Where it is listened for requests, for ``turnspan status``."""
        self.answers: Counter[str] = Counter()
        """Requests answered, by HTTP status."""
        self._started, self._told_at = time.time(), float("-inf")
        self._requests: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self.failure = ""
        """Why the spool cannot be written now; empty while it can."""
        self._used, self._recount_at = 0, 0.0
        self._shipper = None if dsn.embedded else BackgroundShipper(dsn, self.spool)
        self._thread = threading.Thread(target=self._run, name="turnspan-receiver", daemon=True)

    def start(self) -> None:
        """Begin to land what is submitted."""
        self._thread.start()
        if self._shipper is not None:
            self._shipper.start()

    def submit(self, decoded: Decoded) -> Future[Taken]:
        """Land a request's spans; the future is done when they are in the spool.

        The future raises SpoolError when the spool cannot take them now.
        """
        request = _Request(decoded, Future())
        request.answer.set_running_or_notify_cancel()  # who stops waiting does not stop the landing
        with self._changed:
            if self._stopping:
                request.answer.set_exception(SpoolError("the receiver is stopping"))
                return request.answer
            self._requests.append(request)
            self._changed.notify()
        return request.answer

    def stop(self, timeout: float = 5.0) -> None:
        """Land what was submitted and the turns under way, then ship for so many seconds."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(_END_SECONDS)
        if self._shipper is not None:
            self._shipper.stop(timeout=timeout)
        self.writer.close()

    # -- the thread ------------------

    def _run(self) -> None:
        otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._requests or self._stopping, _TICK_SECONDS)
                requests = self._next()
                last = self._stopping and not self._requests
            if requests or last or self._unwritten or self.book.waiting():
                self._commit(requests, last)
            self._tell(last)
            if last:
                return

    def _next(self) -> list[_Request]:
        taken: list[_Request] = []
        spans = 0
        while self._requests and (not taken or spans < MAX_SPANS_TOGETHER):
            request = self._requests.popleft()
            taken.append(request)
            spans += len(request.decoded.spans)
        return taken

    def _commit(self, requests: Sequence[_Request], last: bool) -> None:
        try:
            self._write()  # what the spool did not take before
            poison = self._take([one for r in requests for one in r.decoded.spans], last)
            self._write()
        except SpoolError as error:
            self.failure = str(error)
            if last:
                logger.warning("Turnspan receive: turns under way are lost: %s", error)
            for request in requests:
                request.answer.set_exception(SpoolError(str(error)))
            return
        except Exception as error:  # noqa: BLE001  the thread must live on
            errors.record("receive", error)
            self.counts["lost"] += sum(len(r.decoded.spans) for r in requests)
            for request in requests:
                request.answer.set_exception(error)
            return
        self.failure = ""
        if self._shipper is not None:
            self._shipper.wake()
        for request in requests:
            refused = Counter(request.decoded.refused)
            bad = sum(id(one) in poison for one in request.decoded.spans)
            if bad:
                refused[_POISON] += bad
            self.counts["refused"] += refused.total()
            request.answer.set_result(Taken(dict(refused)))

    def _take(self, spans: Sequence[Received], last: bool) -> set[int]:
        """Turn spans into blocks that wait to be written; returns the ids of poison objects."""
        batch = Batch(self.writer.token, self._clock.now())
        poison: set[int] = set()
        fresh = self.book.new(spans)
        count = sum(map(len, fresh.values()))
        self.counts["spans"] += count
        self.counts["again"] += len(spans) - count
        for trace_id, news in fresh.items():
            self._land(self.book.open(trace_id), news, batch, poison)
        done = self._settle(batch, last)
        self._normaliser.finish(batch, self._is_ready)
        self._keep_identity(batch.rows.get(TurnSummary, []))
        for trace in self.book.stale():
            self._forget(trace)
        for trace in done:
            self._forget(trace)
            self.book.close(trace)
        self._encode(batch)
        return poison

    def _settle(self, batch: Batch, last: bool) -> list[Trace]:
        """Find the traces whose derived turns may land now; returns those to let go of."""
        done = self.book.all() if last else self.book.expired()
        quiet = [trace for trace in self.book.quiet() if trace.whole]
        for trace in (*quiet, *done):
            if trace.about_model and not trace.settled:
                trace.settled = True
                if trace.stale:
                    self._land(trace, (), batch, set())
        gone = {trace.id for trace in done}
        return done + [t for t in quiet if not t.about_model and t.id not in gone]

    def _land(self, trace: Trace, news: Sequence[Received], batch: Batch, poison: set[int]) -> None:
        before = trace.size
        again = trace.add(news)
        todo = news
        if again:
            self._forget(trace)
            todo = list(trace.spans.values())
        trace.stale = False
        fresh = {one.span_id for one in news}
        inner = Batch(batch.writer, batch.written_at)
        for one in in_order(todo):
            try:
                self._normaliser.span(one.span, inner)
            except Exception as error:  # noqa: BLE001  a poison span costs only itself
                if one.span_id in fresh:
                    errors.record("normalise", error)
                    poison.add(id(one))
        for rows in inner.rows.values():
            self._keep(trace, rows, fresh, batch)
        self.book.account(trace, before)

    def _keep(self, trace: Trace, rows: Iterable[Record], fresh: set[str], batch: Batch) -> None:
        """Add a trace's rows to the batch; those of spans that landed keep their identity."""
        for row in rows:
            if isinstance(row, SpanRow):
                if row.span_id not in fresh:
                    continue  # it is as it was
            elif isinstance(row, (LlmCall, ToolCall, TurnSummary)):
                row.session_id = trace.sessions.setdefault(row.span_id, row.session_id)
                if isinstance(row, LlmCall):
                    trace.calls.add(row.span_id)
                    if not row.parent_span_id:  # a call of a conversation that has many traces
                        trace.fix()
            batch.add(row)

    def _is_ready(self, row: TurnSummary) -> bool:
        if not row.parent_span_id:
            return True
        trace = self.book.get(row.trace_id)
        return trace is None or trace.settled

    def _keep_identity(self, rows: Iterable[Record]) -> None:
        """A derived turn that landed stays the same record when earlier calls come late."""
        for row in rows:
            if isinstance(row, TurnSummary) and row.scope_name == SCOPE and row.parent_span_id:
                trace = self.book.get(row.trace_id)
                if trace is not None:
                    trace.derived = trace.derived or (row.session_id, row.start_time)
                    row.session_id, row.start_time = trace.derived

    def _forget(self, trace: Trace) -> None:
        self._normaliser.forget_trace(trace.id, trace.turn_ids, trace.calls)

    def _of_writer(self) -> WriterAccount:
        dropped = Counter(self.spool.dropped)
        if self.counts["lost"]:
            dropped["receive_failed"] = self.counts["lost"]
        return WriterAccount(0, dict(dropped))

    def _tell(self, last: bool) -> None:
        now = time.monotonic()
        if not last and now - self._told_at < BEAT_SECONDS:
            return
        self._told_at = now
        self.writer.tell()
        account = Account(
            token=self.writer.token,
            address=self.address,
            started=self._started,
            updated=time.time(),
            ended=last,
            spans=self.counts["spans"],
            again=self.counts["again"],
            refused=self.counts["refused"],
            lost=self.counts["lost"],
            traces_under_way=len(self.book),
            failure=self.failure,
            answers=dict(self.answers),
        )
        with contextlib.suppress(OSError):  # the spool's trouble shows where records are written
            write_account(self.spool.folder, account)
            if last:
                forget_old(self.spool.folder)

    # -- the spool ------------------

    def _check_room(self, size: int) -> None:
        """Raise SpoolError where so much more would overfill the spool: it would make room by
        dropping what was acknowledged."""
        limit, now = self.spool.limit_bytes, time.monotonic()
        if now >= self._recount_at or self._used + size > limit:
            self._used = sum(s.size for s in (*self.spool.segments(), *self.spool.rejected()))
            self._recount_at = now + _RECOUNT_SECONDS
        if self._used + size > limit:
            raise SpoolError(
                f"the spool {self.spool.folder} is full ({limit:,} bytes): make the store "
                "reachable and run `turnspan ship`"
            )
        self._used += size

    def _encode(self, batch: Batch) -> None:
        for kind in RECORDS:
            rows = batch.rows.get(kind)
            if rows:
                for count, block in blocks(kind, rows, self._not_encoded):
                    self._unwritten.append((kind.table, count, block))

    def _not_encoded(self, error: Exception) -> None:
        errors.record("encode", error)
        self.counts["lost"] += 1

    def _write(self) -> None:
        """Write what waits. What cannot be written stays, and nothing new is taken before it: a
        request that comes again then finds its spans landed."""
        while self._unwritten:
            table, _, block = self._unwritten[0]
            self._check_room(len(block))
            self.writer.write(table, SCHEMA_VERSION, block, sync=self.settings.fsync)
            self._unwritten.popleft()
