"""Importing a log: its parts -> rows -> the spool, then how far that is, then the store.

A part's rows are on disk before the position that says so is, and a part imported twice is the same
rows: so an import that is killed is gone on with by the next one, and nothing is there twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from opentelemetry import context as otel_context

from turnspan.tracing.content_store import ContentStore
from turnspan_clickhouse.errors import StoreUnavailableError
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.receive.outbox import Outbox
from turnspan_clickhouse.rows.batch import Batch, Clock
from turnspan_clickhouse.rows.keeping_tables import ImportPosition
from turnspan_clickhouse.rows.tables import Definition
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import Opener
from turnspan_records.access.questions import ask
from turnspan_records.importing.sources import ImportReport, Part, Problem, Restarting, SourceLog

Progress = Callable[[int, int], None]

_ROWS_TOGETHER: Final = 20_000
_CONTENT_TOGETHER: Final = 16 * 2**20
"""Rows, and characters of messages, that are written together."""
_WRITES_TOGETHER: Final = 8
"""How often that is done before what was written is shipped."""


def import_log(
    opener: Opener,
    spool: Spool,
    log: SourceLog,
    *,
    project: str = "",
    again: bool = False,
    known: tuple[str, int] | None = None,
    writer: SpoolWriter | None = None,
    progress: Progress = lambda done, total: None,
    ended: Callable[[], bool] = lambda: False,
) -> ImportReport:
    """Import a log into a store, from where the last import of it had come to.

    Args:
        opener: gives the store; it is closed in between, so that others may use an embedded one.
        spool: where the rows go; they land if the store takes them.
        log: what is imported.
        project: of the records; else each record's service name.
        again: from the beginning, whatever was imported before. Nothing is there twice after it.
        known: how far this process has imported the log (``ImportReport.reached``): the store is
            then not asked, and what is read waits in the spool where the store is away.
        writer: whose rows they are; it stays open, and turns that run stay so as long as it is.
            Else one that ends with the import.
        progress: told how many rows of the source of how many are read.
        ended: whether to stop after the part that was just read.

    Raises:
        SourceLogError: the source cannot be read. What was read before it is imported.
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    if known is None:
        with opener() as store:
            known = position_of(store, log.kind, log.identity, project)
    after, rows_before = known or ("", 0)
    if again:
        after, rows_before = log.again(after) if isinstance(log, Restarting) else "", 0
    resumed = known is not None and not again
    report = ImportReport(log.kind, log.identity, project, resumed=resumed, reached=known)
    token = otel_context.attach(otel_context.set_value("suppress_instrumentation", True))
    rows = _Writer(opener, writer or SpoolWriter(spool), log, report, rows_before)
    try:
        total = log.total(after)
        for part in log.parts(after):
            rows.add(part)
            progress(report.source_rows, max(total, report.source_rows))
            if ended():
                break
    finally:
        otel_context.detach(token)
        rows.finish(close=writer is None)
    return report


def position_of(store: Store, kind: str, source: str, project: str) -> tuple[str, int] | None:
    """How far a source is imported, and how many of its rows that took; None: not at all."""
    rows = ask(store, "importing/position", project=project, kind=kind, source=source).rows
    return (str(rows[0][0]), int(rows[0][1])) if rows else None


class _Writer:
    """Makes rows of parts, and writes them."""

    def __init__(
        self, opener: Opener, writer: SpoolWriter, log: SourceLog, report: ImportReport, before: int
    ) -> None:
        self._opener = opener
        self._log = log
        self._report = report
        self._before = before
        self._began = time.time_ns()
        self._content = ContentStore()
        self._content.attach()
        self._normaliser = Normaliser(self._content, report.project, received=True)
        self._writer = writer
        self._outbox = Outbox(writer, fsync=True)
        self._clock = Clock()
        self._batch = self._new_batch()
        self._definitions: dict[tuple[str, bytes], Definition] = {}
        self._position = ""
        self._writes = 0

    def add(self, part: Part) -> None:
        """Make a part's rows, and write what has come together."""
        batch = Batch(self._batch.writer, self._batch.written_at)
        self._make_rows(part, batch)
        self._take(batch)
        report = self._report
        report.seen.update(part.seen)
        for problem in part.problems:
            report.add_problem(problem)
        if part.ask is None or self._ask(part.ask):
            self._position = part.position or self._position
        if len(self._batch) >= _ROWS_TOGETHER or self._batch.content >= _CONTENT_TOGETHER:
            self._write()

    def _take(self, batch: Batch) -> None:
        """A part's rows. A definition that several parts have is written once, as the last of them
        has it: which one wins does not depend on what was written together."""
        for row in batch.rows.pop(Definition, ()):
            assert isinstance(row, Definition)
            self._definitions[row.project, row.hash] = row
        for rows in batch.rows.values():
            for row in rows:
                self._batch.add(row)
        self._batch.content += batch.content

    def finish(self, *, close: bool) -> None:
        """Write and ship the rest; ``close`` gives the writer up."""
        try:
            self._write()
            self._ship()
        finally:
            if close:
                self._writer.close()

    def _make_rows(self, part: Part, batch: Batch) -> None:
        normaliser = self._normaliser
        for span, content in part.contents:
            context = span.context
            if context is not None:
                self._content.put(context.trace_id, context.span_id, content)
        for error in normaliser.spans(part.spans, batch):
            self._report.add_problem(Problem("a span made of a row", f"it was left out: {error}"))
        normaliser.finish(batch, last=True)
        for fact in part.facts:
            try:
                normaliser.fact(fact, batch)
            except Exception as error:  # noqa: BLE001  what one row says costs only itself
                what = f"a {type(fact).__name__} made of a row"
                self._report.add_problem(Problem(what, f"it was left out: {error}"))
        if part.amend is not None:
            part.amend(batch)
        normaliser.after_fork()  # knows nothing of this part any more

    def _write(self) -> None:
        batch, self._batch = self._batch, self._new_batch()
        for definition in self._definitions.values():
            batch.add(definition)
        self._definitions.clear()
        for kind, rows in batch.rows.items():
            self._report.rows[kind.table] += len(rows)
        self._outbox.add(batch, self._not_written)
        self._outbox.write()
        if self._position:
            self._remember(self._position)
        self._writes += 1
        if self._writes % _WRITES_TOGETHER == 0:
            self._ship()

    def _remember(self, position: str) -> None:
        """Only now, when the rows before it are on disk."""
        batch = self._new_batch()
        report, log = self._report, self._log
        rows = self._before + report.source_rows
        names = (report.project, log.kind, log.identity, position)
        batch.add(ImportPosition(*names, rows, self._began, written_at=batch.written_at))
        self._outbox.add(batch, self._not_written)
        self._outbox.write()
        report.reached = position, rows

    def _ask(self, ask: Callable[[Store], None]) -> bool:
        """Whether the store was there."""
        self._write()
        self._ship()
        if not self._report.waiting:
            with self._opener() as store:
                ask(store)
        return not self._report.waiting

    def _ship(self) -> None:
        try:
            with self._opener() as store:
                result = ship(store, spool=self._writer.spool)
        except StoreUnavailableError as error:
            self._report.waiting = str(error)
            return
        self._report.waiting = result.errors[0] if result.errors else ""

    def _not_written(self, error: Exception) -> None:
        self._report.add_problem(Problem("a row made of a row", f"it was left out: {error}"))

    def _new_batch(self) -> Batch:
        return Batch(self._writer.token, self._clock.now())
