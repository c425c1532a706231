"""``turnspan diff``: what changed between two model calls."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import format_option, html_option, open_chosen, store_option


@click.command(
    "diff", short_help="Show what changed between two model calls, and where a cache broke."
)
@click.argument("before", metavar="CALL")
@click.argument("after", metavar="CALL")
@html_option
@format_option("text", "json")
@store_option
def command(before: str, after: str, html: str, format_: str) -> None:
    """Show what changed from one model call to another: parameters, tools, the system prompt,
    messages kept, edited, dropped or added, and how far a cache could hold.

    Each CALL is the id of a model call (its span); six characters are enough.
    """
    from turnspan_console.ids import two_calls
    from turnspan_console.output import Output
    from turnspan_records.screens.difference import diff

    output = Output()
    with open_chosen() as store:
        found = two_calls(store, before, after)
        try:
            shown = diff(store, found[0].project, found[0].id, found[1].id)
        except KeyError as error:
            raise Failure(f"The call {error.args[0]} has just been removed.", FINDING) from None
    if html:
        from turnspan_console.panels.html_file import save
        from turnspan_records.screens.saved import difference_html

        save(html, f"{found[0].id} to {found[1].id}", difference_html(shown))
        return
    if format_ == "json":
        output.json(shown)
        return
    from turnspan_console.panels.difference import print_difference

    print_difference(shown, output)
