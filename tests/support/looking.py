"""Looks what became of artifacts, two at a time, in a process that may be killed: STORE, API."""

from __future__ import annotations

import sys
import time
from datetime import timedelta

from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import parse
from turnspan_records.access import open_dsn
from turnspan_records.quality.check_run import check_quality
from turnspan_records.quality.mediawiki import MediaWikiSource
from turnspan_records.quality.mediawiki_client import MediaWiki

AHEAD = 20 * 86_400 * 10**9


def clock() -> int:
    """The time when the windows are over."""
    return time.time_ns() + AHEAD


def look(store: str, api: str) -> int:
    """Look once; returns how many artifacts there were."""
    dsn = parse(store)
    source = MediaWikiSource(MediaWiki(api), clock=clock)
    report = check_quality(
        lambda: open_dsn(dsn),
        Spool(dsn.spool),
        source,
        window=timedelta(days=14),
        clock=clock,
        together=2,
    )
    return len(report.checks)


if __name__ == "__main__":
    print("ready", flush=True)
    print(look(*sys.argv[1:]), flush=True)
