"""``turnspan sessions``: the conversations, newest first or sorted."""

from __future__ import annotations

import click

from turnspan_console.commands._listing import Listing, listing_options, sort_option
from turnspan_console.options import FORMATS


@click.command("sessions", short_help="List the sessions, newest first.")
@listing_options(*FORMATS, more=(sort_option("time, cost, turns, calls, tools, stop ..."),))
def command(sort: str, listing: Listing) -> None:
    """List the sessions that had a turn.

    \b
      turnspan sessions --since 7d
      turnspan sessions --project shop --sort -cost
    """
    from turnspan_records.sessions import sessions

    listing.answer(
        lambda store: sessions(store, **listing.records, sort=sort, limit=listing.limit),
        "no sessions",
        kind="session",
    )
