"""What became of everything recorded: one count, for everybody who asks.

``flush()``, the metrics and the log line of this process take it from here, and the exporter writes
it down for ``turnspan status`` and ``turnspan doctor`` in other processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

REASONS: Final[Mapping[str, str]] = {
    "not_configured": "spans begun before or without `turnspan.configure()`",
    "queue_full": "the oldest spans of a full queue (`queue_size`)",
    "after_shutdown": "spans that ended after `turnspan.shutdown()`",
    "export_failed": "spans whose export failed",
    "normalise_failed": "spans and judgments that could not become records",
    "encode_failed": "rows with a value that cannot be shown as text",
    "spool_failed": "rows for which spool and memory (64 MiB) had no room",
    "spool_full": "the least important rows of a full spool",
    "ledger_full": "content of spans under way, beyond 100,000",
    "ledger_expired": "content of spans that did not end in 15 minutes",
    "turns_full": "news that turns began, beyond 10,000; final rows are kept",
    "judgments_full": "judgments, beyond 100,000 waiting",
    "contexts_full": "news of context assemblies, beyond 10,000 waiting",
    "context_items_full": "items of one context assembly, beyond 50,000",
    "loop_full": "artifacts and news of the improvement loop, beyond 10,000 to 100,000 waiting",
    "consortia_full": "news of consortium runs, beyond 100,000 waiting",
    "metrics_full": "measurements, too many waiting",
    "internal_error": "telemetry lost by an error in Turnspan",
    "receive_failed": "spans that a receiver took and could not land",
    "events_without_span": "events that a receiver took and whose span did not come",
}
"""What is lost, by reason. Some counts name the table after a colon."""


@dataclass(frozen=True, slots=True)
class PipelineStats:
    """Spans in the process, rows after it. The spool and what left it is shared by all processes
    that write it; queued and dropped are one process's, or all processes' where the whole spool is
    told of."""

    queued: int = 0
    """Spans that ended and are not in the spool yet, and rows that it could not take yet."""
    spooled: int = 0
    """Rows in the spool, durable, that have not landed."""
    shipped: int = 0
    """Rows that have landed since the spool was made."""
    rejected: int = 0
    """Rows that the store refused for good, set aside (``turnspan ship --rejected``)."""
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Spans and rows that are lost, by reason."""

    def __str__(self) -> str:
        lost = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.dropped.items()))
        return (
            f"queued {self.queued:,}, spooled {self.spooled:,}, shipped {self.shipped:,}, "
            f"rejected {self.rejected:,}, dropped {sum(self.dropped.values()):,}"
            + (f" ({lost})" if lost else "")
        )


@dataclass(frozen=True, slots=True)
class FlushResult:
    """The result of a flush."""

    ok: bool
    """Whether all earlier records have arrived (see ``flush``), and nothing was lost since the last
    flush."""
    remaining: int
    """Queued spans and spooled records that have not landed, those of other processes included. For
    an embedded store, only records that are not in the spool yet."""
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Spans and records lost so far in this process, by reason."""
    accounts: PipelineStats = field(default_factory=PipelineStats)
    """The same figures as the metrics and ``turnspan status``."""

    def __bool__(self) -> bool:
        return self.ok


class Untold:
    """The losses that no flush has told of yet.

    A flush asks ``told`` when it begins and ``nothing_since`` when it ends, so that of two at once
    both tell of what was lost before either ended.
    """

    def __init__(self, counts: Callable[[], Mapping[str, int]]) -> None:
        self._counts = counts
        self._told: Mapping[str, int] = {}

    def reset(self) -> None:
        """From now on only what is yet to be lost."""
        self._told = dict(self._counts())

    def reported(self) -> Mapping[str, int]:
        """What was lost by the last flush that answered."""
        return self._told

    def nothing_since(self, told: Mapping[str, int]) -> bool:
        """Whether nothing was lost beside that; everything is told of now."""
        self._told = now = dict(self._counts())
        return all(count <= told.get(reason, 0) for reason, count in now.items())


class Pipeline(Protocol):
    """What a recorder's spans go through to become records (``pipeline.processor``)."""

    exported: int
    """Spans that the exporter has accepted."""

    @property
    def exporter(self) -> object:
        """Where they go."""
        ...

    def queued(self) -> int:
        """Spans waiting for their export."""
        ...

    def pending(self) -> int:
        """What the exporter has accepted and not yet landed."""
        ...

    def dropped(self) -> dict[str, int]:
        """Spans and records lost, by reason."""
        ...

    def snapshot(self) -> PipelineStats:
        """What is spooled, shipped and rejected."""
        ...


class Stats:
    """What became of everything that one recorder has recorded.

    Whoever can lose something says how it is to be asked for what it has lost: ``add``.
    """

    def __init__(self) -> None:
        self._sources: list[Callable[[], Mapping[str, int]]] = []
        self.pipeline: Pipeline | None = None
        """The one that lands records, while recording."""
        self.former: Pipeline | None = None
        """The one that was shut down: what comes too late is counted there."""

    def add(self, source: Callable[[], Mapping[str, int]]) -> None:
        """Count what this says is lost, by reason."""
        self._sources.append(source)

    def dropped(self) -> dict[str, int]:
        """What is lost so far, by reason."""
        counts: Counter[str] = Counter()
        for source in self._sources:
            counts.update(source())
        running = self.pipeline or self.former
        if running is not None:
            counts.update(running.dropped())
        return dict(+counts)

    def snapshot(self) -> PipelineStats:
        """What became of everything by now, as this process sees it."""
        running = self.pipeline
        if running is None:
            return PipelineStats(dropped=self.dropped())
        return replace(running.snapshot(), queued=running.queued(), dropped=self.dropped())
