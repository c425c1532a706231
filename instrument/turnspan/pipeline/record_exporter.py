"""What an exporter of records can be asked and told, beside what OpenTelemetry asks."""

from __future__ import annotations

from opentelemetry.sdk.trace.export import SpanExporter

from turnspan.runtime.stats import PipelineStats


class RecordExporter(SpanExporter):
    """The base of an exporter that lands records: it keeps account of what became of them.

    What is not overridden answers for an exporter that holds and loses nothing.
    """

    def remaining(self) -> int:
        """Records accepted but not yet landed."""
        return 0

    def unwritten(self) -> int:
        """Rows that it keeps in memory because they cannot be written down now."""
        return 0

    def dropped(self) -> dict[str, int]:
        """Records lost, by reason; those of an export that failed among them."""
        return {}

    def snapshot(self) -> PipelineStats:
        """What is spooled, shipped and rejected: nothing is queued in it, ``dropped`` is left
        out."""
        return PipelineStats()

    def sync(self) -> bool:
        """Make sure that what was exported so far survives a power cut; whether that worked."""
        return False

    def close_turns(self) -> None:
        """The process ends in order: what turns still wait for does not come any more."""

    def after_fork(self) -> None:
        """The process is a forked child: take a new identity, keep nothing of the parent's."""

    def farewell(self) -> str:
        """What to tell the person who started the program, at its end; mostly nothing."""
        return ""
