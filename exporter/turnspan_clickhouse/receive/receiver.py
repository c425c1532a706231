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
from dataclasses import replace

from opentelemetry import context as otel_context

from turnspan import semconv
from turnspan.runtime.guard import errors, logger
from turnspan.tracing.content_store import ContentStore
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.files.atomic_files import private_folder
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.normalise.requested_tools import SCOPE
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers
from turnspan_clickhouse.receive.decoded import Decoded, Received, in_order
from turnspan_clickhouse.receive.embedded_landing import lander
from turnspan_clickhouse.receive.landing_request import LandingRequest, Taken
from turnspan_clickhouse.receive.late_events import SilentCalls
from turnspan_clickhouse.receive.log_events import (
    LogEvent,
    Waiting,
    is_silent,
    judgment,
    service_of,
    with_events,
)
from turnspan_clickhouse.receive.outbox import Outbox
from turnspan_clickhouse.receive.receiver_stats import (
    BEAT_SECONDS,
    FOLDER,
    LeftOutCounts,
    ReceiverStats,
    write_receiver_stats,
)
from turnspan_clickhouse.receive.settings import FOLLOWING, NEWS, ReceiveSettings
from turnspan_clickhouse.receive.trace_buffer import Trace, TraceBuffer
from turnspan_clickhouse.rows.batch import Batch, Clock
from turnspan_clickhouse.rows.tables import LlmCall, Record, SpanRow, ToolCall, TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.spool.totals import WriterStats
from turnspan_clickhouse.spool.unrecorded_calls import forget_old
from turnspan_clickhouse.store.dsn import Dsn

MAX_SPANS_TOGETHER = 2_048
"""Spans of several requests that are written together."""
_TICK_SECONDS = 1.0
_END_SECONDS = 30.0
_MAX_EVENT_SENDERS = 1_000


