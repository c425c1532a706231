"""``turnspan sessions``: the conversations, newest first."""

from __future__ import annotations

import click

from turnspan_console.commands._empty_results import explain, print_found
from turnspan_console.options import listing_options, open_chosen, read_window


@click.command("sessions", short_help="List the sessions, newest first.")
@listing_options
def command(
    since: str | None, until: str | None, project: str, limit: int, format_: str, raw: bool
) -> None:
    """List the sessions that had a turn, newest first."""
    from turnspan_records.sessions import sessions

    window = read_window(since, until)
    with open_chosen() as store:
        result = sessions(store, project=project, window=window, limit=limit)
        if not result.rows:
            explain(store, "no sessions", project=project, window=window, kind="session")
    print_found(result, format_, raw=raw)
