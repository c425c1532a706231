"""``turnspan errors``: what fails, and what the model did next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from turnspan_console.commands._listing import Listing, explain, listing_options, sort_option
from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import full_option, open_chosen
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_records.screens.errors import ErrorShapes, ToolFailures


@click.command("errors", short_help="List failures by message, or the failures of a tool.")
@click.argument("tool", required=False, default="")
@listing_options(
    "text", "json", more=(sort_option("times, rate, turns, first, last, name ..."), full_option)
)
def command(tool: str, sort: str, full: bool, listing: Listing) -> None:
    """List failed model calls, tools and turns, grouped by message; numbers, ids and quoted parts
    are masked. The rate is the share of all calls of that model or tool.

    With a TOOL: show arguments that failed beside arguments that worked (--limit of each), and what
    the model did after a failure. Exit code 1 if nothing failed.

    \b
      turnspan errors --since 7d
      turnspan errors run_query
    """
    from turnspan_console.panels.failures import print_failures
    from turnspan_records.screens.errors import error_shapes, tool_failures

    if tool and sort:
        raise Failure("--sort orders the list of failures: leave out the TOOL.", USAGE)
    of = listing.records
    failures: ToolFailures | ErrorShapes
    with open_chosen() as store:
        if tool:
            failures = tool_failures(store, tool, **of, each=listing.limit)
            nothing = not any(one.failed for one in failures.fed)
        else:
            with failing(ValueError, code=USAGE):
                failures = error_shapes(store, **of, sort=sort, limit=listing.limit)
            nothing = not failures.shapes
        if nothing:
            what = f"no failure of a tool {tool!r}" if tool else "nothing that failed"
            explain(store, what, **of)
    if listing.format_ == "json" or not nothing:
        Output().answer(failures, listing.format_, partial(print_failures, full=full))
    if nothing:
        raise click.exceptions.Exit(FINDING)
