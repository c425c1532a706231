"""``turnspan sessions``: the conversations, newest first."""

from __future__ import annotations

import click

from turnspan_console.commands._listing import Listing, listing_options
from turnspan_console.options import FORMATS


@click.command("sessions", short_help="List the sessions, newest first.")
@listing_options(*FORMATS)
def command(listing: Listing) -> None:
    """List the sessions that had a turn, newest first."""
    from turnspan_records.sessions import sessions

    listing.answer(
        lambda store: sessions(store, **listing.records, limit=listing.limit),
        "no sessions",
        kind="session",
    )
