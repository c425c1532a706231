"""Checks of the receivers of a spool: alive, able to write, and which ways they listen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from turnspan_clickhouse.receive.receiver_stats import ReceiverStats, read_receiver_stats
from turnspan_console.checks.check import FAIL, OK, WARN, Check

_AREA = "receiver"


def receiver_checks(spool: Path) -> Iterator[Check]:
    """A check for each receiver that has not ended in order; none where there is none."""
    for one in read_receiver_stats(spool):
        if not one.ended:
            yield _check(one)


def _check(one: ReceiverStats) -> Check:
    name = one.address or one.token
    if not one.alive:
        finding = "it has written no figures for a while, and did not end in order"
        advice = "Start it again: acknowledged records are in the spool."
        return Check(_AREA, name, WARN, finding, advice)
    if one.failure:
        finding = f"it takes nothing now: {one.failure}"
        advice = "Senders retry: fix this before they give up."
        return Check(_AREA, name, FAIL, finding, advice)
    ways = "HTTP and gRPC" if "gRPC" in one.address else "HTTP"
    finding = f"it takes OTLP over {ways}: {one.spans:,} spans taken, {one.refused:,} refused"
    if not one.lost:
        return Check(_AREA, name, OK, finding)
    return Check(_AREA, name, WARN, f"{finding}, {one.lost:,} lost", "See its log.")
