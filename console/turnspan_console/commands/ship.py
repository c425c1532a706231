"""``turnspan ship``: land what waits in the spool."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, Failure
from turnspan_console.options import chosen_dsn, flag, optional, store_option
from turnspan_console.output import Output, tell

if TYPE_CHECKING:
    from turnspan_clickhouse.files.lock_holders import Holder
    from turnspan_clickhouse.ship.shipper import ShipResult
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_clickhouse.store.dsn import Dsn


@click.command("ship", short_help="Land what waits in the spool.")
@flag("--rejected", "Try again the segments that the store refused.")
@optional(
    "--timeout",
    "SECONDS",
    "Stop after this time; the rest stays in the spool.  [default: until all has landed]",
    kind=click.FloatRange(min=0, min_open=True),
)
@store_option
def command(rejected: bool, timeout: float | None) -> None:
    """Land what waits in this machine's spool. Each record lands once, even if you run it again.

    Turns whose process died are marked interrupted.

    \b
      turnspan ship
      turnspan ship --rejected
    """
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_records.access.spooled import restore_refused

    dsn = chosen_dsn()
    spool = Spool(dsn.spool)
    if rejected:
        restore_refused(spool)
    _report(_ship(dsn, spool, timeout))


def _ship(dsn: Dsn, spool: Spool, timeout: float | None) -> ShipResult:
    from turnspan_clickhouse.ship.shipper import ShipResult, ship
    from turnspan_clickhouse.store.opening import open_store
    from turnspan_records.access import bring_up_to_date
    from turnspan_records.access.spooled import writers

    deadline = None if timeout is None else time.monotonic() + timeout
    if not spool.segments() and not writers(spool).dead:
        return ShipResult()
    # The store before the spool, as every reader does it: two of them never wait for each other.
    with open_store(dsn, wait=timeout or 10.0) as store:
        bring_up_to_date(store, create=True)
        told: set[int] = set()

        def tell_once(found: Holder) -> None:
            if found.pid not in told:
                told.add(found.pid)
                tell(f"waiting for {found}, to ship")

        return ship(store, deadline=deadline, spool=spool, waiting=tell_once)


def _report(result: ShipResult) -> None:
    shipped = f"{result.shipped_rows:,} rows in {result.shipped_segments:,} segments landed"
    told = [shipped if result.shipped_segments else "nothing to land"]
    if result.interrupted:
        told.append(f"{result.interrupted:,} turns marked interrupted")
    if result.remaining:
        told.append(f"{result.remaining:,} segments still wait")
    Output().line(", ".join(told))
    if result.errors:
        raise Failure(result.errors[0], UNAVAILABLE)
    if result.holder is not None:
        raise Failure(f"{result.holder} ships this spool. {result.holder.remedy}", UNAVAILABLE)
    if result.rejected:
        raise Failure(
            f"The store refused {result.rejected:,} segments for good: `turnspan doctor` shows "
            "why, `turnspan ship --rejected` tries again.",
            FINDING,
        )
