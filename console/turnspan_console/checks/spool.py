"""Checks of the spool: writable, not waiting too long, nothing refused, nothing dropped; and of its
receivers: alive, able to write, and which ways they listen."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

from turnspan_clickhouse.files.atomic_files import open_to_others
from turnspan_clickhouse.files.lock_holders import ALIVE, ELSEWHERE
from turnspan_clickhouse.receive.receiver_stats import ReceiverStats, read_receiver_stats
from turnspan_clickhouse.spool.segments import SpoolUsage
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.checks.check import FAIL, OK, WARN, Check
from turnspan_console.values import seconds, size
from turnspan_records.access.spooled import refused, shipping, writers

_AREA = "spool"
_OLD_WARN, _OLD_FAIL = 15 * 60.0, 24 * 3600.0
_LITTLE_SPACE = 512 * 2**20


def spool_checks(dsn: Dsn) -> Iterator[Check]:
    """Every check of this machine's spool of a store. Nothing is written."""
    spool = Spool(dsn.spool)
    yield _writable(spool.folder)
    yield _private([dsn.spool, *([dsn.path] if dsn.path is not None else [])])
    usage = spool.usage()
    yield _waiting(usage, spool, embedded=dsn.embedded)
    yield _refused(spool)
    level, advice = (WARN, _remedy(usage.dropped)) if usage.dropped else (OK, "")
    yield Check(_AREA, "account", level, str(usage.stats), advice)
    yield _shipping(spool)
    counts = writers(spool)
    finding = f"{counts.alive} alive, {counts.dead} closed or dead"
    advice = "Run `turnspan ship`: turns they left running are marked interrupted."
    level, advice = (WARN, advice) if counts.dead else (OK, "")
    yield Check(_AREA, "writers", level, finding, advice)


def _shipping(spool: Spool) -> Check:
    found = shipping(spool)
    if found is None:
        return Check(_AREA, "shipping", OK, "no process holds ship.lock")
    finding = f"{found} holds ship.lock"
    if not found.stuck:
        return Check(_AREA, "shipping", OK, finding)
    level = WARN if found.state in (ALIVE, ELSEWHERE) else FAIL
    return Check(_AREA, "shipping", level, f"{finding}: everybody waits", found.remedy)


def _remedy(dropped: Mapping[str, int]) -> str:
    reasons = {reason.partition(":")[0] for reason in dropped}
    if "spool_full" in reasons:
        return "The spool was full: make the store reachable, or ship more often."
    if "spool_failed" in reasons:
        return "The spool could not be written: free its disk, or set TURNSPAN_SPOOL to another."
    return "The application's log says what happened; raise TURNSPAN_QUEUE_SIZE for queue_full."


def _private(folders: list[Path]) -> Check:
    loose = [str(folder) for folder in folders if open_to_others(folder)]
    if not loose:
        return Check(_AREA, "private", OK, "only you can read it")
    finding = f"other users of this machine may look into {' and '.join(loose)}"
    advice = f"Run `chmod go= {' '.join(map(shlex.quote, loose))}`."
    return Check(_AREA, "private", WARN, finding, advice)


def _writable(folder: Path) -> Check:
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        finding = f"this user may not write {there}"
        advice = "Give the folder to the application's user, or set TURNSPAN_SPOOL to another."
        return Check(_AREA, "writable", FAIL, finding, advice)
    free = shutil.disk_usage(there).free
    if free < _LITTLE_SPACE:
        finding = f"{folder}, {size(free)} free"
        advice = "Free some space: records are dropped when the disk is full."
        return Check(_AREA, "writable", WARN, finding, advice)
    return Check(_AREA, "writable", OK, f"{folder}, {size(free)} free")


def _waiting(usage: SpoolUsage, spool: Spool, *, embedded: bool) -> Check:
    if not usage.segments or usage.oldest is None:
        return Check(_AREA, "waiting", OK, "nothing waits")
    age = max(0.0, (datetime.now(timezone.utc) - usage.oldest).total_seconds())
    share = usage.bytes / spool.limit_bytes
    finding = f"{usage.segments:,} segments, {size(usage.bytes)}, the oldest {seconds(age)} old"
    if share > 0.8:
        finding = f"{finding}: {share:.0%} of the limit"
        advice = "Run `turnspan ship` now: at the limit plain spans are dropped first."
        return Check(_AREA, "waiting", FAIL, finding, advice)
    if embedded or age < _OLD_WARN:  # the next reader of an embedded store loads them
        return Check(_AREA, "waiting", OK, finding)
    advice = "Run `turnspan ship`; if it fails, fix the problem that it reports."
    return Check(_AREA, "waiting", FAIL if age >= _OLD_FAIL else WARN, finding, advice)


def _refused(spool: Spool) -> Check:
    segments = refused(spool)
    if not segments:
        return Check(_AREA, "refused", OK, "the store has refused nothing")
    last = segments[-1]
    finding = (
        f"{len(segments):,} segments in {spool.rejected_folder}; the last, of {last.table}: "
        f"{last.reason.splitlines()[0][:200]}"
    )
    advice = "Mend the cause (mostly: `turnspan migrate`), then run `turnspan ship --rejected`."
    return Check(_AREA, "refused", FAIL, finding, advice)


_RECEIVER = "receiver"


def receiver_checks(spool: Path) -> Iterator[Check]:
    """A check for each receiver that has not ended in order; none where there is none."""
    for one in read_receiver_stats(spool):
        if not one.ended:
            yield _receiver(one)


def _receiver(one: ReceiverStats) -> Check:
    name = one.address or one.token
    if not one.alive:
        finding = "it has written no figures for a while, and did not end in order"
        advice = "Start it again: acknowledged records are in the spool."
        return Check(_RECEIVER, name, WARN, finding, advice)
    if one.failure:
        finding = f"it takes nothing now: {one.failure}"
        advice = "Senders retry: fix this before they give up."
        return Check(_RECEIVER, name, FAIL, finding, advice)
    ways = "HTTP and gRPC" if "gRPC" in one.address else "HTTP"
    finding = f"it takes OTLP over {ways}: {one.spans:,} spans taken, {one.refused:,} refused"
    if not one.lost:
        return Check(_RECEIVER, name, OK, finding)
    return Check(_RECEIVER, name, WARN, f"{finding}, {one.lost:,} lost", "See its log.")
