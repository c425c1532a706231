"""``turnspan why``: why a turn stopped."""

from __future__ import annotations

from functools import partial

import click

from turnspan_console.options import format_option, full_option, open_chosen, store_option
from turnspan_console.output import Output


@click.command("why", short_help="Show why a turn stopped: the rule and its evidence.")
@click.argument("id_", metavar="ID")
@full_option
@format_option("text", "json")
@store_option
def command(id_: str, full: bool, format_: str) -> None:
    """Show why a turn stopped: its stop reason, the rule, the evidence, and its last model and tool
    calls.

    ID is a turn's id; six characters are enough. A session's id means its last turn, a model call's
    or tool call's id the turn around it.

    \b
      turnspan why 2d7bcff0
    """
    from turnspan_console.ids import turn_end_of
    from turnspan_console.panels.turn_end import print_turn_end

    with open_chosen() as store:
        end = turn_end_of(store, id_)
    Output().answer(end, format_, partial(print_turn_end, full=full))