class Receiver:
    """Lands the spans of other processes in a store's spool, and ships it: to a server at once, to
    an embedded store when much waits.

    ``project`` groups the records (else TURNSPAN_PROJECT, else the sender's service name).
    """

    def __init__(
        self, dsn: Dsn, *, project: str = "", settings: ReceiveSettings | None = None
    ) -> None:
        self.settings = settings or ReceiveSettings()
        self.spool = Spool(dsn.spool)
        self.writer = SpoolWriter(self.spool, self._of_writer)
        self.counts: Counter[str] = Counter()
        """``spans`` taken, ``again`` sent again, ``refused``, ``lost``; ``events`` taken, and of
        those ``unmatched``, whose span did not come."""
        self.book = TraceBuffer(self.settings)
        self._events = Waiting(self.settings.max_event_bytes, self.settings.give_up_after)
        self._event_senders: dict[str, None] = {}
        self._silent = SilentCalls(project)
        shared = SharedAnswers(dsn.spool)
        self._normaliser = Normaliser(ContentStore(), project, received=True, shared=shared)
        self._clock = Clock()
        self._outbox = Outbox(self.writer, fsync=self.settings.fsync)
        self.address = ""
        """Where it is listened for requests, for ``turnspan status``."""
        self.answers: Counter[str] = Counter()  # by HTTP status
        self.left_out = LeftOutCounts()
        self._started, self._told_at = time.time(), float("-inf")
        self._requests: deque[LandingRequest] = deque()
        self._under_way: deque[LandingRequest] = deque()
        """Large ones of which a part has landed."""
        self._changed = threading.Condition()
        self._stopping = False
        self.failure = ""
        """Why the spool cannot be written now; empty while it can."""
        self._shipper = lander(dsn, self.spool)
        self._thread = threading.Thread(target=self._run, name="turnspan-receiver", daemon=True)

    def start(self) -> None:
        """Begin to land what is submitted."""
        self._thread.start()
        self._shipper.start()

    def submit(self, decoded: Decoded) -> Future[Taken]:
        """Land a request's spans; the future is done when they are in the spool.

        The future raises SpoolError when the spool cannot take them now.
        """
        request = LandingRequest(decoded, Future())
        request.answer.set_running_or_notify_cancel()  # who stops waiting does not stop the landing
        with self._changed:
            if self._stopping:
                request.answer.set_exception(SpoolError("the receiver is stopping"))
                return request.answer
            self._requests.append(request)
            self._changed.notify()
        return request.answer

    def waits_for_events(self, decoded: Decoded) -> bool:
        """Whether there are root calls in it that say nothing themselves, of a service that tells
        their content in events, and those have not come. (Other calls can be told again.)"""
        return bool(self._event_senders) and any(
            not one.parent_id
            and (one.trace_id, one.span_id) not in self._events
            and service_of(one.span.resource) in self._event_senders
            and is_silent(one.span)
            for one in decoded.spans
        )

    def stop(self, timeout: float = 5.0) -> None:
        """Land what was submitted and the turns under way, then ship for so many seconds."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(_END_SECONDS)
        self._shipper.stop(timeout=timeout)
        self.writer.close()

    # -- the thread ------------------

    def _run(self) -> None:
        otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work, _TICK_SECONDS)
                requests = self._next()
                more = self._requests or self._under_way or any(len(r.parts) > 1 for r in requests)
                last = self._stopping and not more
            if requests or last or self._outbox or self.book.waiting():
                self._commit(requests, last)
            self._tell(last)
            if last:
                return

    def _has_work(self) -> bool:
        return bool(self._requests or self._under_way or self._stopping)

    def _next(self) -> list[LandingRequest]:
        """The requests of which a part is landed now: new ones before the rest of large ones, and
        of those one at least."""
        taken: list[LandingRequest] = []
        spans = 0
        while self._requests and (not taken or spans < MAX_SPANS_TOGETHER):
            taken.append(self._requests.popleft())
            spans += len(taken[-1].parts[-1])
        if self._under_way:
            taken.append(self._under_way.popleft())
        return taken

    def _commit(self, requests: Sequence[LandingRequest], last: bool) -> None:
        try:
            self._outbox.write()  # what the spool did not take before
            begin = [request for request in requests if not request.begun]
            late = self._tell_events([one for r in begin for one in r.decoded.events])
            poison = self._take([one for r in requests for one in r.parts[-1]], last)
            self._outbox.write()
        except SpoolError as error:
            self.failure = str(error)
            if last:
                logger.warning("Turnspan receive: turns under way are lost: %s", error)
            for request in requests:
                request.answer.set_exception(SpoolError(str(error)))
            return
        except Exception as error:  # noqa: BLE001  the thread must live on
            errors.record("receive", error)
            self.counts["lost"] += sum(len(part) for r in requests for part in r.parts)
            for request in requests:
                request.answer.set_exception(error)
            return
        if last:
            self.counts["unmatched"] += self._events.given_up(everything=True)
        self.failure = ""
        if any(request.decoded.completes_transcripts for request in requests):
            self._tell_followers()
        self._shipper.wake()
        for request in requests:
            request.parts.pop()
            request.begun = True
            request.poison |= poison
            request.late |= late
            if request.parts:
                self._under_way.append(request)
            else:
                refused = request.refused()
                self.counts["refused"] += refused.total() - request.decoded.left_out.total()
                self.left_out.add(request.decoded.left_out)
                request.answer.set_result(Taken(dict(refused)))

    def _tell_followers(self) -> None:
        """Wake who completes transcripts' records, by a folder that changes."""
        with contextlib.suppress(OSError):  # they look again before long
            private_folder(self.spool.folder / FOLLOWING / NEWS)
            (self.spool.folder / FOLLOWING / NEWS / "received").touch()

    def _take(self, spans: Sequence[Received], last: bool) -> set[tuple[str, str]]:
        """Turn spans into blocks that wait to be written; returns the ids of poison ones."""
        batch = Batch(self.writer.token, self._clock.now())
        poison: set[tuple[str, str]] = set()
        fresh = self.book.new(spans)
        for news in fresh.values():
            news[:] = [self._spoken(one) for one in news]
        count = sum(map(len, fresh.values()))
        self.counts["spans"] += count
        self.counts["again"] += len(spans) - count
        for trace_id, news in fresh.items():
            self._land(self.book.open(trace_id), news, batch, poison)
        done = self._settle(batch, last)
        self._normaliser.finish(batch, self._is_ready, last=last)
        self._keep_identity(batch.rows.get(TurnSummary, []))
        for trace in self.book.stale():
            self._forget(trace, again=True)
        for trace in done:
            self._forget(trace, again=False)
            self.book.close(trace)
        self._outbox.add(batch, self._not_encoded)
        return poison

    def _spoken(self, one: Received) -> Received:
        """A span with what its events said before it came."""
        events = self._events.take((one.trace_id, one.span_id))
        if not events:
            return one
        size = one.size + sum(event.size for event in events)
        return replace(one, span=with_events(one.span, events), size=size)

    def _tell_events(self, events: Sequence[LogEvent]) -> set[int]:
        """Give events to their spans, or keep them until those come; returns the ids of those that
        come too late."""
        self.counts["unmatched"] += self._events.given_up()
        if not events:
            return set()
        batch = Batch(self.writer.token, self._clock.now())
        late: set[int] = set()
        again: dict[str, list[LogEvent]] = {}
        after: dict[tuple[str, str], list[LogEvent]] = {}
        for event in events:
            trace = self.book.get(event.trace_id)
            one = trace.spans.get(event.span_id) if trace is not None else None
            if event.name == semconv.EVENT_EVALUATION:
                self._normaliser.fact(judgment(event, one.span if one else None), batch)
            elif one is not None:
                again.setdefault(event.trace_id, []).append(event)
            elif event.span in self._silent:
                after.setdefault(event.span, []).append(event)
            elif self.book.came(*event.span):
                late.add(id(event))
            else:
                self._events.add(event)
                self._event_senders[service_of(event.resource)] = None
                if len(self._event_senders) > _MAX_EVENT_SENDERS:
                    del self._event_senders[next(iter(self._event_senders))]
        for span, said in after.items():
            try:
                self._silent.tell(span, said, batch)
            except Exception as error:  # noqa: BLE001  poison events cost only themselves
                errors.record("normalise", error)
                late.update(map(id, said))
        for trace_id, news in again.items():
            trace = self.book.open(trace_id)
            self.book.tell(trace, news)
            self._land(trace, (), batch, set())
        self.counts["events"] += len(events) - len(late)
        self._outbox.add(batch, self._not_encoded)
        return late

    def _settle(self, batch: Batch, last: bool) -> list[Trace]:
        """Find the traces whose derived turns may land now; returns those to let go of."""
        done = self.book.all() if last else self.book.expired()
        quiet = [trace for trace in self.book.quiet() if not trace.missing]
        for trace in (*quiet, *done):
            if trace.about_model and not trace.settled:
                trace.settled = True
                if trace.stale:
                    self._land(trace, (), batch, set())
        gone = {trace.id for trace in done}
        return done + [t for t in quiet if not t.about_model and t.id not in gone]

    def _land(
        self,
        trace: Trace,
        news: Sequence[Received],
        batch: Batch,
        poison: set[tuple[str, str]],
    ) -> None:
        before = trace.size
        again = trace.add(news)
        todo = news
        if again:
            self._forget(trace, again=True)
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
                    poison.add((one.trace_id, one.span_id))
        calls = [row for row in inner.rows.get(LlmCall, []) if isinstance(row, LlmCall)]
        for one in news if calls else ():
            self._silent.landed(one, calls)
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
                    known = trace.derived.setdefault(row.turn_id, (row.session_id, row.start_time))
                    row.session_id, row.start_time = known

    def _forget(self, trace: Trace, *, again: bool) -> None:
        sessions = trace.sessions if again else None
        self._normaliser.forget_trace(trace.id, trace.turn_ids, trace.calls, sessions)

    def _of_writer(self) -> WriterStats:
        dropped = Counter(self.spool.dropped)
        if self.counts["lost"]:
            dropped["receive_failed"] = self.counts["lost"]
        if self.counts["unmatched"]:
            dropped["events_without_span"] = self.counts["unmatched"]
        return WriterStats(0, dict(dropped))

    def _tell(self, last: bool) -> None:
        now = time.monotonic()
        if not last and now - self._told_at < BEAT_SECONDS:
            return
        self._told_at = now
        self.writer.publish_stats()
        stats = ReceiverStats(
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
            left_out=dict(self.left_out),
        )
        with contextlib.suppress(OSError):  # the spool's trouble shows where records are written
            write_receiver_stats(self.spool.folder, stats)
            if last:
                forget_old(self.spool.folder / FOLDER)

    def _not_encoded(self, error: Exception) -> None:
        errors.record("encode", error)
        self.counts["lost"] += 1
