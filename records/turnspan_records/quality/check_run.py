"""Look what became of what agents wrote, and write it down, a number of artifacts at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import Final

from turnspan_clickhouse.rows import judgment_tables, loop_tables, tables
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_records.access import Opener
from turnspan_records.access.row_writer import judging_spool, write_rows
from turnspan_records.quality.artifact_checks import (
    PAGE,
    ArtifactCheck,
    ArtifactFilter,
    ArtifactPage,
    how_many,
    next_page,
)
from turnspan_records.quality.finding_rows import FindingWriter, Found, similarity
from turnspan_records.quality.sources import RevisionSource

WINDOW: Final = timedelta(days=14)
"""How long a text has to stay as it is to count as used."""


@dataclass(slots=True)
class QualityReport:
    """The result of a run."""

    checks: list[ArtifactCheck] = field(default_factory=list[ArtifactCheck])
    """One for each artifact that was looked at, in the order of their targets."""
    judgments: int = 0
    """Judgments that were written, of artifacts and of turns."""
    waiting: str = ""
    """Why something waits in the spool, if it does."""

    @property
    def counts(self) -> Counter[str]:
        """The number of each decision."""
        return Counter(one.decision for one in self.checks)


def check_quality(
    opener: Opener,
    spool: Spool,
    source: RevisionSource,
    *,
    wanted: ArtifactFilter | None = None,
    window: timedelta = WINDOW,
    progress: Callable[[int, int], None] = lambda done, total: None,
    clock: Callable[[], int] = time.time_ns,
    together: int = PAGE,
) -> QualityReport:
    """Ask a source what happened to artifacts, and record the answers.

    Asks about artifacts that were never checked, or were checked before their window ended. Each
    page of artifacts is on disk before the next one is asked for, so the next run continues a
    killed one.

    Args:
        opener: opens the store for one step. It may be closed in between, so that other processes
            can use an embedded store while the source is asked.
        spool: where the rows go. They land at once if the store takes them.
        source: the wiki or the repository.
        wanted: which artifacts (default: all).
        window: how long a text must stay unchanged.
        progress: called with the number done and the total.
        clock: nanoseconds since the epoch.
        together: how many artifacts to ask for before the answers are written.

    Raises:
        MayNotInsertError: the store's user may not insert.
        SourceError: the source does not answer. Earlier answers are recorded.
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    wanted = wanted or ArtifactFilter()
    report = QualityReport()
    after = ("", "", "")
    with opener() as store:
        judging_spool(store, *_TABLES)
        total = how_many(store, wanted, source.name, window)
    while True:
        with opener() as store:
            page = next_page(store, wanted, source.name, window, after, together)
        if page is None:
            return report
        found: list[Found] = []
        try:
            for one in source.verdicts(page.written, window):
                found.append(one)
                progress(len(report.checks) + len(found), total)
        finally:
            _record(
                opener,
                spool,
                FindingWriter(source.author, source.name, clock()),
                page,
                found,
                report,
            )
        after = page.last


def _record(
    opener: Opener,
    spool: Spool,
    recorder: FindingWriter,
    page: ArtifactPage,
    found: Sequence[Found],
    report: QualityReport,
) -> None:
    if not found:
        return
    order = {one.artifact_id: at for at, one in enumerate(page.written)}
    in_order = sorted(found, key=lambda one: order[one[0].artifact_id])
    with opener() as store:
        recorded = recorder.record(
            in_order, page.before, page.of_turns, lambda one, other: similarity(store, one, other)
        )
        recorded.rows.sort(key=lambda row: _ORDER.index(row.table))
        for _, rows in groupby(recorded.rows, key=lambda row: row.table):
            write_rows(spool, [*rows])
        result = ship(store, spool=spool)
    report.checks += recorded.checks
    report.judgments += sum(row.table == "annotation" for row in recorded.rows)
    if result.errors:
        report.waiting = result.errors[0]


_TABLES: Final = (
    *(tables.Definition, loop_tables.ArtifactRow),
    *(tables.Withdrawal, tables.Annotation, judgment_tables.ArtifactCheckRow),
)
_ORDER: Final = tuple(table.table for table in _TABLES)
"""The order in which they have to be on disk."""
