"""``turnspan turns``: the turns, newest first."""

from __future__ import annotations

import click

from turnspan_console.nothing import explain
from turnspan_console.options import (
    FORMATS,
    format_option,
    open_chosen,
    raw_option,
    read_window,
    store_option,
    window_options,
)


@click.command("turns", short_help="List the turns, newest first.")
@click.option("--session", default="", metavar="ID", help="Only this session's.")
@window_options
@format_option(*FORMATS)
@raw_option
@store_option
def command(
    session: str,
    since: str | None,
    until: str | None,
    project: str,
    limit: int,
    format_: str,
    raw: bool,
) -> None:
    """List the turns (one user input each), newest first; nested agents' turns are left out."""
    from turnspan_console.output import Output
    from turnspan_console.results import print_result
    from turnspan_records.sessions import turns

    window = read_window(since, until)
    with open_chosen() as store:
        result = turns(store, session=session, project=project, window=window, limit=limit)
        if not result.rows:
            explain(store, "no turns", project=project, window=window, session=session, kind="turn")
    if not result.rows and format_ == "table":
        return
    print_result(result, format_, Output(), raw=raw)
