"""Checks of what coding agents tell: their hooks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from turnspan_clickhouse.receive.settings import follows_transcripts
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.checks.check import OK, WARN, Check
from turnspan_records.coding.hook_events import last_failure

_AREA = "coding agents"


def hook_checks(dsn: Dsn) -> Iterator[Check]:
    """Whether the last event of a hook landed, where there was one. Nothing is written."""
    failure = last_failure(dsn)
    if not follows_transcripts(dsn.spool):
        return
    if failure is None:
        yield Check(_AREA, "hooks", OK, "no event of a hook failed")
        return
    at = datetime.fromtimestamp(failure.at, timezone.utc)
    yield Check(
        *(_AREA, "hooks", WARN),
        f"an event of {failure.tool} failed at {at:%Y-%m-%d %H:%M} UTC: {failure.error}",
        "Correct it, then run `turnspan import coding`: it lands what is missing.",
    )
