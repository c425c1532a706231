"""``turnspan turns``: the turns, newest first."""

from __future__ import annotations

import click

from turnspan_console.commands._empty_results import explain, print_found
from turnspan_console.failures import USAGE, failing
from turnspan_console.options import listing_options, open_chosen, read_window


@click.command("turns", short_help="List the turns, newest first.")
@click.option("--session", default="", metavar="ID", help="Only this session's.")
@click.option(
    "--filter",
    "filter_",
    default="",
    metavar="TEXT",
    help="Only turns that match, as 'stop:tool_failure,loop_detected -agent:wiki cost>0.01': "
    "stop, status, agent, version, model, tool, failed, error, user, session, intent, mode, "
    "service, environment, outcome, flag, judged, attribute.KEY; cost, tokens, seconds, rounds, "
    "calls, tools, failures, score.",
)
@listing_options
def command(
    session: str,
    filter_: str,
    since: str | None,
    until: str | None,
    project: str,
    limit: int,
    format_: str,
    raw: bool,
) -> None:
    """List the turns (one user input each), newest first, without nested agents' turns."""
    from turnspan_records.sessions import turns

    window = read_window(since, until)
    with open_chosen() as store:
        with failing(ValueError, code=USAGE):
            result = turns(
                store,
                session=session,
                project=project,
                window=window,
                filter=filter_,
                limit=limit,
            )
        if not result.rows and not filter_:
            explain(store, "no turns", project=project, window=window, session=session, kind="turn")
    print_found(result, format_, raw=raw)
