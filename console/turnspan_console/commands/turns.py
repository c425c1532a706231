"""``turnspan turns``: the turns, newest first or sorted."""

from __future__ import annotations

import click

from turnspan_console.commands._listing import Listing, listing_options, sort_option
from turnspan_console.options import FORMATS, text_option


@click.command("turns", short_help="List the turns, newest first.")
@text_option("--session", "ID", "Only this session's.")
@text_option(
    "--filter",
    "TEXT",
    "Only turns that match, as 'stop:tool_failure,loop_detected -agent:wiki cost>0.01': "
    "stop, status, agent, version, model, tool, failed, error, user, session, intent, mode, "
    "service, environment, outcome, flag, judged, attribute.KEY; cost, tokens, seconds, rounds, "
    "calls, tools, failures, score.",
    "filter_",
)
@listing_options(*FORMATS, more=(sort_option("time, cost, seconds, tokens, agent, stop ..."),))
def command(session: str, filter_: str, sort: str, listing: Listing) -> None:
    """List the turns (one user input each), without nested agents' turns.

    \b
      turnspan turns --since 1d --sort -cost
      turnspan turns --filter 'stop:tool_failure cost>0.01'
    """
    from turnspan_records.sessions import turns

    of, limit = listing.records, listing.limit
    listing.answer(
        lambda store: turns(store, session=session, **of, filter=filter_, sort=sort, limit=limit),
        "" if filter_ else "no turns",
        session=session,
        kind="turn",
    )
