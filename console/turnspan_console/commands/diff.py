"""``turnspan diff``: what changed between two model calls."""

from __future__ import annotations

import click

from turnspan_console.options import format_option, html_option, open_chosen, store_option
from turnspan_console.output import Output


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

    \b
      turnspan diff ccd428d9 b0b03910
    """
    from turnspan_console.ids import difference_of
    from turnspan_console.panels.difference import print_difference
    from turnspan_console.panels.html_file import save
    from turnspan_records.screens.saved import difference_html

    with open_chosen() as store:
        shown = difference_of(store, before, after)
    if html:
        title = f"{shown.before.span_id} to {shown.after.span_id}"
        save(html, title, difference_html(shown))
    else:
        Output().answer(shown, format_, print_difference)
