"""What became of everything recorded: one count, for everybody who asks.

``flush()``, the metrics and the log line of this process take it from here, and the exporter writes
it down for ``turnspan status`` and ``turnspan doctor`` in other processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Accounts:
    """Spans in the process, rows after it. The spool and what left it is shared by all processes
    that write it; queued and dropped are one process's, or all processes' where the whole spool is
    told of."""

    queued: int = 0
    """Spans that ended and are not in the spool yet."""
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


@runtime_checkable
class Accounting(Protocol):
    """An exporter that knows what is spooled, shipped and rejected."""

    def accounts(self) -> Accounts:
        """Its share: nothing is queued in it, and ``dropped`` is left out."""
        ...


def dropped() -> dict[str, int]:
    """What this process has lost so far, by reason."""
    from turnspan import metrics
    from turnspan.content.ledger import ledger
    from turnspan.guard import errors
    from turnspan.lifecycle import processor

    counts = Counter(ledger.dropped)
    running = processor()
    if running is not None:
        counts.update(running.dropped())
    counts["metrics_full"] += metrics.dropped()
    counts["internal_error"] += errors.unaccounted
    return dict(+counts)


def accounts() -> Accounts:
    """What became of everything by now, as this process sees it."""
    from turnspan.lifecycle import processor

    running = processor()
    if running is None:
        return Accounts(dropped=dropped())
    held = running.exporter.accounts() if isinstance(running.exporter, Accounting) else Accounts()
    return replace(held, queued=running.queued(), dropped=dropped())
